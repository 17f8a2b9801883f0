"""What a sweep stands without: failed, missing and dropped cells, and notes, each with its reason."""

from __future__ import annotations

from collections.abc import Iterable

from argus.report.html.parts import Cell, Points, Section, Table, Text
from argus.report.table import by_reason, caveats, gap_lines
from argus.scoring.analysis import Analysis
from argus.scoring.records import Absent


def missing(analysis: Analysis) -> Section:
    """Return what was dropped, failed or missing, and why."""
    title = "What is missing, and why"
    failed = _table("Failed, missing or unusable cells", ((card.name, card.missing) for card in analysis.scorecards))
    dropped = _table("Cells that make no sense", ((card.name, card.dropped) for card in analysis.scorecards))
    tables = [table for table in (failed, dropped) if table.rows]
    lines = tuple(f"{c.name}: {line}" for c in analysis.scorecards for line in (*gap_lines(c), *caveats(c)))
    words = () if tables or lines else (Text("Nothing is missing: every planned cell has a score."),)
    return Section("missing", title, (*words, *tables, *((Points(lines),) if lines else ())))


def _table(caption: str, models: Iterable[tuple[str, Iterable[Absent]]]) -> Table:
    rows = tuple((Cell(name), Cell(reason), Cell(cells)) for name, all_ in models for reason, cells in by_reason(all_))
    return Table(caption, ("model", "reason", "cells"), rows)
