"""How perturbations break models: answers lost and answers won, sample by sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from argus.report.html.looks import Look, axis, bars, layout, safe
from argus.report.html.parts import Cell, Plot, Plots, Section, Table, Text, gap, number
from argus.scoring.analysis import Analysis
from argus.scoring.breakage import MEASURES, Breakage
from argus.scoring.records import Value

LOST, WON = ("destructive", "caption_worse"), ("corrective", "caption_better")
MOST_ROWS = 12  # perturbations in a plot, the most destructive ones


def breaking(analysis: Analysis, looks: Mapping[str, Look]) -> Section:
    """Return a plot for each task, with every measure in its table."""
    title = "How perturbations break them"
    found = [one for one in analysis.breakage_by_perturbation if not one.gap]
    if not found:
        return Section("breakage", title, (Text("No perturbed cell can be held against its clean baseline."),))
    words = (
        "A score that stays the same can hide answers that are lost and others that are won. To the left, the share "
        "of samples that were right when clean and wrong when perturbed; to the right, the reverse (of captions: "
        "whose CIDEr-D fell, or rose). A sample is a question, a picture to caption or a query; both directions of "
        "retrieval weigh the same. Means over data sets and severities."
    )
    tasks = sorted({one.slot.task for one in found})
    plots = tuple(_plot(task, [one for one in found if one.slot.task == task], looks) for task in tasks)
    return Section("breakage", title, (Text(words), Plots(plots)))


def _measure(one: Breakage, names: Sequence[str]) -> Value:
    return next((one.measures[name] for name in names if name in one.measures), Value(None, "", "not measured"))


def _plot(task: str, found: Sequence[Breakage], looks: Mapping[str, Look]) -> Plot:
    worst = {one.slot.perturbation: 0.0 for one in found}
    for one in found:
        worst[one.slot.perturbation] = max(worst[one.slot.perturbation], _measure(one, LOST).value or 0.0)
    shown = sorted(sorted(worst, key=lambda name: -worst[name])[:MOST_ROWS])  # the same order for every task
    data = []
    for name in dict.fromkeys(one.name for one in found):
        mine = {one.slot.perturbation: one for one in found if one.name == name}
        rows = [change for change in shown if change in mine]
        for names, sign in ((LOST, -1), (WON, 1)):
            values = [_measure(mine[change], names) for change in rows]
            word = "lost" if sign < 0 else "won"
            data.append(
                {
                    "type": "bar",
                    "orientation": "h",
                    "name": safe(name),
                    "legendgroup": safe(name),
                    "offsetgroup": safe(name),
                    "showlegend": sign < 0,
                    "y": [safe(change) for change in rows],
                    "x": [None if value.value is None else sign * value.value for value in values],
                    "error_x": _mirrored(values) if sign < 0 else bars(values),
                    "marker": {"color": looks[name].colour, "opacity": 1 if sign < 0 else 0.45},
                    "hoverinfo": "text",
                    "hovertext": [
                        safe(f"{name}, {change}: {word} {'gap' if value.value is None else f'{value.value:.1%}'}")
                        for change, value in zip(rows, values, strict=True)
                    ],
                }
            )
    models = len({one.name for one in found})
    across = axis("share of samples: lost | won", tickformat=".0%", zeroline=True, zerolinewidth=2)
    drawn = layout(across, axis("", autorange="reversed"), barmode="group")
    few = f", the {MOST_ROWS} worst of {len(worst)} perturbations" if len(worst) > MOST_ROWS else ""
    height = 120 + (14 * models + 12) * len(shown)
    return Plot(f"{task.capitalize()}{few}", _finding(found), data, drawn, height, _table(task, found))


def _mirrored(values: Sequence[Value]) -> dict[str, object]:
    error = bars(values)
    return {**error, "array": error["arrayminus"], "arrayminus": error["array"]}


def _finding(found: Sequence[Breakage]) -> str:
    known = [(value.value, one) for one in found if (value := _measure(one, LOST)).value is not None]
    if not known:
        return "Nothing was measured."
    most, one = max(known, key=lambda pair: pair[0] or 0.0)
    return f"Most is lost by {one.name} under {one.slot.perturbation}, {most:.0%}."


def _table(task: str, found: Sequence[Breakage]) -> Table:
    names = [name for name in MEASURES if any(name in one.measures for one in found)]
    rows = tuple(
        (
            Cell(f"{one.name}, {one.slot.perturbation}"),
            Cell(f"{one.samples}", kind="number"),
            *(number(one.measures[name]) if name in one.measures else gap("not measured") for name in names),
        )
        for one in found
    )
    told = "; ".join(f"{name.replace('_', ' ')}: {MEASURES[name]}" for name in names)
    columns = ("model, perturbation", "samples", *(name.replace("_", " ") for name in names))
    return Table(f"{task.capitalize()}. {told}", columns, rows)
