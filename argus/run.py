"""Evaluate one cell, or with -m a sweep: python -m argus.run -m model=clip,blip,gemma perturbation=blur,typo."""

from __future__ import annotations

import sys
from pathlib import Path

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig, open_dict

from argus import interrupts
from argus.configuration import conf_dir
from argus.errors import ArgusError, ConfigError
from argus.markers import cell_name
from argus.overrides import deferred, require_known


@hydra.main(version_base=None, config_path=str(conf_dir()), config_name="run")
def main(cfg: DictConfig) -> object:
    """Run the cell that the config describes. In a sweep the sweeper calls this once a cell."""
    context = HydraConfig.get()
    if context.mode == RunMode.MULTIRUN:
        from argus.cell import evaluate

        return evaluate(cfg, Path(context.runtime.output_dir) / f"{cell_name(context.job.num)}.json")
    try:
        if swept := context.sweeper.params:
            raise ConfigError(f"experiment={context.runtime.choices['experiment']} sweeps {', '.join(swept)}: add -m")
        _single(cfg)
    except ArgusError as error:
        sys.exit(f"error: {error}")
    return None


def _single(cfg: DictConfig) -> None:
    """Run one cell by itself and print its metrics; exits with status 1 when it failed."""
    from rich.console import Console

    from argus import tracking
    from argus.planning import check_cell, why_not_cell
    from argus.preparing import prepare_data
    from argus.report.cell import cell_table
    from argus.settings import store_of

    reason = why_not_cell(cfg)
    if reason is not None:
        raise ConfigError(f"this cell makes no sense: {reason}")
    check_cell(cfg)
    console = Console()
    store = store_of(cfg)
    tracking.prepare(store)
    prepare_data(cfg, console)
    lock = tracking.new_lock(store)
    with open_dict(cfg):
        cfg.argus.lock = lock
    with tracking.holding(lock):
        from argus.cell import evaluate

        state = evaluate(cfg, None)
    if state.status != "FINISHED":
        raise ArgusError(f"'{state.title}' failed: {state.reason}\nThe traceback is an artifact of run {state.run_id}.")
    console.print(cell_table(state, tracking.get(store, state.run_id).metrics))


if __name__ == "__main__":
    interrupts.listen()
    require_known("run")
    sys.argv[1:] = deferred(sys.argv[1:])
    try:
        main()
    except KeyboardInterrupt:
        print("\ninterrupted: finished cells are kept, the same command runs the rest", file=sys.stderr)
        sys.exit(130)
