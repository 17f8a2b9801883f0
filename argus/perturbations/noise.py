"""Gaussian noise, with a grain measured against the picture's size."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

import numpy as np
from PIL.Image import Image, fromarray

from argus.perturbations.base import ImagePerturbation

if TYPE_CHECKING:
    from numpy.random import Generator

# Of values in [0, 1]: the Gaussian noise of ImageNet-C (Hendrycks & Dietterich, ICLR 2019).
DEVIATIONS = {1: 0.08, 2: 0.12, 3: 0.18, 4: 0.26, 5: 0.38}
REFERENCE_SIDE = 224


class Noise(ImagePerturbation):
    """Independent Gaussian noise on each channel of each grain.

    A grain is a square of (short side / 224, rounded up) pixels: finer noise on a large picture would be averaged away
    when a model resizes it.
    """

    def perturb(self, image: Image, rng: Generator) -> Image:
        grain = ceil(min(image.size) / REFERENCE_SIDE)
        noise = grains(rng, image.height, image.width, grain)
        noise *= DEVIATIONS[self.severity] * 255
        noise += np.asarray(image)
        # Clip before the cast: uint8 would wrap round at 0 and 255.
        np.clip(noise, 0, 255, out=noise)
        return fromarray(np.rint(noise, out=noise).astype(np.uint8))


def grains(rng: Generator, height: int, width: int, side: int) -> np.ndarray:
    """Return (height, width, 3) standard normal float32 values, equal within squares of `side` pixels."""
    rows, columns = -(-height // side), -(-width // side)
    coarse = rng.standard_normal((rows, columns, 3), dtype=np.float32)
    return coarse.repeat(side, axis=0)[:height].repeat(side, axis=1)[:, :width]
