"""RR: what perturbations leave of the clean score."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean

from argus.scoring.cells import Pair
from argus.scoring.records import NOTHING, Ratio, Slot, Value

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
    known = [value.value for value in by_severity.values() if value.value is not None]
    gaps = tuple(f"{perturbation}-{severity}: {value.gap}" for severity, value in by_severity.items() if value.gap)
    mean = Value(fmean(known), over, notes=gaps) if known else Value(None, over, "; ".join(gaps))
    return Ratio(perturbation, modality, mean, by_severity)


def _at_severity(pairs: list[Pair]) -> Value:
    clean = fmean(pair.clean for pair in pairs)
    if clean < NOTHING:
        return Value(None, _count(len(pairs)), "the clean score of its cells is 0, so nothing can be lost")
    return Value(fmean(pair.perturbed for pair in pairs) / clean, _count(len(pairs)))


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
    families: dict[str, list[float]] = {}
    for one in found:
        if one.ratio.value is not None:
            families.setdefault(one.modality, []).append(one.ratio.value)
    over = f"{len(pairs)} of {cells} perturbed cells"
    if not families:
        return Value(None, over, "the clean score of every perturbed cell is 0, so nothing can be lost")
    notes = [f"RR stands without {one.perturbation}: {one.ratio.gap}" for one in found if one.ratio.gap]
    notes += [f"RR stands without {note}" for one in found for note in one.ratio.notes]
    if rescored := sum(pair.rescored for pair in pairs.values()):
        notes.append(f"RR: {_count(rescored)} scored anew over the samples shared with the clean baseline")
    mean = fmean(fmean(family) for family in families.values())
    return Value(mean, f"{over} ({', '.join(families)})", notes=tuple(notes))
