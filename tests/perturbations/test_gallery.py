"""Promises of the gallery."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from argus.perturbations import gallery

FOLDER = Path(__file__).resolve().parents[2] / "conf" / "perturbation"


def test_gallery_shows_every_perturbation_at_its_severities(tmp_path, make_picture):
    make_picture(64, 48).save(tmp_path / "mine.png")
    gallery.main([str(tmp_path / "mine.png"), "--out", str(tmp_path)])
    page = (tmp_path / "gallery.md").read_text()
    assert all(f"`{path.stem}`" in page for path in FOLDER.glob("*.yaml") if path.stem != "clean")
    assert "mine.png" in page
    assert "COCO" not in page
    for name, count in (("rotation", 5), ("flip_horizontal", 1)):
        with Image.open(tmp_path / "gallery" / f"{name}.webp") as strip:
            assert strip.size == (count * 64 + (count - 1) * gallery.GAP, 48)
    assert not (tmp_path / "gallery" / "typo.webp").exists()
    (typo,) = (member for member in gallery.members() if member.name == "typo")
    typed = {each.text(gallery.SENTENCE, gallery.SEED, gallery.IDENTITY) for each in typo.by_severity.values()}
    assert len(typed) == 5
    assert all(f"`{text}`" in page for text in typed)


def test_gallery_shows_white_space_that_markdown_would_swallow():
    assert gallery.shown("a b  c\td\ne\u00a0f") == "a b··c⇥d⏎e⍽f"


def test_gallery_of_a_picture_that_cannot_be_read_says_so_and_writes_nothing(tmp_path):
    with pytest.raises(SystemExit, match="no such file"):
        gallery.main([str(tmp_path / "none.jpg"), "--out", str(tmp_path / "docs")])
    assert not (tmp_path / "docs").exists()
