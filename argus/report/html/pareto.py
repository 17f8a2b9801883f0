"""Pareto fronts: which models no other beats in both capability and a cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from argus.report.html.costs import COSTS, how, overall_cost
from argus.report.html.looks import NEUTRAL, Look, axis, bars, layout, safe
from argus.report.html.parts import Cell, Plot, Plots, Section, Table, Text, number
from argus.scoring.analysis import Analysis
from argus.scoring.records import Scorecard, Value

AGAINST = ("latency_p50_ms", "peak_memory_mb")
WIDE = 20  # a cost that spans more than this factor is drawn on a logarithmic axis


def pareto(analysis: Analysis, looks: Mapping[str, Look]) -> Section:
    """Return capability against latency, and against memory."""
    title = "Capability against cost"
    plots = tuple(_plot(analysis, cost, looks) for cost in AGAINST)
    words = (
        "A model on the front is beaten by no other in both: whoever is more capable costs more. The cost is the "
        "mean over the clean cells that all models have measured (of memory the highest of any one cell: a device that "
        "keeps the weights of all tasks needs more), each hardware profile with a front of its own."
    )
    return Section("pareto", title, (Text(words), Plots(plots)))


def front(points: Mapping[str, tuple[float, float]]) -> list[str]:
    """Return the names of (cost, capability) points, cheap first, that no other beats without giving way."""
    ahead: list[str] = []
    for name in sorted(points, key=lambda name: (points[name][0], -points[name][1])):
        last = points[ahead[-1]] if ahead else None
        if last is None or points[name][1] > last[1] or points[name] == last:
            ahead.append(name)
    return ahead


def _plot(analysis: Analysis, cost: str, looks: Mapping[str, Look]) -> Plot:
    name_of, unit = COSTS[cost]
    costs = overall_cost(analysis, cost)
    fronts = _fronts(analysis.scorecards, costs)
    ahead = {name for names in fronts for name in names}
    known = {card.name: card for card in analysis.scorecards if _known(card, costs)}
    data = [_line([known[name] for name in names], costs) for names in fronts if len(names) > 1]
    data += [_point(card, costs[card.name], unit, looks[card.name]) for card in known.values()]
    values = [value.value for name, value in costs.items() if name in known and value.value is not None]
    log = {"type": "log"} if values and max(values) > WIDE * min(values) else {}
    title = f"P against {name_of.lower()}"
    finding = f"On the front: {', '.join(sorted(ahead))}." if ahead else "No model has both figures."
    rows = tuple(
        (
            Cell(card.name),
            number(card.common.P),
            number(costs[card.name], 2),
            Cell("yes" if card.name in ahead else "no" if card.name in known else "–"),
        )
        for card in analysis.scorecards
    )
    table = Table(title, ("model", "P", f"{name_of}, {unit}, {how(cost)}, measured", "on the front"), rows)
    across = (
        axis(f"{name_of.lower()}, {unit}", **log) if log else axis(f"{name_of.lower()}, {unit}", rangemode="tozero")
    )
    return Plot(title, finding, data, layout(across, axis("capability P")), 380, table)


def _known(card: Scorecard, costs: Mapping[str, Value]) -> bool:
    return card.common.P.value is not None and costs[card.name].value is not None


def _fronts(cards: Sequence[Scorecard], costs: Mapping[str, Value]) -> list[list[str]]:
    profiles: dict[str, dict[str, tuple[float, float]]] = {}
    for card in cards:
        price, capable = costs[card.name].value, card.common.P.value
        if price is not None and capable is not None:
            profiles.setdefault(card.hardware, {})[card.name] = (price, capable)
    return [front(points) for points in profiles.values()]


def _line(cards: Sequence[Scorecard], costs: Mapping[str, Value]) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "x": [costs[card.name].value for card in cards],
        "y": [card.common.P.value for card in cards],
        "line": {"shape": "hv", "color": NEUTRAL, "width": 1.5, "dash": "dot"},
        "name": "front",
        "hoverinfo": "skip",
    }


def _point(card: Scorecard, cost: Value, unit: str, look: Look) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": safe(card.name),
        "x": [cost.value],
        "y": [card.common.P.value],
        "error_y": bars([card.common.P]),
        "marker": {"color": look.colour, "symbol": look.symbol, "size": 12},
        "hoverinfo": "text",
        "hovertext": [safe(f"{card.name}: P {card.common.P.value:.3f}, {cost.value:.3g} {unit}")],
    }
