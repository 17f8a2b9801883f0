"""From stored cells to scorecards: A(M) = {P, CDC, RR, E} and the overall score of every model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from argus.errors import DataError
from argus.records import LOAD, CellResult, DroppedCell
from argus.scoring.baselines import little_to_lose
from argus.scoring.breakdown import NO_CELL, own_breakdown, shared_breakdowns
from argus.scoring.cells import Contender, Ledger, Rescore, by_contender, ledger_of, slot_of
from argus.scoring.consistency import consistency, medians
from argus.scoring.drawn import Drawn, interval, mean, value_of
from argus.scoring.efficiency import efficiencies, efficiency
from argus.scoring.overall import overall
from argus.scoring.records import CLEAN, Absent, Breakdown, Scorecard, Slot, Value, Vector
from argus.scoring.resampling import NONE, Resamples
from argus.scoring.robustness import robustness
from argus.scoring.scheme import Scheme


@dataclass(frozen=True)
class Evidence:
    """What one contender's figures are made of: its usable cells and the efficiency of each clean one."""

    ledger: Ledger
    costs: Mapping[Slot, Drawn | str]
    empty: Mapping[str, str]  # why P, RR or E stands on nothing, should it


BUSY = 1.5  # processes a core; Argus itself keeps at most one on each
OWN_EMPTY = {
    "P": NO_CELL,
    "RR": "no perturbed cell with a clean baseline",
    "E": "no clean cell with measured costs",
}


@dataclass(frozen=True)
class Field:
    """What all contenders share: the cells there are to have, how easy each is, and over how many profiles."""

    slots: tuple[Slot, ...]
    easiness: Mapping[Slot, Drawn]
    profiles: int

    @property
    def clean(self) -> int:
        return sum(slot.perturbation == CLEAN for slot in self.slots)

    @property
    def datasets(self) -> int:
        return len({slot.dataset for slot in self.slots})


@dataclass(frozen=True)
class Comparison:
    """All that is compared, by contender in the order of names: what scorecards and every analysis are made from."""

    cells: Mapping[Contender, Mapping[Slot, CellResult]]
    own: Mapping[Contender, Evidence]
    common: Mapping[Contender, Evidence]  # of the same cells; without contenders that have no clean score
    field: Field
    dropped: tuple[DroppedCell, ...]
    resamples: Resamples

    @property
    def families(self) -> dict[str, str]:
        """The family of each perturbation; those that only older runs have, which kept none, are not in it."""
        cells = [item for mine in self.cells.values() for item in mine.items()]
        return {slot.perturbation: cell.family for slot, cell in cells if cell.family}

    def name(self, contender: Contender) -> str:
        """Return the model, with its hardware where several profiles are compared."""
        return f"{contender.model} on {contender.hardware}" if self.field.profiles > 1 else contender.model


def compare(
    cells: Sequence[CellResult],
    scheme: Scheme,
    rescore: Rescore,
    dropped: Sequence[DroppedCell] = (),
    resamples: Resamples = NONE,
) -> Comparison:
    """Return the evidence for each model and hardware profile; the order of the cells is no matter.

    The cells to have are those that any of the models has, whatever came of them. `rescore` (see pairing.rescorer) is
    called only for a perturbed cell whose samples are not those of its clean baseline.
    Raises DataError when there are no cells or one occurs twice.
    """
    if not cells:
        raise DataError("no cells to score: run a sweep first (python -m argus.run -m model=…)")
    contenders = by_contender(cells, dropped)
    slots = tuple(sorted({slot_of(cell.key) for cell in cells}))
    ledgers = {name: ledger_of(mine, slots, rescore, resamples) for name, mine in contenders.items()}
    clean = [{slot: contenders[name][slot] for slot in ledger.scores} for name, ledger in ledgers.items()]
    costs = efficiencies(clean, scheme.formulas.efficiency, scheme.formulas.costs, resamples)
    own = {name: Evidence(ledgers[name], mine, OWN_EMPTY) for name, mine in zip(ledgers, costs, strict=True)}
    profiles = len({name.hardware for name in contenders})
    field = Field(slots, medians([ledger.scores for ledger in ledgers.values()]), profiles)
    return Comparison(contenders, own, _common(own), field, tuple(dropped), resamples)


