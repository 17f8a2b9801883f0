"""Who comes first: ranks are taken over the cells that all compared models have."""

from __future__ import annotations

from collections.abc import Sequence

from argus.scoring.records import Scorecard

BEST_FOR = {"P": "most capable", "CDC": "most consistent", "RR": "most robust", "E": "cheapest"}


def ranked(scorecards: Sequence[Scorecard]) -> tuple[tuple[int | None, Scorecard], ...]:
    """Return rank and scorecard, best overall first; equals share a rank, and a model without an overall has none."""
    known = [card.common.overall.value for card in scorecards if card.common.overall.value is not None]

    def rank(card: Scorecard) -> int | None:
        mine = card.common.overall.value
        return None if mine is None else 1 + sum(other > mine for other in known)

    return tuple(sorted(((rank(card), card) for card in scorecards), key=lambda pair: pair[0] or len(scorecards) + 1))


def best(scorecards: Sequence[Scorecard], figure: str) -> tuple[str, ...]:
    """Return the names of the models with the highest figure ("P", …, "overall") over the common cells."""
    values = {card.name: card.common.figures()[figure].value for card in scorecards}
    known = [value for value in values.values() if value is not None]
    return tuple(name for name, value in values.items() if known and value == max(known))


def gap_sentence(scorecards: Sequence[Scorecard]) -> str:
    """Return the Capability-Reliability Gap in one sentence: who leads each part of A(M); "" for a single model."""
    if len(scorecards) < 2:
        return ""
    leaders = {figure: best(scorecards, figure) for figure in BEST_FOR}
    named = [f"{BEST_FOR[figure]} ({figure}): {_listed(names, scorecards)}" for figure, names in leaders.items()]
    reliable = {BEST_FOR[figure]: set(leaders[figure]) for figure in ("CDC", "RR") if leaders[figure]}
    if leaders["P"] and reliable and not any(names & set(leaders["P"]) for names in reliable.values()):
        named.append(f"the most capable model is not the {' nor the '.join(reliable)}")
    return "; ".join(named)


def _listed(names: Sequence[str], scorecards: Sequence[Scorecard]) -> str:
    if 1 < len(names) == len(scorecards):
        return "all the same"
    return ", ".join(names) or "unknown"
