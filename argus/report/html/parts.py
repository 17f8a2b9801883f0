"""What a report is made of, before it is HTML or Markdown: sections of texts, tables, plots and pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from argus.report.findings import percent
from argus.scoring.records import Value


@dataclass(frozen=True)
class Cell:
    """A cell of a table. `under` stands beneath it, smaller: an interval, or why there is a gap."""

    text: str
    under: str = ""
    kind: str = "text"  # "number" or "gap", as they are set


@dataclass(frozen=True)
class Table:
    """A table whose first column names its rows."""

    kind: ClassVar[str] = "table"
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    folded: bool = False  # shown when asked for


@dataclass(frozen=True)
class Plot:
    """A plot for Plotly, what it shows in words, and its numbers."""

    title: str
    finding: str  # the alternative text
    data: Sequence[Mapping[str, Any]]
    layout: Mapping[str, Any]
    height: int
    table: Table | None  # None where a table beside it has the numbers


@dataclass(frozen=True)
class Plots:
    """Plots side by side where there is room."""

    kind: ClassVar[str] = "plots"
    plots: tuple[Plot, ...]


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    kind: ClassVar[str] = "text"
    text: str


@dataclass(frozen=True)
class Points:
    """A list of sentences."""

    kind: ClassVar[str] = "points"
    points: tuple[str, ...]


@dataclass(frozen=True)
class Commands:
    """Lines to type."""

    kind: ClassVar[str] = "commands"
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Picture:
    """A picture pair, as a data: address, with what a model made of it."""

    title: str
    source: str
    width: int
    height: int
    alternative: str
    facts: tuple[tuple[str, str], ...]  # name, text


@dataclass(frozen=True)
class Pictures:
    """Pictures side by side where there is room."""

    kind: ClassVar[str] = "pictures"
    pictures: tuple[Picture, ...]


Block = Table | Plots | Text | Points | Commands | Pictures


@dataclass(frozen=True)
class Section:
    """A heading with what stands beneath it. `name` is its address within the page."""

    name: str
    title: str
    blocks: tuple[Block, ...]


UNSURE = "needs two models with resamples, each of which holds a picture of every cell"


def number(value: Value, digits: int = 3) -> Cell:
    """Return a figure with its interval, or a gap with its reason."""
    if value.value is None:
        return gap(value.gap)
    return Cell(f"{value.value:.{digits}f}", ends(value.interval, digits), "number")


def plain(value: float | None, digits: int = 3, reason: str = "") -> Cell:
    """Return a number, or a gap with a reason."""
    return gap(reason) if value is None else Cell(f"{value:.{digits}f}", kind="number")


def share(value: float | None, reason: str = "") -> Cell:
    """Return a share as a percentage, or a gap with a reason."""
    return gap(reason) if value is None else Cell(percent(value), kind="number")


def gap(reason: str) -> Cell:
    return Cell("gap", reason, "gap")


def ends(interval: tuple[float, float] | None, digits: int = 3) -> str:
    """Return the ends of an interval, or nothing."""
    return "" if interval is None else f"{interval[0]:.{digits}f} to {interval[1]:.{digits}f}"


def listed(names: Sequence[str], most: int = 6) -> str:
    """Return names in a row, the last ones counted where there are many."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
