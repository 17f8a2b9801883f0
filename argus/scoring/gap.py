"""The Capability-Reliability Gap: where the more capable model is not the more reliable one, and whether that is real.

Reliability R is the mean of CDC and RR, RR counting as 1 at most as in the overall score.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from argus.scoring.drawn import draws_of, mean, stacked, value_of
from argus.scoring.records import Value, Vector


@dataclass(frozen=True)
class Flip:
    """A pair that the two rankings put in opposite orders. `probability`: how many resamples agree; None unknown."""

    capable: str  # has the higher P
    reliable: str  # has the higher R
    probability: float | None


@dataclass(frozen=True)
class CapabilityReliabilityGap:
    """Ranks by P against ranks by R, over the common cells; equals share a rank."""

    reliability: Mapping[str, Value]
    rank_by_capability: Mapping[str, int]
    rank_by_reliability: Mapping[str, int]
    flips: tuple[Flip, ...]
    spearman: Value  # of P and R over models: 1 no gap, -1 the opposite order
    kendall: Value  # tau-b


def capability_reliability_gap(vectors: Mapping[str, Vector]) -> CapabilityReliabilityGap:
    """Return the gap between models that have P, CDC and RR; gaps with their reason where two or more are needed."""
    reliability = {name: reliability_of(vector) for name, vector in vectors.items()}
    known = [name for name, value in reliability.items() if not value.gap and not vectors[name].P.gap]
    over = f"{len(known)} of {len(vectors)} models"
    if len(known) < 2:
        none = Value(None, over, f"a gap needs two models with P, CDC and RR, {len(known)} have them")
        return CapabilityReliabilityGap(reliability, {}, {}, (), none, none)
    p = stacked(draws_of(vectors[name].P) for name in known)
    r = stacked(draws_of(reliability[name]) for name in known)
    return CapabilityReliabilityGap(
        reliability,
        dict(zip(known, _places(p[:, 0]), strict=True)),
        dict(zip(known, _places(r[:, 0]), strict=True)),
        _flips(known, p, r),
        _correlation(spearman, p, r, over),
        _correlation(kendall, p, r, over),
    )


def reliability_of(vector: Vector) -> Value:
    """Return R: the mean of CDC and RR, RR counting as 1 at most."""
    if gaps := [
        f"{name} is missing: {value.gap}" for name, value in (("CDC", vector.CDC), ("RR", vector.RR)) if value.gap
    ]:
        return Value(None, "CDC, RR", "; ".join(gaps))
    return value_of(mean([draws_of(vector.CDC), np.minimum(draws_of(vector.RR), 1.0)]), "CDC, RR")


def _places(values: np.ndarray) -> list[int]:
    return [1 + int((values > value).sum()) for value in values]


def _flips(names: list[str], p: np.ndarray, r: np.ndarray) -> tuple[Flip, ...]:
    flips = []
    for one, other in permutations(range(len(names)), 2):
        flipped = (p[one] > p[other]) & (r[one] < r[other])
        if flipped[0]:
            known = ~np.isnan(p[one] + p[other] + r[one] + r[other])[1:]
            probability = float(flipped[1:][known].mean()) if known.any() else None
            flips.append(Flip(names[one], names[other], probability))
    return tuple(flips)


def _correlation(
    measure: Callable[[np.ndarray, np.ndarray], np.ndarray], p: np.ndarray, r: np.ndarray, over: str
) -> Value:
    drawn = measure(p, r)
    if np.isnan(drawn[0]):
        return Value(None, over, "all models have the same P or the same reliability")
    return value_of(drawn, over)


def spearman(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return Spearman's rho over the first axis: Pearson's of mean ranks. NaN where one side is all equal."""
    one, other = _ranks(first), _ranks(second)
    one, other = one - one.mean(axis=0), other - other.mean(axis=0)
    return _ratio((one * other).sum(axis=0), np.sqrt((one**2).sum(axis=0) * (other**2).sum(axis=0)))


def kendall(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return Kendall's tau-b over the first axis (M. Kendall, 1945). NaN where one side is all equal."""
    one, other = (np.sign(values[:, None] - values[None]) for values in (first, second))
    norms = np.sqrt((one**2).sum(axis=(0, 1)) * (other**2).sum(axis=(0, 1)))
    return _ratio((one * other).sum(axis=(0, 1)), norms)


def _ranks(values: np.ndarray) -> np.ndarray:
    """Return ranks over the first axis, lowest first; equals have the mean of theirs."""
    lower = (values[None] < values[:, None]).sum(axis=1)
    equal = (values[None] == values[:, None]).sum(axis=1)
    ranks: np.ndarray = np.where(np.isnan(values), np.nan, lower + (equal + 1) / 2)
    return ranks


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.where(whole > 0, part / np.where(whole > 0, whole, 1.0), np.nan)
