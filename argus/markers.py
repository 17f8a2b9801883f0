"""The state of each cell of a running sweep, as one small file a cell: any launcher's workers can write them."""

from __future__ import annotations

import json
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from argus.records import CellKey


@dataclass(frozen=True)
class State:
    """Where a cell is. `score` is None until it is FINISHED, `reason` is empty unless it FAILED."""

    title: str
    status: str  # RUNNING, FINISHED, FAILED or KILLED
    done: int
    total: int
    seconds: float
    score: float | None = None
    reason: str = ""
    run_id: str = ""


def title(key: CellKey) -> str:
    """Return a cell's name as people read it: 'clip · coco · retrieval · blur 3'."""
    change = key.perturbation if key.modality == "none" else f"{key.perturbation} {key.severity}"
    return f"{key.model} · {key.dataset} · {key.task} · {change}"


def cell_name(number: int) -> str:
    """Return the name of the marker of a sweep's cell, counted from 0."""
    return f"{number:05d}"


def write(path: Path, state: State) -> None:
    """Replace the file in one step, so that a reader never sees half of it."""
    part = path.with_suffix(f".{os.getpid()}.part")
    part.write_text(json.dumps(asdict(state)))
    part.replace(path)


def read_all(folder: Path) -> dict[str, State]:
    """Return the states by file name."""
    return {path.stem: State(**json.loads(path.read_text())) for path in sorted(folder.glob("*.json"))}


class Marker:
    """Keeps one cell's file up to date; progress is written at most twice a second."""

    def __init__(self, path: Path | None, key: CellKey) -> None:
        self.path = path
        self.begun = self.written = time.monotonic()
        self.state = State(title(key), "RUNNING", 0, 0, 0.0)
        self._write()

    def progress(self, done: int, total: int) -> None:
        if time.monotonic() - self.written > 0.5:
            self._set("RUNNING", done, total)

    def end(self, status: str, score: float | None, reason: str, run_id: str) -> State:
        self._set(status, self.state.done, self.state.total, score, reason, run_id)
        return self.state

    def _set(
        self, status: str, done: int, total: int, score: float | None = None, reason: str = "", run_id: str = ""
    ) -> None:
        self.written = time.monotonic()
        seconds = self.written - self.begun
        self.state = State(self.state.title, status, done, total, seconds, score, reason, run_id)
        self._write()

    def _write(self) -> None:
        if self.path is not None:
            write(self.path, self.state)
