"""Score the models of a sweep from the tracking store: python -m argus.aggregate -m score=equal,reliability,edge.

Two sweeps are compared: python -m argus.aggregate sweep=BEFORE,AFTER gate.overall=-0.01.
"""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.types import RunMode
from omegaconf import DictConfig, ListConfig

from argus.configuration import conf_dir
from argus.errors import ArgusError, ConfigError
from argus.overrides import require_known

if TYPE_CHECKING:
    from argus.report.weightings import Outcome

QUOTES = "'\""
FILES = {"output": "scores.json", "report": "report.html"}  # keys that name a file to write


@hydra.main(version_base=None, config_path=str(conf_dir()), config_name="aggregate")
def main(cfg: DictConfig) -> Outcome | None:
    """Print A(M) and the overall score of each model, and keep them as scorecard runs; or compare two sweeps.

    Exits with 1 on an error, and where a change may not pass the gate. What comes back with -m, argus.weightings reads.
    """
    context = HydraConfig.get()
    if context.mode == RunMode.MULTIRUN:
        return _one_of_several(cfg, brief=context.job.num > 0 and only_weights(sys.argv[1:]))
    try:
        _aggregate(cfg, brief=False)
    except ArgusError as error:
        sys.exit(f"error: {error}")
    return None


def _one_of_several(cfg: DictConfig, brief: bool) -> Outcome | None:
    """Aggregate, and return why it failed where it did: that must not cost the other jobs their end."""
    from argus.report.weightings import Outcome

    try:
        return _aggregate(cfg, brief)
    except ArgusError as error:
        return Outcome({}, error=str(error))
    except Exception as error:
        traceback.print_exc()
        return Outcome({}, error=repr(error))


def _aggregate(cfg: DictConfig, brief: bool) -> Outcome | None:
    """Return what came of one sweep; None where two are compared."""
    from rich.console import Console

    from argus.aggregation import aggregate_sweep
    from argus.comparing import compare_sweeps, limits_of
    from argus.report.weightings import outcome_of
    from argus.settings import store_of
    from argus.tracking import prepare, require_store

    store = store_of(cfg)
    limits = limits_of(cfg.gate)
    _check(cfg, bool(limits.set()))
    require_store(store)
    prepare(store)
    if isinstance(cfg.sweep, ListConfig):
        before, after = cfg.sweep
        compared = compare_sweeps(store, before, after, cfg.score, limits, Console())
        _write(cfg.output, compared.document)
        if compared.breaches:
            raise ArgusError(f"the gate is shut: {len(compared.breaches)} changes may not pass, named above")
        return None
    aggregate = aggregate_sweep(store, cfg.sweep, cfg.score, Console(), brief)
    _write(cfg.output, aggregate.document)
    _write_report(cfg.report, aggregate.html)
    return outcome_of(aggregate.analysis)


def _write(output: str | None, document: Mapping[str, object]) -> None:
    if output is not None:
        _write_file(output, json.dumps(document, indent=1, ensure_ascii=False) + "\n")
        print(f"Scores: {Path(output).resolve()}")


def _write_report(path: str | None, html: str | None) -> None:
    if path is None:
        return
    if html is None:
        raise ArgusError(f"report={path} is not written, for the reason above")
    _write_file(path, html)


def _write_file(path: str, text: str) -> None:
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise ArgusError(f"'{path}' cannot be written: {error}; the scores are kept in the store") from error


def _check(cfg: DictConfig, gated: bool) -> None:
    sweeps = list(cfg.sweep) if isinstance(cfg.sweep, ListConfig) else [cfg.sweep]
    if any(sweep is not None and not isinstance(sweep, str) for sweep in sweeps):
        raise ConfigError(f"sweep={cfg.sweep} reads as a number: quote the run id twice, sweep=\"'…'\"")
    if len(sweeps) > 2 or (len(sweeps) == 1 and isinstance(cfg.sweep, ListConfig)):
        raise ConfigError(f"sweep={','.join(map(str, sweeps))}: name one sweep, or two to compare")
    if gated and len(sweeps) < 2:
        raise ConfigError("gate.… judges what changed between two sweeps: name both, sweep=BEFORE,AFTER")
    if cfg.report is not None and len(sweeps) == 2:
        raise ConfigError("report=… is about one sweep: leave it out where two are compared")
    for key, example in FILES.items():
        _check_file(key, cfg[key], example)


def _check_file(key: str, value: object, example: str) -> None:
    if value is None:
        return
    if not isinstance(value, str):
        raise ConfigError(f"{key}={value} reads as a number: name a file, for example {key}={example}")
    file = Path(value).resolve()
    if not file.parent.is_dir():
        raise ConfigError(f"{key}={value}: there is no folder '{file.parent}'")
    if file.is_dir():
        raise ConfigError(f"{key}={value} is a folder: name a file, for example {value}/{example}")


def paired(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with sweep=A,B written as a list: without -m, Hydra takes the comma for a mistake."""
    if {"-m", "--multirun"} & set(arguments):
        return list(arguments)
    return [_as_list(word) if word.startswith("sweep=") and "," in word else word for word in arguments]


def _as_list(word: str) -> str:
    names = word.removeprefix("sweep=").strip("[]").split(",")
    return "sweep=[" + ",".join(f"'{name.strip().strip(QUOTES)}'" for name in names) + "]"  # quoted: ids may be digits


def only_weights(arguments: Sequence[str]) -> bool:
    """Return whether jobs differ in their weights alone: all else that they print is then the same."""
    return all(key in ("score", "score.name") or key.startswith("score.weights.") for key in _swept(arguments))


def _swept(arguments: Sequence[str]) -> list[str]:
    """Return the keys that have several values."""
    typed = [word for word in arguments if "=" in word and not word.startswith("-")]
    parsed = OverridesParser.create().parse_overrides(typed)
    return [one.get_key_element() for one in parsed if one.is_sweep_override()]


def check_output(arguments: Sequence[str]) -> None:
    """Raise ConfigError where several jobs would write one file, each over the last: its name tells them apart."""
    if not {"-m", "--multirun"} & set(arguments):
        return
    files = [word for word in arguments if word.partition("=")[0] in FILES]
    if not files:
        return
    varied = [f"${{{'score.name' if key == 'score' else key}}}" for key in _swept(arguments)] or ["${score.name}"]
    for word in files:
        key, _, value = word.partition("=")
        if not all(part in value for part in varied):
            stem, _, ending = FILES[key].partition(".")
            named = f"{key}='{'-'.join([stem, *varied])}.{ending}'"
            raise ConfigError(f"{word} with -m: each job needs a file of its own, {named}")


if __name__ == "__main__":
    sys.argv[1:] = paired(sys.argv[1:])
    require_known("aggregate", check_output)
    main()
