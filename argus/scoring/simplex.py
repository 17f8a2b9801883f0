"""Who wins under which weights: all of them, not a chosen few.

The overall score is linear in the weights (its logarithm, where it is geometric). So the weightings that a model wins
form a convex part of the simplex, and the nearest weighting with another winner is found by moving weight greedily.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np

WEIGHTINGS = 2**15
TINY = 1e-300  # stands for a part of 0 in a logarithm
SAME = 1e-12

Parts = Mapping[str, Sequence[float]]
"""By model: P, CDC, RR (capped at 1) and E, or those of them that are weighed."""


@dataclass(frozen=True)
class Change:
    """The least that the weights must change for a model to draw level with the winner."""

    challenger: str
    moved: float  # share of the whole weight that goes from some parts to another
    weights: tuple[float, ...]  # sum 1


@dataclass(frozen=True)
class WeightAnalysis:
    """What a ranking owes to its weights. `parts` names what is weighed, in the order of `weights`."""

    parts: tuple[str, ...]
    weights: tuple[float, ...]  # of the scheme, sum 1
    won: Mapping[str, float]  # by model: share of all weightings under which it comes first; equals share
    tau: float | None  # mean of Kendall's tau between all weightings and the scheme's; None for one model
    same_order: float | None  # share of weightings under which all ranks are the scheme's
    winner: str
    changes: tuple[Change, ...]  # the least first; without models that no weights bring level with the winner
    gap: str = ""  # why there is none of this

    @property
    def change(self) -> Change | None:
        """The least that the weights must change for another model to come first; None where none does."""
        return self.changes[0] if self.changes else None


def weight_analysis(parts: Parts, names: Sequence[str], weights: Sequence[float], geometric: bool) -> WeightAnalysis:
    """Return the analysis of one model or more; weights may have any sum above 0."""
    models = list(parts)
    matrix = _linear(np.array([parts[model] for model in models], dtype=np.float64), geometric)
    own = np.array(weights, dtype=np.float64) / math.fsum(weights)
    points = weightings(len(names))
    scores = matrix @ points.T  # (models, weightings)
    tau = _taus(scores, matrix @ own)
    return WeightAnalysis(
        parts=tuple(names),
        weights=tuple(own.tolist()),
        won=dict(zip(models, _won(scores).tolist(), strict=True)),
        tau=None if tau is None else float(tau.mean()),
        same_order=None if tau is None else float((tau == _taus(matrix @ own[:, None], matrix @ own)).mean()),
        winner=models[int(np.argmax(matrix @ own))],
        changes=changes(dict(zip(models, matrix, strict=True)), own),
    )


def _linear(matrix: np.ndarray, geometric: bool) -> np.ndarray:
    return np.log(np.maximum(matrix, TINY)) if geometric else matrix


@lru_cache(maxsize=4)
def weightings(parts: int) -> np.ndarray:
    """Return weightings that fill the simplex evenly, (WEIGHTINGS, parts), each of sum 1.

    Each part takes its share of what the parts before it left (L. Devroye, Non-Uniform Random Variate Generation, 1986,
    chapter 11). The numbers behind are evener than chance: equal steps, beside the multiples of the powers of the
    generalised golden ratio (M. Roberts, The unreasonable effectiveness of quasirandom sequences, 2018).
    """
    numbers, ratio = np.arange(1, WEIGHTINGS + 1), 1.5
    for _ in range(60):
        ratio = (1 + ratio) ** (1 / max(1, parts - 1))
    left, shares = np.ones(WEIGHTINGS), []
    for behind in range(parts - 1, 0, -1):
        place = parts - 1 - behind
        uniform = (0.5 + numbers * ratio**-place) % 1 if place else (numbers - 0.5) / WEIGHTINGS
        shares.append(left * (1 - (1 - uniform) ** (1 / behind)))
        left = left - shares[-1]
    return np.stack([*shares, left], axis=1)


def winners(parts: Parts, points: np.ndarray, geometric: bool) -> list[tuple[str, ...]]:
    """Return the models that come first under each of the weightings, (weightings, parts); equals all do."""
    models = list(parts)
    scores = _linear(np.array([parts[model] for model in models], dtype=np.float64), geometric) @ points.T
    first = scores >= scores.max(axis=0) - SAME
    return [tuple(models[at] for at in np.flatnonzero(column)) for column in first.T]


def _won(scores: np.ndarray) -> np.ndarray:
    """Return the share of weightings that each model wins; equals share a weighting."""
    first = scores >= scores.max(axis=0) - SAME
    return np.mean(first / first.sum(axis=0), axis=1)


def _taus(scores: np.ndarray, own: np.ndarray) -> np.ndarray | None:
    """Return Kendall's tau (a) of each weighting's scores, (models, weightings), against one other ranking."""
    pairs = list(combinations(range(len(own)), 2))
    if not pairs:
        return None
    first, second = np.array(pairs).T
    agree: np.ndarray = _signs(scores[first] - scores[second]) * _signs(own[first] - own[second])[:, None]
    return agree.mean(axis=0)


def _signs(differences: np.ndarray) -> np.ndarray:
    return np.where(np.abs(differences) <= SAME, 0.0, np.sign(differences))


def changes(rows: Mapping[str, np.ndarray], weights: np.ndarray) -> tuple[Change, ...]:
    """Return for each model the least share of weight that must move for it to draw level with the winner, least first.

    `rows` hold what each part contributes per weight. To gain on the winner, a challenger wants weight moved to the
    part where it is most ahead, taken first from the parts where it is most behind.
    """
    winner = max(rows, key=lambda name: float(rows[name] @ weights))
    found = [
        change
        for name, row in rows.items()
        if name != winner and (change := _overtake(name, row - rows[winner], weights)) is not None
    ]
    return tuple(sorted(found, key=lambda change: change.moved))


def _overtake(name: str, ahead: np.ndarray, weights: np.ndarray) -> Change | None:
    best, lacking, moved = int(np.argmax(ahead)), -float(ahead @ weights), weights.copy()
    if ahead[best] <= SAME < lacking:
        return None  # ahead in no part
    for source in np.argsort(ahead):
        gain = ahead[best] - ahead[source]
        if lacking <= SAME or gain <= SAME:
            break
        share = min(moved[source], lacking / gain)
        moved[source] -= share
        moved[best] += share
        lacking -= share * gain
    return Change(name, float(np.abs(moved - weights).sum() / 2), tuple(moved.tolist()))
