"""What lies behind the things: one look per style, so that a picture tells which dataset it is from."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from PIL import Image

if TYPE_CHECKING:
    from collections.abc import Callable

Pixels = NDArray[np.float64]
"""(height, width, 3), from 0 to 255."""
TILT = 0.12  # how much darker the darkest light is than the brightest, as a share of the colour


def backdrop(style: str, side: int, scale: int, light: float) -> Image.Image:
    """Return a fresh RGB image of `scale * side` pixels a side; raises KeyError for an unknown style."""
    return _painted(style, side, scale, light).copy()


@lru_cache(maxsize=64)
def _painted(style: str, side: int, scale: int, light: float) -> Image.Image:
    pixels = BACKDROPS[style](scale * side) * (1 - TILT + TILT * light)
    return Image.fromarray(pixels.round().clip(0, 255).astype(np.uint8))


def _rows(side: int) -> Pixels:
    """Return 0 at the top to 1 at the bottom, shaped (side, 1, 1)."""
    return np.linspace(0, 1, side).reshape(-1, 1, 1)


def _blend(low: tuple[int, int, int], high: tuple[int, int, int], share: Pixels, side: int) -> Pixels:
    mixed = np.asarray(low) * (1 - share) + np.asarray(high) * share
    return np.array(np.broadcast_to(mixed, (side, side, 3)))


def _meadow(side: int) -> Pixels:
    """Sky above grass."""
    pixels = _blend((150, 196, 236), (216, 234, 246), _rows(side) / 0.45, side)
    horizon = int(0.45 * side)
    pixels[horizon:] = _blend((168, 206, 128), (120, 172, 84), _rows(side), side)[horizon:]
    return pixels


def _plain(side: int) -> Pixels:
    """A smooth gradient, from cream to rose."""
    return _blend((246, 232, 206), (226, 186, 190), (_rows(side) + _rows(side).swapaxes(0, 1)) / 2, side)


def _stripes(side: int) -> Pixels:
    """Upright stripes in two pale tones."""
    width = side // 14
    odd = (np.arange(side) // width % 2).reshape(1, -1, 1).astype(float)
    return _blend((206, 212, 232), (232, 226, 206), odd, side)


def _studio(side: int) -> Pixels:
    """A grey floor, lighter in the middle."""
    across = _rows(side).swapaxes(0, 1)
    glow = 1 - 1.6 * ((across - 0.5) ** 2 + (_rows(side) - 0.55) ** 2)
    return _blend((112, 114, 118), (198, 198, 196), glow, side)


def _room(side: int) -> Pixels:
    """A wall with a window above a wooden floor."""
    pixels = _blend((206, 190, 172), (222, 208, 190), _rows(side), side)
    floor = int(0.7 * side)
    planks = (np.arange(side) // (side // 8) % 2).reshape(1, -1, 1).astype(float)
    pixels[floor:] = _blend((172, 132, 98), (186, 146, 110), planks, side)[floor:]
    left, top, edge = int(0.36 * side), int(0.08 * side), side // 56
    right, bottom = side - left, int(0.42 * side)
    pixels[top:bottom, left:right] = (244, 240, 232)
    pixels[top + edge : bottom - edge, left + edge : right - edge] = (190, 216, 232)
    middle = side // 2
    pixels[top:bottom, middle - edge // 2 : middle + edge // 2] = (244, 240, 232)
    return pixels


BACKDROPS: dict[str, Callable[[int], Pixels]] = {
    "coco": _meadow,
    "flickr30k": _plain,
    "visual_genome": _stripes,
    "clevr": _studio,
    "vcr": _room,
}
