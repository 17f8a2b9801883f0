"""Scorecards and cells as data frames, for csv, parquet and notebooks. A gap is NaN there; its reason has a column."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import pandas as pd

from argus.records import CellResult
from argus.report.ranking import ranked
from argus.scoring.analysis import CellIntervals
from argus.scoring.records import Scorecard, Vector

SIDES = ("low", "high")


def frame(scorecards: Sequence[Scorecard]) -> pd.DataFrame:
    """Return one row for each model, best first: rank, figures (own cells, then common ones), coverage, gaps."""
    return pd.DataFrame([_row(rank, card) for rank, card in ranked(scorecards)]).astype({"rank": "Int64"})


def _row(rank: int | None, card: Scorecard) -> dict[str, Any]:
    return {
        "rank": rank,
        "model": card.model,
        "hardware": card.hardware,
        **_numbers(card.own, ""),
        "coverage": card.coverage,
        **_numbers(card.common, "_common"),
        "coverage_common": card.common_coverage,
        "gaps": "; ".join(f"{name}: {value.gap}" for name, value in card.own.figures().items() if value.gap),
        "missing": "; ".join(f"{cell.slot}: {cell.reason}" for cell in card.missing),
    }


def _numbers(vector: Vector, suffix: str) -> dict[str, float]:
    numbers: dict[str, float] = {}
    for name, value in vector.figures().items():
        low, high = value.interval or (math.nan, math.nan)
        number = math.nan if value.value is None else value.value
        numbers |= {f"{name}{suffix}": number, f"{name}{suffix}_low": low, f"{name}{suffix}_high": high}
    return numbers


def cells_frame(cells: Iterable[CellResult], intervals: CellIntervals) -> pd.DataFrame:
    """Return one row for each cell: its key, status, score, samples, metrics, costs and the reason of a failure.

    `intervals` are the 95 % ends of metrics by run id; a metric has them in columns that end in _low and _high.
    """
    return pd.DataFrame([_cell(cell, intervals.get(cell.run_id, {})) for cell in cells])


def _cell(cell: CellResult, intervals: Mapping[str, tuple[float, float]]) -> dict[str, Any]:
    low, high = intervals.get("score", (math.nan, math.nan))
    ends = {f"metrics.{name}_{side}": both[at] for name, both in intervals.items() for at, side in enumerate(SIDES)}
    return {
        **asdict(cell.key),
        "family": cell.family,
        "status": cell.status,
        "score": math.nan if cell.score is None else cell.score,
        "score_low": low,
        "score_high": high,
        "samples": cell.samples,
        "failed": len(cell.failed),
        "run_id": cell.run_id,
        "reason": cell.reason,
        **{f"metrics.{name}": value for name, value in cell.metrics.items()},
        **ends,
        **{f"costs.{name}": value for name, value in cell.costs.items()},
    }


def curves(card: Scorecard) -> dict[int, dict[str, float]]:
    """Return what is left at each severity, 1 at severity 0: metrics that MLflow draws as curves over their steps.

    They stand over the cells that the models share, so that the curves of several runs compare.
    """
    found = card.shared_by.by_perturbation
    names = {f"curve.{one.perturbation}": one.by_severity for one in found if len(one.by_severity) > 1}
    curves: dict[int, dict[str, float]] = {0: dict.fromkeys(names, 1.0)} if names else {}
    for name, values in names.items():
        for severity, value in values.items():
            if value.value is not None:
                curves.setdefault(severity, {})[name] = value.value
    return curves
