"""Who wins under which weights: slices of the simplex of P, CDC, RR and E."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from argus.report.findings import percent
from argus.report.html.looks import LEGEND, NEUTRAL, Look, safe
from argus.report.html.parts import Cell, Plot, Plots, Section, Table, Text, share
from argus.scoring.analysis import Analysis
from argus.scoring.simplex import WeightAnalysis, winners

SLICES = (0.0, 0.25, 0.5, 0.75)  # of the weight, on E
STEPS = 20  # along a side of the triangle
SEVERAL = "equal"
COMMON = {"type": "scatterternary", "mode": "markers", "cliponaxis": False}


def weights(analysis: Analysis, looks: Mapping[str, Look]) -> Section:
    """Return which model wins under which weights."""
    title = "Who wins under which weights"
    found = analysis.weights
    if found is None:
        return Section("weights", title, (Text(f"There is no map of weights: {analysis.weights_gap}."),))
    if len(found.won) < 2:
        return Section("weights", title, (Text("There is no second model to win."),))
    plots = _maps(analysis, found, looks)
    return Section(
        "weights", title, (Text(_words(found, bool(plots))), *((Plots(plots),) if plots else ()), _table(found))
    )


def _words(found: WeightAnalysis, drawn: bool) -> str:
    tau = (
        ""
        if found.tau is None
        else f" Kendall's tau between all weightings and the chosen one is {found.tau:.2f} on average."
    )
    kept = found.same_order
    same = "" if kept is None else f" {percent(kept)} of all weightings leave the order as it is."
    if not drawn:
        return f"All weights of {', '.join(found.parts)} are tried, each as often.{tau}{same}"
    each = (
        " Each triangle holds the share of the weight on E fixed."
        if "E" in found.parts and len(found.parts) == 4
        else ""
    )
    return (
        "Every point of a triangle is a weighting; its marker is the model with the highest overall score there. A "
        f"corner gives all (remaining) weight to one part; the ring is the chosen weighting.{each}{tau}{same}"
    )


def _table(found: WeightAnalysis) -> Table:
    changes = {change.challenger: change for change in found.changes}
    rows = []
    for name, won in sorted(found.won.items(), key=lambda pair: -pair[1]):
        near = Cell("–", "no weights do that")
        if change := changes.get(name):
            at = ", ".join(f"{part} {weight:.2f}" for part, weight in zip(found.parts, change.weights, strict=True))
            near = Cell(f"{percent(change.moved)} of the weight moves", f"to {at}")
        if name == found.winner:
            near = Cell("wins as it is")
        rows.append((Cell(name), share(won), near))
    columns = ("model", "share of all weightings that it wins", f"draws level with {found.winner} once")
    return Table("Who wins, over all weightings", columns, tuple(rows))


def _maps(analysis: Analysis, found: WeightAnalysis, looks: Mapping[str, Look]) -> tuple[Plot, ...]:
    """Return triangles: one for three parts, slices of E for four; none for fewer parts."""
    corners = tuple(part for part in found.parts if part != "E") if len(found.parts) == 4 else found.parts
    if len(corners) != 3:
        return ()
    own = dict(zip(found.parts, found.weights, strict=True))
    if len(found.parts) == 3:
        return (_map(analysis, found, looks, corners, None, own),)
    return tuple(_map(analysis, found, looks, corners, slice_, own) for slice_ in SLICES)


def _map(
    analysis: Analysis,
    found: WeightAnalysis,
    looks: Mapping[str, Look],
    corners: Sequence[str],
    on_e: float | None,
    own: Mapping[str, float],
) -> Plot:
    triangle = _triangle()
    shares = {part: triangle[:, at] * (1 - (on_e or 0)) for at, part in enumerate(corners)}
    if on_e is not None:
        shares["E"] = np.full(len(triangle), on_e)
    points = np.stack([shares[part] for part in found.parts], axis=1)
    parts = {
        card.name: [min(card.common.figures()[part].value or 0.0, 1.0) for part in found.parts]
        for card in analysis.scorecards
        if card.name in found.won
    }
    first = winners(parts, points, analysis.scheme.formulas.overall == "geometric")
    where: dict[str, list[int]] = {}
    for at, names in enumerate(first):
        where.setdefault(names[0] if len(names) == 1 else SEVERAL, []).append(at)
    data = [_trace(name, points[rows], found, corners, looks) for name, rows in sorted(where.items())]
    if on_e is None or abs(on_e - own.get("E", 0)) < 0.01:
        data.append(_ring(corners, own))
    title = ", ".join(corners) if on_e is None else f"{on_e:.0%} of the weight on E"
    won = sorted(((len(rows) / len(points), name) for name, rows in where.items()), reverse=True)
    finding = ", ".join(f"{name} wins {percent(part)}" for part, name in won) + " of the markers."
    return Plot(title, finding, data, _layout(corners), 360, None)


def _triangle() -> np.ndarray:
    return np.array([(a, b, STEPS - a - b) for a in range(STEPS + 1) for b in range(STEPS + 1 - a)]) / STEPS


def _trace(
    name: str, points: np.ndarray, found: WeightAnalysis, corners: Sequence[str], looks: Mapping[str, Look]
) -> dict[str, Any]:
    at = {axis: points[:, found.parts.index(part)].tolist() for axis, part in zip("abc", corners, strict=True)}
    told = [
        safe(f"{name}: " + ", ".join(f"{part} {w:.2f}" for part, w in zip(found.parts, point, strict=True)))
        for point in points
    ]
    colour, symbol = (looks[name].colour, looks[name].symbol) if name in looks else (NEUTRAL, "circle-open")
    marker = {"color": colour, "symbol": symbol, "size": 7}
    return {**COMMON, "name": safe(name), **at, "marker": marker, "hoverinfo": "text", "hovertext": told}


def _ring(corners: Sequence[str], own: Mapping[str, float]) -> dict[str, Any]:
    at = {axis: [own[part]] for axis, part in zip("abc", corners, strict=True)}
    marker = {"color": "rgba(0,0,0,0)", "size": 16, "line": {"width": 3, "color": NEUTRAL}}
    told = {"hoverinfo": "text", "hovertext": ["the chosen weighting"]}
    return {**COMMON, "name": "chosen", **at, "marker": marker, **told}


def _layout(corners: Sequence[str]) -> dict[str, Any]:
    titles = (f"{corners[0]}<br> ", *corners[1:])  # the top one clear of its marker
    sides = {
        f"{axis}axis": {"title": {"text": title}, "showticklabels": False, "ticks": ""}
        for axis, title in zip("abc", titles, strict=True)
    }
    return {
        "ternary": {"sum": 1, **sides},
        "legend": LEGEND,
        "showlegend": True,
        "margin": {"l": 30, "r": 30, "t": 30, "b": 64},
    }
