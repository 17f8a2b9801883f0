"""All that a sweep's scores support beyond the scores: one record, for tables and reports to read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from argus.records import CellResult
from argus.scoring.breakage import Breakage, by_perturbation
from argus.scoring.consistency import consistency
from argus.scoring.corruption_error import CorruptionError, corruption_errors
from argus.scoring.differences import Difference, differences
from argus.scoring.gap import CapabilityReliabilityGap, capability_reliability_gap
from argus.scoring.leads import Lead, leads
from argus.scoring.rank_probability import RankProbability, rank_probabilities
from argus.scoring.records import Scorecard, Slot, Value
from argus.scoring.scheme import Scheme
from argus.scoring.sensitivity import Alternative, alternatives
from argus.scoring.simplex import WeightAnalysis, weight_analysis
from argus.scoring.vector import Comparison

FIGURES = ("P", "CDC", "RR", "E", "overall")

CellIntervals = Mapping[str, Mapping[str, tuple[float, float]]]
"""95 % intervals of a cell's metrics ("score", "bleu_4", …), by run id and metric."""


@dataclass(frozen=True)
class Analysis:
    """Over the cells common to all compared models, by the models' names; intervals stand on the values themselves."""

    scheme: Scheme
    scorecards: tuple[Scorecard, ...]
    cells: Mapping[str, Mapping[Slot, CellResult]]  # all of them, whatever came of them
    cell_intervals: CellIntervals
    corrected_cdc: Mapping[str, Value]  # CDC less the sampling noise in it
    differences: tuple[Difference, ...]  # of each pair of models, figure by figure
    ranks: tuple[RankProbability, ...]  # of each model, figure by figure
    leads: tuple[Lead, ...]  # who comes first by each figure, task and kind of perturbation
    gap: CapabilityReliabilityGap
    weights: WeightAnalysis | None
    weights_gap: str  # why there is none
    alternatives: tuple[Alternative, ...]  # empty where the models have no overall score
    breakage: tuple[Breakage, ...]  # of each model's perturbed cells
    breakage_by_perturbation: tuple[Breakage, ...]  # the mean over data sets and severities
    corruption: tuple[CorruptionError, ...]  # of each model and family of perturbations


def analyse(
    comparison: Comparison,
    scorecards: Sequence[Scorecard],
    scheme: Scheme,
    breakages: Sequence[Breakage],
    cell_intervals: CellIntervals,
) -> Analysis:
    """Return everything that is said about the compared models; the scorecards are those of the comparison."""
    compared = [card for card in scorecards if not card.common.P.gap]
    found, ranks = [], []
    for figure in FIGURES:
        values = {card.name: card.common.figures()[figure] for card in compared}
        found.append(differences(figure, values))
        ranks.append(rank_probabilities(figure, values, found[-1]))
    apart = tuple(one for family in found for one in family)
    weights = _weights(compared, scheme)
    return Analysis(
        scheme=scheme,
        scorecards=tuple(scorecards),
        cells={comparison.name(name): mine for name, mine in comparison.cells.items()},
        cell_intervals=cell_intervals,
        corrected_cdc=_corrected_cdc(comparison, scheme),
        differences=apart,
        ranks=tuple(one for family in ranks for one in family),
        leads=leads(compared, apart),
        gap=capability_reliability_gap({card.name: card.common for card in compared}),
        weights=None if isinstance(weights, str) else weights,
        weights_gap=weights if isinstance(weights, str) else "",
        alternatives=alternatives(comparison, scheme),
        breakage=tuple(breakages),
        breakage_by_perturbation=by_perturbation(breakages),
        corruption=_corruption(comparison, scheme),
    )


def _corruption(comparison: Comparison, scheme: Scheme) -> tuple[CorruptionError, ...]:
    pairs = {comparison.name(name): mine.ledger.pairs for name, mine in comparison.common.items()}
    return corruption_errors(pairs, comparison.families, scheme.reference_model)


def _corrected_cdc(comparison: Comparison, scheme: Scheme) -> dict[str, Value]:
    field, form = comparison.field, scheme.formulas.cdc
    values = {}
    for name, mine in comparison.common.items():
        plain = consistency(mine.ledger.scores, form, field.easiness, field.datasets)
        if plain.gap or plain.interval is None:
            lacking = Value(None, plain.over, plain.gap or "the noise in CDC is not known without resamples")
            values[comparison.name(name)] = lacking
        else:
            corrected = consistency(mine.ledger.scores, form, field.easiness, field.datasets, corrected=True)
            values[comparison.name(name)] = corrected
    return values


def _weights(compared: Sequence[Scorecard], scheme: Scheme) -> WeightAnalysis | str:
    """Return the analysis of weights over the parts that any of the models has, or why there is none."""
    weights = asdict(scheme.weights)
    figures = {card.name: card.common.figures() for card in compared}
    if not figures:
        return "no model has a clean score"
    parts = [name for name in weights if not all(mine[name].gap for mine in figures.values())]
    if lacking := [f"{model} has no {part}" for model, mine in figures.items() for part in parts if mine[part].gap]:
        return "; ".join(lacking)
    if not any(weights[part] for part in parts):
        return f"no weight is on {', '.join(parts)}"
    rows = {model: [min(mine[part].value or 0.0, 1.0) for part in parts] for model, mine in figures.items()}
    return weight_analysis(rows, parts, [weights[part] for part in parts], scheme.formulas.overall == "geometric")
