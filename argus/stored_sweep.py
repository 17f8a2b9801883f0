"""A sweep as the tracking store knows it: its cells, with what each of them kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TypeVar

from argus import tracking
from argus.errors import DataError
from argus.outcomes import read_outcomes
from argus.predictions import read_image_sums, read_predictions
from argus.records import CellKey, CellResult, DroppedCell
from argus.scoring.breakage import Outcomes
from argus.tracking import Store, StoredRun
from argus.uncertainty import Evidence, read_timings

COST, REFERENCE, DATA = "cost.", "reference.", "data."
FAMILY = "perturbation.family"
CONDITIONS = ("suite", "seed")  # beside the axes of a sweep, what a score depends on
NEWEST = "newest"
Kept = TypeVar("Kept")


@dataclass(frozen=True)
class SweepCells:
    """A sweep as the store knows it: the cells that were planned, with what came of them, and the dropped ones."""

    sweep_id: str
    started: int  # milliseconds since 1970
    command: str  # what was typed after python -m argus.run
    cells: tuple[CellResult, ...]
    dropped: tuple[DroppedCell, ...]
    ceilings: Mapping[str, float | None]  # by run id: the CIDEr-D that scores 1; None without captions
    locations: Mapping[str, str]  # by run id: where its artifacts lie
    params: Mapping[str, Mapping[str, str]]  # by run id: its configuration, as logged
    conditions: Mapping[str, str]  # suite and seed, the same for all its cells
    data: Mapping[str, Mapping[str, str]]  # by dataset: how much of what was read, and its digest
    digest: str  # of the set of cells: the same for a sweep that is run again


def minute(milliseconds: int) -> str:
    """Return a time since 1970 as date and time, UTC."""
    return f"{datetime.fromtimestamp(milliseconds / 1000, UTC):%Y-%m-%d %H:%M}"


def sweep_id_of(store: Store, named: str | None) -> str:
    """Return a sweep's id as it was named; None and "newest" are the one that was started last.

    Raises DataError when there is none.
    """
    if named not in (None, NEWEST):
        return str(named)
    sweeps = tracking.find(store, store.experiment, "tags.`argus.kind` = 'sweep'")
    if not sweeps:
        raise DataError(f"no sweep in '{store.uri}' yet: run python -m argus.run -m model=… first")
    return sweeps[0].id


def read_sweep(store: Store, sweep_id: str) -> SweepCells:
    """Read what came of each cell that a sweep planned; cells finished by an earlier sweep count."""
    sweep = tracking.get(store, sweep_id)
    kind = sweep.tags.get("argus.kind", "no run of Argus")
    if kind != "sweep":
        known = [run.id for run in tracking.find(store, store.experiment, "tags.`argus.kind` = 'sweep'")]
        raise DataError(f"sweep={sweep_id} is a {kind}, not a sweep. Sweeps, newest first: {', '.join(known[:10])}")
    with tracking.fetched(store, sweep_id, "plan.json") as path:
        plan = json.loads(path.read_text())
    planned = plan["run"] + plan["skipped"]
    runs = _best_runs(tracking.find(store, store.experiment, "tags.`argus.kind` = 'cell'"))
    found = [(CellKey(**cell["key"]), runs.get(cell["fingerprint"])) for cell in planned]
    return SweepCells(
        sweep_id=sweep_id,
        started=sweep.started,
        command=sweep.tags.get("argus.command", ""),  # older sweeps kept none
        cells=tuple(_result(store, key, run) for key, run in found),
        dropped=tuple(DroppedCell(CellKey(**drop["key"]), drop["reason"]) for drop in plan["dropped"]),
        ceilings={run.id: _ceiling(run) for _, run in found if run is not None},
        locations={run.id: run.artifacts for _, run in found if run is not None},
        params={run.id: run.params for _, run in found if run is not None},
        conditions={name: _same(name, [run for _, run in found if run is not None]) for name in CONDITIONS},
        data={key.dataset: data for key, run in found if run is not None and (data := _data(run))},
        digest=tracking.digest_of(cell["fingerprint"] for cell in planned),
    )


def _data(run: StoredRun) -> dict[str, str]:
    """Return what a run says of its data; nothing where it ended before it had read any."""
    return {name.removeprefix(DATA): value for name, value in run.params.items() if name.startswith(DATA)}


def _same(name: str, runs: Sequence[StoredRun]) -> str:
    """Return what all runs have for a parameter. Raises DataError where they differ: their scores do not compare."""
    values = sorted({run.params[name] for run in runs})
    if len(values) > 1:
        raise DataError(f"the cells of the sweep have several values of {name}: {', '.join(values)}; score them apart")
    return values[0] if values else ""


def _ceiling(run: StoredRun) -> float | None:
    logged = run.params["dataset.caption_ceiling"]
    return None if logged == "None" else float(logged)


def _best_runs(newest_first: Sequence[StoredRun]) -> dict[str, StoredRun]:
    """Return one run for each fingerprint: the newest finished, else the newest."""
    best: dict[str, StoredRun] = {}
    for run in newest_first:
        known = best.setdefault(run.tags["argus.fingerprint"], run)
        if known.status != "FINISHED" and run.status == "FINISHED":
            best[run.tags["argus.fingerprint"]] = run
    return best


def _result(store: Store, key: CellKey, run: StoredRun | None) -> CellResult:
    if run is None:
        return CellResult(key, "MISSING", "", None, 0, (), {}, {}, {}, "never run")
    finished = run.status == "FINISHED"
    return CellResult(
        key=key,
        status=run.status,
        run_id=run.id,
        score=run.metrics["score"] if finished else None,
        samples=int(run.metrics["samples"]) if finished else 0,
        failed=_failed(store, run) if finished else (),
        metrics=dict(run.metrics),
        costs={name.removeprefix(COST): value for name, value in run.metrics.items() if name.startswith(COST)},
        references={k.removeprefix(REFERENCE): float(v) for k, v in run.params.items() if k.startswith(REFERENCE)},
        reason="" if finished else run.tags.get("argus.reason", run.status),
        family=run.params.get(FAMILY, ""),  # older runs name none
    )


def _failed(store: Store, run: StoredRun) -> tuple[str, ...]:
    if run.metrics["failed_samples"] == 0:
        return ()
    with tracking.fetched(store, run.id, "failed_samples.json") as path:
        return tuple(json.loads(path.read_text()))


def evidence_of(store: Store, *sweeps: SweepCells) -> Evidence:
    """Return how to read what the sweeps' cells kept."""
    locations = {run: location for sweep in sweeps for run, location in sweep.locations.items()}
    ceilings = {run: ceiling for sweep in sweeps for run, ceiling in sweep.ceilings.items()}

    def kept(name: str, read: Callable[[Path], Kept]) -> Callable[[CellResult], Kept]:
        def of(cell: CellResult) -> Kept:
            with tracking.opened(store, cell.run_id, locations[cell.run_id], name) as path:
                return read(path)

        return of

    sums = kept("image_sums.parquet", read_image_sums)

    def outcomes(cell: CellResult) -> Outcomes:
        of_images = sums(cell) if cell.key.task == "captioning" else None
        return kept("predictions.parquet", partial(read_outcomes, sums=of_images))(cell)

    return Evidence(
        predictions=kept("predictions.parquet", read_predictions),
        sums=sums,
        timings=kept("timings.json", read_timings),
        ceiling=lambda cell: ceilings[cell.run_id],
        outcomes=outcomes,
    )
