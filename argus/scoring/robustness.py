"""RR: what perturbations leave of the clean score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from argus.scoring.cells import Pair
from argus.scoring.drawn import draws_of, mean, point, value_of
from argus.scoring.records import NOTHING, FamilyRatio, Ratio, Slot, Value

Pairs = Mapping[Slot, Pair]


def ratios(pairs: Pairs) -> tuple[Ratio, ...]:
    """Return one ratio for each perturbation, by modality and name, uncapped.

    At one severity: mean perturbed score / mean clean score over the cells that have both. Then the mean over
    severities.
    """
    found = sorted({(slot.modality, slot.perturbation) for slot in pairs})
    return tuple(_ratio(pairs, modality, perturbation) for modality, perturbation in found)


def _ratio(pairs: Pairs, modality: str, perturbation: str) -> Ratio:
    mine = {
        slot: pair for slot, pair in pairs.items() if (slot.modality, slot.perturbation) == (modality, perturbation)
    }
    by_severity = {
        severity: _at_severity([pair for slot, pair in mine.items() if slot.severity == severity])
        for severity in sorted({slot.severity for slot in mine})
    }
    over = _count(len(mine))
    known = [draws_of(value) for value in by_severity.values() if not value.gap]
    gaps = tuple(f"{perturbation}-{severity}: {value.gap}" for severity, value in by_severity.items() if value.gap)
    ratio = value_of(mean(known), over, notes=gaps) if known else Value(None, over, "; ".join(gaps))
    return Ratio(perturbation, modality, ratio, by_severity)


def family_ratios(found: Sequence[Ratio], families: Mapping[str, str]) -> tuple[FamilyRatio, ...]:
    """Return one ratio for each family, by modality and name; `families` tells a perturbation's.

    Every perturbation of a family weighs the same. One without a family is left out, one without a ratio is named.
    """
    members: dict[tuple[str, str], list[Ratio]] = {}
    for one in found:
        if family := families.get(one.perturbation):
            members.setdefault((one.modality, family), []).append(one)
    return tuple(_family_ratio(*key, members[key]) for key in sorted(members))


def _family_ratio(modality: str, family: str, members: Sequence[Ratio]) -> FamilyRatio:
    severities = sorted({severity for one in members for severity in one.by_severity})
    by_severity = {
        severity: _over_members(
            {one.perturbation: one.by_severity[severity] for one in members if severity in one.by_severity}
        )
        for severity in severities
    }
    return FamilyRatio(family, modality, _over_members({one.perturbation: one.ratio for one in members}), by_severity)


def _over_members(values: Mapping[str, Value]) -> Value:
    known = [draws_of(value) for value in values.values() if not value.gap]
    over = f"{len(known)} of {len(values)} perturbations"
    gaps = tuple(f"{name}: {value.gap}" for name, value in values.items() if value.gap)
    return value_of(mean(known), over, notes=gaps) if known else Value(None, over, "; ".join(gaps))


def _at_severity(pairs: list[Pair]) -> Value:
    clean, perturbed = mean(pair.clean for pair in pairs), mean(pair.perturbed for pair in pairs)
    if point(clean) < NOTHING:
        return Value(None, _count(len(pairs)), "the clean score of its cells is 0, so nothing can be lost")
    return value_of(perturbed / np.where(clean < NOTHING, np.nan, clean), _count(len(pairs)))


def _count(cells: int) -> str:
    return f"{cells} cell" if cells == 1 else f"{cells} cells"


def robustness(pairs: Pairs, cells: int, empty: str) -> Value:
    """Return RR, uncapped: the mean over perturbations within a modality, then over modalities.

    `cells` is how many perturbed cells there are to have; `empty` is what to say where there are no pairs.
    A gap as well where no perturbation has a ratio.
    """
    if not pairs:
        return Value(None, f"0 of {cells} perturbed cells", empty)
    found = ratios(pairs)
    families: dict[str, list[np.ndarray]] = {}
    for one in found:
        if not one.ratio.gap:
            families.setdefault(one.modality, []).append(draws_of(one.ratio))
    over = f"{len(pairs)} of {cells} perturbed cells"
    if not families:
        return Value(None, over, "the clean score of every perturbed cell is 0, so nothing can be lost")
    notes = [f"RR stands without {one.perturbation}: {one.ratio.gap}" for one in found if one.ratio.gap]
    notes += [f"RR stands without {note}" for one in found for note in one.ratio.notes]
    if rescored := sum(pair.rescored for pair in pairs.values()):
        notes.append(f"RR: {_count(rescored)} scored anew over the samples shared with the clean baseline")
    ratio = mean(mean(family) for family in families.values())
    return value_of(ratio, f"{over} ({', '.join(families)})", notes=tuple(notes))
