"""What changed between two sweeps, for the terminal, for json and as a table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import pandas as pd
from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from argus.report.findings import p_text
from argus.scoring.cells import Contender
from argus.scoring.gate import Breach, Change, SweepChange

CAPTION = (
    "p corrected for the number of models (Holm); resamples of the same images in both sweeps; of E's timings only the "
    "spread within each run is known, not how two runs of the same code differ"
)


def change_report(change: SweepChange, breaches: Sequence[Breach]) -> Group:
    """Return the figures of each model before and after, the cells that regressed, and why the change may not pass."""
    parts: list[Table | Text] = [_figures(change)]
    regressed = [one for one in change.cells if one.regression]
    if regressed:
        lines = [f"  {_line(one, _names(change)[one.contender])}" for one in regressed]
        lines.insert(0, f"{len(regressed)} of {len(change.cells)} cells fell, beyond noise:")
        parts.append(Text("\n".join(lines)))
    parts += [Text(f"lost: {reason}") for reason in change.lost]
    parts += [Text(f"may not pass: {breach.what}: {breach.reason}", style="bold red") for breach in breaches]
    return Group(*parts)


def _figures(change: SweepChange) -> Table:
    grid = Table(title="What changed, over the cells of both sweeps", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for heading in ("model", "figure"):
        grid.add_column(heading)
    for heading in ("before", "after", "change", "95 % interval", "p"):
        grid.add_column(heading, justify="right", no_wrap=True)
    grid.add_column("beyond noise")
    grid.caption = Text(CAPTION)
    names = _names(change)
    for one in change.figures:
        found = one.difference
        known = [_number(one.before.value), _number(one.after.value), _number(found.value, "+.3f")]
        ends = "-" if found.interval is None else "[{:+.3f}, {:+.3f}]".format(*found.interval)
        grid.add_row(Text(names[one.contender]), one.what, *known, ends, _p(found.p_holm), _verdict(one))
    return grid


def _number(number: float | None, form: str = ".3f") -> str:
    return "gap" if number is None else f"{number:{form}}"


def _p(p: float | None) -> str:
    return "gap" if p is None else p_text(p).removeprefix("p ")


def _verdict(one: Change) -> str:
    if not one.difference.beyond_noise:
        return ""
    told = "worse" if one.regression else "better"
    return f"{told} (timed)" if one.what == "E" else told


def _line(one: Change, name: str) -> str:
    found = one.difference
    assert found.interval is not None
    low, high = found.interval
    return f"{name}: {one.what} {found.value:+.3f} [{low:+.3f}, {high:+.3f}], {p_text(found.p_holm)}"


def _names(change: SweepChange) -> dict[Contender, str]:
    """Return each model, with its hardware where several profiles are compared."""
    found = {one.contender for one in (*change.figures, *change.cells)}
    several = len({contender.hardware for contender in found}) > 1
    return {one: f"{one.model} on {one.hardware}" if several else one.model for one in found}


def change_frame(change: SweepChange) -> pd.DataFrame:
    """Return one row for each figure and each cell of each model."""
    return pd.DataFrame([_row(one, kind) for kind in ("figures", "cells") for one in getattr(change, kind)])


def _row(one: Change, kind: str) -> dict[str, Any]:
    found = one.difference
    low, high = found.interval or (math.nan, math.nan)
    return {
        "model": one.contender.model,
        "hardware": one.contender.hardware,
        "kind": kind.removesuffix("s"),
        "what": one.what,
        "before": one.before.value,
        "after": one.after.value,
        "change": found.value,
        "low": low,
        "high": high,
        "p": found.p,
        "p_holm": found.p_holm,
        "beyond_noise": found.beyond_noise,
        "regression": one.regression,
        "gap": found.gap,
    }


def change_as_json(change: SweepChange, breaches: Sequence[Breach]) -> dict[str, Any]:
    """Return the changes as plain data without NaN."""
    return {
        "passes": not breaches,
        "breaches": [asdict(breach) for breach in breaches],
        "lost": list(change.lost),
        **{kind: [_plain(_row(one, kind)) for one in getattr(change, kind)] for kind in ("figures", "cells")},
    }


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    return {name: None if isinstance(value, float) and math.isnan(value) else value for name, value in row.items()}
