"""Drops on the lens: water, then mud."""

from __future__ import annotations

from typing import TYPE_CHECKING

import cv2
import numpy as np
from PIL.Image import Image

from argus.perturbations.base import ImagePerturbation
from argus.perturbations.imagenet_c.filters import as_picture, as_pixels, smoothed

if TYPE_CHECKING:
    from numpy.random import Generator

# Hendrycks & Dietterich, ICLR 2019: mean, deviation and sigma (pixels) of the liquid, its least value where it stays,
# then for water (1 to 3) how much is added, and for mud (4 and 5) the sigma of its edge.
LIQUIDS = {
    1: (0.65, 0.3, 4, 0.69, 0.6),
    2: (0.65, 0.3, 3, 0.68, 0.6),
    3: (0.65, 0.3, 2, 0.68, 0.5),
    4: (0.65, 0.3, 1, 0.65, 1.5),
    5: (0.67, 0.4, 1, 0.65, 1.5),
}
MUDDY = 4
WATER, MUD = (175, 238, 238), (63, 42, 20)
# Of mud's smoothed edge.
THINNEST_MUD = 0.8
# Canny's thresholds, and the distance in pixels from which water is as deep as it gets.
EDGES, DEEP = (50, 150), 20
# A light from above on the left.
RELIEF = np.array([[-2, -1, 0], [-1, 1, 1], [0, 1, 2]])


class Spatter(ImagePerturbation):
    """Drops of water, 1 to 3, smaller and more of them; at 4 and 5 mud that hides the picture."""

    def perturb(self, image: Image, rng: Generator) -> Image:
        mean, deviation, sigma, least, last = LIQUIDS[self.severity]
        liquid = rng.standard_normal((image.height, image.width), dtype=np.float32)
        liquid = smoothed(liquid * np.float32(deviation) + np.float32(mean), sigma)
        # Some of it falls on the smallest picture too.
        wet = liquid >= min(least, float(liquid.max()))
        pixels = as_pixels(image)
        if self.severity < MUDDY:
            drops = water(np.where(wet, np.maximum(liquid, 1 / 255), 0).astype(np.float32)) * np.float32(last)
            return as_picture(cv2.add(cv2.merge([drops * colour for colour in WATER]), pixels, dtype=cv2.CV_32F))
        depth = mud(wet, last)
        hidden = cv2.multiply(cv2.merge([1 - depth] * 3), pixels, dtype=cv2.CV_32F)
        return as_picture(cv2.add(hidden, cv2.merge([depth * colour for colour in MUD])))


def water(liquid: np.ndarray) -> np.ndarray:
    """Return (height, width) float32 in [0, 1]: how much light drops of this liquid, 0 where it is dry, throw back."""
    height = np.clip(liquid * 255, 0, 255).astype(np.uint8)
    inside = cv2.distanceTransform(255 - cv2.Canny(height, *EDGES), cv2.DIST_L2, 5)
    levels = cv2.equalizeHist(cv2.blur(np.minimum(inside, DEEP), (3, 3)).astype(np.uint8))
    lit = cv2.blur(cv2.filter2D(levels, cv2.CV_8U, RELIEF), (3, 3)).astype(np.float32)
    shine = height * lit
    # A drop without an edge, as on a picture of a few pixels, has no relief: it is flat.
    return shine / shine.max() if shine.any() else height / np.float32(height.max())


def mud(wet: np.ndarray, sigma: float) -> np.ndarray:
    """Return (height, width) float32 in [0, 1]: how much of the picture mud hides, none where it is thin."""
    depth = smoothed(wet.astype(np.float32), sigma)
    return np.where(depth < min(THINNEST_MUD, float(depth.max())), 0, depth).astype(np.float32)
