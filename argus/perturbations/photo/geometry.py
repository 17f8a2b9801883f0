"""Cameras held otherwise: turned, tilted, moved, shaken. What comes from outside the picture is black."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PIL.Image import Image, fromarray

from argus.perturbations.base import ImagePerturbation
from argus.perturbations.photo.canvas import either_way
from argus.perturbations.photo.warping import affine, projective

if TYPE_CHECKING:
    from numpy.random import Generator

# Degrees; 30 is the strongest of RandAugment (Cubuk et al., 2020).
ANGLES = {1: 4, 2: 8, 3: 15, 4: 30, 5: 45}
# Sideways pixels a pixel of height; 0.3 is the strongest of RandAugment.
SHEARS = {1: 0.05, 2: 0.1, 3: 0.2, 4: 0.35, 5: 0.5}
# Of a side; 0.45 is the strongest of AutoAugment.
SHIFTS = {1: 0.03, 2: 0.08, 3: 0.15, 4: 0.3, 5: 0.45}
# How far a corner moves in at most, of a side.
TILTS = {1: 0.06, 2: 0.12, 3: 0.2, 4: 0.3, 5: 0.4}
# How far a row is displaced, of the short side.
WOBBLES = {1: 0.005, 2: 0.01, 3: 0.02, 4: 0.04, 5: 0.08}


class Rotation(ImagePerturbation):
    """Turned about its centre by 4 to 45 degrees, to either side."""

    def perturb(self, image: Image, rng: Generator) -> Image:
        angle = np.deg2rad(ANGLES[self.severity] * either_way(rng))
        return affine(image, np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]))


class Shear(ImagePerturbation):
    """Slanted to the left or right about its middle row."""

    def perturb(self, image: Image, rng: Generator) -> Image:
        return affine(image, np.array([[1, SHEARS[self.severity] * either_way(rng)], [0, 1]]))


class Translation(ImagePerturbation):
    """Moved by a share of both sides, at least a pixel, in one of the four diagonal directions."""

    def perturb(self, image: Image, rng: Generator) -> Image:
        x, y = (either_way(rng) * max(1, round(SHIFTS[self.severity] * side)) for side in image.size)
        return affine(image, np.eye(2), shift=(x, y))


class Perspective(ImagePerturbation):
    """Seen from aside: each corner moves in by between none and all of 6 to 40 % of a side, drawn for x and y alike."""

    def perturb(self, image: Image, rng: Generator) -> Image:
        inward = rng.random((4, 2)) * TILTS[self.severity]
        corners = np.array([(0, 0), (1, 0), (1, 1), (0, 1)])
        return projective(image, (corners + inward * (1 - 2 * corners)) * image.size)


class RollingShutter(ImagePerturbation):
    """Rows displaced along and across by three waves a picture: a sensor read row by row while the camera shakes."""

    def perturb(self, image: Image, rng: Generator) -> Image:
        turns = np.linspace(0, 6 * np.pi, image.height)[:, None] + rng.uniform(0, 2 * np.pi, 2)
        # Less than a pixel would not show.
        reach = max(1, round(WOBBLES[self.severity] * min(image.size)))
        along, across = np.rint(reach * np.sin(turns)).astype(int).T
        rows = np.clip(np.arange(image.height) + across, 0, image.height - 1)
        wider = np.pad(np.asarray(image), ((0, 0), (reach, reach), (0, 0)), mode="edge")
        starts = (along + reach).tolist()
        return fromarray(np.stack([wider[y, x : x + image.width] for y, x in zip(rows.tolist(), starts, strict=True)]))
