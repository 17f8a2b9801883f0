"""How sure a rank is: its probability over resamples, and the ranks that the data do not tell apart.

A rank's range counts only differences beyond noise, as Chatbot Arena's does (W.-L. Chiang et al., Chatbot Arena, ICML
2024): 1 + the models that are better beyond noise, up to all models but those that are worse beyond noise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from argus.scoring.differences import Difference
from argus.scoring.drawn import draws_of, stacked
from argus.scoring.records import Value


@dataclass(frozen=True)
class RankProbability:
    """One model's ranks by one figure. `probabilities` are of rank 1, 2, …; empty where resamples are lacking."""

    figure: str
    name: str
    probabilities: tuple[float, ...]
    best: int  # of the ranks that the data allow
    worst: int


def rank_probabilities(
    figure: str, values: Mapping[str, Value], found: Iterable[Difference]
) -> tuple[RankProbability, ...]:
    """Return the ranks of the models that have the figure; `found` are the differences of their pairs in it."""
    known = {name: value for name, value in values.items() if not value.gap}
    beyond = [one for one in found if one.beyond_noise and one.value]
    better = Counter(one.second if one.value > 0 else one.first for one in beyond if one.value)  # than the one named
    worse = Counter(one.first if one.value > 0 else one.second for one in beyond if one.value)
    shares = _shares(known)
    return tuple(
        RankProbability(figure, name, shares.get(name, ()), 1 + better[name], len(known) - worse[name])
        for name in known
    )


def _shares(values: Mapping[str, Value]) -> dict[str, tuple[float, ...]]:
    """Return in which share of the resamples each model has rank 1, 2, …; equals share the ranks that they take up."""
    if not values or any(value.interval is None for value in values.values()):
        return {}
    draws = stacked(draws_of(value) for value in values.values())[:, 1:]
    draws = draws[:, ~np.isnan(draws).any(axis=0)]
    above = (draws[None] > draws[:, None]).sum(axis=1)  # (models, resamples): how many are better
    equal = (draws[None] == draws[:, None]).sum(axis=1)  # with the model itself
    ranks = np.arange(len(values))[:, None, None]
    mass = np.where((above <= ranks) & (ranks < above + equal), 1 / equal, 0.0).mean(axis=2)  # (ranks, models)
    return {name: tuple(map(float, mass[:, place])) for place, name in enumerate(values)}
