from __future__ import annotations

import io
import time
from pathlib import Path

from rich.console import Console

from argus.markers import Marker, read_all, title
from argus.progress import watch
from argus.records import CellKey

KEY = CellKey("clip", "coco", "retrieval", "blur", "image", 3, "cpu")


def test_a_marker_tells_where_its_cell_is(tmp_path: Path) -> None:
    marker = Marker(tmp_path / "0.json", KEY)
    assert read_all(tmp_path)["0"].status == "RUNNING"
    marker.end("FINISHED", 0.5, "", "run")
    state = read_all(tmp_path)["0"]
    assert (state.title, state.status, state.score) == ("clip · coco · retrieval · blur 3", "FINISHED", 0.5)


def test_titles_leave_out_the_severity_of_clean() -> None:
    assert title(CellKey("clip", "coco", "retrieval", "clean", "none", 0, "cpu")) == "clip · coco · retrieval · clean"


def test_the_bar_tells_each_cell_as_it_ends_and_failures_with_their_reason(tmp_path: Path) -> None:
    shown = io.StringIO()
    with watch(tmp_path, 2, Console(file=shown, width=120)):
        Marker(tmp_path / "0.json", KEY).end("FINISHED", 0.75, "", "run0")
        time.sleep(0.5)
        told_before_the_end = shown.getvalue()
        Marker(tmp_path / "1.json", KEY).end("FAILED", None, "no such thing\nmore", "run1")
    assert "0.750" in told_before_the_end
    assert "FAILED" in shown.getvalue()
    assert "no such thing" in shown.getvalue()
    assert "2/2" in shown.getvalue()
