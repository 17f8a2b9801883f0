"""How a perturbation breaks a model: sample by sample, clean against perturbed.

A score that stays the same can hide answers that are lost and others that are won: destructive and corrective changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from argus.errors import DataError
from argus.records import CellResult
from argus.scoring.cells import trouble
from argus.scoring.drawn import draws_of, mean, stacked, value_of, with_draws
from argus.scoring.records import Slot, Value
from argus.scoring.resampling import Counts, totals

MEASURES = {
    "destructive": "share of samples right when clean and wrong when perturbed",
    "corrective": "share of samples wrong when clean and right when perturbed",
    "agreement": "share of samples with the same answer (first candidate, caption) as when clean",
    "confidence_shift": "mean change of the highest probability among the choices (softmax of their scores)",
    "entropy_shift": "mean change of the choices' entropy, 1 being that of equal probabilities",
    "rank_worse": "share of queries whose best right answer came later than when clean",
    "rank_better": "share of queries whose best right answer came earlier",
    "rank_change": "mean change of that rank; above 0 is worse",
    "cider_change": "mean change of an image's CIDEr-D",
    "caption_worse": "share of images whose CIDEr-D fell",
    "caption_better": "share of images whose CIDEr-D rose",
}


@dataclass(frozen=True)
class Outcomes:
    """What came of each sample of a cell, (samples,) each; None where the task has no such thing.

    `group` parts samples whose means weigh the same (the directions of retrieval), as in the score.
    """

    ids: np.ndarray  # unique within a group
    image_ids: np.ndarray
    group: np.ndarray
    answer: np.ndarray
    right: np.ndarray | None = None
    rank: np.ndarray | None = None
    confidence: np.ndarray | None = None
    entropy: np.ndarray | None = None
    quality: np.ndarray | None = None  # CIDEr-D

    def at(self, places: np.ndarray) -> Outcomes:
        """Return the outcomes at some places."""
        parts: dict[str, Any] = {name: None if part is None else part[places] for name, part in vars(self).items()}
        return Outcomes(**parts)


@dataclass(frozen=True)
class Breakage:
    """What a perturbation did to the samples of one cell. `measures` are by the names of MEASURES, where they apply."""

    name: str  # the model
    slot: Slot
    samples: int  # in both the clean and the perturbed cell
    measures: Mapping[str, Value]
    gap: str = ""  # why there are no measures


def breakages(
    cells: Mapping[str, Mapping[Slot, CellResult]], read: Callable[[CellResult], Outcomes], counts: Counts
) -> tuple[Breakage, ...]:
    """Return what each perturbation did to each cell, by model and baseline; a gap where `read` raises DataError.

    Cells without a score, or whose baseline has none, are left out: the scorecards name them.
    """
    found = []
    for name, mine in cells.items():
        usable = {slot: cell for slot, cell in mine.items() if not trouble(cell)}
        for baseline in sorted({slot.baseline for slot in usable} & set(usable)):
            changed = [slot for slot in sorted(usable) if slot.baseline == baseline != slot]
            found += _of_baseline(name, {slot: usable[slot] for slot in changed}, usable[baseline], read, counts)
    return tuple(found)


def _of_baseline(
    name: str,
    perturbed: Mapping[Slot, CellResult],
    baseline: CellResult,
    read: Callable[[CellResult], Outcomes],
    counts: Counts,
) -> list[Breakage]:
    found: list[Breakage] = []
    clean: Outcomes | None = None
    for slot, cell in perturbed.items():
        try:
            clean = clean or read(baseline)
            found.append(breakage(name, slot, clean, read(cell), counts))
        except DataError as error:
            found.append(Breakage(name, slot, 0, {}, str(error)))
    return found


def breakage(name: str, slot: Slot, clean: Outcomes, perturbed: Outcomes, counts: Counts) -> Breakage:
    """Return what changed between a clean cell's outcomes and a perturbed one's, over the samples that both have."""
    before, after = shared(clean, perturbed)
    samples = len(before.ids)
    if not samples:
        return Breakage(name, slot, 0, {}, "no sample was read in both")
    changes = changes_of(before, after)
    drawn = _means(changes, before, slot.dataset, counts)
    over = f"{samples} samples"
    return Breakage(name, slot, samples, {measure: value_of(numbers, over) for measure, numbers in drawn.items()})


def shared(one: Outcomes, other: Outcomes) -> tuple[Outcomes, Outcomes]:
    """Return the outcomes of the samples that both have, in the order of the first."""
    if np.array_equal(one.ids, other.ids) and np.array_equal(one.group, other.group):
        return one, other
    places = {key: place for place, key in enumerate(zip(other.group, other.ids, strict=True))}
    found = [(here, places[key]) for here, key in enumerate(zip(one.group, one.ids, strict=True)) if key in places]
    here, there = np.array(found, dtype=np.intp).reshape(-1, 2).T
    return one.at(here), other.at(there)


def changes_of(before: Outcomes, after: Outcomes) -> dict[str, np.ndarray]:
    """Return each measure of each sample, (samples,) float64; the samples of both are the same, in the same order."""
    changes = {"agreement": before.answer == after.answer}
    if before.right is not None and after.right is not None:
        changes["destructive"] = before.right & ~after.right
        changes["corrective"] = ~before.right & after.right
    if before.confidence is not None and after.confidence is not None:
        changes["confidence_shift"] = after.confidence - before.confidence
    if before.entropy is not None and after.entropy is not None:
        changes["entropy_shift"] = after.entropy - before.entropy
    if before.rank is not None and after.rank is not None:
        changes["rank_change"] = after.rank - before.rank
        changes["rank_worse"], changes["rank_better"] = after.rank > before.rank, after.rank < before.rank
    if before.quality is not None and after.quality is not None:
        changes["cider_change"] = after.quality - before.quality
        changes["caption_worse"] = after.quality < before.quality
        changes["caption_better"] = after.quality > before.quality
    return {name: np.asarray(changes[name], dtype=np.float64) for name in MEASURES if name in changes}


def _means(
    changes: Mapping[str, np.ndarray], outcomes: Outcomes, dataset: str, counts: Counts
) -> dict[str, np.ndarray]:
    """Return the mean of each measure over the samples of a group, then over groups, with resamples of images."""
    images, rows = np.unique(outcomes.image_ids, return_inverse=True)
    drawn = counts.of(dataset, images.tolist())
    found: dict[str, list[np.ndarray]] = {name: [] for name in changes}
    for group in np.unique(outcomes.group):
        mine = outcomes.group == group
        columns = {name: np.bincount(rows[mine], numbers[mine], len(images)) for name, numbers in changes.items()}
        columns["samples"] = np.bincount(rows[mine], minlength=len(images)).astype(np.float64)
        sums = totals(drawn, columns)
        for name in changes:
            point = columns[name].sum() / columns["samples"].sum()
            with np.errstate(invalid="ignore"):
                draws = sums[name] / sums["samples"]
            found[name].append(with_draws(point, draws, counts.bootstrap.resamples))
    return {name: mean(groups) for name, groups in found.items()}


def by_perturbation(found: Iterable[Breakage]) -> tuple[Breakage, ...]:
    """Return the mean over data sets and severities for each model, task and perturbation; its slot has no data set.

    Cells weigh the same; those without measures are left out.
    """
    groups: dict[tuple[str, Slot], list[Breakage]] = {}
    for one in found:
        if not one.gap:
            groups.setdefault((one.name, one.slot._replace(dataset="", severity=0)), []).append(one)
    return tuple(_pooled(name, slot, groups[name, slot]) for name, slot in sorted(groups))


def _pooled(name: str, slot: Slot, cells: list[Breakage]) -> Breakage:
    over = f"{len(cells)} cell{'s' * (len(cells) > 1)}"
    measures = {
        measure: value_of(stacked(draws_of(one.measures[measure]) for one in cells).mean(axis=0), over)
        for measure in cells[0].measures
    }
    return Breakage(name, slot, sum(one.samples for one in cells), measures)
