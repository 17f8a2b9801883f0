"""What the ranking owes to each choice of formula, to each data set and to each perturbation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from statistics import fmean

import numpy as np

from argus.scoring.cells import Contender, Pair
from argus.scoring.consistency import grouped
from argus.scoring.drawn import point
from argus.scoring.efficiency import efficiencies
from argus.scoring.gap import kendall
from argus.scoring.overall import overall
from argus.scoring.records import AXES, CLEAN, NOTHING, Slot, Value, Vector
from argus.scoring.robustness import ratios
from argus.scoring.scheme import CDC_FORMS, EFFICIENCY_FORMS, OVERALL_FORMS, Scheme
from argus.scoring.vector import Comparison, Evidence, vector_of

Evidences = Mapping[Contender, Evidence]
Vectors = Mapping[str, Vector]
Others = Iterator[tuple[str, str, Mapping[str, Value]]]
"""Choice, option, and by model the overall score under it."""

SAME = 1e-12  # scores closer than this differ by rounding


@dataclass(frozen=True)
class Alternative:
    """The ranking as it would be with one choice made otherwise, everything else as the scheme says."""

    choice: str  # "CDC", "without data set", …
    option: str  # "gini", "coco", …
    overall: Mapping[str, float]  # by model; empty where there is a gap
    winners: tuple[str, ...]
    changes_winner: bool
    tau: float | None  # Kendall's tau-b with the scheme's ranking; None for one model, or all equal
    gap: str = ""  # why there is no ranking
    same: bool = False  # whether it leaves all scores as they are, so that it is no other choice on these cells


def alternatives(comparison: Comparison, scheme: Scheme) -> tuple[Alternative, ...]:
    """Return what becomes of the ranking over the common cells under each other choice, in a fixed order.

    Nothing where the scheme itself has no ranking.
    """
    evidence = _without_draws(comparison.common)
    field = replace(comparison.field, easiness={slot: point(one) for slot, one in comparison.field.easiness.items()})
    bare = replace(comparison, common=evidence, field=field)
    own = _overall(bare, evidence, scheme)
    if any(value.gap for value in own.values()) or not own:
        return ()
    base = {name: number for name, value in own.items() if (number := value.value) is not None}
    return tuple(_alternative(choice, option, values, base) for choice, option, values in _all(bare, scheme))


def _all(bare: Comparison, scheme: Scheme) -> Others:
    yield from _formulas(bare, scheme)
    vectors = _vectors(bare, bare.common, scheme)
    yield from _capabilities(bare, vectors, scheme)
    yield from _robustnesses(bare, vectors, scheme)
    yield from _normalised(vectors, scheme)
    yield from _left_out(bare, scheme)


def _without_draws(evidence: Evidences) -> dict[Contender, Evidence]:
    """Return evidence whose figures are plain numbers: there is no interval to make here."""
    return {
        name: replace(
            mine,
            ledger=replace(
                mine.ledger,
                scores={slot: point(score) for slot, score in mine.ledger.scores.items()},
                pairs={s: Pair(point(p.clean), point(p.perturbed), p.rescored) for s, p in mine.ledger.pairs.items()},
            ),
            costs={slot: cost if isinstance(cost, str) else point(cost) for slot, cost in mine.costs.items()},
        )
        for name, mine in evidence.items()
    }


def _vectors(bare: Comparison, evidence: Evidences, scheme: Scheme) -> dict[str, Vector]:
    return {bare.name(name): vector_of(mine, bare.field, scheme) for name, mine in evidence.items()}


def _overall(bare: Comparison, evidence: Evidences, scheme: Scheme) -> dict[str, Value]:
    return {name: vector.overall for name, vector in _vectors(bare, evidence, scheme).items()}


def _with(vectors: Vectors, axis: str, values: Mapping[str, float], scheme: Scheme) -> dict[str, Value]:
    """Return the overall score with one axis replaced."""
    form, weights = scheme.formulas.overall, scheme.weights
    return {
        name: overall({**vector.figures(), axis: Value(values[name], "")}, weights, form)
        for name, vector in vectors.items()
    }


def _formulas(bare: Comparison, scheme: Scheme) -> Others:
    formulas = scheme.formulas
    for form in CDC_FORMS:
        if form != formulas.cdc:
            yield "CDC", form, _overall(bare, bare.common, replace(scheme, formulas=replace(formulas, cdc=form)))
    for form in EFFICIENCY_FORMS:
        if form != formulas.efficiency:
            clean = [{s: bare.cells[name][s] for s in mine.costs} for name, mine in bare.common.items()]
            costs = efficiencies(clean, form, formulas.costs)
            other = {n: replace(mine, costs=new) for (n, mine), new in zip(bare.common.items(), costs, strict=True)}
            yield "E", form, _overall(bare, other, scheme)
    for form in OVERALL_FORMS:
        if form != formulas.overall:
            other_form = replace(scheme, formulas=replace(formulas, overall=form))
            yield "overall", form, _overall(bare, bare.common, other_form)


def _capabilities(bare: Comparison, vectors: Vectors, scheme: Scheme) -> Others:
    """P as a mean over tasks, or over data sets, of the mean over their cells."""
    for group in ("task", "dataset"):
        values = {
            bare.name(name): fmean(map(point, grouped(mine.ledger.scores, group).values()))
            for name, mine in bare.common.items()
            if mine.ledger.scores
        }
        if len(values) == len(vectors):
            yield "P", f"mean over {group}s", _with(vectors, "P", values, scheme)


def _robustnesses(bare: Comparison, vectors: Vectors, scheme: Scheme) -> Others:
    """RR as a mean of each cell's ratio, as that of the worst perturbation, or as what is left of an absolute drop."""
    measures: dict[str, Callable[[Mapping[Slot, Pair]], float | None]] = {
        "mean of ratios": _mean_of_ratios,
        "worst perturbation": _worst,
        "1 - mean drop": lambda pairs: 1 - fmean(point(p.clean) - point(p.perturbed) for p in pairs.values()),
    }
    for option, measure in measures.items():
        values = {
            bare.name(name): number
            for name, mine in bare.common.items()
            if mine.ledger.pairs and (number := measure(mine.ledger.pairs)) is not None
        }
        if len(values) == len(vectors):
            yield "RR", option, _with(vectors, "RR", values, scheme)


