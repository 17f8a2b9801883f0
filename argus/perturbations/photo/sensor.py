"""Faults of a sensor and of the light that it reads row by row."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

import numpy as np
from PIL import ImageChops
from PIL.Image import Image, Resampling, fromarray

from argus.perturbations.base import ImagePerturbation
from argus.perturbations.photo.canvas import scaled

if TYPE_CHECKING:
    from numpy.random import Generator

# Of all rows and columns.
DEAD = {1: 0.005, 2: 0.015, 3: 0.04, 4: 0.1, 5: 0.25}
# Light lost in the darkest row.
FLICKER = {1: 0.2, 2: 0.35, 3: 0.5, 4: 0.7, 5: 0.9}


class DeadLines(ImagePerturbation):
    """0.5 to 25 % of the rows and columns stuck at a value of their own, a pixel wide at a short side of 224."""

    def perturb(self, image: Image, rng: Generator) -> Image:
        thickness = ceil(scaled(1, image))
        pixels = np.array(image)
        rows, columns = (ceil(side / thickness) for side in pixels.shape[:2])
        order = rng.permutation(rows + columns)
        values = rng.integers(0, 2, (rows + columns, 3), dtype=np.uint8) * np.uint8(255)
        count = max(1, round(DEAD[self.severity] * len(order)))
        for line, value in zip(order[:count].tolist(), values, strict=False):
            along = pixels if line < rows else pixels.swapaxes(0, 1)
            start = line if line < rows else line - rows
            along[start * thickness : (start + 1) * thickness] = value
        return fromarray(pixels)


class Flicker(ImagePerturbation):
    """Dark bands, four to eight, of a lamp that flickers while rows are read one after the other."""

    def perturb(self, image: Image, rng: Generator) -> Image:
        bands, start = rng.uniform(4, 8), rng.random()
        wave = np.cos(2 * np.pi * (bands * (np.arange(image.height) + 0.5) / image.height + start))
        kept = np.rint(255 * (1 - FLICKER[self.severity] * (0.5 + 0.5 * wave))).astype(np.uint8)
        return ImageChops.multiply(
            image, fromarray(kept[:, None]).resize(image.size, Resampling.NEAREST).convert("RGB")
        )
