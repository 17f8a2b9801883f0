"""Severity curves: what a growing perturbation leaves of each model's score."""

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
    words = (
        f"Each curve is a model's score as a share of its clean score (severity 0), over the cells that it has; bars "
        f"are 95 % intervals.{' Families of perturbations: the mean over their members.' if many else ''}"
    )
    plots = tuple(_plot(f"{name} ({modality})", mine, looks) for (modality, name), mine in curves.items())
    return Section("severity", title, (Text(words), Plots(plots)))


def _curves(analysis: Analysis, families: bool) -> dict[tuple[str, str], dict[str, Ratio | FamilyRatio]]:
    found: dict[tuple[str, str], dict[str, Ratio | FamilyRatio]] = {}
    for card in analysis.scorecards:
        for one in card.by_family if families else ():
            found.setdefault((one.modality, one.family), {})[card.name] = one
        for single in () if families else card.by_perturbation:
            found.setdefault((single.modality, single.perturbation), {})[card.name] = single
    return dict(sorted(found.items()))


def _plot(title: str, mine: Curves, looks: Mapping[str, Look]) -> Plot:
    severities = sorted({level for one in mine.values() for level in one.by_severity})
    data = [_trace(name, one, looks[name]) for name, one in mine.items()]
    table = Table(
        f"{title}: share of the clean score that is left, by severity",
        ("model", *map(str, severities), "mean"),
        tuple(
            (
                Cell(name),
                *(
                    number(one.by_severity[level]) if level in one.by_severity else Cell("–", "not run")
                    for level in severities
                ),
                number(one.ratio),
            )
            for name, one in mine.items()
        ),
    )
    ticks = [0, *severities]
    across = axis("severity", tickvals=ticks, range=[-0.25, max(ticks) + 0.25], zeroline=False)
    shares = [level.value for one in mine.values() for level in one.by_severity.values() if level.value is not None]
    lowest = HALF if all(share > HALF for share in shares) else 0.0
    down = axis(f"of the clean score{', from half' if lowest else ''}", range=[lowest, 1.05 * max([1.0, *shares])])
    return Plot(title, _finding(mine), data, layout(across, down), 320, table)


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


def _finding(mine: Curves) -> str:
    known = {name: one.ratio.value for name, one in mine.items() if one.ratio.value is not None}
    if not known:
        return "No model has a share to show."
    high, low = max(known, key=known.__getitem__), min(known, key=known.__getitem__)
    if len(known) == 1:
        return f"{high} keeps {known[high]:.0%} of its clean score on average."
    return f"On average {high} keeps most, {known[high]:.0%}; {low} keeps least, {known[low]:.0%}."
