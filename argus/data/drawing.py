"""Draws named boxes on a picture, for models that take no boxes as input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PIL import ImageDraw, ImageFont

if TYPE_CHECKING:
    from PIL.Image import Image

    from argus.records import Mark

COLORS = (
    (255, 64, 64),
    (64, 224, 96),
    (80, 144, 255),
    (255, 208, 48),
    (240, 96, 240),
    (64, 224, 232),
    (255, 144, 48),
    (184, 128, 255),
)
"""One colour a mark, in turn; bright, since pictures are mostly darker than these."""
LINE_SHARE = 1 / 350  # of the shorter side: one pixel on a 224 px picture, three on a full-HD frame
TEXT_SHARE = 1 / 22  # of the shorter side: ten pixels on a 224 px picture
LEAST_TEXT = 8  # pixels; smaller letters cannot be read


def draw_marks(image: Image, marks: Sequence[Mark]) -> Image:
    """Return a copy of the image with a thin box for each mark and its label on the box's upper edge.

    Lines and letters scale with the image; the same input gives the same pixels. Labels stand outside their box,
    above it where there is room and below it otherwise, and have no ground of their own, so little is hidden.
    """
    marked = image.copy()
    pen = ImageDraw.Draw(marked)
    side = min(image.size)
    line = max(1, round(side * LINE_SHARE))
    font = ImageFont.load_default(max(LEAST_TEXT, round(side * TEXT_SHARE)))
    for number, mark in enumerate(marks):
        color = COLORS[number % len(COLORS)]
        left, top, right, bottom = mark.box
        # Pillow refuses a box whose right edge is left of its left edge; a sliver becomes a line.
        pen.rectangle((left, top, max(left, right), max(top, bottom)), outline=color, width=line)
        place = _label_place(pen, mark, font, line, image.size)
        pen.text(place, mark.label, fill=color, font=font, stroke_width=line, stroke_fill=(0, 0, 0))
    return marked


def _label_place(
    pen: ImageDraw.ImageDraw,
    mark: Mark,
    font: ImageFont.FreeTypeFont | ImageFont.ImageFont,
    line: int,
    size: tuple[int, int],
) -> tuple[float, float]:
    """Return where to anchor the label so that it lies within the picture and, if it can, outside its box."""
    left, top, _, bottom = mark.box
    x0, y0, x1, y1 = pen.textbbox((0, 0), mark.label, font=font, stroke_width=line)
    above = top - line - y1
    y = above if above + y0 >= 0 else bottom + line - y0
    x = min(left - x0, size[0] - x1)
    return max(x, -x0), min(max(y, -y0), size[1] - y1)
