"""Check that data and weights are in place before a long job: python -m argus.doctor suite=official data_dir=…."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence

import hydra
from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig

from argus.configuration import conf_dir
from argus.errors import ArgusError
from argus.overrides import require_known


@hydra.main(version_base=None, config_path=str(conf_dir()), config_name="run")
def main(cfg: DictConfig) -> None:
    """Print a line for each dataset and model of the suite, or the model named; exits with 1 when one is not usable."""
    from rich.console import Console

    from argus.preparing import prepare_data

    typed = list(HydraConfig.get().overrides.task)
    try:
        prepare_data(cfg, Console())
    except ArgusError as error:
        sys.exit(f"error: {error}")
    well = [_check(f"dataset={name}", typed, _dataset) for name in cfg.suite.datasets]
    named = [word for word in typed if word.startswith("model=")]
    members = named or [f"model={name}" for name in cfg.suite.models]
    well += [_check(member, typed, _model) for member in members]
    sys.exit(0 if all(well) else 1)


def _check(member: str, typed: Sequence[str], look: Callable[[DictConfig], str]) -> bool:
    try:
        found = look(hydra.compose("run", overrides=[*typed, member]))
    except ArgusError as error:
        print(f"MISSING  {member}: {error}")
        return False
    print(f"ok       {member}: {found}")
    return True


def _dataset(cfg: DictConfig) -> str:
    from argus.data.selection import counts, take
    from argus.settings import build_reader, settings_of

    entries = build_reader(settings_of(cfg).dataset_config).entries()
    taken = take(entries, cfg.dataset.limit, cfg.dataset.expected)
    return ", ".join(f"{count} {what}" for what, count in counts(taken).items())


def _model(cfg: DictConfig) -> str:
    from argus.fingerprint import weights

    return ", ".join(f"{location} {_short(revision)}" for location, revision in weights(cfg).items())


def _short(revision: str) -> str:
    """Return the beginning of a digest or commit, and in full what a server says of its model."""
    return revision[:19] if re.fullmatch("(sha256:)?[0-9a-f]{40,}", revision) else revision


if __name__ == "__main__":
    require_known("run")
    main()
