"""What a model costs: bars of each measured cost by task, and capability against latency and memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from argus.records import CellResult
from argus.scoring.analysis import Analysis
from argus.scoring.cells import trouble
from argus.scoring.records import CLEAN, Slot, Value

COSTS = {
    "latency_p50_ms": ("Latency, median", "ms"),
    "latency_p95_ms": ("Latency, 95th percentile", "ms"),
    "throughput_per_s": ("Throughput (higher is better)", "samples per second"),
    "peak_memory_mb": ("Peak memory", "MiB"),
    "parameters": ("Parameters", "million"),
    "flops_per_sample": ("Operations per sample", "GFLOP"),
}
UNITS = {"parameters": 1e6, "flops_per_sample": 1e9}
HIGHEST = ("peak_memory_mb",)  # a device must have room for the cell that takes most
NOT_MEASURED, NO_CELL = "not measured", "no clean cell of this task"


def how(cost: str) -> str:
    """Return in a word which figure of several cells is shown: their mean, or the highest."""
    return "highest" if cost in HIGHEST else "mean"


def _one_of(cost: str, costs: Sequence[float]) -> float:
    return max(costs) if cost in HIGHEST else fmean(costs)


def priced(cells: Mapping[Slot, CellResult], cost: str) -> dict[Slot, float]:
    """Return a cost in its unit by clean cell, where it was measured."""
    unit = UNITS.get(cost, 1.0)
    return {
        slot: cell.costs[cost] / unit
        for slot, cell in cells.items()
        if slot.perturbation == CLEAN and not trouble(cell) and cell.costs.get(cost, 0.0) > 0
    }


def by_task(analysis: Analysis, cost: str) -> dict[str, dict[str, Value]]:
    """Return a cost by model and task, over its data sets as `how` says; a gap where a clean cell has no such cost."""
    tasks = sorted({slot.task for mine in analysis.cells.values() for slot in mine})
    found: dict[str, dict[str, Value]] = {}
    for name, cells in analysis.cells.items():
        known = priced(cells, cost)
        found[name] = {task: _of_task(task, cost, known, cells) for task in tasks}
    return found


def senseless(analysis: Analysis) -> dict[tuple[str, str], str]:
    """Return by model and task why it has no clean cell: the model cannot do the task, so that nothing is missing."""
    return {
        (card.name, one.slot.task): one.reason
        for card in analysis.scorecards
        for one in card.dropped
        if one.slot.perturbation == CLEAN and not _clean(one.slot.task, analysis.cells.get(card.name, {}))
    }


def _clean(task: str, cells: Iterable[Slot]) -> list[Slot]:
    return [slot for slot in cells if slot.task == task and slot.perturbation == CLEAN]


def _of_task(task: str, cost: str, known: Mapping[Slot, float], cells: Iterable[Slot]) -> Value:
    wanted = _clean(task, cells)
    lacking = [str(slot) for slot in wanted if slot not in known]
    over = f"{len(wanted) - len(lacking)} of {len(wanted)} clean cells"
    if not wanted:
        return Value(None, over, NO_CELL)
    if lacking:
        return Value(None, over, f"{NOT_MEASURED} in {', '.join(lacking)}")
    return Value(_one_of(cost, [known[slot] for slot in wanted]), over)


def overall_cost(analysis: Analysis, cost: str) -> dict[str, Value]:
    """Return by model a cost over the clean cells that all models have measured, as `how` says."""
    known = {name: priced(cells, cost) for name, cells in analysis.cells.items()}
    some = {name: mine for name, mine in known.items() if mine}
    shared = sorted(set.intersection(*(set(mine) for mine in some.values()))) if some else []
    if not shared:
        reason = "no clean cell with this cost is common to all models" if some else NOT_MEASURED
        return {name: Value(None, "no cell", reason) for name in known}
    over = f"{len(shared)} clean cells"
    return {
        name: Value(_one_of(cost, [mine[slot] for slot in shared]), over) if mine else Value(None, over, NOT_MEASURED)
        for name, mine in known.items()
    }
