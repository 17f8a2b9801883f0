"""How far the ranking can be trusted, in sentences for the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from rich.console import Group
from rich.text import Text

from argus.report.ranking import ranked
from argus.scoring.analysis import Analysis
from argus.scoring.corruption_error import ALL
from argus.scoring.differences import Difference

CLEAR = 0.95  # of the resamples: below, chance explains what is seen


def trust(analysis: Analysis) -> Group:
    """Return the findings under a heading, or nothing."""
    lines = findings(analysis)
    return Group(*([Text("How far to trust the ranking", style="italic"), Text("\n".join(lines))] if lines else []))


def findings(analysis: Analysis) -> tuple[str, ...]:
    """Return what the analysis says of the ranking, one finding a line; nothing where models cannot be compared."""
    parts = (_neighbours, _weights, _alternatives, _gap, _corruption)
    return tuple(line for part in parts for line in part(analysis))


def _neighbours(analysis: Analysis) -> Iterator[str]:
    """Each model against the next in rank."""
    overall = {frozenset((d.first, d.second)): d for d in analysis.differences if d.figure == "overall"}
    order = [card.name for rank, card in ranked(analysis.scorecards) if rank is not None]
    for better, worse in pairwise(order):
        found = overall[frozenset((better, worse))]
        if found.p_holm is None or found.interval is None or found.value is None or found.detectable is None:
            continue
        yield _told_apart(better, worse, found)


def p_text(p: float | None) -> str:
    """Return a p-value for a sentence or a table; one that rounds to 0 is not 0."""
    if p is None:
        return "p unknown"
    return "p < 0.001" if p < 0.0005 else f"p {p:.3f}"


def percent(share: float) -> str:
    """Return a share in whole percent; one that rounds to 0 % or 100 % is neither."""
    shown = f"{share:.0%}"
    if shown == "0%" and share > 0:
        return "<1%"
    return ">99%" if shown == "100%" and share < 1 else shown


def _told_apart(better: str, worse: str, found: Difference) -> str:
    assert found.value is not None
    assert found.interval is not None
    sign = 1 if found.first == better else -1
    low, high = sorted(sign * end for end in found.interval)
    ahead = f"{sign * found.value:.3f} [{low:.3f}, {high:.3f}], {p_text(found.p_holm)} (Holm)"
    if found.beyond_noise:
        return f"{better} is ahead of {worse} by {ahead}"
    return (
        f"{better} and {worse} cannot be told apart: {ahead}; with this many pictures only a true difference of about "
        f"{found.detectable:.3f} or more would usually show"
    )


def _weights(analysis: Analysis) -> Iterator[str]:
    weights = analysis.weights
    if weights is None or len(weights.won) < 2:
        return
    shares = sorted(weights.won.items(), key=lambda pair: -pair[1])
    yield "of all weightings, " + ", ".join(f"{name} wins {percent(share)}" for name, share in shares if share > 0)
    if weights.change is None:
        yield f"no weights make another model than {weights.winner} win"
        return
    moves = {
        part: new - old for part, old, new in zip(weights.parts, weights.weights, weights.change.weights, strict=True)
    }
    source = ", ".join(part for part, move in moves.items() if move < 0)
    target = ", ".join(part for part, move in moves.items() if move > 0)
    where = f" from {source} to {target}" if source else ""
    yield f"{weights.change.challenger} draws level once {percent(weights.change.moved)} of the weight moves{where}"


def _alternatives(analysis: Analysis) -> Iterator[str]:
    known = [one for one in analysis.alternatives if not one.gap and not one.same]
    changed = [f"{one.choice} {one.option} ({', '.join(one.winners)})" for one in known if one.changes_winner]
    if known and len(analysis.gap.reliability) > 1:
        named = ": " + "; ".join(changed) if changed else ""
        yield f"{len(changed)} of {len(known)} other formulas and leave-outs change the winner{named}"


def clear(probability: float | None) -> bool:
    """Return whether so many of the resamples agree that chance does not explain it."""
    return probability is not None and probability >= CLEAR


def _sure(probability: float | None) -> str:
    if probability is None:
        return ""
    return f" ({percent(probability)} of the resamples{'' if clear(probability) else ', within noise'})"


def _gap(analysis: Analysis) -> Iterator[str]:
    for flip in analysis.gap.flips:
        yield f"{flip.capable} is more capable and {flip.reliable} more reliable{_sure(flip.probability)}"


def _corruption(analysis: Analysis) -> Iterator[str]:
    """The mean corruption errors, where a reference model was asked for."""
    reference = analysis.scheme.reference_model
    if reference is None:
        return
    found = [one for one in analysis.corruption if one.family == ALL]
    for figure, title in (("mce", "mCE"), ("relative_mce", "relative mCE")):
        values = {one.name: getattr(one, figure) for one in found}
        shown = [f"{name} {value.gap or format(value.value, '.3f')}" for name, value in values.items()]
        yield f"{title} against {reference}: " + (", ".join(shown) or "nothing was perturbed")
