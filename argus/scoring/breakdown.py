"""A(M) in parts: clean scores by data set and by task, and what each perturbation leaves.

Each model has its parts over its own cells, and again row by row over the cells that all models with any cell in that
row share: only these compare. A model that lacks a whole row (it writes no captions) takes nothing from the others.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

from argus.scoring.cells import Contender, Ledger
from argus.scoring.drawn import Drawn, draws_of, mean, value_of
from argus.scoring.records import CLEAN, Breakdown, FamilyRatio, Ratio, Slot, Value
from argus.scoring.robustness import Pairs, family_ratios, ratios, robustness

NO_CELL, NOT_SHARED = "no clean cell with a score", "no cell is common to the models that have any"

Have = Mapping[Contender, Iterable[Slot]]
Families = Mapping[str, str]
"""By perturbation, where it has one."""


def own_breakdown(ledger: Ledger, slots: Sequence[Slot], families: Families) -> Breakdown:
    """Return the parts of one model over its own cells; `slots` are those that there are to have."""
    by_perturbation = ratios(ledger.pairs)
    return Breakdown(
        by_dataset=_clean(ledger.scores, ledger.scores, slots, "dataset"),
        by_task=_clean(ledger.scores, ledger.scores, slots, "task"),
        by_perturbation=by_perturbation,
        by_family=family_ratios(by_perturbation, families),
        by_modality=_modalities(by_perturbation),
        rr_by_task=_tasks(ledger.pairs, ledger.pairs, slots),
    )


def shared_breakdowns(
    ledgers: Mapping[Contender, Ledger], slots: Sequence[Slot], families: Families
) -> dict[Contender, Breakdown]:
    """Return the parts of each model, each row over the cells that all models with any cell in that row share."""
    scores = {name: ledger.scores for name, ledger in ledgers.items()}
    pairs = {name: ledger.pairs for name, ledger in ledgers.items()}
    datasets, tasks = shared(scores, lambda slot: slot.dataset), shared(scores, lambda slot: slot.task)
    changes = shared(pairs, lambda slot: (slot.modality, slot.perturbation))
    kinds = shared(pairs, lambda slot: (slot.modality, families.get(slot.perturbation)))
    modalities, asked = shared(pairs, lambda slot: slot.modality), shared(pairs, lambda slot: slot.task)
    return {
        name: Breakdown(
            by_dataset=_clean(ledger.scores, datasets, slots, "dataset"),
            by_task=_clean(ledger.scores, tasks, slots, "task"),
            by_perturbation=_changes(ledger.pairs, changes),
            by_family=_families(ledger.pairs, kinds, families),
            by_modality=_modalities(_changes(ledger.pairs, modalities)),
            rr_by_task=_tasks(ledger.pairs, asked, slots),
        )
        for name, ledger in ledgers.items()
    }


def shared(have: Have, row: Callable[[Slot], Hashable]) -> frozenset[Slot]:
    """Return, row by row, the slots that all models with any slot in that row have."""
    rows: dict[Hashable, list[set[Slot]]] = {}
    for slots in have.values():
        mine: dict[Hashable, set[Slot]] = {}
        for slot in slots:
            mine.setdefault(row(slot), set()).add(slot)
        for key, found in mine.items():
            rows.setdefault(key, []).append(found)
    return frozenset(slot for sets in rows.values() for slot in set.intersection(*sets))


def _clean(scores: Mapping[Slot, Drawn], kept: Iterable[Slot], slots: Sequence[Slot], part: str) -> dict[str, Value]:
    """Return the mean of the kept clean scores for each dataset or task that there is to have."""
    within, found = set(kept), {}
    for group in sorted({getattr(slot, part) for slot in slots}):
        total = sum(slot.perturbation == CLEAN and getattr(slot, part) == group for slot in slots)
        mine = [slot for slot in scores if getattr(slot, part) == group]
        known = [scores[slot] for slot in mine if slot in within]
        over = f"{len(known)} of {total} clean cells"
        lacking = Value(None, over, NOT_SHARED if mine else NO_CELL)
        found[group] = value_of(mean(known), over) if known else lacking
    return found


def _changes(pairs: Pairs, kept: frozenset[Slot]) -> tuple[Ratio, ...]:
    """Return the ratios over the kept pairs; a gap where a perturbation has pairs, and none of them is kept."""
    found = ratios({slot: pair for slot, pair in pairs.items() if slot in kept})
    known = {(one.modality, one.perturbation) for one in found}
    bare = {(slot.modality, slot.perturbation) for slot in pairs} - known
    gaps = [Ratio(name, modality, Value(None, "0 cells", NOT_SHARED), {}) for modality, name in bare]
    return tuple(sorted((*found, *gaps), key=lambda one: (one.modality, one.perturbation)))


def _families(pairs: Pairs, kept: frozenset[Slot], families: Families) -> tuple[FamilyRatio, ...]:
    """Return the families' ratios over the kept pairs; a gap where a family has pairs, and none of them is kept."""
    found = family_ratios(ratios({slot: pair for slot, pair in pairs.items() if slot in kept}), families)
    known = {(one.modality, one.family) for one in found}
    all_ = {(slot.modality, family) for slot in pairs if (family := families.get(slot.perturbation))}
    gaps = [FamilyRatio(name, modality, Value(None, "0 cells", NOT_SHARED), {}) for modality, name in all_ - known]
    return tuple(sorted((*found, *gaps), key=lambda one: (one.modality, one.family)))


def _tasks(pairs: Pairs, kept: Iterable[Slot], slots: Sequence[Slot]) -> dict[str, Value]:
    """Return by task RR over the kept pairs; a gap where there are pairs, and none of them is kept."""
    within, found = set(kept), {}
    for task in sorted({slot.task for slot in pairs}):
        mine = {slot: pair for slot, pair in pairs.items() if slot.task == task and slot in within}
        total = sum(slot.perturbation != CLEAN and slot.task == task for slot in slots)
        found[task] = robustness(mine, total, NOT_SHARED)
    return found


def _modalities(found: Iterable[Ratio]) -> dict[str, Value]:
    """Return by modality the mean over its perturbations, as it enters RR."""
    members: dict[str, list[Ratio]] = {}
    for one in found:
        members.setdefault(one.modality, []).append(one)
    return {modality: _mean(mine) for modality, mine in members.items()}


def _mean(found: Sequence[Ratio]) -> Value:
    known = [draws_of(one.ratio) for one in found if not one.ratio.gap]
    over = f"{len(known)} of {len(found)} perturbations"
    if known:
        return value_of(mean(known), over)
    return Value(None, over, "; ".join(dict.fromkeys(one.ratio.gap for one in found)))
