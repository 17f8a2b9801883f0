"""E: how cheap a model is, from the costs that were measured in its clean cells."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TypeVar

import numpy as np

from argus.efficiency.cost_score import geometric_mean
from argus.records import CellResult
from argus.scoring.drawn import Drawn, mean, stacked, value_of
from argus.scoring.records import Slot, Value
from argus.scoring.resampling import NONE, Resamples

Costs = Mapping[str, float]
Cells = Mapping[Slot, CellResult]
Number = TypeVar("Number", float, np.ndarray)


def efficiencies(
    cells: Sequence[Cells], form: str, names: Sequence[str], resamples: Resamples = NONE
) -> list[dict[Slot, Drawn | str]]:
    """Return for each contender the efficiency of each of its (clean, usable) cells, or why a cell has none.

    `form` is one of scheme.EFFICIENCY_FORMS, `names` are the costs that enter (throughput as seconds per sample).
    """
    if form == "reference":
        return [{slot: _against_references(cell, names, resamples) for slot, cell in mine.items()} for mine in cells]
    found: list[dict[Slot, Drawn | str]] = [{} for _ in cells]
    for slot in {slot for mine in cells for slot in mine}:
        places = [place for place, mine in enumerate(cells) if slot in mine]
        scores = _against_each_other([cells[place][slot] for place in places], names, resamples)
        for place, score in zip(places, scores, strict=True):
            found[place][slot] = score
    return found


def _against_references(cell: CellResult, names: Sequence[str], resamples: Resamples) -> Drawn | str:
    """Return the geometric mean of reference / (reference + cost), which no other model moves, or why there is none."""
    if reason := _unusable(cell.costs, names):
        return reason
    if unknown := [name for name in names if name not in cell.references]:
        return f"hardware '{cell.key.hardware}' has no reference for {', '.join(unknown)}"
    if odd := [f"{name} is {cell.references[name]:g}" for name in names if not _positive(cell.references[name])]:
        return f"a reference of hardware '{cell.key.hardware}' is not above 0: {', '.join(odd)}"
    costs = _lower_is_better(cell, names, resamples)
    references = {name: _as_time(name, cell.references[name]) for name in names}
    return geometric_mean([references[name] / (references[name] + costs[name]) for name in names])


def _against_each_other(cells: Sequence[CellResult], names: Sequence[str], resamples: Resamples) -> list[Drawn | str]:
    """Return for each model the geometric mean of lowest cost / cost on one cell, or why there is none.

    A model without usable costs is left out, so that it spoils no other's.
    """
    reasons = [_unusable(cell.costs, names) for cell in cells]
    usable = [
        None if reason else _lower_is_better(cell, names, resamples)
        for cell, reason in zip(cells, reasons, strict=True)
    ]
    lowest = {name: stacked(mine[name] for mine in usable if mine).min(axis=0) for name in names if any(usable)}
    return [
        geometric_mean([lowest[name] / mine[name] for name in names]) if mine else reason
        for mine, reason in zip(usable, reasons, strict=True)
    ]


def _unusable(costs: Costs, names: Sequence[str]) -> str:
    """Return why E cannot be made of the costs, or "" where it can."""
    if lacking := [name for name in names if math.isnan(costs.get(name, math.nan))]:
        return f"{', '.join(lacking)} not measured; leave out of score.formulas.costs what no device here can tell"
    return ", ".join(f"{name} is {costs[name]:g}" for name in names if not _positive(costs[name]))


def _positive(number: float) -> bool:
    return math.isfinite(number) and number > 0


def _lower_is_better(cell: CellResult, names: Sequence[str], resamples: Resamples) -> dict[str, np.ndarray]:
    """Return the named costs, all above 0, with their resamples and with throughput turned into seconds per sample."""
    return {name: _as_time(name, resamples.cost(cell, name)) for name in names}


def _as_time(name: str, cost: Number) -> Number:
    return 1 / cost if name == "throughput_per_s" else cost


def efficiency(found: Mapping[Slot, Drawn | str], cells: int, empty: str) -> Value:
    """Return E: the arithmetic mean over the clean cells that have an efficiency; a gap where none has.

    `cells` is how many clean cells there are to have; `empty` is what to say where `found` is empty.
    """
    known = [value for value in found.values() if not isinstance(value, str)]
    over = f"{len(known)} of {cells} clean cells"
    reasons: dict[str, list[str]] = {}
    for slot in sorted(found):
        if isinstance(reason := found[slot], str):
            reasons.setdefault(reason, []).append(str(slot))
    lacking = tuple(f"E stands without {', '.join(slots)}: {reason}" for reason, slots in reasons.items())
    if known:
        return value_of(mean(known), over, notes=lacking)
    gap = "; ".join(reasons) or empty
    return Value(None, over, gap)