def scorecards(comparison: Comparison, scheme: Scheme) -> tuple[Scorecard, ...]:
    """Return one scorecard for each model and hardware profile, sorted by name."""
    slots, families = comparison.field.slots, comparison.families
    ledgers = {name: mine.ledger for name, mine in comparison.own.items()}
    shared = shared_breakdowns(ledgers, slots, families)
    own = {name: own_breakdown(ledger, slots, families) for name, ledger in ledgers.items()}
    return tuple(_scorecard(name, comparison, scheme, own[name], shared[name]) for name in comparison.own)


def score_models(
    cells: Sequence[CellResult],
    scheme: Scheme,
    rescore: Rescore,
    dropped: Sequence[DroppedCell] = (),
    resamples: Resamples = NONE,
) -> tuple[Scorecard, ...]:
    """Return one scorecard for each model and hardware profile, sorted by name; see `compare`."""
    return scorecards(compare(cells, scheme, rescore, dropped, resamples), scheme)


def _scorecard(
    name: Contender, comparison: Comparison, scheme: Scheme, own_by: Breakdown, shared_by: Breakdown
) -> Scorecard:
    drops = {slot_of(d.key): d.reason for d in comparison.dropped if (d.key.model, d.key.hardware) == name}
    mine, common, field = comparison.own[name], comparison.common, comparison.field
    cells, ledger = comparison.cells[name], mine.ledger
    missing = {s: reason for s, reason in ledger.absent.items() if s in cells or s not in drops}
    own = vector_of(mine, field, scheme)
    return Scorecard(
        name=comparison.name(name),
        model=name.model,
        hardware=name.hardware,
        own=own,
        common=_common_vector(name, common, field, scheme),
        coverage=_coverage(ledger, field),
        common_coverage=_coverage(common[name].ledger, field) if name in common else "no cell",
        own_by=own_by,
        shared_by=shared_by,
        missing=tuple(Absent(slot, missing[slot]) for slot in sorted(missing)),
        dropped=tuple(Absent(slot, drops[slot]) for slot in sorted(drops) if slot not in cells),
        little_to_lose=little_to_lose(ledger.scores, cells),
        notes=(
            *_unread(cells, ledger),
            *_busy(cells, mine.costs),
            *(_unsampled(cells, comparison.resamples) or _undefined(own, cells, ledger)),
        ),
    )


def _coverage(ledger: Ledger, field: Field) -> str:
    return f"{len(ledger.scores) + len(ledger.pairs)} of {len(field.slots)} cells"


def vector_of(mine: Evidence, field: Field, scheme: Scheme) -> Vector:
    """Return A(M) and the overall score over the given evidence."""
    ledger, formulas = mine.ledger, scheme.formulas
    parts = {
        "P": capability(ledger.scores, field.clean, mine.empty["P"]),
        "CDC": consistency(ledger.scores, formulas.cdc, field.easiness, field.datasets),
        "RR": robustness(ledger.pairs, len(field.slots) - field.clean, mine.empty["RR"]),
        "E": efficiency(mine.costs, field.clean, mine.empty["E"]),
    }
    return Vector(**parts, overall=overall(parts, scheme.weights, formulas.overall))


def capability(scores: Mapping[Slot, Drawn], cells: int, empty: str) -> Value:
    """Return P: the mean clean score over dataset x task; `cells` is how many there are to have."""
    over = f"{len(scores)} of {cells} clean cells"
    return value_of(mean(scores.values()), over) if scores else Value(None, over, empty)


