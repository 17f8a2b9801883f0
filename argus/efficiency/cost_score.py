"""From costs to E in (0, 1): 1 is free, 0.5 is the reference of the hardware profile. Lower costs are better."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from argus.errors import ConfigError, DataError


def cost_score(costs: Mapping[str, float], references: Mapping[str, float]) -> float:
    """Return the geometric mean of the costs' scores: halving a cost counts the same whichever cost it is.

    Raises as `cost_scores` does.
    """
    return float(geometric_mean(list(cost_scores(costs, references).values())))


def geometric_mean(scores: Sequence[float | np.ndarray]) -> np.ndarray:
    """Return the geometric mean of scores above 0, element by element where they are arrays."""
    found: np.ndarray = np.exp(np.mean([np.log(score) for score in scores], axis=0))
    return found


def cost_scores(costs: Mapping[str, float], references: Mapping[str, float]) -> dict[str, float]:
    """Return reference / (reference + cost) for each cost. No other model moves it, and no cost brings it to 0 or 1.

    Raises DataError for costs that are not the referenced ones, or not above 0 (what costs nothing was not measured),
    ConfigError for no reference or one that is not above 0.
    """
    if not references:
        raise ConfigError("no reference cost: name in the hardware profile the cost that scores 0.5")
    if set(costs) != set(references):
        raise DataError(
            f"costs {sorted(costs)} cannot be scored by references {sorted(references)}: name the same in the hardware "
            "profile's references, and measure the clean cell again if a cost is missing"
        )
    for name, reference in references.items():
        if not _positive(reference):
            raise ConfigError(f"reference {name}={reference} of the hardware profile: give a cost above 0")
        if not _positive(costs[name]):
            raise DataError(f"cost {name}={costs[name]} was not measured rightly: run the clean cell again")
    return {name: reference / (reference + costs[name]) for name, reference in references.items()}


def _positive(value: float) -> bool:
    return math.isfinite(value) and value > 0
