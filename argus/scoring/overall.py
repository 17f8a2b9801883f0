"""The overall score: A(M) weighed into one number."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict

import numpy as np

from argus.scoring.drawn import draws_of, stacked, value_of
from argus.scoring.records import Value
from argus.scoring.scheme import Weights


def overall(parts: Mapping[str, Value], weights: Weights, form: str) -> Value:
    """Return the weighted mean of P, CDC, RR and E, in [0, 1]; `form` is one of scheme.OVERALL_FORMS.

    RR counts as 1 where a perturbation helped: being robust is not a reward for a low clean score.
    A gap where a part that has weight is a gap: dropping it would compare different means.
    """
    weighed = {name: weight for name, weight in asdict(weights).items() if weight > 0}
    over = ", ".join(weighed)
    if gaps := [f"{name} is missing: {parts[name].gap}" for name in weighed if parts[name].gap]:
        return Value(None, over, "; ".join(gaps))
    numbers = stacked(np.minimum(draws_of(parts[name]), 1.0) for name in weighed)
    shares = np.array(list(weighed.values())) / math.fsum(weighed.values())
    if form == "arithmetic":
        return value_of(shares @ numbers, over)
    nothing = numbers == 0
    return value_of(np.where(nothing.any(axis=0), 0.0, np.exp(shares @ np.log(np.where(nothing, 1.0, numbers)))), over)