def _common(evidence: Mapping[Contender, Evidence]) -> dict[Contender, Evidence]:
    """Return the evidence cut to the cells that all compared models have.

    A model without any clean score is not compared: it would leave nothing in common.
    """
    compared = {name: mine for name, mine in evidence.items() if mine.ledger.scores}
    priced = {name: [s for s, e in mine.costs.items() if not isinstance(e, str)] for name, mine in compared.items()}
    scores, no_scores = _shared({name: mine.ledger.scores for name, mine in compared.items()}, "clean cell")
    pairs, no_pairs = _shared({name: mine.ledger.pairs for name, mine in compared.items()}, "perturbed cell")
    costs, no_costs = _shared(priced, "clean cell with measured costs")
    return {
        name: Evidence(
            replace(
                mine.ledger,
                scores={slot: score for slot, score in mine.ledger.scores.items() if slot in scores},
                pairs={slot: pair for slot, pair in mine.ledger.pairs.items() if slot in pairs},
            ),
            {slot: cost for slot, cost in mine.costs.items() if slot in costs},
            {"P": no_scores, "RR": no_pairs, "E": no_costs},
        )
        for name, mine in compared.items()
    }


def _shared(slots: Mapping[Contender, Iterable[Slot]], what: str) -> tuple[set[Slot], str]:
    """Return the slots that all contenders have, and what to say should there be none."""
    sets = {name: set(mine) for name, mine in slots.items()}
    lacking = ", ".join(sorted(name.model for name, mine in sets.items() if not mine))
    shared = set.intersection(*sets.values()) if sets else set()
    return shared, f"no {what} is common to all models" + (f" ({lacking}: none)" if lacking else "")


def _common_vector(name: Contender, common: Mapping[Contender, Evidence], field: Field, scheme: Scheme) -> Vector:
    if name not in common:
        gap = Value(None, "no cell", f"{name.model} has no clean score, so it is not compared")
        return Vector(gap, gap, gap, gap, gap)
    return vector_of(common[name], field, scheme)


def _unread(cells: Mapping[Slot, CellResult], ledger: Ledger) -> tuple[str, ...]:
    """Return which clean scores stand over fewer samples than their dataset has."""
    notes = []
    for slot in sorted(ledger.scores):
        if failed := cells[slot].failed:
            named = ", ".join(failed[:3]) + (", …" if len(failed) > 3 else "")
            total = cells[slot].samples + len(failed)
            notes.append(f"{slot}: {len(failed)} of {total} samples could not be read ({named})")
    return tuple(notes)


def _busy(cells: Mapping[Slot, CellResult], costs: Mapping[Slot, Drawn | str]) -> tuple[str, ...]:
    """Return whether other programs ran while costs were measured: their times are then no property of the model."""
    loads = {slot: cells[slot].metrics.get(LOAD, 0.0) for slot in costs}  # older runs noted none
    busy = [slot for slot, load in loads.items() if load > BUSY]
    if not busy:
        return ()
    return (
        f"E: the machine was busy while {len(busy)} of {len(costs)} clean cells were measured (up to "
        f"{max(loads.values()):.1f} processes a core), so times are too long: run these again on a quiet one, "
        "perturbation=clean argus.rerun=true",
    )


def _undefined(vector: Vector, cells: Mapping[Slot, CellResult], ledger: Ledger) -> tuple[str, ...]:
    """Return which figures have resamples but no interval: some resamples draw none of the few pictures of a cell."""
    figures = vector.figures().items()
    bare = [name for name, value in figures if value.draws is not None and value.interval is None]
    drawn = {**ledger.scores, **{slot: pair.perturbed for slot, pair in ledger.pairs.items()}}
    lacking = [slot for slot, score in drawn.items() if interval(score) is None]
    if not bare or not lacking:
        return ()
    fewest = min(lacking, key=lambda slot: (cells[slot].samples, slot))
    return (
        f"no interval for {', '.join(bare)}: too many resamples leave a cell without any picture "
        f"({fewest} has {cells[fewest].samples})",
    )


def _unsampled(cells: Mapping[Slot, CellResult], resamples: Resamples) -> tuple[str, ...]:
    """Return which cells have no resamples, and why the first has none."""
    bare = [slot for slot in sorted(cells) if cells[slot].run_id in resamples.missing]
    if not bare:
        return ()
    named = ", ".join(map(str, bare[:3])) + (", …" if len(bare) > 3 else "")
    reason = resamples.missing[cells[bare[0]].run_id]
    return (f"no interval for what stands on {len(bare)} of {len(cells)} cells ({named}): {reason}",)
