"""How models look in every plot of a page: by colour, and by shape for those who see no colour."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from argus.scoring.records import Value

# Each at least 3:1 against both the light and the dark page.
COLOURS = ("#2f7ed8", "#d9622b", "#1f9e77", "#b05cc6", "#a87b0a", "#d6457a", "#55898b", "#8c7355")
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star", "hexagon", "pentagon")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
NEUTRAL = "#808790"
# Lightness falls from 0 to 1, so that it reads without colours; the text on it is the same on a dark page.
SCALE = [[0, "#fdebd0"], [0.5, "#a8d5ba"], [1, "#2a9d8f"]]
GAP, ON_SCALE = "#c3c8ce", "#10151a"
LEGEND = {"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom", "x": 0}


@dataclass(frozen=True)
class Look:
    """A model's colour, marker and line."""

    colour: str
    symbol: str
    dash: str


def looks(names: Sequence[str]) -> dict[str, Look]:
    """Return a look for each model; 8 colours, 9 markers and 5 lines only meet again after 360 models."""
    return {
        name: Look(COLOURS[at % len(COLOURS)], SYMBOLS[at % len(SYMBOLS)], DASHES[at % len(DASHES)])
        for at, name in enumerate(names)
    }


def safe(text: str) -> str:
    """Return a text for Plotly, which reads tags in whatever it shows."""
    return html.escape(text, quote=False)


def bars(values: Sequence[Value]) -> dict[str, Any]:
    """Return the error bars of figures, none without an interval; plots.js gives them a colour that shows on bars."""
    low = [None if v.value is None or v.interval is None else v.value - v.interval[0] for v in values]
    high = [None if v.value is None or v.interval is None else v.interval[1] - v.value for v in values]
    known = any(end is not None for end in low)
    return {"type": "data", "symmetric": False, "array": high, "arrayminus": low, "thickness": 1.2, "visible": known}


def axis(title: str, **more: Any) -> dict[str, Any]:
    """Return an axis with a title and Plotly's own keywords; not to be dragged, so that a page scrolls on a phone."""
    return {"title": {"text": title}, "fixedrange": True, "automargin": True, **more}


def layout(xaxis: Mapping[str, Any], yaxis: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """Return a layout with its legend beneath."""
    margin = {"l": 8, "r": 12, "t": 10, "b": 8}
    return {
        "xaxis": dict(xaxis),
        "yaxis": dict(yaxis),
        "legend": LEGEND,
        "margin": margin,
        "hovermode": "closest",
        **more,
    }
