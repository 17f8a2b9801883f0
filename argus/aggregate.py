"""Score the models of a sweep from the tracking store: python -m argus.aggregate -m score=equal,reliability,edge."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import hydra
from omegaconf import DictConfig

from argus.configuration import conf_dir
from argus.errors import ArgusError, ConfigError
from argus.overrides import require_known


@hydra.main(version_base=None, config_path=str(conf_dir()), config_name="aggregate")
def main(cfg: DictConfig) -> None:
    """Print A(M) and the overall score of each model, and keep them as scorecard runs; exits with 1 on an error."""
    try:
        _aggregate(cfg)
    except ArgusError as error:
        sys.exit(f"error: {error}")


def _aggregate(cfg: DictConfig) -> None:
    from rich.console import Console

    from argus.aggregation import aggregate_sweep
    from argus.settings import store_of
    from argus.tracking import prepare, require_store

    store = store_of(cfg)
    _check(cfg)
    require_store(store)
    prepare(store)
    result = aggregate_sweep(store, cfg.sweep, cfg.score, Console())
    if cfg.output is not None:
        Path(cfg.output).write_text(json.dumps(result.document, indent=1, ensure_ascii=False) + "\n")


def _check(cfg: DictConfig) -> None:
    if cfg.sweep is not None and not isinstance(cfg.sweep, str):
        raise ConfigError(f"sweep={cfg.sweep} reads as a number: quote the run id twice, sweep=\"'…'\"")
    if cfg.output is None:
        return
    output = Path(cfg.output).resolve()
    if not output.parent.is_dir():
        raise ConfigError(f"output={cfg.output}: there is no folder '{output.parent}'")
    if output.is_dir():
        raise ConfigError(f"output={cfg.output} is a folder: name a file, for example {cfg.output}/scores.json")


def check_output(arguments: Sequence[str]) -> None:
    """Raise ConfigError where several weightings would write one file, each over the last."""
    several = {"-m", "--multirun"} & set(arguments)
    for word in arguments:
        if several and word.startswith("output=") and "${" not in word:
            named = "output='scores-${score.name}.json'"
            raise ConfigError(f"{word} with -m: each weighting needs a file of its own, {named}")


if __name__ == "__main__":
    require_known("aggregate", check_output)
    main()
