"""Which model for what: who comes first by each figure, and who may be as good."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet

from argus.report.html.costs import COSTS, by_task, overall_cost
from argus.report.html.parts import UNSURE, Cell, Points, Section, Table, Text, gap, number
from argus.scoring.analysis import Analysis
from argus.scoring.leads import Lead
from argus.scoring.records import Value

MATTERS = {
    "P": "capability on clean input (P)",
    "CDC": "evenness across data sets (CDC)",
    "RR": "robustness (RR)",
    "E": "low cost (E)",
    "RR image": "robustness to changed pictures, all tasks",
    "RR text": "robustness to changed texts, all tasks",
    "RR both": "robustness to both changed at once, all tasks",
}
LATENCY, MEMORY = "latency_p50_ms", "peak_memory_mb"
TASK, RATIO_OF_TASK = "task ", "RR task "
CAPTION = "Who comes first by what"

Row = tuple[Cell, ...]


def choice(analysis: Analysis) -> Section:
    """Return a table of what may matter most, and which model then comes first."""
    title = "Which model for what"
    weak = {card.name: {one.slot.task for one in card.little_to_lose} for card in analysis.scorecards}
    rows = (*(_row(one, analysis.scheme.name, weak) for one in analysis.leads), *_cheapest(analysis))
    if len(analysis.scorecards) < 2 or not rows:
        return Section("choice", title, (Text("There is no second model to choose from."),))
    words = (
        "Find what matters most to you. As good, as far as these pictures tell, are models whose difference from the "
        "first is not beyond noise: among them choose by another row. Each row stands over cells that its models "
        "share. A mean over tasks may hide that another model is first in yours: look at its own rows."
    )
    told = tuple(f"{card.name}, {line}" for card in analysis.scorecards for line in card.little_to_lose)
    columns = ("what matters", "first", "its figure", "as good", "cannot, or has no figure")
    return Section("choice", title, (Text(words), Table(CAPTION, columns, rows), *((Points(told),) if told else ())))


def _row(one: Lead, weighting: str, weak: Mapping[str, AbstractSet[str]]) -> Row:
    as_good = Cell(", ".join(one.as_good) or "none") if one.told_apart else gap(UNSURE)
    if not one.first:
        as_good = Cell("–")
    matters = MATTERS.get(one.figure) or _of_task(one.figure)
    what = f"all of it, weighted as '{weighting}'" if one.figure == "overall" else matters
    doubt = "see below the table" if any(_doubtful(one.figure, weak[name]) for name in one.first) else ""
    return (
        Cell(what),
        Cell(", ".join(one.first) or "–", doubt),
        number(one.value),
        as_good,
        Cell(", ".join(one.lacking) or "–"),
    )


def _doubtful(figure: str, weak: AbstractSet[str]) -> bool:
    """Return whether a ratio rests on one of the tasks in which a model has little to lose."""
    if figure.startswith(RATIO_OF_TASK):
        return figure.removeprefix(RATIO_OF_TASK) in weak
    return figure.startswith("RR") and bool(weak)


def _of_task(figure: str) -> str:
    if figure.startswith(TASK):
        return f"{figure.removeprefix(TASK)}, clean input"
    return f"robustness in {figure.removeprefix(RATIO_OF_TASK)}"


def _cheapest(analysis: Analysis) -> Iterator[Row]:
    yield from _lowest("low latency, mean of all tasks", LATENCY, overall_cost(analysis, LATENCY))
    found = by_task(analysis, LATENCY)
    for task in next(iter(found.values()), {}):
        yield from _lowest(f"low latency in {task}", LATENCY, {name: mine[task] for name, mine in found.items()})
    yield from _lowest("little memory, one task at a time", MEMORY, overall_cost(analysis, MEMORY))


def _lowest(what: str, cost: str, found: Mapping[str, Value]) -> Iterator[Row]:
    known = {name: value.value for name, value in found.items() if value.value is not None}
    if known:
        lowest = min(known.values())
        first = ", ".join(name for name, value in known.items() if value == lowest)
        figure = Cell(f"{lowest:.3g} {COSTS[cost][1]}", kind="number")
        lacking = ", ".join(name for name in found if name not in known) or "–"
        yield Cell(what), Cell(first), figure, Cell("–", "one run's measurement"), Cell(lacking)
