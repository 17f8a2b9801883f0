"""Retrieval metrics of plain scores: rows are queries, columns candidates, higher is better."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from argus.errors import DataError


def ranks(scores: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the rank of each query's best right answer, (queries,) integers from 1.

    `scores` and `right` (booleans: which candidates answer the query) are (queries, candidates). The rank is one more
    than the number of wrong candidates that score at least as high as the best right one: ties count against the model,
    whatever the order, and other right answers are not in the way. Raises DataError for scores that are not finite,
    shapes that differ, or a query without a right answer.
    """
    scores, right = np.asarray(scores), np.asarray(right)
    if scores.ndim != 2 or scores.shape != right.shape or right.dtype != bool:
        raise DataError(
            f"scores are {scores.shape} and right answers {right.shape} of {right.dtype}: both must be "
            "(queries, candidates), the latter booleans"
        )
    broken = np.flatnonzero(~np.isfinite(scores).all(axis=1))
    if len(broken):
        raise DataError(
            f"{len(broken)} of {len(scores)} queries have a score that is not finite, first query {broken[0]}"
        )
    lost = np.flatnonzero(~right.any(axis=1))
    if len(lost):
        raise DataError(f"{len(lost)} of {len(scores)} queries have no right answer, first query {lost[0]}")
    best = np.max(scores, axis=1, where=right, initial=-np.inf, keepdims=True)
    return 1 + np.count_nonzero((scores >= best) & ~right, axis=1)


def recall_at_k(ranks: Sequence[int] | np.ndarray, k: int) -> float:
    """Return the share of queries whose best right answer is among the first k."""
    return float(np.mean(_queries(ranks) <= k))


def median_rank(ranks: Sequence[int] | np.ndarray) -> float:
    """Return the median rank; between two middle ones, their mean."""
    return float(np.median(_queries(ranks)))


def mean_reciprocal_rank(ranks: Sequence[int] | np.ndarray) -> float:
    """Return the mean of 1 / rank, in (0, 1]."""
    return float(np.mean(1 / _queries(ranks)))


def _queries(ranks: Sequence[int] | np.ndarray) -> np.ndarray:
    queries = np.asarray(ranks)
    if not queries.size:
        raise DataError("no query to average over: give at least one rank")
    return queries
