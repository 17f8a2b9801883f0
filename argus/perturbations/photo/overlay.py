"""Writing on the picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from PIL import ImageDraw, ImageFont
from PIL.Image import Image, Resampling, composite, new

from argus.perturbations.base import ImagePerturbation
from argus.perturbations.photo.canvas import DRAWING_SIDE, canvas_size, drawn

if TYPE_CHECKING:
    from numpy.random import Generator

# Things that seldom are in a photo, so that the word is wrong; none is a category of COCO.
WORDS = (
    *("anchor", "cactus", "castle", "dragon", "guitar", "helmet", "igloo", "ladder", "magnet", "penguin", "piano"),
    *("pirate", "robot", "rocket", "saddle", "spider", "tank", "turtle", "violin", "volcano", "walrus", "wizard"),
)
# The letters' height, of the short side.
LETTERS = {1: 0.06, 2: 0.1, 3: 0.15, 4: 0.21, 5: 0.28}
# Of the picture's width.
WIDEST = 0.95
# Smaller letters are drawn at this size and shrunk.
SMALLEST_FONT = 12
WHITE = (255, 255, 255)
MARK = "PREVIEW"
# How many of the mark's letters would stand above each other in the short side.
LETTERS_A_SIDE = 8
SLANT = 25  # degrees
MARKED = {1: 0.15, 2: 0.3, 3: 0.45, 4: 0.65, 5: 0.9}


class Typographic(ImagePerturbation):
    """A note with a wrong word, drawn from a fixed list, stuck on the picture; larger with severity.

    The attack on CLIP of Goh et al., "Multimodal Neurons in Artificial Neural Networks", Distill 2021.
    """

    def perturb(self, image: Image, rng: Generator) -> Image:
        word = WORDS[rng.integers(len(WORDS))]
        size = LETTERS[self.severity] * min(image.size)
        note = lettered(word, max(SMALLEST_FONT, round(size)), 255, 0)
        fit = min(1, size / SMALLEST_FONT, WIDEST * image.width / note.width)
        note = note.resize((max(1, round(note.width * fit)), max(1, round(note.height * fit))), Resampling.BICUBIC)
        left, top = (
            (full - small) * place for full, small, place in zip(image.size, note.size, rng.random(2), strict=True)
        )
        result = image.copy()
        result.paste(note, (round(left), round(top)))
        return result


class Watermark(ImagePerturbation):
    """A stock agency's slanted mark repeated all over the picture, 15 to 90 % opaque."""

    def perturb(self, image: Image, rng: Generator) -> Image:
        width, height = canvas_size(image, DRAWING_SIDE)
        tile = lettered(MARK, max(1, min(width, height) // LETTERS_A_SIDE), 0, 255)
        tile = tile.rotate(SLANT, Resampling.BICUBIC, expand=True)
        mask = new("L", (width, height))
        first_x, first_y = (-rng.random(2) * tile.size).astype(int)
        for y in range(first_y, height, tile.height):
            for x in range(first_x, width, tile.width):
                mask.paste(tile, (x, y))
        return composite(new("RGB", image.size, WHITE), image, drawn(mask, image, MARKED[self.severity]))


def lettered(text: str, size: int, ground: int, ink: int) -> Image:
    """Return the text in Pillow's own font, amid a margin of half its size in pixels, in mode L."""
    default = cast("ImageFont.FreeTypeFont", ImageFont.load_default(size))
    # The other layout depends on libraries that not every machine has.
    font = default.font_variant(layout_engine=ImageFont.Layout.BASIC)
    left, top, right, bottom = font.getbbox(text)
    sheet = new("L", (round(right - left) + size, round(bottom - top) + size), ground)
    ImageDraw.Draw(sheet).text((size // 2 - left, size // 2 - top), text, fill=ink, font=font)
    return sheet
