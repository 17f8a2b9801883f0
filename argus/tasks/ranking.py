"""From scores to ranks of queries. Rows are queries and columns candidates; ties count against the model."""

from __future__ import annotations

import numpy as np


def shortlist(similarity: np.ndarray, right: np.ndarray, top_k: int) -> np.ndarray:
    """Return which candidates are among the `top_k` of each query, (queries, candidates).

    Among equals the wrong ones come first: a model that cannot tell them apart gains nothing from their order.
    """
    candidates = similarity.shape[1]
    if top_k >= candidates:
        return np.ones_like(right)
    chosen = np.zeros_like(right)
    for query in range(len(similarity)):
        chosen[query, np.lexsort((right[query], -similarity[query]))[:top_k]] = True
    return chosen


def reranked(similarity: np.ndarray, match: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Return scores that order the chosen candidates by match + similarity, ahead of the rest by similarity.

    As BLIP's own retrieval does (github.com/salesforce/BLIP, train_retrieval.py: ITM logit + ITC similarity of the
    top k). The rest is moved down as a whole, to 1 below the lowest chosen candidate of its query.
    """
    # Float64, so that moving scores apart does not round two of them into a tie.
    similarity, match = similarity.astype(np.float64), match.astype(np.float64)
    lowest = np.where(chosen, match + similarity, np.inf).min(axis=1, keepdims=True)
    highest_of_rest = np.where(chosen, -np.inf, similarity).max(axis=1, keepdims=True)
    highest_of_rest = np.where(np.isfinite(highest_of_rest), highest_of_rest, 0.0)
    return np.where(chosen, match + similarity, similarity - highest_of_rest + lowest - 1.0)


def first(scores: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the index of the candidate that comes first for each query, a wrong one where it ties with a right one."""
    best = scores == scores.max(axis=1, keepdims=True)
    wrong = best & ~right
    return np.where(wrong.any(axis=1), wrong.argmax(axis=1), best.argmax(axis=1))
