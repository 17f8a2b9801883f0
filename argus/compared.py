"""What a sweep compared, from its cells' parameters: checkpoints with their roles, what to deploy, and the prompts."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence

from argus.records import CellResult
from argus.report.html.background import Deployment
from argus.scoring.records import Value

LONG_DIGEST = re.compile(r"([0-9a-f]{12})[0-9a-f]{8,}")
CHECKPOINT, REVISION, DEPLOYED = "model.checkpoint", "model.loaded_revision", "model.deployed_parameters"
SERVED = ("model.served", "model.base_url")  # a server has names of its own
ROLES = {"regions": "detector of regions"}  # where the key of a yaml says too little
PROMPTS = {"captioning": "caption_prompt", "retrieval": "match_prompt", "reasoning": "question_prompt"}
OLDER = "its runs are older than the record of which weights each task loads: run them again"

Params = Mapping[str, Mapping[str, str]]
"""By run id: a cell's configuration, as logged. Cells that never ran have none."""


def checkpoints(cells: Sequence[CellResult], params: Params) -> dict[str, str]:
    """Return each checkpoint with its revision, by the model and, where it has several, the role."""
    told: dict[str, str] = {}
    for model, mine in _by_model(cells).items():
        found = _by_role(_params_of(mine, params))
        for one in dict.fromkeys(found.values()):
            roles = [ROLES.get(role, role) for role, other in found.items() if other == one]
            told[f"{model}, {' and '.join(roles)}" if len(found) > 1 else model] = one
    return told


def _by_model(cells: Iterable[CellResult]) -> dict[str, list[CellResult]]:
    found: dict[str, list[CellResult]] = {}
    for cell in cells:
        found.setdefault(cell.key.model, []).append(cell)
    return dict(sorted(found.items()))


def _params_of(mine: Iterable[CellResult], params: Params) -> Mapping[str, str]:
    """Return the parameters of one cell of a model: a finished one where there is any."""
    known = sorted((cell for cell in mine if cell.run_id in params), key=lambda cell: cell.status != "FINISHED")
    return params[known[0].run_id] if known else {}


def _locations(params: Mapping[str, str]) -> dict[str, str]:
    """Return where each checkpoint of a model lies, by its role; that of a model with one has none, ""."""
    names = {key: value for key, value in params.items() if value != "None"}
    found = {key.removeprefix(f"{CHECKPOINT}."): names[key] for key in names if key.startswith(f"{CHECKPOINT}.")}
    return {"": names[CHECKPOINT]} if CHECKPOINT in names else found


def _by_role(params: Mapping[str, str]) -> dict[str, str]:
    """Return each checkpoint of a model with its revision, by its role."""
    revision = LONG_DIGEST.sub(r"\1…", params.get(REVISION, ""))
    locations = _locations(params)
    if len(locations) < 2:
        served = [params[name] for name in SERVED if params.get(name, "None") != "None"]
        return {"": _at(", ".join(locations.values() or served) or "unknown checkpoint", revision)}
    revisions = dict(part.partition("=")[::2] for part in revision.split(","))
    return {role: _at(location, revisions.get(role, "")) for role, location in locations.items()}


def _at(location: str, revision: str) -> str:
    return f"{location} at revision {revision}" if revision else location


def deployments(cells: Sequence[CellResult], params: Params) -> tuple[Deployment, ...]:
    """Return for each model what it takes to do all tasks of the sweep that it can do."""
    asked = {cell.key.task for cell in cells}
    found = []
    for model, mine in _by_model(cells).items():
        tasks = tuple(sorted({cell.key.task for cell in mine}))
        lacking = tuple(sorted(asked.difference(tasks)))
        found.append(Deployment(model, tasks, lacking, _parameters(tasks, mine, params)))
    return tuple(found)


def _parameters(tasks: Sequence[str], mine: Iterable[CellResult], params: Params) -> Value:
    """Return how many parameters the weights of all tasks have, those that two tasks share once."""
    done = [cell for cell in mine if cell.status == "FINISHED"]
    over = ", ".join(tasks)
    if undone := sorted(set(tasks).difference(cell.key.task for cell in done)):
        return Value(None, over, f"no finished cell of {', '.join(undone)}")
    kept = [params[cell.run_id].get(DEPLOYED) for cell in done]
    parts = {part for one in kept if one for part in json.loads(one).items()}
    if None in kept:
        return _of_one_checkpoint(done, params, over)
    if not parts:
        return Value(None, over, "its weights lie on a server that tells nothing of them")
    if len(dict(parts)) < len(parts):
        return Value(None, over, "its tasks load different weights and do not tell which they share")
    return Value(float(sum(dict(parts).values())), over)


def _of_one_checkpoint(done: Sequence[CellResult], params: Params, over: str) -> Value:
    """Return the parameters of a model whose tasks all measured the same one checkpoint; a gap for any other."""
    locations = {location for cell in done for location in _locations(params[cell.run_id]).values()}
    measured = {cell.costs["parameters"] for cell in done if "parameters" in cell.costs}
    if len(locations) != 1 or len(measured) != 1 or math.isnan(min(measured)):
        return Value(None, over, OLDER)
    return Value(measured.pop(), over)


def prompts(cells: Sequence[CellResult], params: Params) -> dict[str, dict[str, str]]:
    """Return what each model that is prompted is given, by the sweep's tasks."""
    found = {}
    for model, mine in _by_model(cells).items():
        known = _params_of(mine, params)
        given = {task: known.get(f"model.adapter.{name}", "") for task, name in PROMPTS.items()}
        asked = {task: text for task, text in given.items() if text and task in {cell.key.task for cell in mine}}
        if asked:
            found[model] = asked
    return found
