"""Figures that carry their resamples: the figure itself first, then what it would have been for each resample.

A formula is written once, on such arrays, and holds for both. Intervals are percentile intervals (B. Efron, R.
Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13): they stay inside a score's range, and cover best here
(docs/scores.md has the simulation).
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from argus.scoring.records import Value

Drawn = np.ndarray | float
"""(1 + resamples,) float64, or a figure without resamples. NaN where a resample has no such figure."""

LEVEL = 0.95
MOST_UNDEFINED = 0.05  # of the resamples; with more, what is left is no fair picture of all


def point(drawn: Drawn) -> float:
    """Return the figure itself."""
    return float(np.atleast_1d(drawn)[0])


def stacked(parts: Iterable[Drawn]) -> np.ndarray:
    """Return the figures as rows, (parts, 1 + resamples); one without resamples is the same in all of them."""
    return np.stack(np.broadcast_arrays(*(np.atleast_1d(part) for part in parts)))


def mean(parts: Iterable[Drawn]) -> np.ndarray:
    """Return the arithmetic mean of figures, and that of each resample."""
    found: np.ndarray = stacked(parts).mean(axis=0)
    return found


def with_draws(figure: float, draws: np.ndarray | None, resamples: int) -> np.ndarray:
    """Return a figure with its resamples; None are resamples that are not known."""
    unknown = np.full(resamples, np.nan)
    return np.concatenate([[figure], unknown if draws is None else draws])


def draws_of(value: Value) -> np.ndarray:
    """Return a value that is no gap with its resamples, as it was drawn."""
    assert value.value is not None
    return np.concatenate([[value.value], [] if value.draws is None else value.draws])


def value_of(drawn: Drawn, over: str, notes: tuple[str, ...] = ()) -> Value:
    """Return a figure with its interval; none where there are no resamples, or too many of them lack the figure."""
    numbers = np.atleast_1d(drawn)
    draws = numbers[1:] if len(numbers) > 1 else None
    return Value(float(numbers[0]), over, notes=notes, interval=interval(numbers), draws=draws)


def interval(drawn: Drawn) -> tuple[float, float] | None:
    """Return the 95 % interval of a figure from its resamples, widened to hold the figure itself, or None."""
    numbers = np.atleast_1d(drawn)
    known = numbers[1:][~np.isnan(numbers[1:])]
    if not len(known) or len(known) < (1 - MOST_UNDEFINED) * (len(numbers) - 1):
        return None
    low, high = np.quantile(known, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(min(low, numbers[0])), float(max(high, numbers[0]))


def with_a_doubt(ends: tuple[float, float], images: int) -> tuple[float, float]:
    """Return the interval of a share of hits, which admits a miss (or hit) where no image had one and no resample can.

    The rule of three: J. Hanley, A. Lippman-Hand, If nothing goes wrong, is everything all right?, JAMA 1983.
    """
    unseen = min(1.0, -math.log(1 - LEVEL) / images)
    if ends[0] == ends[1] and ends[0] in (0.0, 1.0):
        return (1 - unseen, 1.0) if ends[0] else (0.0, unseen)
    return ends
