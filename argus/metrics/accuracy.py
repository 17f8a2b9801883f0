"""Accuracy of choices: over all questions, by kind, over joint questions, and beyond chance."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import fsum

import numpy as np

from argus.errors import DataError


def predicted_choice(scores: Sequence[float] | np.ndarray, target: int) -> int:
    """Return the index of the highest score; of several, the first that is wrong.

    A model that cannot tell the right choice from another has not answered. Raises DataError for scores that are not
    finite, and for a target that is not among the choices.
    """
    values = np.asarray(scores)
    if not values.size or not np.isfinite(values).all():
        raise DataError(f"the scores of the choices are {values.tolist()}: all must be finite")
    if not 0 <= target < len(values):
        raise DataError(f"the target is {target}, but there are {len(values)} choices")
    highest = np.flatnonzero(values == values.max())
    wrong = highest[highest != target]
    return int(wrong[0] if len(wrong) else highest[0])


def accuracy(predicted: Sequence[int], target: Sequence[int]) -> float:
    """Return the share of predictions equal to their target."""
    hits = _hits(predicted, target)
    return sum(hits) / len(hits)


def accuracy_by_kind(predicted: Sequence[int], target: Sequence[int], kinds: Sequence[str]) -> dict[str, float]:
    """Return the accuracy of each kind of question, kinds in alphabetical order."""
    of_kind: dict[str, list[bool]] = {}
    for hit, kind in zip(_hits(predicted, target), kinds, strict=True):
        of_kind.setdefault(kind, []).append(hit)
    return {kind: sum(hits) / len(hits) for kind, hits in sorted(of_kind.items())}


def joint_accuracy(predicted: Sequence[int], target: Sequence[int], groups: Sequence[str]) -> float:
    """Return the share of groups of which every question is right (VCR's Q->AR); "" is no group.

    Raises DataError where no question has a group.
    """
    all_right: dict[str, bool] = {}
    for hit, group in zip(_hits(predicted, target), groups, strict=True):
        if group:
            all_right[group] = all_right.get(group, True) and hit
    if not all_right:
        raise DataError(f"none of {len(groups)} questions has a group: there is no joint accuracy")
    return sum(all_right.values()) / len(all_right)


def chance(choices: Sequence[int]) -> float:
    """Return the accuracy of guessing, from the number of choices of each question."""
    if not choices or min(choices) < 2:
        raise DataError(f"the numbers of choices are {list(choices)[:5]}…: every question needs two or more")
    return sum(1 / count for count in choices) / len(choices)


def chance_by_kind(choices: Sequence[int], kinds: Sequence[str]) -> dict[str, float]:
    """Return what guessing gets of each kind of question, kinds in alphabetical order."""
    of_kind: dict[str, list[int]] = {}
    for count, kind in zip(choices, kinds, strict=True):
        of_kind.setdefault(kind, []).append(count)
    return {kind: chance(counts) for kind, counts in sorted(of_kind.items())}


def joint_chance(choices: Sequence[int], groups: Sequence[str]) -> float:
    """Return how often guessing gets every question of a group right: 1/16 for two questions of four choices.

    "" is no group. Raises DataError where no question has a group.
    """
    all_right: dict[str, float] = {}
    for count, group in zip(choices, groups, strict=True):
        if group:
            all_right[group] = all_right.get(group, 1.0) / count
    if not all_right:
        raise DataError(f"none of {len(groups)} questions has a group: there is no joint guess")
    return fsum(all_right.values()) / len(all_right)


def metric_name(kind: str) -> str:
    """Return a kind of question as part of a metric's name: "Q->A" becomes "q_to_a", "left of?" "left_of"."""
    return re.sub(r"[^a-z0-9]+", "_", kind.lower().replace("->", " to ")).strip("_")


def chance_adjusted_accuracy(accuracy: float, chance: float) -> float:
    """Return (accuracy - chance) / (1 - chance): 0 for guessing, 1 for all right, below 0 for worse than guessing."""
    if not 0 <= chance < 1:
        raise DataError(f"chance is {chance}: it must be from 0 to below 1")
    return (accuracy - chance) / (1 - chance)


def _hits(predicted: Sequence[int], target: Sequence[int]) -> list[bool]:
    hits = [guess == right for guess, right in zip(predicted, target, strict=True)]
    if not hits:
        raise DataError("no question to average over: give at least one")
    return hits
