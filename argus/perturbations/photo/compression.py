"""What saving, sending and converting leave of a picture."""

from __future__ import annotations

from io import BytesIO
from math import ceil
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image as Pillow
from PIL import ImageChops
from PIL.Image import Image, Resampling, fromarray, merge

from argus.perturbations.base import ImagePerturbation
from argus.perturbations.photo.canvas import ramp

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator

WEBP_QUALITIES = {1: 60, 2: 30, 3: 12, 4: 4, 5: 0}
JPEG_QUALITIES = {1: 60, 2: 35, 3: 18, 4: 9, 5: 4}
BLOCK = 8
# Values of brightness.
STEPS = {1: 16, 2: 10, 3: 6, 4: 4, 5: 3}
COLOURS = {1: 64, 2: 32, 3: 16, 4: 8, 5: 4}
# The palette is chosen on a thumbnail of this short side.
PALETTE_SIDE = 112
# A picture of a few pixels would keep every colour.
PIXELS_A_COLOUR = 4
# Of the blocks.
LOST = {1: 0.04, 2: 0.1, 3: 0.2, 4: 0.35, 5: 0.6}
BLOCKS = 14
RUN = 5
# From twice this short side on, a picture is compressed at a whole fraction of its size.
COMPRESSED_SIDE = 224
# WebP's own limit.
LONGEST_SIDE = 16383


class WebP(ImagePerturbation):
    """Saved as WebP of quality 60 to 0, the codec's lowest; it stays readable where JPEG does not."""

    def perturb(self, image: Image, rng: Generator) -> Image:
        return at_compressed_size(image, lambda small: saved(small, "WEBP", WEBP_QUALITIES[self.severity]))


class DoubleJpeg(ImagePerturbation):
    """Saved as JPEG of quality 60 to 4, cut so that its blocks no longer meet the next grid, and saved again."""

    def perturb(self, image: Image, rng: Generator) -> Image:
        left, top = rng.integers(1, BLOCK, 2).tolist()
        quality = JPEG_QUALITIES[self.severity]

        def twice(small: Image) -> Image:
            once = np.asarray(saved(small, "JPEG", quality))
            moved = fromarray(np.pad(once, ((top, 0), (left, 0), (0, 0)), mode="edge"))
            return saved(moved, "JPEG", quality).crop((left, top, *moved.size))

        return at_compressed_size(image, twice)


class Banding(ImagePerturbation):
    """16 to 3 evenly spaced values of brightness, as in the sky of a starved video; colour differences stay."""

    def perturb(self, image: Image, rng: Generator) -> Image:
        steps = STEPS[self.severity] - 1
        levels = np.rint(np.rint(ramp() * steps) / steps * 255).astype(int).tolist()
        brightness, *colours = image.convert("YCbCr").split()
        return merge("YCbCr", (brightness.point(levels), *colours)).convert("RGB")


class Palette(ImagePerturbation):
    """64 to 4 colours, chosen by median cut on a thumbnail, without dithering: a GIF or an 8-bit PNG."""

    def perturb(self, image: Image, rng: Generator) -> Image:
        thumbnail = image.reduce(max(1, min(image.size) // PALETTE_SIDE))
        colours = min(COLOURS[self.severity], max(1, image.width * image.height // PIXELS_A_COLOUR))
        palette = thumbnail.quantize(colours)
        return image.quantize(palette=palette, dither=Pillow.Dither.NONE).convert("RGB")


class PacketLoss(ImagePerturbation):
    """4 to 60 % of the blocks of a video frame, 14 to the short side, show another part of the picture.

    Blocks are lost in runs of five along a row; a decoder then copies from where it believes the motion came from.
    """

    def perturb(self, image: Image, rng: Generator) -> Image:
        side = max(1, ceil(min(image.size) / BLOCKS))
        rows, columns = (ceil(length / side) for length in (image.height, image.width))
        runs = rng.permutation(ceil(rows * columns / RUN))
        lost = np.zeros(len(runs), dtype=bool)
        lost[runs[: ceil(LOST[self.severity] * len(runs))]] = True
        mask = lost.repeat(RUN)[: rows * columns].reshape(rows, columns).astype(np.uint8) * np.uint8(255)
        wrong = ImageChops.offset(image, *(max(1, int(length * rng.uniform(0.1, 0.4))) for length in image.size))
        result = image.copy()
        whole = fromarray(mask).resize((columns * side, rows * side), Resampling.NEAREST)
        result.paste(wrong, mask=whole.crop((0, 0, *image.size)))
        return result


def saved(image: Image, kind: str, quality: int) -> Image:
    """Return the picture as it is after saving in the format, "JPEG" or "WEBP", with Pillow's own settings."""
    file = BytesIO()
    image.save(file, kind, quality=quality)
    with Pillow.open(file) as reopened:
        return reopened.convert("RGB")


def at_compressed_size(image: Image, change: Callable[[Image], Image]) -> Image:
    """Return the changed picture; of a large one a reduced copy is changed and the differences, enlarged, are added.

    A block of eight pixels is a share of the picture that falls with its size: at 2000 px little of it is seen.
    """
    step = max(min(image.size) // COMPRESSED_SIDE, ceil(max(image.size) / LONGEST_SIDE))
    if step == 1:
        return change(image)
    small = image.reduce(step)
    changed = change(small)
    box = (0, 0, image.width / step, image.height / step)
    more, less = (
        ImageChops.subtract(*pair).resize(image.size, Resampling.BILINEAR, box=box)
        for pair in ((changed, small), (small, changed))
    )
    return ImageChops.subtract(ImageChops.add(image, more), less)
