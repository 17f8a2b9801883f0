"""Two sweeps of the same models: what changed, what of it is beyond noise, and whether it may pass."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from argus.errors import ConfigError, DataError
from argus.records import CellResult
from argus.scoring.cells import Contender, Ledger, Rescore, by_contender
from argus.scoring.differences import Difference, corrected, difference
from argus.scoring.drawn import Drawn, value_of
from argus.scoring.records import Slot, Value
from argus.scoring.resampling import Resamples
from argus.scoring.scheme import Scheme
from argus.scoring.vector import compare, vector_of

BEFORE, AFTER = "before", "after"


@dataclass(frozen=True)
class Limits:
    """How much each figure may fall, as a number of 0 or less; None: as it likes."""

    P: float | None
    CDC: float | None
    RR: float | None
    E: float | None
    overall: float | None

    def __post_init__(self) -> None:
        for name, limit in self.set().items():
            number = isinstance(limit, int | float) and not isinstance(limit, bool)
            if not (number and math.isfinite(limit) and limit <= 0):
                raise ConfigError(f"gate.{name}={limit}: give the lowest change that may pass, for example -0.01")

    def set(self) -> dict[str, float]:
        """Return the limits that there are."""
        return {name: limit for name, limit in asdict(self).items() if limit is not None}


@dataclass(frozen=True)
class Change:
    """A figure of a model over the cells that both sweeps have, or one of those cells.

    `difference` is after less before.
    """

    contender: Contender
    what: str  # "P", …, or the cell
    before: Value
    after: Value
    difference: Difference

    @property
    def regression(self) -> bool:
        """Whether it fell, beyond noise, all changes of its kind considered."""
        return self.difference.beyond_noise and self.difference.value is not None and self.difference.value < 0


@dataclass(frozen=True)
class SweepChange:
    """What changed from one sweep to another."""

    figures: tuple[Change, ...]
    cells: tuple[Change, ...]
    lost: tuple[str, ...]  # what had a score before and has none after, with the reason


@dataclass(frozen=True)
class Breach:
    """Why a change may not pass."""

    what: str
    reason: str


def sweep_change(
    before: Sequence[CellResult], after: Sequence[CellResult], scheme: Scheme, rescore: Rescore, resamples: Resamples
) -> SweepChange:
    """Return what changed for each model and hardware profile, over the cells that have a score in both sweeps.

    Resamples are of the same images in both, so differences are paired. Formulas that compare models compare the two
    sweeps of one model. p-values are corrected for all models (figures) and for all cells. Raises DataError for sweeps
    without a model in common, or cells that stand over other numbers of images.
    """
    old, new = by_contender(before, ()), by_contender(after, ())
    common = [name for name in old if name in new]
    if not common:
        raise DataError(f"no model in common: {_listed(old)} before, {_listed(new)} after")
    lost = [f"{name.model} on {name.hardware}: not in the later sweep" for name in old if name not in new]
    figures: list[Change] = []
    cells: list[Change] = []
    for name in common:
        _require_same_data(name, old[name], new[name])
        both = [_renamed(cell, BEFORE) for cell in old[name].values()]
        both += [_renamed(cell, AFTER) for cell in new[name].values()]
        comparison = compare(both, scheme, rescore, (), resamples)
        ledgers = [comparison.own[Contender(when, name.hardware)].ledger for when in (BEFORE, AFTER)]
        lost += _lost(name, *ledgers)
        cells += _cells(name, *ledgers)
        vectors = [
            vector_of(comparison.common[contender], comparison.field, scheme).figures()
            for when in (BEFORE, AFTER)
            if (contender := Contender(when, name.hardware)) in comparison.common
        ]
        if len(vectors) == 2:
            figures += [_change(name, figure, vectors[0][figure], vectors[1][figure]) for figure in vectors[0]]
    return SweepChange(_corrected_by_figure(figures), _corrected(cells), tuple(lost))


def _listed(names: Mapping[Contender, object]) -> str:
    return ", ".join(f"{name.model} on {name.hardware}" for name in names)


def _renamed(cell: CellResult, model: str) -> CellResult:
    return replace(cell, key=replace(cell.key, model=model))


def _require_same_data(name: Contender, old: Mapping[Slot, CellResult], new: Mapping[Slot, CellResult]) -> None:
    for slot in sorted(set(old) & set(new)):
        sizes = [cell.samples + len(cell.failed) for cell in (old[slot], new[slot]) if cell.score is not None]
        if len(set(sizes)) > 1:
            raise DataError(
                f"{name.model}/{slot} stands over {sizes[0]} images before and {sizes[1]} after: compare sweeps of the "
                "same data"
            )


def _lost(name: Contender, old: Ledger, new: Ledger) -> Iterator[str]:
    for slot in sorted({*old.scores, *old.pairs} - {*new.scores, *new.pairs}):
        yield f"{name.model}/{slot} on {name.hardware}: {new.absent.get(slot, 'not run')}"


def _cells(name: Contender, old: Ledger, new: Ledger) -> list[Change]:
    before, after = _scores(old), _scores(new)
    return [
        _change(name, str(slot), value_of(before[slot], "1 cell"), value_of(after[slot], "1 cell"))
        for slot in sorted(before)
        if slot in after
    ]


def _scores(ledger: Ledger) -> dict[Slot, Drawn]:
    return {**ledger.scores, **{slot: pair.perturbed for slot, pair in ledger.pairs.items()}}


def _change(name: Contender, what: str, before: Value, after: Value) -> Change:
    return Change(name, what, before, after, difference(what, AFTER, BEFORE, after, before))


def _corrected(changes: Sequence[Change]) -> tuple[Change, ...]:
    found = corrected([change.difference for change in changes])
    return tuple(replace(change, difference=one) for change, one in zip(changes, found, strict=True))


def _corrected_by_figure(changes: Sequence[Change]) -> tuple[Change, ...]:
    """Return the changes in their order, p-values corrected for the models that are compared on each figure."""
    families = [_corrected([one for one in changes if one.what == what]) for what in {one.what for one in changes}]
    known = {(one.contender, one.what): one for family in families for one in family}
    return tuple(known[one.contender, one.what] for one in changes)


def gate(change: SweepChange, limits: Limits) -> tuple[Breach, ...]:
    """Return why a change may not pass; nothing where it may.

    A figure may not fall below its limit, unless its interval still holds 0: then it is not beyond noise. What was lost
    or cannot be judged may not pass either.
    """
    breaches = [Breach("lost", reason) for reason in change.lost]
    for one in change.figures:
        limit = limits.set().get(one.what)
        if limit is not None and (reason := _reason(one.difference, limit)):
            breaches.append(Breach(f"{one.contender.model} on {one.contender.hardware}: {one.what}", reason))
    return tuple(breaches)


def _reason(found: Difference, limit: float) -> str:
    if found.value is None:
        return f"cannot be judged: {found.gap}"
    if found.value >= limit or (found.interval is not None and found.interval[1] >= 0):
        return ""
    ends = "" if found.interval is None else " [{:.4f}, {:.4f}]".format(*found.interval)
    return f"changed by {found.value:.4f}{ends}, less than {limit} may pass"
