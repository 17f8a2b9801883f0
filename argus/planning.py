"""From what the user typed to the cells of a sweep: baselines added, nonsense dropped, finished ones skipped."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from omegaconf import DictConfig, OmegaConf

from argus.errors import ConfigError
from argus.fingerprint import fingerprint
from argus.markers import title
from argus.overrides import base_of
from argus.perturbations.base import SeverityError
from argus.records import CellKey, DroppedCell
from argus.settings import build_perturbation, check_values, key_of, model_class, task_class
from argus.tasks.sense import why_not

Overrides = tuple[str, ...]
Compose = Callable[[Sequence[str]], DictConfig]
BASELINE = "clean"
SEVERITY, TASKS = "perturbation.severity", "dataset.tasks"


@dataclass(frozen=True)
class PlannedCell:
    """One cell and the overrides that make it. `run_id` is that of the finished run, "" where it must run."""

    key: CellKey
    fingerprint: str
    overrides: Overrides
    run_id: str = ""


@dataclass(frozen=True)
class Plan:
    """What a sweep will do, in the order in which it will do it."""

    run: tuple[PlannedCell, ...]
    skipped: tuple[PlannedCell, ...]
    dropped: tuple[DroppedCell, ...]


def make_plan(axes: Mapping[str, Sequence[str]], compose: Compose, finished: Callable[[str], str]) -> Plan:
    """Return the plan for the axes that the user named ({"model": ["clip", "blip"], "seed": ["0"], …}).

    `compose` turns overrides into a config; `finished` turns a fingerprint into the id of its finished run, or "".
    A perturbation that lacks a severity others have is dropped there. Raises ConfigError when none has it, or when two
    cells would bear the same name.
    """
    cells: list[PlannedCell] = []
    dropped: list[DroppedCell] = []
    lacking: dict[int, SeverityError] = {}
    compose = sharing(compose)
    for overrides in expand(axes, compose):
        cfg = compose(overrides)
        reason = why_not_cell(cfg)
        if reason is None:
            try:
                check_cell(cfg)
            except SeverityError as error:
                lacking.setdefault(cfg.perturbation.severity, error)
                reason = str(error)
        if reason is None:
            print_of = fingerprint(cfg)
            cells.append(PlannedCell(key_of(cfg), print_of, overrides, finished(print_of)))
        else:
            dropped.append(DroppedCell(key_of(cfg), reason))
    _require_had(lacking, {cell.key.severity for cell in cells if cell.key.modality != "none"})
    _require_distinct([cell.key for cell in cells])
    order = sorted(cells, key=_model_first(cells))
    return Plan(
        run=tuple(cell for cell in order if not cell.run_id),
        skipped=tuple(cell for cell in order if cell.run_id),
        dropped=tuple(dict.fromkeys(dropped)),
    )


def sharing(compose: Compose) -> Compose:
    """Return a `compose` that composes once what cells have in common: composing each whole would take minutes.

    A config that it returns holds until the next call. Where a perturbation's yaml reaches beyond its own section,
    cells are composed whole.
    """
    once = cache(compose)
    frames = cache(compose)  # apart from the others, since their perturbation is replaced

    @cache
    def section(overrides: Overrides) -> DictConfig | None:
        """Return the perturbation's section, or None where the perturbation changes anything else."""
        mine, others = once(overrides), once(_without(overrides, "perturbation"))
        return mine.perturbation if _beside(mine) == _beside(others) else None

    def shared(overrides: Sequence[str]) -> DictConfig:
        perturbation = section(_without(overrides, "model", "dataset", "task", "hardware"))
        if perturbation is None:
            return compose(overrides)
        cfg = frames(_without(overrides, "perturbation"))
        cfg.perturbation = perturbation
        return cfg

    return shared


def _without(overrides: Sequence[str], *groups: str) -> Overrides:
    return tuple(word for word in overrides if word.partition("=")[0].partition(".")[0] not in groups)


def _beside(cfg: DictConfig) -> dict[str, object]:
    plain = OmegaConf.to_container(cfg, resolve=False)
    assert isinstance(plain, dict)
    return {str(key): value for key, value in plain.items() if key not in ("hydra", "perturbation")}


