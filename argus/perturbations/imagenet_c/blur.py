"""The blurs of ImageNet-C: out of focus, through glass, moving, approaching, Gaussian."""

from __future__ import annotations

from typing import TYPE_CHECKING

import cv2
import numpy as np
from PIL.Image import Image

from argus.perturbations.base import ImagePerturbation
from argus.perturbations.imagenet_c.filters import as_picture, as_pixels, smeared, smoothed
from argus.perturbations.imagenet_c.zoom import zooms_averaged

if TYPE_CHECKING:
    from numpy.random import Generator

# All figures: Hendrycks & Dietterich, ICLR 2019. Lengths are pixels. Here, of the lens' disk and of its soft edge.
DISKS = {1: (3, 0.1), 2: (4, 0.5), 3: (6, 0.5), 4: (8, 0.5), 5: (10, 0.5)}
# A disk's kernel reaches this far at least: cv2 goes through small ones tap by tap, which takes ten times as long.
SMALLEST_CANVAS = 8
# Radius (a smear is 2 radius + 1 long) and sigma.
SMEARS = {1: (10, 3), 2: (15, 5), 3: (15, 8), 4: (15, 12), 5: (20, 15)}
# Degrees.
WIDEST = 45
# The largest zoom, not reached, and the steps that lead to it.
ZOOMS = {1: (1.11, 0.01), 2: (1.16, 0.01), 3: (1.21, 0.02), 4: (1.26, 0.02), 5: (1.31, 0.03)}
SIGMAS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6}


class DefocusBlur(ImagePerturbation):
    """Averaged over a disk of 3 to 10 px radius, as by a lens that is out of focus."""

    def perturb(self, image: Image, rng: Generator) -> Image:
        return as_picture(cv2.filter2D(as_pixels(image), cv2.CV_8U, disk(*DISKS[self.severity])))


class MotionBlur(ImagePerturbation):
    """Smeared over 21 to 41 px (half a Gaussian of sigma 3 to 15 px) within 45 degrees of the horizontal."""

    def perturb(self, image: Image, rng: Generator) -> Image:
        angle = rng.uniform(-WIDEST, WIDEST)
        return as_picture(smeared(as_pixels(image), *SMEARS[self.severity], angle))


class ZoomBlur(ImagePerturbation):
    """The mean of the picture and of itself enlarged by up to 10 to 30 %: approached during the exposure."""

    def perturb(self, image: Image, rng: Generator) -> Image:
        largest, step = ZOOMS[self.severity]
        return as_picture(zooms_averaged(as_pixels(image), np.arange(1, largest, step).tolist()))


class GaussianBlur(ImagePerturbation):
    """Gaussian blur of sigma 1 to 6 px; beyond its border the picture continues the outermost pixels."""

    def perturb(self, image: Image, rng: Generator) -> Image:
        return as_picture(smoothed(as_pixels(image), SIGMAS[self.severity]))


def disk(radius: int, sigma: float) -> np.ndarray:
    """Return the kernel of a disk whose edge is softened by a Gaussian, cut at 3 px side or, from 9 px radius on, 5."""
    reach = np.arange(-max(radius, SMALLEST_CANVAS), max(radius, SMALLEST_CANVAS) + 1)
    inside = (reach[:, None] ** 2 + reach[None, :] ** 2 <= radius**2).astype(np.float32)
    # Where the disk touches its canvas, the softened edge is mirrored there: from 8 px on pictures become 1 % brighter,
    # as in the original.
    edge = 3 if radius <= SMALLEST_CANVAS else 5
    return cv2.GaussianBlur(inside / inside.sum(), (edge, edge), sigma)
