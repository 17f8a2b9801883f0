"""CDC: how evenly a model scores across datasets.

Sampling noise alone makes datasets differ, and a resample of noisy scores has it twice. So in each resample the
differences between datasets are shrunk until their variance is that of the scores less their noise (`without_noise`):
otherwise the interval of an even model would lie wholly below the truth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from argus.scoring.drawn import Drawn, mean, point, stacked, value_of
from argus.scoring.records import NOTHING, Slot, Value

Scores = Mapping[Slot, Drawn]


def grouped(scores: Scores, field: str) -> dict[str, np.ndarray]:
    """Return the mean score for each "dataset" or "task"."""
    groups: dict[str, list[Drawn]] = {}
    for slot, score in scores.items():
        groups.setdefault(getattr(slot, field), []).append(score)
    return {name: mean(groups[name]) for name in sorted(groups)}


def medians(ledgers: Sequence[Scores]) -> dict[Slot, np.ndarray]:
    """Return each cell's median over models, where two or more have it: the cell's easiness."""
    slots = {slot for scores in ledgers for slot in scores}
    columns = {slot: [scores[slot] for scores in ledgers if slot in scores] for slot in slots}
    return {slot: np.median(stacked(column), axis=0) for slot, column in columns.items() if len(column) > 1}


def consistency(scores: Scores, form: str, easiness: Scores, datasets: int, corrected: bool = False) -> Value:
    """Return CDC of a model's clean scores, in [0, 1].

    `form` is one of scheme.CDC_FORMS; `easiness` (from `medians`) serves the difficulty-adjusted form alone;
    `datasets` is how many there are to have. `corrected` takes the sampling noise out of the value too, which needs
    resamples. A gap where fewer than two datasets can be compared, or all score 0.
    """
    if form == "within_task":
        return _within_task(scores, datasets, corrected)
    if form == "difficulty_adjusted":
        return _difficulty_adjusted(scores, easiness, datasets, corrected)
    values = grouped(scores, "dataset")
    over = f"{len(values)} of {datasets} datasets"
    if gap := _gap(values):
        return Value(None, over, gap)
    measure = {"population": evenness, "min_max": min_max, "gini": equality}[form]
    return value_of(measure(without_noise(stacked(values.values()), corrected)), over)


def _gap(values: Mapping[str, np.ndarray]) -> str:
    if len(values) < 2:
        return f"needs two datasets, has {', '.join(values) or 'none'}"
    return "" if max(map(point, values.values())) >= NOTHING else "every dataset scores 0"


def without_noise(values: np.ndarray, corrected: bool = False) -> np.ndarray:
    """Return dataset scores, (datasets, 1 + resamples), whose spread has no more sampling noise than the datasets have.

    Of k scores with sampling variances v, the population variance is (k - 1) / k x mean(v) too high on average; of
    their resamples, twice that. Differences from the mean are shrunk so that it is taken off: from the resamples, and
    from the scores themselves where they are to be `corrected`.
    """
    known = values[:, 1:][:, ~np.isnan(values[:, 1:]).any(axis=0)]
    if not known.shape[1]:
        return values
    noise = np.var(known, axis=1).mean() * (len(values) - 1) / len(values)
    times = np.full(values.shape[1], 2.0)
    times[0] = float(corrected)
    middle, spread = values.mean(axis=0), values.var(axis=0)
    kept = np.sqrt(np.maximum(spread - times * noise, 0.0) / np.where(spread > 0, spread, 1.0))
    shrunk: np.ndarray = middle + (values - middle) * np.where(times > 0, kept, 1.0)
    return shrunk


def sigma(values: np.ndarray) -> np.ndarray:
    """Return the population standard deviation over the first axis."""
    return np.std(values, axis=0)


def evenness(values: np.ndarray) -> np.ndarray:
    """Return 1 - sigma / mu over the first axis, floored at 0. NaN where all values are 0."""
    return np.maximum(0.0, 1 - _over(sigma(values), np.mean(values, axis=0)))


def min_max(values: np.ndarray) -> np.ndarray:
    """Return lowest / highest over the first axis. NaN where all values are 0."""
    return _over(np.min(values, axis=0), np.max(values, axis=0))


def equality(values: np.ndarray) -> np.ndarray:
    """Return 1 - Gini over the first axis: the mean absolute difference of all pairs, over twice the mean."""
    differences = np.mean(np.abs(values[:, None] - values[None]), axis=(0, 1))
    return 1 - _over(differences, 2 * np.mean(values, axis=0))


def _over(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.where(whole >= NOTHING / 2, part / np.where(whole > 0, whole, 1.0), np.nan)


def _within_task(scores: Scores, datasets: int, corrected: bool) -> Value:
    """Compare only datasets on the same task: scores of two tasks differ for reasons other than consistency."""
    parts, left_out = [], []
    for task in sorted({slot.task for slot in scores}):
        values = grouped({slot: score for slot, score in scores.items() if slot.task == task}, "dataset")
        if gap := _gap(values):
            left_out.append(f"{task} is left out of CDC: {gap}")
        else:
            parts.append(evenness(without_noise(stacked(values.values()), corrected)))
    over = f"{len(grouped(scores, 'dataset'))} of {datasets} datasets"
    if not parts:
        return Value(None, over, "; ".join(left_out) or "needs two datasets, has none")
    return value_of(mean(parts), f"{over}, {len(parts)} tasks", notes=tuple(left_out))


def _difficulty_adjusted(scores: Scores, easiness: Scores, datasets: int, corrected: bool) -> Value:
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
    spread = sigma(without_noise(stacked(residuals.values()), corrected))
    return value_of(np.maximum(0.0, 1 - _over(spread, mean(values.values()))), over, notes=left_out)
