"""Gaussian blur, measured against the picture's size."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

import numpy as np
from PIL.Image import Image, Resampling, fromarray
from scipy.ndimage import gaussian_filter

from argus.perturbations.base import ImagePerturbation

if TYPE_CHECKING:
    from numpy.random import Generator

# Pixels at a short side of 224: the Gaussian blur of ImageNet-C (Hendrycks & Dietterich, ICLR 2019).
SIGMAS = {1: 1.0, 2: 2.0, 3: 3.0, 4: 4.0, 5: 6.0}
REFERENCE_SIDE = 224
# Below half a pixel the sampled kernel is the identity.
SMALLEST_SIGMA = 0.5
# A picture is first reduced so far that its sigma stays above this many pixels; nothing finer survives the blur.
FINEST_SIGMA = 4


class Blur(ImagePerturbation):
    """Gaussian blur whose sigma is a share of the short side, so that 224 and 2000 px pictures suffer alike."""

    def perturb(self, image: Image, rng: Generator) -> Image:
        sigma = max(SMALLEST_SIGMA, SIGMAS[self.severity] * min(image.size) / REFERENCE_SIDE)
        return blurred(image, sigma)


def blurred(image: Image, sigma: float) -> Image:
    """Return the RGB image convolved with a Gaussian of `sigma` pixels, mirrored at its borders.

    From 8 px on, the picture is blurred at 1/step of its size and enlarged again: the time then falls with sigma
    instead of growing, and the result stays within half a grey level of the full convolution on average.
    """
    step = max(1, int(sigma // FINEST_SIGMA))
    # Averaging over step pixels and interpolating between them blur by themselves: their variances come off.
    own = (step**2 - 1) / 4
    pixels = np.asarray(image.reduce(step), dtype=np.float32)
    sigma_left = sqrt(sigma**2 - own) / step
    smooth = gaussian_filter(pixels, sigma=(sigma_left, sigma_left, 0), mode="reflect")
    small = fromarray(np.rint(smooth).astype(np.uint8))
    if step == 1:
        return small
    box = (0, 0, image.width / step, image.height / step)
    return small.resize(image.size, Resampling.BILINEAR, box=box)
