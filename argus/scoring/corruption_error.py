"""Corruption errors as of ImageNet-C: how wrong a model is under each family of perturbations, and over all.

D. Hendrycks, T. Dietterich, Benchmarking Neural Network Robustness to Common Corruptions and Perturbations, ICLR 2019,
section 4: the error of a corruption is summed over its severities and divided by that of a reference model (there
AlexNet); mCE is the mean over corruptions, relative mCE the same of what is lost against clean input.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from argus.scoring.cells import Pair
from argus.scoring.drawn import Drawn, mean, point, value_of
from argus.scoring.records import NOTHING, Slot, Value

ALL = "all"
Pairs = Mapping[Slot, Pair]


class Kind(NamedTuple):
    """A perturbation."""

    modality: str
    perturbation: str


@dataclass(frozen=True)
class CorruptionError:
    """Of one model under one family of perturbations ("all": every one), over the cells that all models have."""

    name: str
    modality: str
    family: str
    error: Value  # 1 - score: mean over the cells of a severity, then severities, then perturbations
    mce: Value  # error / that of the reference model, mean over perturbations
    relative_mce: Value  # what was lost / what the reference model lost, mean over perturbations


@dataclass(frozen=True)
class Errors:
    """Of one perturbation, the mean over its severities."""

    error: Drawn  # 1 - score
    lost: Drawn  # clean score - score


def corruption_errors(
    pairs: Mapping[str, Pairs], families: Mapping[str, str], reference: str | None
) -> tuple[CorruptionError, ...]:
    """Return the errors of each model, family by family, then over all perturbations.

    `pairs` are those of each model, of the same cells; `families` tells a perturbation's (one without is its own);
    `reference` is the model whose mCE is 1, or None.
    """
    errors = {name: _by_kind(mine) for name, mine in pairs.items()}
    groups = _groups({kind for mine in errors.values() for kind in mine}, families)
    return tuple(
        CorruptionError(name, modality, family, *_figures(mine, kinds, errors, reference))
        for name, mine in errors.items()
        for (modality, family), kinds in groups.items()
    )


def _groups(kinds: Iterable[Kind], families: Mapping[str, str]) -> dict[tuple[str, str], list[Kind]]:
    groups: dict[tuple[str, str], list[Kind]] = {}
    for kind in sorted(kinds):
        family = families.get(kind.perturbation) or kind.perturbation
        groups.setdefault((kind.modality, family), []).append(kind)
    everything = {(ALL, ALL): [kind for members in groups.values() for kind in members]}
    return dict(sorted(groups.items())) | (everything if groups else {})


def _by_kind(pairs: Pairs) -> dict[Kind, Errors]:
    found: dict[Kind, dict[int, list[Pair]]] = {}
    for slot, pair in pairs.items():
        found.setdefault(Kind(slot.modality, slot.perturbation), {}).setdefault(slot.severity, []).append(pair)
    return {kind: _errors(severities.values()) for kind, severities in found.items()}


def _errors(severities: Iterable[Sequence[Pair]]) -> Errors:
    at = [(mean(p.clean for p in pairs), mean(p.perturbed for p in pairs)) for pairs in severities]
    clean, perturbed = mean(c for c, _ in at), mean(p for _, p in at)
    return Errors(1 - perturbed, clean - perturbed)


def _figures(
    mine: Mapping[Kind, Errors],
    kinds: Sequence[Kind],
    errors: Mapping[str, Mapping[Kind, Errors]],
    reference: str | None,
) -> tuple[Value, Value, Value]:
    over = f"{len(kinds)} perturbation{'' if len(kinds) == 1 else 's'}"
    error = value_of(mean(mine[kind].error for kind in kinds), over)
    if reference is None or reference not in errors:
        gap = Value(None, over, f"the reference model '{reference}' is not compared" if reference else "no reference")
        return error, gap, gap
    theirs = errors[reference]
    wrong = {kind: (mine[kind].error, theirs[kind].error) for kind in kinds}
    lost = {kind: (mine[kind].lost, theirs[kind].lost) for kind in kinds}
    return error, _quotient(wrong, "is never wrong"), _quotient(lost, "loses nothing")


def _quotient(held: Mapping[Kind, tuple[Drawn, Drawn]], nothing: str) -> Value:
    """Return the mean of mine / the reference's, less perturbations that do nothing to the reference, by name."""
    without = ", ".join(kind.perturbation for kind, (_, theirs) in held.items() if point(theirs) < NOTHING)
    usable = [(a, np.asarray(b)) for a, b in held.values() if point(b) >= NOTHING]
    over = f"{len(usable)} of {len(held)} perturbations"
    if not usable:
        return Value(None, over, f"the reference model {nothing} under {without}")
    notes = (f"without {without}: the reference model {nothing} there",) if without else ()
    return value_of(mean(a / np.where(b < NOTHING, np.nan, b) for a, b in usable), over, notes=notes)
