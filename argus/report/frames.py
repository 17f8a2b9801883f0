"""Scorecards and cells as data frames, for csv, parquet and notebooks. A gap is NaN there; its reason has a column."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

import pandas as pd

from argus.records import CellResult
from argus.report.ranking import ranked
from argus.scoring.records import Scorecard, Vector


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
    numbers = {name: value.value for name, value in vector.figures().items()}
    return {f"{name}{suffix}": float("nan") if number is None else number for name, number in numbers.items()}


def cells_frame(cells: Iterable[CellResult]) -> pd.DataFrame:
    """Return one row for each cell: its key, status, score, samples, metrics, costs and the reason of a failure."""
    return pd.DataFrame([_cell(cell) for cell in cells])


def _cell(cell: CellResult) -> dict[str, Any]:
    return {
        **asdict(cell.key),
        "status": cell.status,
        "score": float("nan") if cell.score is None else cell.score,
        "samples": cell.samples,
        "failed": len(cell.failed),
        "run_id": cell.run_id,
        "reason": cell.reason,
        **{f"metrics.{name}": value for name, value in cell.metrics.items()},
        **{f"costs.{name}": value for name, value in cell.costs.items()},
    }
