"""CDC: how evenly a model scores across datasets."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import fmean, median

from argus.scoring.records import NOTHING, Slot, Value

Scores = Mapping[Slot, float]


def grouped(scores: Scores, field: str) -> dict[str, float]:
    """Return the mean score for each "dataset" or "task"."""
    groups: dict[str, list[float]] = {}
    for slot, score in scores.items():
        groups.setdefault(getattr(slot, field), []).append(score)
    return {name: fmean(groups[name]) for name in sorted(groups)}


def medians(ledgers: Sequence[Scores]) -> dict[Slot, float]:
    """Return each cell's median over models, where two or more have it: the cell's easiness."""
    slots = {slot for scores in ledgers for slot in scores}
    columns = {slot: [scores[slot] for scores in ledgers if slot in scores] for slot in slots}
    return {slot: median(column) for slot, column in columns.items() if len(column) > 1}


def consistency(scores: Scores, form: str, easiness: Scores, datasets: int) -> Value:
    """Return CDC of a model's clean scores, in [0, 1].

    `form` is one of scheme.CDC_FORMS; `easiness` (from `medians`) serves the difficulty-adjusted form alone;
    `datasets` is how many there are to have. A gap where fewer than two can be compared, or all score 0.
    """
    if form == "within_task":
        return _within_task(scores, datasets)
    if form == "difficulty_adjusted":
        return _difficulty_adjusted(scores, easiness, datasets)
    values = grouped(scores, "dataset")
    over = f"{len(values)} of {datasets} datasets"
    if gap := _gap(values):
        return Value(None, over, gap)
    measure = {"population": evenness, "min_max": min_max, "gini": equality}[form]
    return Value(measure(list(values.values())), over)


def _gap(values: Mapping[str, float]) -> str:
    if len(values) < 2:
        return f"needs two datasets, has {', '.join(values) or 'none'}"
    return "" if max(values.values()) >= NOTHING else "every dataset scores 0"


def sigma(values: Sequence[float]) -> float:
    """Return the population standard deviation."""
    mean = fmean(values)
    return math.sqrt(fmean((value - mean) ** 2 for value in values))


def evenness(values: Sequence[float]) -> float:
    """Return 1 - sigma / mu, floored at 0. `values` are 0 or more and not all 0."""
    return max(0.0, 1 - sigma(values) / fmean(values))


def min_max(values: Sequence[float]) -> float:
    """Return lowest / highest. `values` are 0 or more and not all 0."""
    return min(values) / max(values)


def equality(values: Sequence[float]) -> float:
    """Return 1 - Gini: the mean absolute difference of all pairs, over twice the mean. `values` as above."""
    differences = fmean(abs(one - other) for one in values for other in values)
    return 1 - differences / (2 * fmean(values))


def _within_task(scores: Scores, datasets: int) -> Value:
    """Compare only datasets on the same task: scores of two tasks differ for reasons other than consistency."""
    parts, left_out = [], []
    for task in sorted({slot.task for slot in scores}):
        values = grouped({slot: score for slot, score in scores.items() if slot.task == task}, "dataset")
        if gap := _gap(values):
            left_out.append(f"{task} is left out of CDC: {gap}")
        else:
            parts.append(evenness(list(values.values())))
    over = f"{len(grouped(scores, 'dataset'))} of {datasets} datasets"
    if not parts:
        return Value(None, over, "; ".join(left_out) or "needs two datasets, has none")
    return Value(fmean(parts), f"{over}, {len(parts)} tasks", notes=tuple(left_out))


def _difficulty_adjusted(scores: Scores, easiness: Scores, datasets: int) -> Value:
    """Take the spread of what sets the model apart from the others, against its own mean score.

    A cell that no other model has says nothing about difficulty and is left out.
    """
    kept = {slot: score for slot, score in scores.items() if slot in easiness}
    values = grouped(kept, "dataset")
    over = f"{len(values)} of {datasets} datasets"
    left_out = tuple(f"{slot} is left out of CDC: no other model has it" for slot in sorted(set(scores) - set(kept)))
    if gap := _gap(values):
        return Value(None, over, f"{gap}, among cells that another model has too", left_out)
    residuals = grouped({slot: score - easiness[slot] for slot, score in kept.items()}, "dataset")
    return Value(max(0.0, 1 - sigma(list(residuals.values())) / fmean(values.values())), over, notes=left_out)
