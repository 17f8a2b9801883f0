"""What a growing perturbation leaves of each model's score: curves, and bars where one severity was run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from argus.report.html.looks import Look, axis, bars, layout, safe
from argus.report.html.parts import Cell, Plot, Plots, Section, Table, Text, number
from argus.scoring.analysis import Analysis
from argus.scoring.records import FamilyRatio, Ratio, Value

MOST_PLOTS = 12  # with more perturbations, one plot a family
HALF = 0.5  # where nothing falls below it, the axis starts there, so that curves can be told apart
WHOLE = Value(1.0, "clean")
NO_CELL = "no cell"

Curves = Mapping[str, Ratio | FamilyRatio]
"""By model."""


def severity(analysis: Analysis, looks: Mapping[str, Look]) -> Section:
    """Return a plot for each perturbation, or for each family where there are many perturbations."""
    title = "How robustness falls with severity"
    curves = _curves(analysis, families=False)
    if not curves:
        return Section("severity", title, (Text("No perturbed cell has a score beside its clean baseline."),))
    many = len(curves) > MOST_PLOTS
    if many:
        curves = _curves(analysis, families=True) or curves
    shown = {f"{name} ({modality})": mine for (modality, name), mine in curves.items()}
    several = {title: mine for title, mine in shown.items() if len(_severities(mine)) > 1}
    single = {title: mine for title, mine in shown.items() if title not in several}
    plots = [_plot(title, mine, looks) for title, mine in several.items()]
    plots += [_bars(single, looks)] if single else []
    return Section("severity", title, (Text(_words(bool(several), many)), Plots(tuple(plots))))


def _words(drawn: bool, many: bool) -> str:
    words = (
        "Severity goes from 1, mild, to 5, severe. Shown is a model's score as a share of its clean score, over the "
        "cells that all models with any cell under the perturbation share; bars are 95 % intervals."
    )
    curves = " A curve starts at severity 0, the clean score." if drawn else ""
    return f"{words}{curves}{' Families of perturbations: the mean over their members.' if many else ''}"


def _severities(mine: Curves) -> list[int]:
    return sorted({level for one in mine.values() for level in one.by_severity})


def _curves(analysis: Analysis, families: bool) -> dict[tuple[str, str], dict[str, Ratio | FamilyRatio]]:
    found: dict[tuple[str, str], dict[str, Ratio | FamilyRatio]] = {}
    for card in analysis.scorecards:
        for one in card.shared_by.by_family if families else ():
            found.setdefault((one.modality, one.family), {})[card.name] = one
        for single in () if families else card.shared_by.by_perturbation:
            found.setdefault((single.modality, single.perturbation), {})[card.name] = single
    return dict(sorted(found.items()))


def _plot(title: str, mine: Curves, looks: Mapping[str, Look]) -> Plot:
    severities = _severities(mine)
    data = [_trace(name, one, looks[name]) for name, one in mine.items()]
    table = Table(
        f"{title}: share of the clean score that is left, by severity",
        ("model", *map(str, severities), "mean"),
        tuple(
            (
                Cell(name),
                *(
                    number(one.by_severity[level]) if level in one.by_severity else Cell("–", NO_CELL)
                    for level in severities
                ),
                number(one.ratio),
            )
            for name, one in mine.items()
        ),
    )
    ticks = [0, *severities]
    across = axis("severity, 0 is clean", tickvals=ticks, range=[-0.25, max(ticks) + 0.25], zeroline=False)
    shares = [level.value for one in mine.values() for level in one.by_severity.values() if level.value is not None]
    lowest = HALF if all(share > HALF for share in shares) else 0.0
    down = axis(
        f"share of the clean score{', axis from 0.5' if lowest else ''}", range=[lowest, 1.05 * max([1.0, *shares])]
    )
    return Plot(title, _finding(mine), data, layout(across, down), 320, table)


def _bars(found: Mapping[str, Curves], looks: Mapping[str, Look]) -> Plot:
    """Return bars of what is left, for perturbations that were run at one severity: two points make no curve."""
    title = (
        "What one severity leaves" if all(map(_severities, found.values())) else "What one severity leaves, and gaps"
    )
    rows = {name: ", severity ".join([name, *map(str, _severities(mine))]) for name, mine in found.items()}
    names = list(dict.fromkeys(name for mine in found.values() for name in mine))
    values = {name: [_ratio(mine, name) for mine in found.values()] for name in names}
    data = [
        {
            "type": "bar",
            "orientation": "h",
            "name": safe(name),
            "y": [safe(row) for row in rows.values()],
            "x": [value.value for value in mine],
            "error_x": bars(mine),
            "marker": {"color": looks[name].colour},
            "hoverinfo": "text",
            "hovertext": [
                safe(f"{name}, {row}: {_said(value)}") for row, value in zip(rows.values(), mine, strict=True)
            ],
        }
        for name, mine in values.items()
    ]
    table = Table(
        f"Share of the clean score that is left: {title}",
        ("model", *rows.values()),
        tuple((Cell(name), *(_cell(value) for value in mine)) for name, mine in values.items()),
    )
    finding = " ".join(f"{row}: {_finding(found[name], '')}" for name, row in rows.items())
    drawn = layout(
        axis("share of the clean score", rangemode="tozero"), axis("", autorange="reversed"), barmode="group"
    )
    height = 110 + (14 * len(names) + 12) * len(rows)
    return Plot(title, finding, data, drawn, height, table)


def _ratio(mine: Curves, name: str) -> Value:
    return mine[name].ratio if name in mine else Value(None, "", NO_CELL)


def _cell(value: Value) -> Cell:
    return Cell("–", NO_CELL) if value.gap == NO_CELL else number(value)


def _trace(name: str, one: Ratio | FamilyRatio, look: Look) -> dict[str, Any]:
    # A gap ends the line: None is a point that is not drawn, and that no line bridges.
    points: Sequence[tuple[int, Value]] = [(0, WHOLE), *sorted(one.by_severity.items())]
    values = [value for _, value in points]
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": safe(name),
        "x": [level for level, _ in points],
        "y": [value.value for value in values],
        "error_y": bars(values),
        "connectgaps": False,
        "line": {"color": look.colour, "dash": look.dash, "width": 2},
        "marker": {"color": look.colour, "symbol": look.symbol, "size": 8},
        "hoverinfo": "text",
        "hovertext": [safe(f"{name}, severity {level}: {_said(value)}") for level, value in points],
    }


def _said(value: Value) -> str:
    return value.gap if value.value is None else f"{value.value:.3f}"


def _finding(mine: Curves, how: str = " on average") -> str:
    known = {name: one.ratio.value for name, one in mine.items() if one.ratio.value is not None}
    if not known:
        return "no model has a share to show."
    high, low = max(known, key=known.__getitem__), min(known, key=known.__getitem__)
    if len(known) == 1:
        return f"{high} keeps {known[high]:.0%} of its clean score{how}."
    return f"{high} keeps most{how}, {known[high]:.0%} of its clean score; {low} least, {known[low]:.0%}."
