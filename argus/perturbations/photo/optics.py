"""What lenses and panes of glass do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PIL import ImageChops, ImageFilter
from PIL.Image import Image, Resampling, Transpose, merge

from argus.perturbations.base import ImagePerturbation
from argus.perturbations.photo.canvas import PATTERN_SIDE, canvas_size, places, spread
from argus.perturbations.photo.warping import curved

if TYPE_CHECKING:
    from numpy.random import Generator

# The first radial coefficient of Brown's model, for radii in half diagonals.
BARRELS = {1: 0.05, 2: 0.1, 3: 0.2, 4: 0.4, 5: 0.8}
# By how much red is larger than green, and green than blue.
FRINGES = {1: 0.004, 2: 0.008, 3: 0.014, 4: 0.022, 5: 0.035}
# Pixels between the colours at the corners: less would be rounded away.
LEAST_FRINGE = 0.25
# Light lost in the corners.
FALL_OFF = {1: 0.3, 2: 0.5, 3: 0.7, 4: 0.85, 5: 1.0}
REFLECTED = {1: 0.15, 2: 0.3, 3: 0.45, 4: 0.6, 5: 0.8}
# Pixels at a short side of 224: who looks through the pane does not focus on what it mirrors.
REFLECTION_BLUR = 1


class LensDistortion(ImagePerturbation):
    """Barrel distortion as of a wide-angle lens: radius r shows what was at r (1 + k r^2) / (1 + k).

    Radii are in half diagonals: the corners stay, and the picture remains full.
    """

    def perturb(self, image: Image, rng: Generator) -> Image:
        centre = np.array(image.size) / 2
        barrel = BARRELS[self.severity]

        def source(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            x, y = x - centre[0], y - centre[1]
            stretch = (1 + barrel * (x**2 + y**2) / (centre**2).sum()) / (1 + barrel)
            return x * stretch + centre[0], y * stretch + centre[1]

        return curved(image, source)


class ChromaticAberration(ImagePerturbation):
    """Red enlarged more than green and green more than blue, about the centre: coloured fringes towards the corners."""

    def perturb(self, image: Image, rng: Generator) -> Image:
        half_diagonal = np.hypot(*image.size) / 2
        fringe = max(FRINGES[self.severity], LEAST_FRINGE / half_diagonal)
        red, green, blue = image.split()
        return merge("RGB", (enlarged(red, 1 + 2 * fringe), enlarged(green, 1 + fringe), blue))


class Vignette(ImagePerturbation):
    """30 to 100 % of the light lost in the corners, falling with the square of the radius; the centre keeps its own."""

    def perturb(self, image: Image, rng: Generator) -> Image:
        width, height = size = canvas_size(image, PATTERN_SIDE)
        x, y = places(size)
        corner = (width**2 + height**2) / (2 * min(size)) ** 2
        kept = spread(1 - FALL_OFF[self.severity] * (x[None, :] ** 2 + y[:, None] ** 2) / corner, image)
        return ImageChops.multiply(image, merge("RGB", (kept, kept, kept)))


class Reflection(ImagePerturbation):
    """Seen through a pane that mirrors 15 to 80 % of another scene, for which the picture itself, flipped, stands."""

    def perturb(self, image: Image, rng: Generator) -> Image:
        strength = REFLECTED[self.severity]
        scene = image.resize(canvas_size(image, PATTERN_SIDE), Resampling.BILINEAR, reducing_gap=2)
        scene = scene.transpose(Transpose.ROTATE_180).filter(ImageFilter.GaussianBlur(REFLECTION_BLUR))
        scene = scene.point([round(value * strength) for value in range(256)] * 3)
        return ImageChops.screen(image, scene.resize(image.size, Resampling.BILINEAR))


def enlarged(channel: Image, factor: float) -> Image:
    """Return the middle of the channel, enlarged to its size by the factor."""
    width, height = channel.size
    x, y = (1 - 1 / factor) * width / 2, (1 - 1 / factor) * height / 2
    return channel.resize(channel.size, Resampling.BILINEAR, box=(x, y, width - x, height - y))
