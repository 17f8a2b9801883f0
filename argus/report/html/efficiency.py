"""Bars of what each model costs, by task."""

from __future__ import annotations

from collections.abc import Mapping

from argus.report.html.costs import COSTS, NO_CELL, by_task
from argus.report.html.looks import Look, axis, layout, safe
from argus.report.html.parts import Cell, Plot, Plots, Section, Table, Text, number
from argus.scoring.analysis import Analysis
from argus.scoring.records import Value

FEW = 3  # models whose bars are wide enough for numbers


def efficiency(analysis: Analysis, looks: Mapping[str, Look]) -> Section:
    """Return a plot for each cost."""
    title = "What each model costs"
    plots = tuple(_plot(cost, by_task(analysis, cost), looks) for cost in COSTS)
    words = (
        "All of this was measured on the machine named above, in the clean cells, and is the mean over the data sets "
        "of a task; nothing here is estimated or read from a data sheet. What no device here can tell is a gap, not "
        "a 0. Parameters and operations are counted; times depend on the machine and on what else ran on it."
    )
    return Section("costs", title, (Text(words), Plots(plots)))


def _plot(cost: str, found: Mapping[str, Mapping[str, Value]], looks: Mapping[str, Look]) -> Plot:
    title, unit = COSTS[cost]
    tasks = list(next(iter(found.values()), {}))
    data = [
        {
            "type": "bar",
            "name": safe(name),
            "x": tasks,
            "y": [0 if value.value is None else value.value for value in mine.values()],  # no bar, but its word
            "marker": {"color": looks[name].colour},
            "text": [_word(value, len(found)) for value in mine.values()],
            "textposition": "outside",
            "textangle": 0,
            "constraintext": "none",
            "cliponaxis": False,
            "hoverinfo": "text",
            "hovertext": [
                safe(f"{name}, {task}: {value.gap if value.value is None else f'{_short(value.value)} {unit}'}")
                for task, value in mine.items()
            ],
        }
        for name, mine in found.items()
    ]
    rows = tuple((Cell(name), *(number(value) for value in mine.values())) for name, mine in found.items())
    table = Table(f"{title}, {unit}, measured", ("model", *tasks), rows)
    drawn = layout(axis(""), axis(unit, rangemode="tozero"), barmode="group")
    return Plot(f"{title}, {unit}", _finding(unit, found), data, drawn, 320, table)


def _word(value: Value, models: int) -> str:
    """Return what stands on a bar: its height where there is room for it, and always what is not there."""
    if value.value is not None:
        return _short(value.value) if models <= FEW else ""
    return "–" if value.gap == NO_CELL else "gap"


def _short(value: float) -> str:
    return f"{value:.3g}" if value < 1000 else f"{value:,.0f}"


def _finding(unit: str, found: Mapping[str, Mapping[str, Value]]) -> str:
    known = {(name, task): v.value for name, mine in found.items() for task, v in mine.items() if v.value is not None}
    if not known:
        return "Not measured for any model."
    low, high = min(known, key=known.__getitem__), max(known, key=known.__getitem__)
    if low == high:
        return f"{low[0]} in {low[1]}, {_short(known[low])} {unit}."
    return (
        f"Lowest {low[0]} in {low[1]}, {_short(known[low])} {unit}; "
        f"highest {high[0]} in {high[1]}, {_short(known[high])} {unit}."
    )
