"""What stored cells say: usable scores, clean/perturbed pairs and efficiencies, and why others are not there."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from argus.errors import DataError
from argus.records import CellKey, CellResult, DroppedCell
from argus.scoring.drawn import Drawn, point
from argus.scoring.records import CLEAN, Slot
from argus.scoring.resampling import NONE, Resamples


class Contender(NamedTuple):
    """What is ranked: a model on a hardware profile."""

    model: str
    hardware: str


class Pair(NamedTuple):
    """A clean and a perturbed score over the same samples and resamples."""

    clean: Drawn
    perturbed: Drawn
    rescored: bool = False  # both were recomputed, because different samples had failed


Rescore = Callable[[CellResult, CellResult], Pair]
"""Takes a clean and a perturbed cell, returns their scores over the samples both have, or raises DataError."""

Cells = Mapping[Slot, CellResult]


@dataclass(frozen=True)
class Ledger:
    """The usable figures of one contender. `absent` says why a cell is not among scores and pairs."""

    scores: Mapping[Slot, Drawn]  # of clean cells
    pairs: Mapping[Slot, Pair]  # of perturbed cells
    absent: Mapping[Slot, str]


def slot_of(key: CellKey) -> Slot:
    """Return the key without model and hardware; clean has one slot whatever severity it was given."""
    slot = Slot(key.dataset, key.task, key.perturbation, key.modality, key.severity)
    return slot.baseline if key.perturbation == CLEAN else slot


def by_contender(
    cells: Iterable[CellResult], dropped: Iterable[DroppedCell]
) -> dict[Contender, dict[Slot, CellResult]]:
    """Return each contender's cells, sorted by name; one that only has dropped cells has none.

    Raises DataError when a cell occurs twice: it would count twice.
    """
    found: dict[Contender, dict[Slot, CellResult]] = {}
    for cell in cells:
        mine = found.setdefault(Contender(cell.key.model, cell.key.hardware), {})
        slot = slot_of(cell.key)
        if slot in mine:
            raise DataError(
                f"cell {cell.key.model}/{slot} on {cell.key.hardware} occurs twice (runs '{mine[slot].run_id}' and "
                f"'{cell.run_id}'): keep one of them, or choose one experiment"
            )
        mine[slot] = cell
    for drop in dropped:
        found.setdefault(Contender(drop.key.model, drop.key.hardware), {})
    return dict(sorted(found.items()))


def trouble(cell: CellResult) -> str:
    """Return why the cell has no usable score, or "" where it has one."""
    if cell.status != "FINISHED":
        reason = cell.reason.strip().splitlines()
        return f"{cell.status}: {reason[0]}" if reason else cell.status
    if cell.score is None:
        return "FINISHED without a score"
    return _not_a_score(cell.score)


def _not_a_score(score: float) -> str:
    if not math.isfinite(score):
        return f"its score is {score}"
    rounding = 1e-9  # a mean of ones may come out just above 1
    return "" if 0 <= score <= 1 + rounding else f"its score {score:g} lies outside 0 to 1"


def ledger_of(cells: Cells, slots: Sequence[Slot], rescore: Rescore, resamples: Resamples = NONE) -> Ledger:
    """Return what the cells say about each of the slots."""
    scores: dict[Slot, Drawn] = {}
    pairs: dict[Slot, Pair] = {}
    absent: dict[Slot, str] = {}
    for slot in slots:
        cell = cells.get(slot)
        if cell is None:
            absent[slot] = "not run"
        elif reason := trouble(cell):
            absent[slot] = reason
        elif slot.perturbation == CLEAN:
            scores[slot] = resamples.score(cell)
        else:
            pair = pair_of(cells.get(slot.baseline), cell, rescore, resamples)
            if isinstance(pair, str):
                absent[slot] = pair
            else:
                pairs[slot] = pair
    return Ledger(scores, pairs, absent)


def pair_of(
    clean: CellResult | None, perturbed: CellResult, rescore: Rescore, resamples: Resamples = NONE
) -> Pair | str:
    """Return both scores over the same samples, or the reason why they cannot be paired.

    `perturbed` has a usable score. Scores are recomputed only where the samples of the two cells differ.
    """
    if perturbed.key.modality == "text" and perturbed.metrics.get("changed_texts_share") == 0:
        return "the perturbation found nothing to change in any text"
    if clean is None:
        return "its clean baseline was not run"
    if reason := trouble(clean):
        return f"its clean baseline is missing ({reason})"
    if set(clean.failed) == set(perturbed.failed) and clean.samples == perturbed.samples:
        return Pair(resamples.score(clean), resamples.score(perturbed))
    try:
        pair = rescore(clean, perturbed)
    except DataError as error:
        return f"it has other samples than its clean baseline, and the shared ones cannot be scored: {error}"
    reason = _not_a_score(point(pair.clean)) or _not_a_score(point(pair.perturbed))
    return f"over the samples shared with its clean baseline {reason}" if reason else pair
