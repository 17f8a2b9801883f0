"""A report as Markdown: for a pull request, a wiki or a terminal. Plots are told in words and numbers."""

from __future__ import annotations

from collections.abc import Iterator

from argus.report.html.background import Background
from argus.report.html.opening import verdict
from argus.report.html.page import sections
from argus.report.html.parts import Block, Cell, Commands, Pictures, Plots, Points, Table, Text
from argus.scoring.analysis import Analysis

SPECIAL = str.maketrans(
    {mark: f"\\{mark}" for mark in "\\`*_[]|~#"} | {"<": "&lt;", ">": "&gt;", "&": "&amp;", "\n": " "}
)


def markdown(analysis: Analysis, background: Background) -> str:
    """Return the whole report as Markdown."""
    lines = ["# Argus report", "", escaped(verdict(analysis, background.suite)), ""]
    for section in sections(analysis, background):
        lines += [f"## {escaped(section.title)}", ""]
        for block in section.blocks:
            lines += [*_block(block), ""]
    return "\n".join(lines)


def escaped(text: str) -> str:
    """Return a text that Markdown shows as it is, in one line."""
    return text.translate(SPECIAL)


def _block(block: Block) -> Iterator[str]:
    match block:
        case Text():
            yield escaped(block.text)
        case Points():
            yield from (f"- {escaped(point)}" for point in block.points)
        case Commands():
            yield from ("```", *block.lines, "```")
        case Table():
            yield from _table(block)
        case Plots():
            for plot in block.plots:
                yield from (f"**{escaped(plot.title)}.** {escaped(plot.finding)}", "")
                if plot.table is not None:
                    yield from (*_table(plot.table), "")
        case Pictures():
            for picture in block.pictures:
                told = "; ".join(f"{name}: {text}" for name, text in picture.facts)
                yield f"- **{escaped(picture.title)}.** {escaped(told)}"


def _table(table: Table) -> Iterator[str]:
    yield f"*{escaped(table.caption)}*"
    yield ""
    yield f"| {' | '.join(map(escaped, table.columns))} |"
    yield f"| {' | '.join('---' for _ in table.columns)} |"
    yield from (f"| {' | '.join(map(_cell, row))} |" for row in table.rows)


def _cell(cell: Cell) -> str:
    return escaped(f"{cell.text} ({cell.under})" if cell.under else cell.text)
