"""Figures that ARGUS-EVAL published, beside the sweep's own: for orientation, not for comparison."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from argus.report.html.costs import how, overall_cost
from argus.report.html.parts import Cell, Section, Table, Text, gap
from argus.scoring.analysis import Analysis
from argus.scoring.cells import trouble
from argus.scoring.records import Scorecard, Slot

FILE = Path(__file__).parent / "published.json"


@dataclass(frozen=True)
class Published:
    """A published figure, and what of a sweep comes nearest: an axis of A(M), a metric of a clean cell, or a cost."""

    model: str
    family: str  # in the names of the sweep's models
    figure: str
    value: str  # as printed
    axis: str
    dataset: str
    task: str
    metric: str
    cost: str
    times: float  # from the sweep's unit to the published one


def published(analysis: Analysis) -> Section:
    """Return the published figures beside those of the sweep's models of the same family."""
    document = json.loads(FILE.read_text())
    words = (
        f"From {document['source']}. Reference only, not comparable: other data (the full public sets), other "
        f"checkpoints, another machine ({document['hardware']}), and the paper's own formulas, which its public text "
        "does not give. The embedded pocket checkpoints are far smaller, and their data sets are drawn, not "
        "photographed."
    )
    rows = []
    for one in (Published(**figure) for figure in document["figures"]):
        cards = [card for card in analysis.scorecards if one.family in card.model.lower()]
        mine = [_mine(one, card, analysis) for card in cards] or [
            (Cell("–", f"no {one.family} in this sweep"), Cell("–"))
        ]
        rows += [(Cell(f"{one.model}: {one.figure}"), Cell(one.value, kind="number"), *cells) for cells in mine]
    table = Table(
        "Published figures, for reference", ("figure", "published", "nearest in this sweep", "stands on"), tuple(rows)
    )
    return Section("published", "Published figures, for reference only", (Text(words), table))


def _mine(one: Published, card: Scorecard, analysis: Analysis) -> tuple[Cell, Cell]:
    """Return the sweep's figure, and the cells that it stands on."""
    if one.axis:
        value = card.own.figures()[one.axis]
        found, reason = value.value, value.gap
        over = f"the model's own cells: {value.over if one.axis != 'overall' else card.coverage}"
    elif one.cost:
        price = overall_cost(analysis, one.cost)[card.name]
        found, reason = price.value, price.gap
        over = f"{how(one.cost)} of {price.over} that all models have measured"
    else:
        found, reason = _metric(one, card, analysis)
        over = str(_slot(one))
    figure = gap(reason) if found is None else Cell(f"{found * one.times:.3g}", card.name, "number")
    return figure, Cell(over)


def _slot(one: Published) -> Slot:
    return Slot(one.dataset, one.task, "", "", 0).baseline


def _metric(one: Published, card: Scorecard, analysis: Analysis) -> tuple[float | None, str]:
    cell = analysis.cells[card.name].get(_slot(one))
    if cell is None:
        return None, "not run"
    if reason := trouble(cell):
        return None, reason
    found = cell.metrics.get(one.metric)
    return found, "" if found is not None else "not recorded"
