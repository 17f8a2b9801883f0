"""Clean scores that need no picture: where a model is no better than a rule, a perturbation has little to take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from argus.records import CellResult
from argus.scoring.drawn import Drawn, interval, point
from argus.scoring.records import Slot, WeakScore

RULES = {"commonest_answer_accuracy": "always giving the commonest answer", "chance": "guessing"}
"""What a rule is, by the metric that holds its score."""


def little_to_lose(scores: Mapping[Slot, Drawn], cells: Mapping[Slot, CellResult]) -> tuple[WeakScore, ...]:
    """Return each clean score that is not above that of the best rule, beyond its 95 % interval, or has none."""
    return tuple(_weak(scores, cells))


def _weak(scores: Mapping[Slot, Drawn], cells: Mapping[Slot, CellResult]) -> Iterator[WeakScore]:
    for slot in sorted(scores):
        known = {name: cells[slot].metrics[name] for name in RULES if name in cells[slot].metrics}
        if not known:
            continue
        best = max(known, key=known.__getitem__)
        ends, sampled = interval(scores[slot]), len(np.atleast_1d(scores[slot])) > 1
        unsure = sampled if ends is None else ends[0] <= known[best]
        if unsure or point(scores[slot]) <= known[best]:
            yield WeakScore(
                slot,
                f"{point(scores[slot]):.3f} is not surely above the {known[best]:.3f} of {RULES[best]}, "
                "so there is little for a perturbation to take, and RR there says little",
            )
