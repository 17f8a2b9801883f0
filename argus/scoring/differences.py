"""How two models differ: on the same images, so that what both find hard cancels out.

Paired bootstrap: P. Koehn, Statistical significance tests for machine translation evaluation, EMNLP 2004; its p-value
from centred resamples: B. Efron, R. Tibshirani, An Introduction to the Bootstrap, 1993, chapter 16, with 1 added to
both counts as in sacreBLEU (M. Post, 2018). Paired errors and the minimum detectable effect: E. Miller, Adding Error
Bars to Evals, 2024. Several pairs: S. Holm, A simple sequentially rejective multiple test procedure, 1979.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import NormalDist

import numpy as np

from argus.scoring.drawn import draws_of, interval
from argus.scoring.records import Value

ALPHA, POWER = 0.05, 0.8
FEW = 10  # resamples; a share of fewer is too rough a p-value
SAME = 1e-12  # figures closer than this differ by rounding


@dataclass(frozen=True)
class Difference:
    """One figure of the first model less that of the second; the rest is None where resamples are lacking."""

    figure: str
    first: str
    second: str
    value: float | None
    gap: str = ""  # why there is no value
    interval: tuple[float, float] | None = None  # 95 %
    p: float | None = None  # two-sided; of no difference
    p_holm: float | None = None  # corrected for all pairs of models on this figure
    detectable: float | None = None  # the true difference that such data would find with 80 % power at p < 0.05

    @property
    def beyond_noise(self) -> bool:
        """Whether the corrected p-value is below 0.05."""
        return self.p_holm is not None and self.p_holm < ALPHA


def differences(figure: str, values: Mapping[str, Value]) -> tuple[Difference, ...]:
    """Return the difference of each pair of models, in the order given, with p-values corrected for their number."""
    return corrected(
        [difference(figure, one, other, values[one], values[other]) for one, other in combinations(values, 2)]
    )


def difference(figure: str, first: str, second: str, one: Value, other: Value) -> Difference:
    """Return the difference of two values whose resamples are the same; `p_holm` is left to `corrected`."""
    if gaps := [f"{name}: {value.gap}" for name, value in ((first, one), (second, other)) if value.gap]:
        return Difference(figure, first, second, None, "; ".join(gaps))
    drawn = draws_of(one) - draws_of(other) if one.draws is not None and other.draws is not None else None
    assert one.value is not None
    assert other.value is not None
    value = one.value - other.value
    ends = None if drawn is None else interval(drawn)
    if drawn is None or ends is None:
        return Difference(figure, first, second, value)
    draws = drawn[1:][~np.isnan(drawn[1:])]
    return Difference(figure, first, second, value, "", ends, p_value(value, draws), None, detectable(draws))


def p_value(value: float, draws: np.ndarray) -> float:
    """Return how often resamples lie as far from their mean as the value from 0.

    Where fewer than ten of them do, their number says little: the tail is then that of a normal distribution with the
    resamples' deviation (E. Miller's z-test), without which no correction for many pairs could leave a finding.
    """
    distances = np.abs(draws - draws.mean())
    as_far = int((distances >= abs(value) - SAME).sum())
    counted = (1 + as_far) / (1 + len(draws))
    if as_far >= FEW:
        return counted
    deviation = float(np.std(draws))
    tail = 2 * NormalDist().cdf(-abs(value) / deviation) if deviation > SAME else 0.0
    return min(counted, tail)


def detectable(draws: np.ndarray) -> float:
    """Return the smallest true difference that is found in 80 of 100 such data sets: 2.8 standard errors."""
    normal = NormalDist()
    return float((normal.inv_cdf(1 - ALPHA / 2) + normal.inv_cdf(POWER)) * np.std(draws))


def corrected(found: Sequence[Difference]) -> tuple[Difference, ...]:
    """Return differences with the p-values that Holm's procedure gives them as one family."""
    known = [one.p for one in found if one.p is not None]
    adjusted = iter(holm(known))
    return tuple(one if one.p is None else replace(one, p_holm=next(adjusted)) for one in found)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return adjusted p-values: the i-th smallest of n times n - i + 1, never below a smaller one's, at most 1."""
    adjusted, highest = [0.0] * len(p_values), 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[place]))
        adjusted[place] = highest
    return adjusted
