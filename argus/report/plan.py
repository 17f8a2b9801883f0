"""A sweep's plan for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from argus.markers import title

if TYPE_CHECKING:
    from argus.planning import Plan


def plan_report(plan: Plan, estimate: str, whole: bool) -> RenderableType:
    """Return the counts, the estimate and the reasons of dropped cells; with `whole`, every cell too."""
    counts = Text(f"{len(plan.run)} cells to run, {len(plan.skipped)} finished already, {len(plan.dropped)} dropped")
    lines = [Text(f"  {line}", style="dim") for line in _dropped(plan)]
    lines += [Text(f"  {estimate}", style="dim")] if estimate else []
    return Group(counts, *lines, *([_table(plan)] if whole else []))


def _dropped(plan: Plan) -> list[str]:
    """Return a line for each reason, with how many cells of which models it leaves out."""
    reasons: dict[str, list[str]] = {}
    for drop in plan.dropped:
        reasons.setdefault(drop.reason, []).append(drop.key.model)
    return [
        f"dropped {len(models)} of {', '.join(dict.fromkeys(models))}: {reason}" for reason, models in reasons.items()
    ]


def _table(plan: Plan) -> Table:
    table = Table("what happens")
    table.add_column("cell", no_wrap=True)
    table.add_column("why")
    for cell in plan.run:
        table.add_row("run", title(cell.key), "")
    for cell in plan.skipped:
        table.add_row("skipped", title(cell.key), f"finished as run {cell.run_id}")
    for drop in plan.dropped:
        table.add_row("dropped", title(drop.key), drop.reason)
    return table
