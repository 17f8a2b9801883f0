"""The report of an aggregation: one HTML file and its Markdown form, from the analysis and what the store keeps."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from argus import __version__, tracking
from argus.compared import checkpoints, deployments, prompts
from argus.drops import drops
from argus.errors import DataError
from argus.records import CellResult
from argus.report.html.background import Background
from argus.report.html.markdown import markdown
from argus.report.html.page import page
from argus.scoring.analysis import Analysis
from argus.stored_sweep import SweepCells, evidence_of, minute
from argus.tracking import Store


@dataclass(frozen=True)
class Report:
    """A report in both its forms."""

    html: str
    markdown: str


def report_of(store: Store, found: SweepCells, analysis: Analysis) -> Report:
    """Return the report of a sweep that has been analysed."""
    background = background_of(store, found, analysis)
    return Report(page(analysis, background), markdown(analysis, background))


def background_of(store: Store, found: SweepCells, analysis: Analysis) -> Background:
    """Return where a sweep came from, with pictures of its worst drops."""

    def opened(cell: CellResult, read: Callable[[Path], Any]) -> Any:
        with tracking.opened(store, cell.run_id, found.locations[cell.run_id], "examples") as folder:
            return read(folder)

    sums = evidence_of(store, found).sums

    def quality(cell: CellResult) -> dict[str, float]:
        of_images = sums(cell)
        cider = of_images.columns["cider_d"] / of_images.columns["captions"]
        return dict(zip(of_images.image_ids, cider.tolist(), strict=True))

    pictures, gap = drops(analysis, opened, quality)
    return Background(
        sweep_id=found.sweep_id,
        started=f"{minute(found.started)} UTC",
        command=found.command,
        suite=found.conditions["suite"],
        seed=found.conditions["seed"],
        version=__version__,
        checkpoints=checkpoints(found.cells, found.params),
        deployments=deployments(found.cells, found.params),
        prompts=prompts(found.cells, found.params),
        devices=_devices(store, found),
        pictures=pictures,
        pictures_gap=gap,
    )


def _devices(store: Store, found: SweepCells) -> dict[str, str]:
    """Return the machine that each hardware profile ran on, from one finished cell."""
    told = {cell.key.hardware: "" for cell in found.cells}
    for cell in found.cells:
        if cell.status == "FINISHED" and not told[cell.key.hardware]:
            told[cell.key.hardware] = _device(store, found, cell)
    return dict(sorted(told.items()))


def _device(store: Store, found: SweepCells, cell: CellResult) -> str:
    try:
        with tracking.opened(store, cell.run_id, found.locations[cell.run_id], "environment.json") as path:
            machine = json.loads(path.read_text())
    except DataError:
        return "a machine that its cells do not name"
    params = found.params[cell.run_id]
    kind = f"{params.get('hardware.runtime.device', '')} {params.get('hardware.runtime.dtype', '')}".strip()
    return (
        f"{machine['processor']}, {machine['threads']} threads, {machine['platform']}, torch {machine['torch']}, {kind}"
    )
