"""Check that data and weights are in place before a long job: python -m argus.doctor suite=official data_dir=…."""

from __future__ import annotations

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
    """Print a line for each dataset and checkpoint of the suite; exits with 1 when one is not usable."""
    from rich.console import Console

    from argus.preparing import prepare_data

    typed = list(HydraConfig.get().overrides.task)
    try:
        prepare_data(cfg, Console())
    except ArgusError as error:
        sys.exit(f"error: {error}")
    well = [_check(f"dataset={name}", typed, _dataset) for name in cfg.suite.datasets]
    well += [_check(f"model={name}", typed, _model) for name in cfg.suite.models]
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

    return ", ".join(f"{location} {revision[:19]}" for location, revision in weights(cfg).items())


if __name__ == "__main__":
    require_known("run")
    main()
