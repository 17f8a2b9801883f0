"""From the tracking store to scorecards: read a sweep's cells, score the models, keep the result."""

from __future__ import annotations

import json
import traceback
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from omegaconf import DictConfig
from rich.console import Console

from argus import tracking
from argus.report.analysis import analysis_frames
from argus.report.export import analysis_as_json, as_json
from argus.report.findings import trust
from argus.report.frames import cells_frame, curves, frame
from argus.report.table import report, weighed
from argus.reporting import report_of
from argus.scoring.analysis import Analysis, analyse
from argus.scoring.breakage import breakages
from argus.scoring.pairing import rescorer
from argus.scoring.records import Breakdown, Scorecard, Value
from argus.scoring.resampling import Counts
from argus.scoring.scheme import Scheme
from argus.scoring.vector import compare, scorecards
from argus.settings import build
from argus.stored_sweep import SweepCells, evidence_of, minute, read_sweep, sweep_id_of
from argus.tracking import Store
from argus.uncertainty import drawn_score, sample

FINISHED_TAG = "argus.cells_finished"


@dataclass(frozen=True)
class Aggregate:
    """What an aggregation says, and the run that keeps it."""

    analysis: Analysis  # with the scheme and the scorecards
    document: Mapping[str, object]
    run_id: str
    html: str | None  # the report; None where it could not be written


def aggregate_sweep(
    store: Store, sweep: str | None, score: DictConfig, console: Console, brief: bool = False
) -> Aggregate:
    """Score the models of a sweep (null: the newest), print the table, keep scorecards in their own experiment.

    Scorecards of the same cells under the same weighting replace their predecessors, unless those rest on more cells.
    Where `brief`, only what depends on the weights is printed.
    """
    scheme = scheme_of(score)
    found = read_sweep(store, sweep_id_of(store, sweep))
    analysis = analysis_of(store, found, scheme)
    document = as_json(analysis.scorecards, scheme) | {"analysis": analysis_as_json(analysis)}
    console.print((weighed if brief else report)(analysis.scorecards, scheme))
    console.print(trust(analysis))
    run_id = _keep(store, found, analysis, document)
    html = _report(store, found, analysis, run_id, console)
    console.print(
        f"Compare in the browser: python -m argus.ui  (experiments {store.experiment}, {store.scores_experiment})"
    )
    return Aggregate(analysis, document, run_id, html)


def analysis_of(store: Store, found: SweepCells, scheme: Scheme) -> Analysis:
    """Score a sweep's models and analyse the scores; nothing is written."""
    evidence, counts = evidence_of(store, found), Counts(scheme.bootstrap)
    sampled = sample(found.cells, evidence, counts)
    rescore = rescorer(evidence.predictions, drawn_score(evidence, counts))
    comparison = compare(found.cells, scheme, rescore, found.dropped, sampled.resamples)
    cells = {comparison.name(name): mine for name, mine in comparison.cells.items()}
    broken = breakages(cells, evidence.outcomes, counts)
    return analyse(comparison, scorecards(comparison, scheme), scheme, broken, sampled.intervals)


def scheme_of(score: DictConfig) -> Scheme:
    """Build a member of conf/score."""
    scheme: Scheme = build(score)
    return scheme


def _keep(store: Store, found: SweepCells, analysis: Analysis, document: Mapping[str, object]) -> str:
    """Write the aggregation run with its tables, and beneath it one scorecard run a model."""
    scheme, about = analysis.scheme, _about(store, found)
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
        store, store.scores_experiment, f"aggregation · {scheme.name} · {about}", tags | {"argus.kind": "scores"}
    )
    tracking.log(store, top, params=_params(scheme))
    with tracking.artifacts(store, top) as folder:
        (folder / "scores.json").write_text(json.dumps(document, indent=1, ensure_ascii=False))
        tables = {"scores": frame(analysis.scorecards), "cells": cells_frame(found.cells, analysis.cell_intervals)}
        for name, table in (tables | analysis_frames(analysis)).items():
            table.to_csv(folder / f"{name}.csv", index=False)
            table.to_parquet(folder / f"{name}.parquet", index=False)
    for card in analysis.scorecards:
        run_id = tracking.start(
            store,
            store.scores_experiment,
            f"{card.name} · {scheme.name} · {about}",
            tags | {"argus.kind": "scorecard", "model": card.model},
            parent=top,
        )
        tracking.log(store, run_id, params={"model": card.name} | _params(scheme), metrics=_metrics(card, analysis))
        for severity, left in curves(card).items():
            tracking.log(store, run_id, metrics=left, step=severity)
        tracking.end(store, run_id, "FINISHED")
    tracking.end(store, top, "FINISHED")
    tracking.delete(store, old)
    return top


