"""Reasoning, question type by question type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

from argus.records import CellResult
from argus.report.html.looks import Look, axis, bars, layout, safe
from argus.report.html.parts import Cell, Plot, Plots, Section, Table, Text, number, plain
from argus.scoring.analysis import Analysis
from argus.scoring.cells import trouble
from argus.scoring.records import CLEAN, Value

ACCURACY, CHANCE, COMMONEST = "accuracy_", "chance", "commonest_answer_accuracy"
NO_KIND = ("accuracy_chance_adjusted",)
JOINT = "accuracy_q_to_ar"
LABELS = {"accuracy": "all", "accuracy_q_to_a": "Q→A", "accuracy_qa_to_r": "QA→R", JOINT: "Q→AR"}
MEANINGS = {
    "accuracy_q_to_a": "Q→A is choosing the answer to a question.",
    "accuracy_qa_to_r": "QA→R is choosing the rationale, given the question and its right answer.",
    JOINT: "Q→AR counts a question as right where all its parts are, answer and rationale at once; it is not in “all”. "
    "Guessing all parts right is the product of guessing each: of two choices among four, 1/16 against 1/4.",
}
OLDER = (
    "A type without an interval has too few pictures for one, or was measured by an older version, which kept no sums "
    "by type: run its clean cells again."
)


def kinds(analysis: Analysis, looks: Mapping[str, Look]) -> Section:
    """Return a plot for each data set with questions."""
    title = "Reasoning by question type"
    found = _by_dataset(analysis)
    if not found:
        return Section("kinds", title, (Text("No model has a clean reasoning score."),))
    words = (
        "Accuracy on clean input, type by type; “all” is the accuracy over all questions, which is the cell's score. "
        "The table has what guessing and always giving the commonest answer of a type would get as well: a model near "
        "them has learned the answers, not the pictures."
    )
    measured = {name for mine in found.values() for cell in mine.values() for name in cell.metrics}
    meanings = " ".join(words for name, words in MEANINGS.items() if name in measured)
    more = [text for text in (meanings, OLDER if _some_bare(found, analysis) else "") if text]
    plots = tuple(_plot(dataset, mine, analysis, looks) for dataset, mine in found.items())
    return Section("kinds", title, (Text(words), *map(Text, more), Plots(plots)))


def _some_bare(found: Mapping[str, Mapping[str, CellResult]], analysis: Analysis) -> bool:
    """Return whether a type has no interval in a cell that has others."""
    cells = [cell for mine in found.values() for cell in mine.values()]
    known = [(cell, analysis.cell_intervals.get(cell.run_id, {})) for cell in cells]
    return any(ends and not set(_kinds_of({"": cell})) <= set(ends) for cell, ends in known)


def _by_dataset(analysis: Analysis) -> dict[str, dict[str, CellResult]]:
    found: dict[str, dict[str, CellResult]] = {}
    for name, cells in analysis.cells.items():
        for slot, cell in cells.items():
            if slot.task == "reasoning" and slot.perturbation == CLEAN and not trouble(cell):
                found.setdefault(slot.dataset, {})[name] = cell
    return dict(sorted(found.items()))


def _kinds_of(mine: Mapping[str, CellResult]) -> list[str]:
    names = {name for cell in mine.values() for name in cell.metrics if name.startswith(ACCURACY)}
    return sorted(names.difference(NO_KIND), key=lambda name: (name == JOINT, name))


def _label(metric: str) -> str:
    return LABELS.get(metric) or metric.removeprefix(ACCURACY).replace("_", " ")


def _plot(dataset: str, mine: Mapping[str, CellResult], analysis: Analysis, looks: Mapping[str, Look]) -> Plot:
    metrics = [*_kinds_of(mine), "accuracy"]
    labels = [_label(metric) for metric in metrics]
    values = {name: [_value(cell, metric, analysis) for metric in metrics] for name, cell in mine.items()}
    data = [
        {
            "type": "bar",
            "orientation": "h",
            "name": safe(name),
            "y": labels,
            "x": [value.value for value in found],
            "error_x": bars(found),
            "marker": {"color": looks[name].colour},
            "hoverinfo": "text",
            "hovertext": [
                safe(f"{name}, {label}: {value.gap if value.value is None else f'{value.value:.3f}'}")
                for label, value in zip(labels, found, strict=True)
            ],
        }
        for name, found in values.items()
    ]
    rows = tuple((Cell(name), *map(number, found)) for name, found in values.items())
    title = f"Accuracy on {dataset}"
    caption = f"{title} by question type, with 95 % intervals"
    table = Table(caption, ("model", *labels), (*rows, *_baselines(metrics, mine)))
    drawn = layout(axis("accuracy", range=[0, 1.02]), axis("", autorange="reversed"), barmode="group")
    height = 110 + (14 * len(mine) + 10) * len(labels)
    return Plot(title, _finding(labels, values), data, drawn, height, table)


def _baselines(metrics: Sequence[str], mine: Mapping[str, CellResult]) -> tuple[tuple[Cell, ...], ...]:
    """Return what guessing and the commonest answers get, of the cell that read the most pictures."""
    known = max(mine.values(), key=lambda cell: cell.samples).metrics
    rows = {}
    for name, rule in (("guessing", CHANCE), ("the commonest answer of each type", COMMONEST)):
        keys = [rule if metric == "accuracy" else metric.replace(ACCURACY, f"{rule}_", 1) for metric in metrics]
        rows[name] = [plain(known.get(key), reason="its runs are older than this figure") for key in keys]
    if JOINT in metrics:
        rows["the commonest answer of each type"][metrics.index(JOINT)] = Cell("–", "not defined for several parts")
    return tuple((Cell(name), *cells) for name, cells in rows.items())


def _value(cell: CellResult, metric: str, analysis: Analysis) -> Value:
    if metric not in cell.metrics:
        return Value(None, "", "no question of this type")
    ends = analysis.cell_intervals.get(cell.run_id, {}).get(metric)
    return Value(cell.metrics[metric], f"{cell.samples} pictures", interval=ends)


def _finding(labels: list[str], values: Mapping[str, list[Value]]) -> str:
    by_label = {label: [mine[at].value for mine in values.values()] for at, label in enumerate(labels)}
    means = {
        label: fmean(x for x in known if x is not None) for label, known in by_label.items() if set(known) != {None}
    }
    whole = dict(zip(values, by_label["all"], strict=True))
    best = max(whole, key=lambda name: whole[name] or 0.0)
    types = {label: mean for label, mean in means.items() if label not in ("all", LABELS[JOINT])}
    told = f"Over all types {best} is best, {whole[best] or 0:.2f}."
    if not types:
        return told
    aside = f", {LABELS[JOINT]} aside" if LABELS[JOINT] in labels else ""
    high, low = max(types, key=types.__getitem__), min(types, key=types.__getitem__)
    ends = f"{high} is easiest, {types[high]:.2f}, and {low} hardest, {types[low]:.2f}"
    return f"{told} On average over models, {ends}{aside}."
