"""Elastic transform: a picture on rubber."""

from __future__ import annotations

from math import ceil, sqrt
from typing import TYPE_CHECKING

import cv2
import numpy as np
from PIL.Image import Image, fromarray

from argus.perturbations.base import ImagePerturbation
from argus.perturbations.imagenet_c.filters import as_pixels, smoothed

if TYPE_CHECKING:
    from numpy.random import Generator

# Hendrycks & Dietterich, ICLR 2019: times the smoothed steps.
STRETCHES = {1: 12.5, 2: 16.25, 3: 21.25, 4: 25.0, 5: 30.0}
# A uniform step's largest, of the height; the sigma that smooths the steps, of each side, and where it is cut.
STEP, SIGMA, TRUNCATE = 0.005, 0.01, 3
# Steps smoothed by more than this many pixels are drawn on a coarser grid: nothing finer would be left of them.
FINEST_SIGMA = 6


class ElasticTransform(ImagePerturbation):
    """Every pixel is fetched from a place nearby, by random steps smoothed over 1 % of each side."""

    def perturb(self, image: Image, rng: Generator) -> Image:
        width, height = image.size
        steps = smooth_steps(rng, image.size) * np.float32(STEP * height * STRETCHES[self.severity])
        steps[..., 0] += np.arange(width, dtype=np.float32)
        steps[..., 1] += np.arange(height, dtype=np.float32)[:, None]
        return fromarray(cv2.remap(as_pixels(image), steps, None, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT))


def smooth_steps(rng: Generator, size: tuple[int, int]) -> np.ndarray:
    """Return (height, width, 2) float32 steps across and down: uniform in [-1, 1] before they were smoothed."""
    coarse = [max(1, int(SIGMA * length / FINEST_SIGMA)) for length in size]
    columns, rows = (ceil(length / each) for length, each in zip(size, coarse, strict=True))
    draws = rng.random((rows, columns, 2), dtype=np.float32) * 2 - 1
    sigma = (SIGMA * size[0] / coarse[0], SIGMA * size[1] / coarse[1])
    steps = smoothed(draws, sigma, TRUNCATE, cv2.BORDER_REFLECT)
    if coarse == [1, 1]:
        return steps
    # The mean of so many fine draws would be smaller by the root of their number.
    return cv2.resize(steps, size) / np.float32(sqrt(coarse[0] * coarse[1]))
