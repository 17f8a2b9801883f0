"""The noise of ImageNet-C: each value of each pixel for itself."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import cv2
import numpy as np
from PIL.Image import Image, fromarray
from scipy.special import pdtr

from argus.perturbations.base import ImagePerturbation
from argus.perturbations.imagenet_c.filters import as_picture, as_pixels

if TYPE_CHECKING:
    from numpy.random import Generator

# All figures: Hendrycks & Dietterich, ICLR 2019. Deviations are of values in [0, 1].
DEVIATIONS = {1: 0.08, 2: 0.12, 3: 0.18, 4: 0.26, 5: 0.38}
# Photons that a white value stands for.
PHOTONS = {1: 60, 2: 25, 3: 12, 4: 5, 5: 3}
# Of the values.
REPLACED = {1: 0.03, 2: 0.06, 3: 0.09, 4: 0.17, 5: 0.27}
SPECKLES = {1: 0.15, 2: 0.2, 3: 0.35, 4: 0.45, 5: 0.6}
# Quantiles of a Poisson distribution in a table: a power of two, so that a draw needs no division.
QUANTILES = 4096


class GaussianNoise(ImagePerturbation):
    """Independent Gaussian noise on each value: deviations of 0.08 to 0.38 of the range."""

    def perturb(self, image: Image, rng: Generator) -> Image:
        noise = normal(rng, image)
        noise *= DEVIATIONS[self.severity] * 255
        return as_picture(cv2.add(noise, as_pixels(image), dst=noise, dtype=cv2.CV_32F))


class ShotNoise(ImagePerturbation):
    """Poisson noise of a dim scene, in which white is 60 to 3 photons."""

    def perturb(self, image: Image, rng: Generator) -> Image:
        places = rng.integers(0, QUANTILES, (image.height, image.width, 3), dtype=np.uint16).astype(np.int32)
        places += as_pixels(image).astype(np.int32) * QUANTILES
        return fromarray(counted(PHOTONS[self.severity]).take(places))


class ImpulseNoise(ImagePerturbation):
    """3 to 27 % of the values, at least one, become black or white: salt and pepper in each channel."""

    def perturb(self, image: Image, rng: Generator) -> Image:
        draws = rng.integers(0, 1 << 16, (image.height, image.width, 3), dtype=np.uint16)
        # A picture of a few pixels must change too.
        limit = max(round(REPLACED[self.severity] * (1 << 16)), int(draws.min()) + 1)
        # The lowest bit tells salt from pepper: which of the draws are below the limit hardly depends on it.
        extremes = (draws & 1).astype(np.uint8) * np.uint8(255)
        return fromarray(np.where(draws < limit, extremes, as_pixels(image)))


class SpeckleNoise(ImagePerturbation):
    """Gaussian noise in proportion to the value: deviations of 15 to 60 % of it."""

    def perturb(self, image: Image, rng: Generator) -> Image:
        factors = normal(rng, image)
        factors *= SPECKLES[self.severity]
        factors += 1
        return as_picture(cv2.multiply(factors, as_pixels(image), dst=factors, dtype=cv2.CV_32F))


def normal(rng: Generator, image: Image) -> np.ndarray:
    """Return (height, width, 3) standard normal float32 values."""
    return rng.standard_normal((image.height, image.width, 3), dtype=np.float32)


@cache
def counted(photons: int) -> np.ndarray:
    """Return for each value, from 0 to 255, and each quantile the value that a count of photons makes of it: uint8.

    The quantiles lie in the middle of equal shares, so that a uniform draw of one is a draw of the count.
    """
    counts = np.arange(4 * photons + 40)
    quantiles = (np.arange(QUANTILES) + 0.5) / QUANTILES
    shown = np.rint(np.minimum(counts / photons, 1) * 255).astype(np.uint8)
    means = np.arange(256) * photons / 255
    return np.stack([shown[np.searchsorted(pdtr(counts, mean), quantiles)] for mean in means])
