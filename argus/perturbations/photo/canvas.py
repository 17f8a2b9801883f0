"""What the photo perturbations share: lengths relative to a picture, tone curves, grain, and canvases of one size.

Shapes and smooth patterns are made on a canvas whose short side is the same for every picture and are then stretched
over it: pictures of all sizes suffer alike, and the time hardly grows with the size.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PIL.Image import Image, Resampling, fromarray

if TYPE_CHECKING:
    from numpy.random import Generator

REFERENCE_SIDE = 224
# Short sides of canvases: for what changes slowly, and for what has edges.
PATTERN_SIDE = 224
DRAWING_SIDE = 448
# How many times longer than that the long side of a canvas may be.
LONGEST = 4
BLACK = (0, 0, 0)


def scaled(pixels: float, image: Image) -> float:
    """Return a length given in pixels at a short side of 224 in pixels of this picture."""
    return pixels * min(image.size) / REFERENCE_SIDE


def either_way(rng: Generator) -> int:
    """Return -1 or 1."""
    return 1 if rng.random() < 0.5 else -1


def ramp() -> np.ndarray:
    """Return the 256 values of a channel, from 0 to 1."""
    return np.arange(256) / 255


def toned(image: Image, *curves: np.ndarray) -> Image:
    """Return the picture with its three channels mapped by a curve each, of 256 values that are cut to [0, 1]."""
    return image.point(np.rint(np.clip(np.concatenate(curves), 0, 1) * 255).astype(int).tolist())


def as_image(values: np.ndarray) -> Image:
    """Return the picture of values in [0, 1], cut before the cast: uint8 would wrap round."""
    return fromarray(np.rint(np.clip(values, 0, 1) * 255).astype(np.uint8))


def canvas_size(image: Image, side: int) -> tuple[int, int]:
    """Return (width, height) with the picture's aspect and this short side, less where the long one would pass four."""
    scale = min(side / min(image.size), LONGEST * side / max(image.size))
    return max(1, round(image.width * scale)), max(1, round(image.height * scale))


def places(size: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Return x (width,) and y (height,) of the pixels' centres, from the middle, in short sides."""
    x, y = ((np.arange(side) + 0.5 - side / 2) / min(size) for side in size)
    return x, y


def wave(along_x: np.ndarray, along_y: np.ndarray) -> np.ndarray:
    """Return cos(2 pi (along_x + along_y)), (height, width): by the sum's formula, which takes fewer cosines."""
    x, y = 2 * np.pi * along_x[None, :], 2 * np.pi * along_y[:, None]
    # Single precision: two arrays the size of a picture are multiplied.
    cosines = np.cos(x).astype(np.float32) * np.cos(y).astype(np.float32)
    return cosines - np.sin(x).astype(np.float32) * np.sin(y).astype(np.float32)


def spread(values: np.ndarray, image: Image) -> Image:
    """Return a canvas' values in [0, 1], of one channel or three, as an image of the picture's size."""
    return as_image(values).resize(image.size, Resampling.BILINEAR)


def drawn(mask: Image, image: Image, opacity: float) -> Image:
    """Return a canvas' mask at the picture's size, thinned to the opacity."""
    return mask.point([round(value * opacity) for value in range(256)]).resize(image.size, Resampling.BILINEAR)


def grain(rng: Generator, size: tuple[int, int], deviation: float, channels: tuple[int, ...]) -> Image:
    """Return normal noise about mid-grey, 128, whose deviation is of values in [0, 1], at (width, height).

    `channels` is () for one channel and (3,) for three.
    """
    noise = rng.standard_normal((size[1], size[0], *channels), dtype=np.float32)
    return as_image(128 / 255 + noise * np.float32(deviation))
