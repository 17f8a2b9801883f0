"""From the tracking store to scorecards: read a sweep's cells, score the models, keep the result."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from omegaconf import DictConfig
from rich.console import Console

from argus import tracking
from argus.errors import DataError
from argus.metrics.score import score_of
from argus.predictions import read_predictions
from argus.records import CellKey, CellResult, DroppedCell, Prediction
from argus.report.export import as_json
from argus.report.frames import cells_frame, frame
from argus.report.table import report
from argus.scoring.pairing import rescorer
from argus.scoring.records import Scorecard
from argus.scoring.scheme import Scheme
from argus.scoring.vector import score_models
from argus.settings import build
from argus.tracking import Store, StoredRun

COST, REFERENCE = "cost.", "reference."
FINISHED_TAG = "argus.cells_finished"


@dataclass(frozen=True)
class SweepCells:
    """A sweep as the store knows it: the cells that were planned, with what came of them, and the dropped ones."""

    sweep_id: str
    cells: tuple[CellResult, ...]
    dropped: tuple[DroppedCell, ...]
    ceilings: Mapping[str, float | None]  # by run id: the CIDEr-D that scores 1; None without captions
    digest: str  # of the set of cells: the same for a sweep that is run again


@dataclass(frozen=True)
class Aggregate:
    """What an aggregation says, and the run that keeps it."""

    scheme: Scheme
    scorecards: tuple[Scorecard, ...]
    document: Mapping[str, object]
    run_id: str


def aggregate_sweep(store: Store, sweep: str | None, score: DictConfig, console: Console) -> Aggregate:
    """Score the models of a sweep (null: the newest), print the table, keep scorecards in their own experiment.

    Scorecards of the same cells under the same weighting replace their predecessors, unless those rest on more cells.
    """
    scheme = scheme_of(score)
    found = read_sweep(store, sweep or newest_sweep(store))
    rescore = rescorer(
        lambda cell: _predictions(store, cell),
        lambda cell, some: score_of(cell.key.task, some, found.ceilings[cell.run_id]),
    )
    scorecards = score_models(found.cells, scheme, rescore, found.dropped)
    document = as_json(scorecards, scheme)
    console.print(report(scorecards, scheme))
    run_id = _keep(store, found, scheme, scorecards, document)
    console.print(
        f"Compare in the browser: python -m argus.ui  (experiments {store.experiment}, {store.scores_experiment})"
    )
    return Aggregate(scheme, scorecards, document, run_id)


def scheme_of(score: DictConfig) -> Scheme:
    """Build a member of conf/score."""
    scheme: Scheme = build(score)
    return scheme


def newest_sweep(store: Store) -> str:
    """Return the id of the sweep that was started last. Raises DataError when there is none."""
    sweeps = tracking.find(store, store.experiment, "tags.`argus.kind` = 'sweep'")
    if not sweeps:
        raise DataError(f"no sweep in '{store.uri}' yet: run python -m argus.run -m model=… first")
    return sweeps[0].id


def read_sweep(store: Store, sweep_id: str) -> SweepCells:
    """Read what came of each cell that a sweep planned; cells finished by an earlier sweep count."""
    kind = tracking.get(store, sweep_id).tags.get("argus.kind", "no run of Argus")
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
        cells=tuple(_result(store, key, run) for key, run in found),
        dropped=tuple(DroppedCell(CellKey(**drop["key"]), drop["reason"]) for drop in plan["dropped"]),
        ceilings={run.id: _ceiling(run) for _, run in found if run is not None},
        digest=tracking.digest_of(cell["fingerprint"] for cell in planned),
    )


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
    )


def _failed(store: Store, run: StoredRun) -> tuple[str, ...]:
    if run.metrics["failed_samples"] == 0:
        return ()
    with tracking.fetched(store, run.id, "failed_samples.json") as path:
        return tuple(json.loads(path.read_text()))


def _predictions(store: Store, cell: CellResult) -> tuple[Prediction, ...]:
    with tracking.fetched(store, cell.run_id, "predictions.parquet") as path:
        return read_predictions(path)


def _keep(
    store: Store, found: SweepCells, scheme: Scheme, scorecards: Sequence[Scorecard], document: Mapping[str, object]
) -> str:
    """Write the aggregation run with its tables, and beneath it one scorecard run a model."""
    same = f"tags.`argus.cells` = '{found.digest}' and tags.`argus.weighting` = '{scheme.name}'"
    finished = sum(cell.status == "FINISHED" for cell in found.cells)
    # Cells may have been deleted meanwhile: scorecards that rest on more of them are better, and stay.
    old = [
        run.id
        for run in tracking.find(store, store.scores_experiment, same)
        if int(run.tags.get(FINISHED_TAG, 0)) <= finished
    ]
    tags = {
        "argus.cells": found.digest,
        "argus.weighting": scheme.name,
        "argus.sweep": found.sweep_id,
        FINISHED_TAG: str(finished),
    }
    top = tracking.start(
        store, store.scores_experiment, f"aggregation · {scheme.name}", tags | {"argus.kind": "scores"}
    )
    tracking.log(store, top, params=_params(scheme))
    with tracking.artifacts(store, top) as folder:
        (folder / "scores.json").write_text(json.dumps(document, indent=1, ensure_ascii=False))
        for name, table in (("scores", frame(scorecards)), ("cells", cells_frame(found.cells))):
            table.to_csv(folder / f"{name}.csv", index=False)
            table.to_parquet(folder / f"{name}.parquet", index=False)
    for card in scorecards:
        run_id = tracking.start(
            store,
            store.scores_experiment,
            f"{card.name} · {scheme.name}",
            tags | {"argus.kind": "scorecard", "model": card.model},
            parent=top,
        )
        tracking.log(store, run_id, params={"model": card.name} | _params(scheme), metrics=_metrics(card))
        tracking.end(store, run_id, "FINISHED")
    tracking.end(store, top, "FINISHED")
    tracking.delete(store, old)
    return top


def _params(scheme: Scheme) -> dict[str, object]:
    weights = {f"weight.{name}": value for name, value in asdict(scheme.weights).items()}
    # Names alone, so that runs compare at a glance; scores.json says each formula in full.
    forms = {"CDC": scheme.formulas.cdc, "E": scheme.formulas.efficiency, "overall": scheme.formulas.overall}
    formulas = {f"formula.{name}": form for name, form in forms.items()}
    return {"weighting": scheme.name} | weights | formulas


def _metrics(card: Scorecard) -> dict[str, float]:
    """Return every figure of a scorecard that has a value; gaps are in scores.json with their reasons."""
    figures = {
        **card.own.figures(),
        **{f"common.{name}": value for name, value in card.common.figures().items()},
        **{f"dataset.{name}": value for name, value in card.by_dataset.items()},
        **{f"task.{name}": value for name, value in card.by_task.items()},
        **{f"RR.{ratio.perturbation}": ratio.ratio for ratio in card.by_perturbation},
    }
    return {name: figure.value for name, figure in figures.items() if figure.value is not None}
