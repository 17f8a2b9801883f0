"""How the layouts write pictures and annotations: the same bytes for the same content."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from PIL.Image import Image

JPEG_QUALITY = 95


def write_json(path: Path, content: Any) -> None:
    """Write one JSON value, making the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")


def write_lines(path: Path, lines: list[str]) -> None:
    """Write lines of text, each ended, making the folders above them."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def write_jpeg(path: Path, image: Image) -> None:
    """Write a picture in JPEG_QUALITY, making the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    image.save(path, format="JPEG", quality=JPEG_QUALITY)