def _mean_of_ratios(pairs: Mapping[Slot, Pair]) -> float | None:
    clean = [point(pair.clean) for pair in pairs.values()]
    if min(clean) < NOTHING:
        return None
    return fmean(point(pair.perturbed) / score for pair, score in zip(pairs.values(), clean, strict=True))


def _worst(pairs: Mapping[Slot, Pair]) -> float | None:
    known = [one.ratio.value for one in ratios(pairs) if one.ratio.value is not None]
    return min(known, default=None)


def _normalised(vectors: Vectors, scheme: Scheme) -> Others:
    """Each part stretched from the worst to the best model, or replaced by the share of models that are beaten."""
    matrix = np.array([[vector.figures()[axis].value or 0.0 for axis in AXES] for vector in vectors.values()])
    lacking = any(vector.figures()[axis].gap for vector in vectors.values() for axis in AXES)
    if lacking or len(vectors) < 2:
        return
    span = np.ptp(matrix, axis=0)
    stretched = np.where(span > 0, (matrix - matrix.min(axis=0)) / np.where(span > 0, span, 1.0), 1.0)
    beaten = (matrix[:, None] > matrix[None]).sum(axis=1) + ((matrix[:, None] == matrix[None]).sum(axis=1) - 1) / 2
    for option, table in (("worst 0, best 1", stretched), ("ranks", beaten / (len(vectors) - 1))):
        parts = [{axis: Value(float(x), "") for axis, x in zip(AXES, row, strict=True)} for row in table]
        scores = [overall(mine, scheme.weights, scheme.formulas.overall) for mine in parts]
        yield "normalisation", option, dict(zip(vectors, scores, strict=True))


def _left_out(bare: Comparison, scheme: Scheme) -> Others:
    slots = _slots(bare.common)
    for dataset in sorted({slot.dataset for slot in slots}):
        yield "without data set", dataset, _overall(bare, _without(bare.common, "dataset", dataset), scheme)
    for change in sorted({slot.perturbation for slot in slots} - {CLEAN}):
        yield "without perturbation", change, _overall(bare, _without(bare.common, "perturbation", change), scheme)


def _slots(evidence: Evidences) -> set[Slot]:
    return {slot for mine in evidence.values() for slot in (*mine.ledger.scores, *mine.ledger.pairs)}


def _without(evidence: Evidences, part: str, left_out: str) -> dict[Contender, Evidence]:
    def keep(slot: Slot) -> bool:
        return bool(getattr(slot, part) != left_out)

    return {
        name: replace(
            mine,
            ledger=replace(
                mine.ledger,
                scores={slot: score for slot, score in mine.ledger.scores.items() if keep(slot)},
                pairs={slot: pair for slot, pair in mine.ledger.pairs.items() if keep(slot)},
            ),
            costs={slot: cost for slot, cost in mine.costs.items() if keep(slot)},
        )
        for name, mine in evidence.items()
    }


def _alternative(choice: str, option: str, values: Mapping[str, Value], base: Mapping[str, float]) -> Alternative:
    gaps = sorted({value.gap for value in values.values() if value.gap})
    if gaps:
        return Alternative(choice, option, {}, (), False, None, "; ".join(gaps))
    found = {name: value.value for name, value in values.items() if value.value is not None}
    tau = float(kendall(np.array([*found.values()])[:, None], np.array([base[name] for name in found])[:, None])[0])
    winners = _first(found)
    same = all(abs(found[name] - base[name]) <= SAME for name in found)
    changed = winners != _first(base)
    return Alternative(choice, option, found, winners, changed, None if np.isnan(tau) else tau, same=same)


def _first(values: Mapping[str, float]) -> tuple[str, ...]:
    return tuple(sorted(name for name, value in values.items() if value >= max(values.values()) - SAME))
