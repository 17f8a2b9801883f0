"""Reasoning, question type by question type."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean

from argus.records import CellResult
from argus.report.html.looks import NEUTRAL, Look, axis, bars, layout, safe
from argus.report.html.parts import Cell, Plot, Plots, Section, Table, Text, number, plain
from argus.scoring.analysis import Analysis
from argus.scoring.cells import trouble
from argus.scoring.records import CLEAN, Value

ACCURACY = "accuracy_"
NO_KIND = ("accuracy_chance_adjusted",)
BASELINES = {"chance": "guessing", "commonest_answer_accuracy": "the commonest answer of each type"}


def kinds(analysis: Analysis, looks: Mapping[str, Look]) -> Section:
    """Return a plot for each data set with questions."""
    title = "Reasoning by question type"
    found = _by_dataset(analysis)
    if not found:
        return Section("kinds", title, (Text("No model has a clean reasoning score."),))
    words = (
        "Accuracy on clean input. What guessing, and always giving the commonest answer of a question's type, would "
        "get over all types stands in the table: a model near them has learned the answers, not the pictures."
    )
    plots = tuple(_plot(dataset, mine, analysis, looks) for dataset, mine in found.items())
    return Section("kinds", title, (Text(words), Plots(plots)))


def _by_dataset(analysis: Analysis) -> dict[str, dict[str, CellResult]]:
    found: dict[str, dict[str, CellResult]] = {}
    for name, cells in analysis.cells.items():
        for slot, cell in cells.items():
            if slot.task == "reasoning" and slot.perturbation == CLEAN and not trouble(cell):
                found.setdefault(slot.dataset, {})[name] = cell
    return dict(sorted(found.items()))


def _kinds_of(mine: Mapping[str, CellResult]) -> list[str]:
    names = {name for cell in mine.values() for name in cell.metrics if name.startswith(ACCURACY)}
    return sorted(names.difference(NO_KIND))


def _plot(dataset: str, mine: Mapping[str, CellResult], analysis: Analysis, looks: Mapping[str, Look]) -> Plot:
    metrics = [*_kinds_of(mine), "accuracy"]
    labels = [metric.removeprefix(ACCURACY).replace("_", " ") if metric != "accuracy" else "all" for metric in metrics]
    values = {name: [_value(cell, metric, analysis) for metric in metrics] for name, cell in mine.items()}
    data = [
        {
            "type": "bar",
            "orientation": "h",
            "name": safe(name),
            "y": labels,
            "x": [value.value for value in found],
            "error_x": bars(found, NEUTRAL),
            "marker": {"color": looks[name].colour},
            "hoverinfo": "text",
            "hovertext": [
                safe(f"{name}, {label}: {value.gap if value.value is None else f'{value.value:.3f}'}")
                for label, value in zip(labels, found, strict=True)
            ],
        }
        for name, found in values.items()
    ]
    baselines = tuple(BASELINES.values())
    rows = tuple(
        (
            Cell(name),
            *map(number, found),
            *(plain(mine[name].metrics.get(key), reason="not recorded") for key in BASELINES),
        )
        for name, found in values.items()
    )
    title = f"Accuracy on {dataset}"
    table = Table(f"{title} by question type, with 95 % intervals", ("model", *labels, *baselines), rows)
    drawn = layout(axis("accuracy", range=[0, 1]), axis("", autorange="reversed"), barmode="group")
    height = 110 + (14 * len(mine) + 10) * len(labels)
    return Plot(title, _finding(labels, values), data, drawn, height, table)


def _value(cell: CellResult, metric: str, analysis: Analysis) -> Value:
    if metric not in cell.metrics:
        return Value(None, "", "no question of this type")
    ends = analysis.cell_intervals.get(cell.run_id, {}).get(metric)
    return Value(cell.metrics[metric], f"{cell.samples} pictures", interval=ends)


def _finding(labels: list[str], values: Mapping[str, list[Value]]) -> str:
    by_label = {label: [mine[at].value for mine in values.values()] for at, label in enumerate(labels)}
    means = {label: fmean(x for x in known if x is not None) for label, known in by_label.items() if any(known)}
    whole = dict(zip(values, by_label["all"], strict=True))
    best = max(whole, key=lambda name: whole[name] or 0.0)
    types = {label: mean for label, mean in means.items() if label != "all"}
    told = f"Over all types {best} is best, {whole[best] or 0:.2f}."
    if not types:
        return told
    high, low = max(types, key=types.__getitem__), min(types, key=types.__getitem__)
    return f"{told} On average over models, {high} is easiest, {types[high]:.2f}, and {low} hardest, {types[low]:.2f}."
