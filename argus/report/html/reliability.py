"""The Capability-Reliability Gap: capability against reliability, and the pairs of models that change places."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from argus.report.findings import clear
from argus.report.html.looks import NEUTRAL, Look, axis, bars, layout, safe
from argus.report.html.parts import UNSURE, Cell, Plot, Plots, Section, Table, Text, gap, number, share
from argus.scoring.analysis import Analysis
from argus.scoring.records import Scorecard

MOST_LINES = 6
FEW = 10  # models, up to which a rank correlation is coarse


def reliability(analysis: Analysis, looks: Mapping[str, Look]) -> Section:
    """Return capability against reliability, with the flips."""
    words = (
        "Reliability R is the mean of CDC and RR, RR counting as 1 at most. Where a line joins two models, the more "
        "capable of the two is the less reliable one: a choice by capability alone would take that one. Where fewer "
        "than 95 % of the resamples agree, chance explains that they change places."
    )
    title = "The Capability-Reliability Gap"
    cards = [card for card in analysis.scorecards if card.name in analysis.gap.reliability]
    known = [card for card in cards if analysis.gap.reliability[card.name].value is not None]
    if not known:
        reason = next((analysis.gap.reliability[card.name].gap for card in cards), "no model has a clean score")
        return Section("gap", title, (Text(f"There is no reliability to show: {reason}."), _table(analysis, cards)))
    return Section("gap", title, (Text(words), Plots((_plot(analysis, known, cards, looks),)), *_flips(analysis)))


def _plot(analysis: Analysis, known: list[Scorecard], cards: list[Scorecard], looks: Mapping[str, Look]) -> Plot:
    r = analysis.gap.reliability
    places = {card.name: (card.common.P.value, r[card.name].value) for card in known}
    flips = sorted(analysis.gap.flips, key=lambda flip: -(flip.probability or 0))
    lines = [
        {
            "type": "scatter",
            "mode": "lines",
            "x": [places[flip.capable][0], places[flip.reliable][0]],
            "y": [places[flip.capable][1], places[flip.reliable][1]],
            "line": {"color": NEUTRAL, "width": 1, "dash": "dot"},
            "hoverinfo": "skip",
            "showlegend": False,
        }
        for flip in flips[:MOST_LINES]
    ]
    points = [
        {
            "type": "scatter",
            "mode": "markers",
            "name": safe(card.name),
            "x": [card.common.P.value],
            "y": [r[card.name].value],
            "error_x": bars([card.common.P]),
            "error_y": bars([r[card.name]]),
            "marker": {"color": looks[card.name].colour, "symbol": looks[card.name].symbol, "size": 12},
            "hoverinfo": "text",
            "hovertext": [safe(f"{card.name}: P {card.common.P.value:.3f}, R {r[card.name].value:.3f}")],
        }
        for card in known
    ]
    return Plot(
        "Capability P against reliability R",
        _finding(analysis),
        [*lines, *points],
        layout(axis("capability P"), axis("reliability R")),
        420,
        _table(analysis, cards),
    )


def _finding(analysis: Analysis) -> str:
    gap = analysis.gap
    if not gap.rank_by_capability:
        return "One model with its capability and reliability; a gap needs two."
    capable = ", ".join(name for name, rank in gap.rank_by_capability.items() if rank == 1)
    reliable = ", ".join(name for name, rank in gap.rank_by_reliability.items() if rank == 1)
    flips = len(gap.flips)
    pairs = f"{flips} pair{'s' if flips != 1 else ''} of models change{'s' if flips == 1 else ''} places"
    beyond = sum(clear(flip.probability) for flip in gap.flips)
    sure = f", {beyond} of them beyond noise" if flips and gap.flips[0].probability is not None else ""
    return f"Most capable: {capable}. Most reliable: {reliable}. {pairs} between the two rankings{sure}."


def _table(analysis: Analysis, cards: list[Scorecard]) -> Table:
    gap_of = analysis.gap
    rows = tuple(
        (
            Cell(card.name),
            number(card.common.P),
            number(gap_of.reliability[card.name]),
            _rank(gap_of.rank_by_capability, card.name),
            _rank(gap_of.rank_by_reliability, card.name),
        )
        for card in cards
    )
    columns = ("model", "P", "R", "rank by P", "rank by R")
    return Table("Capability and reliability, with 95 % intervals", columns, rows)


def _rank(ranks: Mapping[str, int], name: str) -> Cell:
    return Cell(str(ranks[name]), kind="number") if name in ranks else gap("needs two models with P, CDC and RR")


def _few(models: int) -> str:
    """Return how a rank correlation of few models is to be read; nothing for many."""
    pairs = models * (models - 1) // 2
    if not 2 <= models <= FEW:
        return ""
    return (
        f" With {models} models there {'is' if pairs == 1 else 'are'} only {pairs} pair{'s' * (pairs > 1)}: without "
        f"ties kendall takes no more than {pairs + 1} values, {2 / pairs:.2g} apart; spearman moves in steps too: an "
        "interval may end at the correlation itself or at its bound. They speak of these models only."
    )


def _agreeing(probability: float | None) -> Cell:
    cell = share(probability, UNSURE)
    return cell if probability is None or clear(probability) else replace(cell, under="within noise")


def _flips(analysis: Analysis) -> tuple[Text | Table, ...]:
    gap_of = analysis.gap
    correlations = ((name, getattr(gap_of, name)) for name in ("spearman", "kendall"))
    told = Text(
        "Correlation of P and R over models (1: no gap, -1: the opposite order): "
        + "; ".join(
            f"{name} {value.value:.2f}"
            + (f" [{value.interval[0]:.2f}, {value.interval[1]:.2f}]" if value.interval else "")
            if value.value is not None
            else f"{name}: gap, {value.gap}"
            for name, value in correlations
        )
        + "."
        + _few(len(gap_of.rank_by_capability))
    )
    if not gap_of.flips:
        return (told,)
    rows = tuple((Cell(flip.capable), Cell(flip.reliable), _agreeing(flip.probability)) for flip in gap_of.flips)
    columns = ("more capable", "more reliable", "resamples that agree")
    return (Table("Pairs of models that change places", columns, rows), told)
