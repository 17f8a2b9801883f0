"""Wrong colours and too few of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PIL.Image import Image

from argus.perturbations.base import ImagePerturbation
from argus.perturbations.photo.canvas import either_way, ramp, toned

if TYPE_CHECKING:
    from numpy.random import Generator

# How much of the light outside the cast's hue is lost.
CASTS = {1: 0.1, 2: 0.2, 3: 0.35, 4: 0.5, 5: 0.7}
DEGREES = {1: 15, 2: 30, 3: 60, 4: 100, 5: 180}
COLOUR_LOST = {1: 0.2, 2: 0.4, 3: 0.6, 4: 0.8, 5: 1.0}
# Values a channel; 5 and 4 of AutoAugment's bits (Cubuk et al., 2019) are 32 and 16.
LEVELS = {1: 16, 2: 8, 3: 5, 4: 3, 5: 2}
# AutoAugment's range, less its weakest and strongest ends.
THRESHOLDS = {1: 240, 2: 208, 3: 176, 4: 144, 5: 96}
# ITU-R BT.601, as in Pillow's and JPEG's grey.
LUMA = np.array([0.299, 0.587, 0.114])


class ColourCast(ImagePerturbation):
    """A white balance that is off towards a drawn hue: the channels opposite to it lose 10 to 70 %.

    How such errors mislead: Afifi & Brown, "What Else Can Fool Deep Learning?", ICCV 2019.
    """

    def perturb(self, image: Image, rng: Generator) -> Image:
        # The pure hue: one channel full, one empty, one between.
        angles = rng.random() * 6 + np.array([0, 4, 2])
        hue = np.clip(np.abs(angles % 6 - 3) - 1, 0, 1)
        gains = 1 - CASTS[self.severity] * (1 - hue)
        return toned(image, *(ramp() * gain for gain in gains.tolist()))


class Hue(ImagePerturbation):
    """All hues turned by 15 to 180 degrees, to either side, about the axis of greys."""

    def perturb(self, image: Image, rng: Generator) -> Image:
        angle = np.deg2rad(DEGREES[self.severity] * either_way(rng))
        # Rodrigues' rotation about (1, 1, 1).
        across = np.array([[0, -1, 1], [1, 0, -1], [-1, 1, 0]]) / np.sqrt(3)
        turn = np.cos(angle) * np.eye(3) + np.sin(angle) * across + (1 - np.cos(angle)) / 3
        return mixed(image, turn)


class Grey(ImagePerturbation):
    """20 to 100 % of the way to grey."""

    def perturb(self, image: Image, rng: Generator) -> Image:
        lost = COLOUR_LOST[self.severity]
        return mixed(image, (1 - lost) * np.eye(3) + lost * LUMA)


class Posterise(ImagePerturbation):
    """16 to 2 evenly spaced values a channel, black and white among them."""

    def perturb(self, image: Image, rng: Generator) -> Image:
        steps = LEVELS[self.severity] - 1
        curve = np.rint(ramp() * steps) / steps
        return toned(image, curve, curve, curve)


class Solarise(ImagePerturbation):
    """Values from a threshold on are inverted, and the brightest at least: film exposed far too long."""

    def perturb(self, image: Image, rng: Generator) -> Image:
        values = np.arange(256)
        brightest = int(np.max(image.getextrema()))
        curve = np.where(values >= min(THRESHOLDS[self.severity], brightest), 255 - values, values) / 255
        return toned(image, curve, curve, curve)


def mixed(image: Image, matrix: np.ndarray) -> Image:
    """Return the picture with each pixel's (red, green, blue) multiplied by the matrix (3, 3)."""
    return image.convert("RGB", tuple(np.column_stack([matrix, np.zeros(3)]).ravel()))
