"""The overall score: A(M) weighed into one number."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict

from argus.scoring.records import Value
from argus.scoring.scheme import Weights


def overall(parts: Mapping[str, Value], weights: Weights, form: str) -> Value:
    """Return the weighted mean of P, CDC, RR and E, in [0, 1]; `form` is one of scheme.OVERALL_FORMS.

    RR counts as 1 where a perturbation helped: being robust is not a reward for a low clean score.
    A gap where a part that has weight is a gap: dropping it would compare different means.
    """
    weighed = {name: weight for name, weight in asdict(weights).items() if weight > 0}
    over = ", ".join(weighed)
    numbers: dict[str, float] = {}
    for name in weighed:
        value = parts[name].value
        if value is not None:
            numbers[name] = min(value, 1.0)
    if gaps := [f"{name} is missing: {parts[name].gap}" for name in weighed if name not in numbers]:
        return Value(None, over, "; ".join(gaps))
    total = math.fsum(weighed.values())
    if form == "arithmetic":
        return Value(math.fsum(weight * numbers[name] for name, weight in weighed.items()) / total, over)
    if not all(numbers.values()):
        return Value(0.0, over)
    return Value(math.exp(math.fsum(w * math.log(numbers[name]) for name, w in weighed.items()) / total), over)