def _about(store: Store, found: SweepCells) -> str:
    """Return what names a sweep among others: when it started, UTC, and 4 letters of its id if others did then, too."""
    started = minute(found.started)
    sweeps = tracking.find(store, store.experiment, "tags.`argus.kind` = 'sweep'")
    alone = sum(minute(sweep.started) == started for sweep in sweeps) < 2
    return started if alone else f"{started} {found.sweep_id[:4]}"


def _report(store: Store, found: SweepCells, analysis: Analysis, run_id: str, console: Console) -> str | None:
    """Keep the report beside the scores, and say where it is; or say why there is none: the scores are safe by then."""
    try:
        report = report_of(store, found, analysis)
    except Exception as error:  # whatever a report trips over must not cost a sweep its end
        console.print(f"the scores are kept, but the report could not be written: {error!r}", markup=False)
        with tracking.artifacts(store, run_id) as folder:
            (folder / "report_traceback.txt").write_text(traceback.format_exc())
        return None
    with tracking.artifacts(store, run_id) as folder:
        (folder / "report.html").write_text(report.html, encoding="utf-8")
        (folder / "report.md").write_text(report.markdown, encoding="utf-8")
    place = tracking.get(store, run_id).artifacts
    console.print(f"Report: {place.removeprefix('file://')}/report.html", markup=False, soft_wrap=True)
    return report.html


def _params(scheme: Scheme) -> dict[str, object]:
    weights = {f"weight.{name}": value for name, value in asdict(scheme.weights).items()}
    # Names alone, so that runs compare at a glance; scores.json says each formula in full.
    forms = {"CDC": scheme.formulas.cdc, "E": scheme.formulas.efficiency, "overall": scheme.formulas.overall}
    formulas = {f"formula.{name}": form for name, form in forms.items()}
    bootstrap = {f"bootstrap.{name}": value for name, value in asdict(scheme.bootstrap).items()}
    reference = {"reference_model": scheme.reference_model} if scheme.reference_model else {}
    return {"weighting": scheme.name} | reference | weights | formulas | bootstrap


def _parts(of: Breakdown) -> dict[str, Value]:
    return {
        **{f"dataset.{name}": value for name, value in of.by_dataset.items()},
        **{f"task.{name}": value for name, value in of.by_task.items()},
        **{f"RR.{one.perturbation}": one.ratio for one in of.by_perturbation},
        **{f"RR.{one.modality}.{one.family}": one.ratio for one in of.by_family},
        **{f"RR.task.{name}": value for name, value in of.rr_by_task.items()},
    }


def _metrics(card: Scorecard, analysis: Analysis) -> dict[str, float]:
    """Return every figure of a scorecard that has a value, with its interval; gaps are in scores.json with reasons."""
    figures = {
        **card.own.figures(),
        **{f"common.{name}": value for name, value in card.common.figures().items()},
        **_parts(card.own_by),
        **{f"shared.{name}": value for name, value in _parts(card.shared_by).items()},
    }
    if card.name in analysis.corrected_cdc:
        figures["common.CDC_corrected"] = analysis.corrected_cdc[card.name]
    values = {name: figure.value for name, figure in figures.items() if figure.value is not None}
    ends = {name: figure.interval for name, figure in figures.items() if figure.interval is not None}
    low, high = ({f"{name}_{side}": end[at] for name, end in ends.items()} for at, side in enumerate(("low", "high")))
    first = {one.name: one.probabilities[0] for one in analysis.ranks if one.figure == "overall" and one.probabilities}
    certain = {"probability_of_first_rank": first[card.name]} if card.name in first else {}
    return values | low | high | certain
