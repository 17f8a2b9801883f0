"""One cell's metrics as a table for the terminal."""

from __future__ import annotations

from collections.abc import Mapping

from rich.table import Table

from argus.markers import State


def cell_table(state: State, metrics: Mapping[str, float]) -> Table:
    """Return a two-column table of a finished cell's metrics."""
    table = Table(title=state.title, caption=f"run {state.run_id}")
    table.add_column("metric")
    table.add_column("value", justify="right")
    for name, value in sorted(metrics.items()):
        table.add_row(name, f"{value:,.4f}" if abs(value) < 1000 else f"{value:,.0f}")
    return table
