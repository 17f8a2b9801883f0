"""What a model costs: bars of each measured cost by task, and capability against latency and memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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
NOT_MEASURED, NO_CELL = "not measured", "no clean cell of this task"


def priced(cells: Mapping[Slot, CellResult], cost: str) -> dict[Slot, float]:
    """Return a cost in its unit by clean cell, where it was measured."""
    unit = UNITS.get(cost, 1.0)
    return {
        slot: cell.costs[cost] / unit
        for slot, cell in cells.items()
        if slot.perturbation == CLEAN and not trouble(cell) and cell.costs.get(cost, 0.0) > 0
    }


def by_task(analysis: Analysis, cost: str) -> dict[str, dict[str, Value]]:
    """Return by model and task the mean over data sets; a gap where a clean cell of the task has no such cost."""
    tasks = sorted({slot.task for mine in analysis.cells.values() for slot in mine})
    found: dict[str, dict[str, Value]] = {}
    for name, cells in analysis.cells.items():
        known = priced(cells, cost)
        found[name] = {task: _mean(task, known, cells) for task in tasks}
    return found


def _mean(task: str, known: Mapping[Slot, float], cells: Iterable[Slot]) -> Value:
    wanted = [slot for slot in cells if slot.task == task and slot.perturbation == CLEAN]
    lacking = [str(slot) for slot in wanted if slot not in known]
    over = f"{len(wanted) - len(lacking)} of {len(wanted)} clean cells"
    if not wanted:
        return Value(None, over, NO_CELL)
    if lacking:
        return Value(None, over, f"{NOT_MEASURED} in {', '.join(lacking)}")
    return Value(fmean(known[slot] for slot in wanted), over)


def overall_cost(analysis: Analysis, cost: str) -> dict[str, Value]:
    """Return by model a cost over the clean cells that all models have measured: the mean, of memory the highest."""
    known = {name: priced(cells, cost) for name, cells in analysis.cells.items()}
    some = {name: mine for name, mine in known.items() if mine}
    shared = sorted(set.intersection(*(set(mine) for mine in some.values()))) if some else []
    if not shared:
        reason = "no clean cell with this cost is common to all models" if some else NOT_MEASURED
        return {name: Value(None, "no cell", reason) for name in known}
    over = f"{len(shared)} clean cells"
    pick = max if cost == "peak_memory_mb" else fmean
    return {
        name: Value(pick([mine[slot] for slot in shared]), over) if mine else Value(None, over, NOT_MEASURED)
        for name, mine in known.items()
    }
