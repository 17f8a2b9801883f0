"""An analysis as data frames, for csv, parquet and notebooks. What is unknown is NaN; a reason has a column."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from argus.scoring.analysis import Analysis
from argus.scoring.breakage import Breakage
from argus.scoring.records import Value


def analysis_frames(analysis: Analysis) -> dict[str, pd.DataFrame]:
    """Return the tables of an analysis by file name; one that has no row is left out."""
    tables = {
        "differences": _differences(analysis),
        "ranks": _ranks(analysis),
        "leads": _leads(analysis),
        "weights": _weights(analysis),
        "alternatives": _alternatives(analysis),
        "gap": _gap(analysis),
        "flips": [vars(flip) for flip in analysis.gap.flips],
        "breakage": _breakage(analysis.breakage),
        "breakage_by_perturbation": _breakage(analysis.breakage_by_perturbation),
        "corruption_errors": _corruption(analysis),
    }
    return {name: pd.DataFrame(rows) for name, rows in tables.items() if rows}


def _ends(interval: tuple[float, float] | None, name: str = "") -> dict[str, float]:
    low, high = interval or (math.nan, math.nan)
    return {f"{name}low": low, f"{name}high": high}


def _value(name: str, value: Value) -> dict[str, float]:
    return {name: math.nan if value.value is None else value.value, **_ends(value.interval, f"{name}_")}


def _differences(analysis: Analysis) -> list[dict[str, Any]]:
    return [
        {
            "figure": one.figure,
            "first": one.first,
            "second": one.second,
            "difference": one.value,
            **_ends(one.interval),
            "p": one.p,
            "p_holm": one.p_holm,
            "beyond_noise": one.beyond_noise,
            "detectable": one.detectable,
            "gap": one.gap,
        }
        for one in analysis.differences
    ]


def _ranks(analysis: Analysis) -> list[dict[str, Any]]:
    return [
        {
            "figure": one.figure,
            "model": one.name,
            "best": one.best,
            "worst": one.worst,
            **{f"probability_{rank}": share for rank, share in enumerate(one.probabilities, start=1)},
        }
        for one in analysis.ranks
    ]


def _leads(analysis: Analysis) -> list[dict[str, Any]]:
    return [
        {
            "figure": one.figure,
            "first": ", ".join(one.first),
            **_value("value", one.value),
            "told_apart": one.told_apart,
            "as_good": ", ".join(one.as_good),
            "lacking": ", ".join(one.lacking),
        }
        for one in analysis.leads
    ]


def _weights(analysis: Analysis) -> list[dict[str, Any]]:
    """One row a model: the share of weightings it wins, and the nearest weights that bring it level with the winner."""
    weights = analysis.weights
    if weights is None:
        return []
    changes = {change.challenger: change for change in weights.changes}
    rows: list[dict[str, Any]] = []
    for name, share in weights.won.items():
        row: dict[str, Any] = {"model": name, "won": share, "winner": name == weights.winner}
        if change := changes.get(name):
            row |= {"moved": change.moved} | _named("weight", dict(zip(weights.parts, change.weights, strict=True)))
        rows.append(row)
    return rows


def _named(prefix: str, numbers: Mapping[str, float]) -> dict[str, float]:
    return {f"{prefix}.{name}": number for name, number in numbers.items()}


def _alternatives(analysis: Analysis) -> list[dict[str, Any]]:
    return [
        {
            "choice": one.choice,
            "option": one.option,
            "winners": ", ".join(one.winners),
            "changes_winner": one.changes_winner,
            "tau": one.tau,
            **_named("overall", one.overall),
            "gap": one.gap,
        }
        for one in analysis.alternatives
    ]


def _gap(analysis: Analysis) -> list[dict[str, Any]]:
    gap = analysis.gap
    return [
        {
            "model": card.name,
            **_value("P", card.common.P),
            **_value("reliability", gap.reliability[card.name]),
            "rank_by_capability": gap.rank_by_capability.get(card.name),
            "rank_by_reliability": gap.rank_by_reliability.get(card.name),
            **_value("CDC_corrected", analysis.corrected_cdc[card.name]),
        }
        for card in analysis.scorecards
        if card.name in gap.reliability
    ]


def _breakage(found: Iterable[Breakage]) -> list[dict[str, Any]]:
    rows = []
    for one in found:
        slot = {name: part for name, part in one.slot._asdict().items() if part}
        measures = {key: x for name, value in one.measures.items() for key, x in _value(name, value).items()}
        rows.append({"model": one.name, **slot, "samples": one.samples, **measures, "gap": one.gap})
    return rows


def _corruption(analysis: Analysis) -> list[dict[str, Any]]:
    return [
        {
            "model": one.name,
            "modality": one.modality,
            "family": one.family,
            **_value("error", one.error),
            **_value("mce", one.mce),
            **_value("relative_mce", one.relative_mce),
        }
        for one in analysis.corruption
    ]
