"""Ice on a window, drawn by us: five textures of crystals, each made once in a process and the same everywhere."""

from __future__ import annotations

from functools import cache
from math import ceil
from typing import TYPE_CHECKING

import cv2
import numpy as np

from argus.perturbations.imagenet_c.filters import smoothed
from argus.perturbations.imagenet_c.plasma import plasma

if TYPE_CHECKING:
    from numpy.random import Generator

# Width and height in pixels.
TEXTURE = (900, 600)
# The picture's part of a texture, at the least: the original enlarges its photos by a tenth before it cuts.
ENLARGED = 1.1
# Mean colour and deviation of the five: those of the original's photos of ice, so that scores stay comparable.
TONES = (
    ((78, 149, 166), (27, 16, 15)),
    ((201, 205, 214), (21, 22, 23)),
    ((201, 205, 214), (21, 22, 23)),
    ((138, 153, 165), (28, 28, 30)),
    ((112, 123, 135), (44, 43, 42)),
)
# Crystals of the five, and the longest one in pixels.
CRYSTALS = ((220, 60), (260, 150), (340, 120), (500, 60), (420, 90))
# Pixels between two needles of a stem; their angle to it in degrees; their longest, of what is left of the stem.
NEEDLE_GAP, NEEDLE_ANGLE, NEEDLE_LENGTH = 4, 55, 0.45
# cv2 draws with this many bits of fractions of a pixel.
FRACTION = 4


def frosted_glass(which: int, size: tuple[int, int], place: list[float]) -> np.ndarray:
    """Return (height, width, 3) uint8 of a texture, from a place in [0, 1] down and across, enlarged to cover."""
    width, height = size
    enlarged = ENLARGED * max(1, width / TEXTURE[0], height / TEXTURE[1])
    columns, rows = (max(1, ceil(length / enlarged)) for length in size)
    top, left = int(place[0] * (TEXTURE[1] - rows)), int(place[1] * (TEXTURE[0] - columns))
    return cv2.resize(texture(which)[top : top + rows, left : left + columns], (width, height))


@cache
def texture(which: int) -> np.ndarray:
    """Return (height, width, 3) uint8 of crystals over a haze, in the texture's tone."""
    rng = np.random.default_rng(which)
    count, longest = CRYSTALS[which]
    ice = np.zeros(TEXTURE[::-1], dtype=np.uint8)
    crystals(rng, ice, count, longest)
    lines = ice.astype(np.float32) / 255
    haze = plasma(rng, TEXTURE, 1.45)
    # Thick ice is brighter and blurs what is under it.
    shown = 1.5 * lines + 1.5 * smoothed(lines, 6) + haze
    shown = (shown - shown.mean()) / shown.std()
    means, deviations = (np.array(each, dtype=np.float32) for each in TONES[which])
    return np.rint(np.clip(means + deviations * shown[..., None], 0, 255)).astype(np.uint8)


def crystals(rng: Generator, ice: np.ndarray, count: int, longest: float) -> None:
    """Draw ferns of ice: one to six stems from a point, needles on both sides of each, finer needles on these."""
    stems = np.empty((0, 4))
    for _ in range(count):
        turns = np.arange(rng.integers(1, 7))[:, None]
        middle, first = rng.random(2) * TEXTURE, rng.uniform(0, 2 * np.pi)
        lengths = longest * rng.uniform(0.3, 1, turns.shape)
        angles = first + turns * np.pi / 3 + rng.normal(0, 0.1, turns.shape)
        stems = np.vstack([stems, np.hstack([np.broadcast_to(middle, (len(turns), 2)), angles, lengths])])
    needles = needles_of(rng, stems)
    for lines, shades in (
        (needles_of(rng, needles), (60, 90, 120)),
        (needles, (90, 140, 190)),
        (stems, (150, 200, 255)),
    ):
        for place, shade in enumerate(shades):
            draw(ice, lines[place :: len(shades)], shade)


def needles_of(rng: Generator, stems: np.ndarray) -> np.ndarray:
    """Return the needles of stems, one at every gap, to either side: rows of x, y, angle, length in pixels."""
    counts = (stems[:, 3] / NEEDLE_GAP).astype(int)
    x, y, angle, length = stems.repeat(counts, axis=0).T
    number = np.arange(counts.sum()) - (np.cumsum(counts) - counts).repeat(counts)
    along = NEEDLE_GAP * number
    side = np.where(number % 2 == 0, 1, -1)
    shorter = (length - along) * NEEDLE_LENGTH * rng.uniform(0.4, 1, len(along))
    turned = angle + side * np.deg2rad(NEEDLE_ANGLE) + rng.normal(0, 0.08, len(along))
    return np.column_stack([x + along * np.cos(angle), y + along * np.sin(angle), turned, shorter])


def draw(ice: np.ndarray, lines: np.ndarray, shade: int) -> None:
    x, y, angle, length = lines.T
    ends = np.stack([x, y, x + length * np.cos(angle), y + length * np.sin(angle)], axis=1)
    points = np.rint(ends * (1 << FRACTION)).astype(np.int32).reshape(-1, 2, 2)
    cv2.polylines(ice, list(points), False, shade, 1, cv2.LINE_AA, FRACTION)
