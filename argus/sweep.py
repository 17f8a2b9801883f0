"""A sweep from end to end: plan, run what is not yet finished, aggregate, say what is left to do."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from statistics import fmean

from hydra.core.override_parser.types import Override
from hydra.core.utils import JobReturn
from hydra.errors import HydraException
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException
from rich.console import Console

from argus import interrupts, tracking
from argus.aggregation import aggregate_sweep, scheme_of
from argus.errors import ArgusError, ConfigError
from argus.markers import State, cell_name, read_all, title
from argus.overrides import as_typed, axes_of, base_of
from argus.planning import Compose, Plan, PlannedCell, make_plan
from argus.preparing import prepare_data
from argus.progress import watch
from argus.report.plan import plan_report
from argus.settings import store_of

Launch = Callable[..., Sequence[JobReturn]]


def run_sweep(cfg: DictConfig, overrides: Sequence[Override], compose: Compose, launch: Launch) -> None:
    """Run a sweep; exits with status 1 when a cell failed, with 2 when the command itself was wrong."""
    try:
        failed = _run_sweep(cfg, overrides, compose, launch, Console())
    except OmegaConfBaseException as error:
        print(f"error: {str(error).splitlines()[0]}; give it a value: key=value", file=sys.stderr)
        sys.exit(2)
    except (ArgusError, HydraException) as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    if failed:
        sys.exit(1)


def _run_sweep(
    cfg: DictConfig, overrides: Sequence[Override], compose: Compose, launch: Launch, console: Console
) -> tuple[State, ...]:
    axes = axes_of(overrides)
    base = compose(base_of(axes))
    scheme_of(base.score)  # impossible weights are told now, not after hours
    store = store_of(base)
    prepare_data(base, console)
    tracking.prepare(store)
    for name in tracking.bury(store):
        console.print(f"closed as KILLED, its process is gone: {name}")
    earlier = finished_runs(store)
    known = {} if base.argus.rerun else {run.tags["argus.fingerprint"]: run.id for run in earlier}
    plan = make_plan(axes, compose, lambda fingerprint: known.get(fingerprint, ""))
    console.print(plan_report(plan, estimate(plan, earlier), whole=base.argus.dry_run))
    if base.argus.dry_run:
        return ()
    if not plan.run and not plan.skipped:
        raise ConfigError("no cell is left, every one was dropped for the reasons above: name other members")
    lock = tracking.new_lock(store)
    with tracking.holding(lock), _sweep_run(store, lock, plan, overrides) as sweep_id:
        states = _launch(plan, sweep_id, lock, Path(cfg.hydra.sweep.dir), launch, console)
        _leave_none_running(store, sweep_id)
    aggregate_sweep(store, sweep_id, base.score, console)
    failed = tuple(state for state in states if state.status != "FINISHED")
    _say_failed(failed, console)
    return failed


def finished_runs(store: tracking.Store) -> tuple[tracking.StoredRun, ...]:
    """Return the finished cells of all sweeps, oldest first."""
    return tracking.find(
        store, store.experiment, "attributes.status = 'FINISHED' and tags.`argus.kind` = 'cell'", newest_first=False
    )


def estimate(plan: Plan, earlier: Sequence[tracking.StoredRun]) -> str:
    """Return how long the plan may take, from earlier cells of the same model, task and hardware."""
    took: dict[tuple[str, str, str], list[float]] = {}
    for run in earlier:
        took.setdefault((run.tags["model"], run.tags["task"], run.tags["hardware"]), []).append(run.seconds)
    kinds = [(cell.key.model, cell.key.task, cell.key.hardware) for cell in plan.run]
    seconds = sum(fmean(took[kind]) for kind in kinds if kind in took)
    unknown = sum(kind not in took for kind in kinds)
    if unknown == len(kinds):
        return "no earlier run to estimate the time from" if kinds else ""
    rest = f", and {unknown} cells of kinds that have not run here yet" if unknown else ""
    return f"about {seconds / 60:.1f} minutes, one cell after the other, going by earlier runs{rest}"


@contextmanager
def _sweep_run(store: tracking.Store, lock: str, plan: Plan, overrides: Sequence[Override]) -> Iterator[str]:
    """Open the parent run, with the plan in it, and close it whatever happens."""
    typed = " ".join(as_typed(str(override.input_line)) for override in overrides)
    tags = {"argus.kind": "sweep", tracking.LOCK_TAG: lock, "argus.command": typed}
    sweep_id = tracking.start(store, store.experiment, f"sweep {typed}"[:250], tags)
    counted = {"cells.run": len(plan.run), "cells.skipped": len(plan.skipped), "cells.dropped": len(plan.dropped)}
    tracking.log(store, sweep_id, params={"command": typed, **counted})
    with tracking.artifacts(store, sweep_id) as folder:
        (folder / "plan.json").write_text(json.dumps(asdict(plan), indent=1))
    try:
        yield sweep_id
    except BaseException:
        _leave_none_running(store, sweep_id)
        tracking.end(store, sweep_id, "KILLED")
        raise
    tracking.end(store, sweep_id, "FINISHED")


def _launch(plan: Plan, sweep_id: str, lock: str, folder: Path, launch: Launch, console: Console) -> tuple[State, ...]:
    """Run the cells and return what came of each, in the order of the plan."""
    if not plan.run:
        return ()
    folder.mkdir(parents=True, exist_ok=True)
    jobs = [_job(cell, sweep_id, lock) for cell in plan.run]
    trouble = "its worker process died (out of memory, or killed)"
    returns: Sequence[JobReturn] = ()
    with watch(folder, len(jobs), console):
        try:
            returns = launch(jobs, initial_job_idx=0)
        except Exception as error:  # a launcher may raise anything; the cells that ended are kept and scored
            trouble = f"the launcher stopped: {error!r}"
    interrupts.check()
    states = read_all(folder)
    errors = dict(enumerate(map(_error_of, returns)))
    return tuple(
        _closed(states.get(cell_name(number)), cell, errors.get(number) or trouble)
        for number, cell in enumerate(plan.run)
    )


def _error_of(returned: JobReturn) -> str:
    """Return what a job raised, or ""; a cell that failed in the ordinary way returns its state instead."""
    try:
        _ = returned.return_value
    except Exception as error:
        return repr(error)
    return ""


def _job(cell: PlannedCell, sweep_id: str, lock: str) -> list[str]:
    return [
        *cell.overrides,
        f"argus.sweep={sweep_id}",
        f"argus.fingerprint={cell.fingerprint}",
        f"argus.lock='{lock}'",
    ]


def _closed(state: State | None, cell: PlannedCell, trouble: str) -> State:
    """Return a cell's state once its launcher came back; one that has not ended by then never will."""
    if state is not None and state.status != "RUNNING":
        return state
    known = state or State(title(cell.key), "RUNNING", 0, 0, 0.0)
    return replace(known, status="KILLED", reason=trouble)


def _leave_none_running(store: tracking.Store, sweep_id: str) -> None:
    for run in tracking.children(store, sweep_id, statuses=("RUNNING",)):
        tracking.end(store, run.id, "KILLED")


def _say_failed(failed: Sequence[State], console: Console) -> None:
    if not failed:
        return
    console.print(f"\n[red]{len(failed)} cells failed:[/]")
    for state in failed:
        console.print(f"  {state.title}: {state.reason}  (run {state.run_id})", highlight=False, markup=False)
    console.print("Each run holds its traceback.txt. The same command runs only these again.")
