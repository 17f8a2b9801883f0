"""Who comes first by what: overall, each part of A(M), each task clean and perturbed, changed pictures and texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from argus.scoring.differences import Difference, differences
from argus.scoring.records import AXES, Scorecard, Value

FIGURES = ("overall", *AXES)
NO_CELL = Value(None, "", "no such cell")


@dataclass(frozen=True)
class Lead:
    """The models with the highest value of one figure, over cells that compare, and who may be as good."""

    figure: str  # "overall", "P", …, "task retrieval", "RR task retrieval", "RR image"
    first: tuple[str, ...]  # several where they are equal
    value: Value  # of the first; a gap where no model has the figure
    told_apart: bool  # whether the data say of the others who is worse; not without resamples
    as_good: tuple[str, ...]  # others that are not worse beyond noise
    lacking: tuple[str, ...]  # models without this figure


def leads(scorecards: Sequence[Scorecard], known: Iterable[Difference]) -> tuple[Lead, ...]:
    """Return who comes first by each figure that there is to have; `known` are the differences in the FIGURES.

    A figure that no model has is a gap; nothing without two models.
    """
    if len(scorecards) < 2:
        return ()
    found = tuple(known)
    figures = [
        lead(name, values, [one for one in found if one.figure == name]) for name, values in _figures(scorecards)
    ]
    parts = [lead(name, values, differences(name, _with(values))) for name, values in _parts(scorecards)]
    return (*figures, *parts)


def _figures(scorecards: Sequence[Scorecard]) -> Iterator[tuple[str, dict[str, Value]]]:
    for name in FIGURES:
        yield name, {card.name: card.common.figures()[name] for card in scorecards}


def _parts(scorecards: Sequence[Scorecard]) -> Iterator[tuple[str, dict[str, Value]]]:
    for task in sorted({task for card in scorecards for task in card.shared_by.by_task}):
        yield f"task {task}", {card.name: card.shared_by.by_task[task] for card in scorecards}
    for part, kind in (("rr_by_task", "task "), ("by_modality", "")):
        mine: dict[str, Mapping[str, Value]] = {card.name: getattr(card.shared_by, part) for card in scorecards}
        for row in sorted({row for values in mine.values() for row in values}):
            yield f"RR {kind}{row}", {name: values.get(row, NO_CELL) for name, values in mine.items()}


def _with(values: Mapping[str, Value]) -> dict[str, Value]:
    return {name: value for name, value in values.items() if not value.gap}


def lead(figure: str, values: Mapping[str, Value], pairs: Sequence[Difference]) -> Lead:
    """Return who comes first by one figure; `pairs` are the differences of the models that have it."""
    known = {name: value.value for name, value in values.items() if value.value is not None}
    if not known:
        none = next((value for value in values.values() if value != NO_CELL), NO_CELL)
        return Lead(figure, (), none, False, (), tuple(values))
    highest = max(known.values())
    first = tuple(name for name, value in known.items() if value == highest)
    # Who is worse than any of the first beyond noise is worse.
    against = [one for one in pairs if one.value is not None and (one.first in first) != (one.second in first)]
    worse = {name for one in against if one.beyond_noise for name in (one.first, one.second)}
    return Lead(
        figure,
        first,
        values[first[0]],
        all(one.p_holm is not None for one in against),
        tuple(name for name in known if name not in first and name not in worse),
        tuple(name for name in values if name not in known),
    )
