"""Scorecards as plain data for json: no NaN, and every gap with its reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from argus.report.ranking import gap_sentence, ranked
from argus.scoring.analysis import Analysis
from argus.scoring.records import Absent, Breakdown, FamilyRatio, Ratio, Scorecard, Value, Vector
from argus.scoring.scheme import Scheme


def as_json(scorecards: Sequence[Scorecard], scheme: Scheme) -> dict[str, Any]:
    """Return {"models": {name: {"P": {"value", "interval", …}, …}}, "ranking", "scheme", "weights", "formulas"}."""
    return {
        "scheme": scheme.name,
        "weights": asdict(scheme.weights),
        "formulas": scheme.formulas.described(),
        "bootstrap": asdict(scheme.bootstrap),
        "reference_model": scheme.reference_model,
        "ranking": [{"rank": rank, "model": card.name} for rank, card in ranked(scorecards)],
        "leaders": gap_sentence(scorecards),
        "models": {card.name: _card(card) for card in scorecards},
    }


def analysis_as_json(analysis: Analysis) -> dict[str, Any]:
    """Return what an analysis says beyond the scorecards; the breakage of single cells is in its table alone."""
    gap = analysis.gap
    return {
        "differences": [asdict(one) | {"beyond_noise": one.beyond_noise} for one in analysis.differences],
        "ranks": [asdict(one) for one in analysis.ranks],
        "leads": [asdict(one) | {"value": _value(one.value)} for one in analysis.leads],
        "CDC_corrected": _values(analysis.corrected_cdc),
        "gap": {
            "reliability": _values(gap.reliability),
            "rank_by_capability": dict(gap.rank_by_capability),
            "rank_by_reliability": dict(gap.rank_by_reliability),
            "flips": [asdict(flip) for flip in gap.flips],
            "spearman": _value(gap.spearman),
            "kendall": _value(gap.kendall),
        },
        "weights": {"gap": analysis.weights_gap} if analysis.weights is None else asdict(analysis.weights),
        "alternatives": [asdict(one) for one in analysis.alternatives],
        "breakage": [
            {"model": one.name, "task": one.slot.task, "perturbation": one.slot.perturbation, **_values(one.measures)}
            for one in analysis.breakage_by_perturbation
        ],
        "corruption": [
            {"model": one.name, "modality": one.modality, "family": one.family}
            | _values({"error": one.error, "mce": one.mce, "relative_mce": one.relative_mce})
            for one in analysis.corruption
        ],
    }


def _values(values: Mapping[str, Value]) -> dict[str, Any]:
    return {name: _value(value) for name, value in values.items()}


def _card(card: Scorecard) -> dict[str, Any]:
    return {
        "model": card.model,
        "hardware": card.hardware,
        **_vector(card.own),
        "coverage": card.coverage,
        "common": {**_vector(card.common), "coverage": card.common_coverage},
        **_breakdown(card.own_by),
        "shared": _breakdown(card.shared_by),
        "missing": _absent(card.missing),
        "dropped": _absent(card.dropped),
        "little_to_lose": list(map(str, card.little_to_lose)),
        "notes": list(card.notes),
    }


def _breakdown(parts: Breakdown) -> dict[str, Any]:
    return {
        "by_dataset": _values(parts.by_dataset),
        "by_task": _values(parts.by_task),
        "by_perturbation": {one.perturbation: _ratio(one) for one in parts.by_perturbation},
        "by_family": {f"{one.modality}/{one.family}": _ratio(one) for one in parts.by_family},
        "by_modality": _values(parts.by_modality),
        "rr_by_task": _values(parts.rr_by_task),
    }


def _vector(vector: Vector) -> dict[str, Any]:
    return _values(vector.figures())


def _value(value: Value) -> dict[str, Any]:
    ends = None if value.interval is None else list(value.interval)
    return {"value": value.value, "interval": ends, "over": value.over, "gap": value.gap, "notes": list(value.notes)}


def _ratio(one: Ratio | FamilyRatio) -> dict[str, Any]:
    by_severity = {str(severity): _value(value) for severity, value in one.by_severity.items()}
    return {"modality": one.modality, **_value(one.ratio), "by_severity": by_severity}


def _absent(cells: Iterable[Absent]) -> list[dict[str, str]]:
    return [{"cell": str(cell.slot), "reason": cell.reason} for cell in cells]
