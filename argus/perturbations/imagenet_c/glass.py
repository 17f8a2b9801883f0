"""Glass blur: pixels that change places in a fixed order, found all at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PIL.Image import Image

from argus.perturbations.base import ImagePerturbation
from argus.perturbations.imagenet_c.filters import as_picture, as_pixels, smoothed

if TYPE_CHECKING:
    from numpy.random import Generator

# Hendrycks & Dietterich, ICLR 2019: sigma and farthest step in pixels, rounds.
GLASS = {1: (0.7, 1, 2), 2: (0.9, 2, 1), 3: (1.0, 2, 3), 4: (1.1, 3, 2), 5: (1.5, 4, 2)}


class GlassBlur(ImagePerturbation):
    """Blurred (sigma 0.7 to 1.5 px), pixels replaced by others up to 1 to 4 px away in 1 to 3 rounds, blurred again."""

    def perturb(self, image: Image, rng: Generator) -> Image:
        sigma, farthest, rounds = GLASS[self.severity]
        # Cut to whole grey levels, as the original does; a level that single precision has just missed counts.
        values = (smoothed(as_pixels(image), sigma) + np.float32(0.01)).astype(np.uint8)
        for _ in range(rounds):
            values = scattered(values, draw_steps(rng, image.size, farthest), farthest)
        return as_picture(smoothed(values, sigma))


def draw_steps(rng: Generator, size: tuple[int, int], farthest: int) -> np.ndarray:
    """Return (2, rows, columns) steps down and right from -farthest to farthest - 1, for all pixels but the margins."""
    rows, columns = (max(0, length - 2 * farthest) for length in size[::-1])
    draws = rng.integers(0, 1 << 16, (2, rows, columns), dtype=np.uint16)
    return (draws.astype(np.int32) * (2 * farthest) >> 16) - farthest


def scattered(values: np.ndarray, steps: np.ndarray, farthest: int) -> np.ndarray:
    """Return the pixels after each one inside the margins took over the pixel at its step, last row and column first.

    A pixel that takes over one whose turn was before gets what that one has taken over by then. Instead of going
    through them one by one, every pixel follows the pointers to where its value comes from, twice as far each time.
    """
    height, width = values.shape[:2]
    # In the order's own direction the first margin is one pixel wider than the last.
    inside = np.s_[farthest + 1 : height - farthest + 1, farthest + 1 : width - farthest + 1]
    places = np.arange(height * width, dtype=np.int32).reshape(height, width)
    sources = places.copy()
    sources[inside] += steps[0] * np.int32(width) + steps[1]
    moved = np.zeros((height, width), dtype=bool)
    moved[inside] = True
    source = sources.reshape(-1)
    # Whose turn was before: those later in the picture.
    follows = moved.reshape(-1)[source] & (source > places.reshape(-1))
    open_places = np.flatnonzero(follows)
    while len(open_places):
        through = source[open_places]
        further, goes_on = source[through], follows[through]
        source[open_places], follows[open_places] = further, goes_on
        open_places = open_places[goes_on]
    return values.reshape(-1, 3)[source].reshape(values.shape)
