"""Heat maps: the score of every model on every data set and task under every perturbation, gaps told from zeros."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from argus.report.html.looks import GAP, ON_SCALE, SCALE, axis, layout, safe
from argus.report.html.parts import Cell, Plot, Plots, Section, Table, Text, gap, number
from argus.scoring.analysis import Analysis
from argus.scoring.cells import trouble
from argus.scoring.records import CLEAN, Scorecard, Slot, Value

MOST_ROWS = 16  # with more, the severities of a perturbation are one row, their mean
MOST_LETTERS = 30  # of the names of the columns, side by side on a phone
NOT_MEANT = "not meant for it: "
ROW_HEIGHT, LOW, HIGH = 24, 56, 130  # pixels; beneath the rows, with names across or aslant

Grid = Mapping[tuple[str, str], Value]
"""By row and column."""


def grids(analysis: Analysis) -> Section:
    """Return what each perturbation leaves of each model's score, and below it every score."""
    words = (
        "Greener is better, on one scale from 0 to 1. A cell without a score is grey and says gap; a dash is a cell "
        "that makes no sense for the model, as a typo does for one that reads no text. Neither counts as 0. In the map "
        "of RR each row stands over the cells that all models with any cell in it share, so that its columns compare."
    )
    plots = [_ratios(analysis)] if _perturbations(analysis) else []
    plots += [_scores(card, analysis.cells[card.name]) for card in analysis.scorecards if analysis.cells[card.name]]
    return Section("cells", "Every model, data set and perturbation", (Text(words), Plots(tuple(plots))))


def _ratios(analysis: Analysis) -> Plot:
    found: dict[tuple[str, str], Value] = {}
    for card in analysis.scorecards:
        reasons = {drop.slot.perturbation: NOT_MEANT + drop.reason for drop in card.dropped}
        reasons |= {absent.slot.perturbation: absent.reason for absent in card.missing}
        mine = {one.perturbation: one.ratio for one in card.shared_by.by_perturbation}
        for name in _perturbations(analysis):
            none = Value(None, "", reasons.get(name, "not run"))
            found[name, card.name] = mine.get(name, none)
    names = [card.name for card in analysis.scorecards]
    known = {pair: value.value for pair, value in found.items() if value.value is not None}
    finding = f"RR of {len(names)} models under {len(_perturbations(analysis))} perturbations."
    if known:
        worst = min(known, key=known.__getitem__)
        finding += f" The most is lost by {worst[1]} under {worst[0]}: {known[worst]:.0%} of its clean score is left."
    return _plot("RR by perturbation: the share of the clean score that is left", finding, found, "perturbation")


def _perturbations(analysis: Analysis) -> list[str]:
    found = (one.perturbation for card in analysis.scorecards for one in card.shared_by.by_perturbation)
    return list(dict.fromkeys(found))


def _scores(card: Scorecard, cells: Mapping[Slot, Any]) -> Plot:
    slots = [*cells, *(drop.slot for drop in card.dropped)]
    places = sorted({(slot.dataset, slot.task) for slot in slots})
    levels = sorted({(slot.perturbation != CLEAN, slot.modality, slot.perturbation, slot.severity) for slot in slots})
    single = len(levels) <= MOST_ROWS
    rows = list(dict.fromkeys((name, severity if single else -1) for _, _, name, severity in levels))
    found = {}
    for name, severity in rows:
        label = name if severity in (0, -1) else f"{name} {severity}"
        for dataset, task in places:
            wanted = [s for s in slots if (s.dataset, s.task, s.perturbation) == (dataset, task, name)]
            wanted = [slot for slot in wanted if severity in (-1, slot.severity)]
            found[label, f"{dataset} {task}"] = _mean(wanted, cells, card)
    known = {pair: value.value for pair, value in found.items() if value.value is not None}
    gaps = sum(_is_gap(value) for value in found.values())
    finding = "No cell has a score."
    if known:
        high, low = max(known, key=known.__getitem__), min(known, key=known.__getitem__)
        finding = (
            f"Highest {known[high]:.2f} on {high[1]}, {high[0]}; lowest {known[low]:.2f} on {low[1]}, "
            f"{low[0]}; {gaps} gap{'s' if gaps != 1 else ''}."
        )
    means = "" if single else ", mean over severities"
    return _plot(f"Scores of {card.name}{means}", finding, found, "perturbation")


def _mean(slots: Sequence[Slot], cells: Mapping[Slot, Any], card: Scorecard) -> Value:
    dropped = {drop.slot: drop.reason for drop in card.dropped}
    run = [slot for slot in slots if slot in cells]
    if not run:
        reason = next((dropped[slot] for slot in slots if slot in dropped), "")
        return Value(None, "", NOT_MEANT + reason if reason else "not run")
    if reasons := [reason for slot in run if (reason := trouble(cells[slot]))]:
        return Value(None, "", reasons[0])
    return Value(fmean(cells[slot].score for slot in run), f"{len(run)} cells")


def _is_gap(value: Value) -> bool:
    return value.value is None and not value.gap.startswith(NOT_MEANT)


def _plot(title: str, finding: str, found: Grid, first: str) -> Plot:
    rows = list(dict.fromkeys(row for row, _ in found))
    columns = list(dict.fromkeys(column for _, column in found))
    values = [[found[row, column] for column in columns] for row in rows]
    x, y = [safe(column) for column in columns], [safe(row) for row in rows]
    common = {"type": "heatmap", "x": x, "y": y, "hoverinfo": "text", "xgap": 1, "ygap": 1, "showscale": False}
    told = [[safe(f"{row}, {column}: {_said(found[row, column])}") for column in columns] for row in rows]
    scores = {
        **common,
        "z": [[value.value for value in line] for line in values],
        "zmin": 0,
        "zmax": 1,
        "colorscale": SCALE,
        "textfont": {"color": ON_SCALE},
        "text": [["" if value.value is None else f"{value.value:.2f}" for value in line] for line in values],
        "texttemplate": "%{text}",
        "hovertext": told,
        "hoverongaps": False,
    }
    gaps = {
        **common,
        "z": [[None if value.value is not None else 1 for value in line] for line in values],
        "colorscale": [[0, GAP], [1, GAP]],
        "textfont": {"color": ON_SCALE},
        "text": [
            ["" if value.value is not None else "gap" if _is_gap(value) else "–" for value in line] for line in values
        ],
        "texttemplate": "%{text}",
        "hovertext": told,
        "hoverongaps": False,
    }
    aslant = sum(map(len, columns)) > MOST_LETTERS
    across = axis("", type="category", side="bottom", tickangle=-40 if aslant else 0)
    down = axis("", type="category", autorange="reversed")
    table = Table(
        title, (first, *columns), tuple((Cell(row), *map(_cell, line)) for row, line in zip(rows, values, strict=True))
    )
    return Plot(
        title, finding, [scores, gaps], layout(across, down), (HIGH if aslant else LOW) + ROW_HEIGHT * len(rows), table
    )


def _said(value: Value) -> str:
    return value.gap if value.value is None else f"{value.value:.3f}"


def _cell(value: Value) -> Cell:
    if value.value is None and not _is_gap(value):
        return Cell("–", value.gap)
    return gap(value.gap) if value.value is None else number(value)
