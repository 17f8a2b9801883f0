"""Two stored sweeps of the same models: what changed, told on the console, kept as a run, and judged by limits."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from omegaconf import DictConfig
from rich.console import Console

from argus import tracking
from argus.aggregation import scheme_of
from argus.errors import DataError
from argus.report.change import change_as_json, change_frame, change_report
from argus.scoring.gate import Breach, Limits, SweepChange, gate, sweep_change
from argus.scoring.pairing import rescorer
from argus.scoring.resampling import Counts
from argus.scoring.scheme import Scheme
from argus.settings import build
from argus.stored_sweep import SweepCells, evidence_of, read_sweep, sweep_id_of
from argus.tracking import Store
from argus.uncertainty import drawn_score, sample


@dataclass(frozen=True)
class Compared:
    """What changed from one sweep to another, and why it may not pass."""

    change: SweepChange
    breaches: tuple[Breach, ...]
    document: dict[str, object]


def compare_sweeps(
    store: Store, before: str, after: str, score: DictConfig, limits: Limits, console: Console
) -> Compared:
    """Compare two sweeps, by run id or "newest"; print the changes and keep them beside the scorecards.

    Raises DataError where the sweeps stand over other data, a suite or seed of their own, or share no model.
    """
    scheme = scheme_of(score)
    sweeps = [read_sweep(store, sweep_id_of(store, name)) for name in (before, after)]
    _require_same_conditions(*sweeps)
    change = _change(store, sweeps, scheme)
    breaches = gate(change, limits) if limits.set() else ()
    document = {"before": sweeps[0].sweep_id, "after": sweeps[1].sweep_id, **change_as_json(change, breaches)}
    console.print(change_report(change, breaches))
    _keep(store, sweeps, scheme, change, document)
    return Compared(change, breaches, document)


def limits_of(config: DictConfig) -> Limits:
    """Build the section "gate". Raises ConfigError for a limit that is no fall."""
    limits: Limits = build(config)
    return limits


def _require_same_conditions(before: SweepCells, after: SweepCells) -> None:
    for name, value in before.conditions.items():
        if value != after.conditions[name]:
            raise DataError(
                f"the sweeps have {name} '{value}' and '{after.conditions[name]}': compare sweeps of the same {name}"
            )
    for dataset in sorted(before.data.keys() & after.data.keys()):
        if other := _other(before.data[dataset], after.data[dataset]):
            raise DataError(f"the sweeps read other data of {dataset} ({other}): compare sweeps over the same pictures")


def _other(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """Return what differs of what both say: runs of an older Argus kept no digest."""
    both = [name for name in before if name in after and before[name] != after[name]]
    return ", ".join(f"{name} {before[name]} and {after[name]}" for name in both)


def _change(store: Store, sweeps: Sequence[SweepCells], scheme: Scheme) -> SweepChange:
    both, counts = evidence_of(store, *sweeps), Counts(scheme.bootstrap)
    cells = {cell.run_id: cell for sweep in sweeps for cell in sweep.cells}  # a run may be in both
    resamples = sample(cells.values(), both, counts).resamples
    rescore = rescorer(both.predictions, drawn_score(both, counts))
    return sweep_change(sweeps[0].cells, sweeps[1].cells, scheme, rescore, resamples)


def _keep(
    store: Store, sweeps: Sequence[SweepCells], scheme: Scheme, change: SweepChange, document: Mapping[str, object]
) -> None:
    """Write the change as a run of its own; the same two sweeps under the same weighting replace their predecessor."""
    before, after = (sweep.sweep_id for sweep in sweeps)
    tags = {"argus.kind": "change", "argus.before": before, "argus.after": after, "argus.weighting": scheme.name}
    same = " and ".join(f"tags.`{name}` = '{value}'" for name, value in tags.items())
    old = [run.id for run in tracking.find(store, store.scores_experiment, same)]
    run_id = tracking.start(store, store.scores_experiment, f"change · {scheme.name}", tags)
    changes = {
        f"{one.contender.model}.{one.what}": one.difference.value
        for one in change.figures
        if one.difference.value is not None
    }
    tracking.log(store, run_id, metrics=changes)
    with tracking.artifacts(store, run_id) as folder:
        (folder / "change.json").write_text(json.dumps(document, indent=1, ensure_ascii=False))
        change_frame(change).to_csv(folder / "change.csv", index=False)
    tracking.end(store, run_id, "FINISHED")
    tracking.delete(store, old)