def expand(axes: Mapping[str, Sequence[str]], compose: Compose) -> tuple[Overrides, ...]:
    """Return the overrides of every candidate cell, each once.

    Where the user named no dataset, the suite's; no task, those each dataset offers; always the clean baseline, once
    whatever severities and other knobs of perturbations are swept. A perturbation with a single severity keeps it,
    whatever severities are named.
    """
    base = compose(base_of(axes))
    named = {key: list(values) for key, values in axes.items()}
    named.setdefault("dataset", list(base.suite.datasets))
    named.setdefault("perturbation", [base.perturbation.name])
    if BASELINE not in named["perturbation"]:
        named["perturbation"].insert(0, BASELINE)
    offered = [f"{TASKS}={named[TASKS][0]}"] if TASKS in named else []
    tasks = {
        name: named.get("task", list(compose([f"dataset={name}", *offered]).dataset.tasks)) for name in named["dataset"]
    }
    named.pop("task", None)
    lacks = _lacking(named, tasks, compose)
    unvaried = _unvaried(named, compose)
    found: dict[Overrides, None] = {}
    for values in itertools.product(*named.values()):
        chosen = dict(zip(named, values, strict=True))
        for task in tasks[chosen["dataset"]]:
            cell = chosen | {"task": task}
            kept = [key for key in cell if not lacks(key, cell)]
            if cell["perturbation"] in unvaried:
                kept = [key for key in kept if key != SEVERITY]
            found[tuple(f"{key}={cell[key]}" for key in kept)] = None
    return tuple(found)


def _unvaried(named: Mapping[str, Sequence[str]], compose: Compose) -> set[str]:
    """Return the perturbations with one severity only: a picture is mirrored or it is not."""
    if SEVERITY not in named:
        return set()
    built = {name: build_perturbation(compose([f"perturbation={name}"])) for name in named["perturbation"]}
    return {name for name, perturbation in built.items() if len(perturbation.severities()) == 1}


def _lacking(
    named: Mapping[str, Sequence[str]], tasks: Mapping[str, Sequence[str]], compose: Compose
) -> Callable[[str, Mapping[str, str]], bool]:
    """Return whether a cell's members lack a knob: gallery_size is retrieval's alone, a severity is none of clean's."""
    members = {**named, "task": sorted({task for some in tasks.values() for task in some})}
    groups = {key.split(".")[0] for key in named if "." in key} & set(members)
    configs = {
        (group, member): OmegaConf.to_container(compose([f"{group}={member}"])[group], resolve=False)
        for group in groups
        for member in members[group]
    }

    def lacks(key: str, cell: Mapping[str, str]) -> bool:
        group, *path = key.split(".")
        if not path or group not in cell:
            return False
        if (group, cell[group]) == ("perturbation", BASELINE):
            return True
        node: object = configs[group, cell[group]]
        for name in path:
            if not isinstance(node, dict) or name not in node:
                return True
            node = node[name]
        return False

    return lacks


def why_not_cell(cfg: DictConfig) -> str | None:
    """Return why a cell makes no sense, or None."""
    return why_not(
        task_class(cfg),
        model_class(cfg),
        modality=cfg.perturbation.modality,
        caption_prompt=cfg.model.caption_prompt,
        dataset_tasks=list(cfg.dataset.tasks),
    )


def check_cell(cfg: DictConfig) -> None:
    """Raise ConfigError for a value that cannot work: an impossible severity is told now, not after hours."""
    check_values(cfg)
    build_perturbation(cfg)


def _require_had(lacking: Mapping[int, SeverityError], had: set[int]) -> None:
    for severity, error in lacking.items():
        if severity not in had:
            raise error


def _require_distinct(keys: Sequence[CellKey]) -> None:
    repeated = [key for key, count in Counter(keys).items() if count > 1]
    if repeated:
        raise ConfigError(
            f"{len(repeated)} cells would bear the same name, the first: '{title(repeated[0])}'. Only model, dataset, "
            "task, perturbation, severity and hardware tell cells apart: sweep other keys in separate commands"
        )


def _model_first(cells: Sequence[PlannedCell]) -> Callable[[PlannedCell], tuple[int, int]]:
    """Order by model, so that a checkpoint loads once, and baselines first: they are needed by all the others."""
    models = list(dict.fromkeys(cell.key.model for cell in cells))
    return lambda cell: (models.index(cell.key.model), 0 if cell.key.perturbation == BASELINE else 1)
