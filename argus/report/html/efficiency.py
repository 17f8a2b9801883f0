"""Bars of what each model costs, by task."""

from __future__ import annotations

from collections.abc import Mapping

from argus.report.html.costs import COSTS, by_task, how, senseless
from argus.report.html.looks import Look, axis, layout, safe
from argus.report.html.parts import Cell, Plot, Plots, Section, Table, Text, number
from argus.scoring.analysis import Analysis
from argus.scoring.records import Value

FEW = 3  # models whose bars are wide enough for numbers


def efficiency(analysis: Analysis, looks: Mapping[str, Look]) -> Section:
    """Return a plot for each cost."""
    title = "What each model costs"
    plots = tuple(_plot(cost, by_task(analysis, cost), senseless(analysis), looks) for cost in COSTS)
    words = (
        "All of this was measured on the machine named above, in the clean cells, and is the mean over the data sets "
        "of a task (of memory the highest: what a device must have for this task); nothing here is estimated or read "
        "from a data sheet. What no device here can tell is a gap, not a 0; a dash is a task that the model cannot do. "
        "Parameters and operations are counted; times depend on the machine and on what else ran on it. A sample is "
        "one picture with all that its task asks of it: a model that matches reads it with every caption of its "
        "gallery, and one that answers with every question and choice, so these costs grow with their number. What is "
        "done once for all samples, as embedding a gallery's captions or a caption bank, is not in it. Latency is "
        "that of one sample alone, throughput that of the hardware profile's batch size."
    )
    return Section("costs", title, (Text(words), Plots(plots)))


def _plot(
    cost: str,
    found: Mapping[str, Mapping[str, Value]],
    dashes: Mapping[tuple[str, str], str],
    looks: Mapping[str, Look],
) -> Plot:
    name_of, unit = COSTS[cost]
    title = f"{name_of}, {unit}, {how(cost)} over data sets"
    tasks = list(next(iter(found.values()), {}))
    data = [
        {
            "type": "bar",
            "name": safe(name),
            "x": tasks,
            "y": [0 if value.value is None else value.value for value in mine.values()],  # no bar, but its word
            "marker": {"color": looks[name].colour},
            "text": [_word(value, (name, task) in dashes, len(found)) for task, value in mine.items()],
            "textposition": "outside",
            "textangle": 0,
            "constraintext": "none",
            "cliponaxis": False,
            "hoverinfo": "text",
            "hovertext": [
                safe(f"{name}, {task}: {dashes.get((name, task)) or _told(value, unit)}")
                for task, value in mine.items()
            ],
        }
        for name, mine in found.items()
    ]
    rows = tuple(
        (Cell(name), *(_cell(value, dashes.get((name, task), "")) for task, value in mine.items()))
        for name, mine in found.items()
    )
    table = Table(f"{title}, measured", ("model", *tasks), rows)
    drawn = layout(axis(""), axis(unit, rangemode="tozero"), barmode="group")
    return Plot(title, _finding(unit, found), data, drawn, 320, table)


def _cell(value: Value, dash: str) -> Cell:
    return Cell("–", dash) if dash else number(value)


def _told(value: Value, unit: str) -> str:
    return value.gap if value.value is None else f"{_short(value.value)} {unit}"


def _word(value: Value, dash: bool, models: int) -> str:
    """Return what stands on a bar: its height where there is room for it, and always what is not there."""
    if value.value is not None:
        return _short(value.value) if models <= FEW else ""
    return "–" if dash else "gap"


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
