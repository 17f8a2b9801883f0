"""Things in the way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PIL import ImageDraw, ImageFilter
from PIL.Image import Image, composite, new

from argus.perturbations.base import ImagePerturbation
from argus.perturbations.photo.canvas import BLACK, DRAWING_SIDE, as_image, canvas_size, drawn

if TYPE_CHECKING:
    from numpy.random import Generator

# The summed area of all boxes, of the picture's; where they overlap or stick out, less is covered.
COVERED = {1: 0.05, 2: 0.12, 3: 0.25, 4: 0.45, 5: 0.75}
BOXES = 6
# Of the side of a square of the grid.
MASKED = {1: 0.2, 2: 0.35, 3: 0.5, 4: 0.65, 5: 0.8}
SQUARES = 6
SPOTS = {1: 8, 2: 20, 3: 45, 4: 90, 5: 180}
DIRT = (62, 54, 44)
DIRT_OPACITY = 0.85


class Occlusion(ImagePerturbation):
    """Six boxes of one drawn colour; their places and shapes stay while they grow with severity."""

    def perturb(self, image: Image, rng: Generator) -> Image:
        colour = tuple(rng.integers(0, 256, 3).tolist())
        centres = rng.random((BOXES, 2)) * image.size
        stretches = np.exp(rng.uniform(-0.7, 0.7, BOXES))
        side = np.sqrt(COVERED[self.severity] / BOXES * image.width * image.height)
        result = image.copy()
        draw = ImageDraw.Draw(result)
        for (x, y), stretch in zip(centres, stretches, strict=True):
            width, height = side * stretch, side / stretch
            draw.rectangle((x - width / 2, y - height / 2, x + width / 2, y + height / 2), fill=colour)
        return result


class GridMask(ImagePerturbation):
    """Black squares in the cells of a grid, six to the short side: GridMask of Chen et al., arXiv 2001.04086."""

    def perturb(self, image: Image, rng: Generator) -> Image:
        pitch = min(image.size) / SQUARES
        across, down = (
            covered(side, pitch, MASKED[self.severity], start)
            for side, start in zip(image.size, rng.random(2), strict=True)
        )
        return composite(new("RGB", image.size, BLACK), image, as_image(down[:, None] * across[None, :]))


class DirtyLens(ImagePerturbation):
    """8 to 180 blurred spots of dirt on the lens; those of a lower severity stay where they are."""

    def perturb(self, image: Image, rng: Generator) -> Image:
        size = canvas_size(image, DRAWING_SIDE)
        centres = rng.random((SPOTS[5], 2)) * size
        radii = min(size) * rng.uniform(0.01, 0.05, SPOTS[5])
        mask = new("L", size)
        draw = ImageDraw.Draw(mask)
        for (x, y), radius in list(zip(centres, radii, strict=True))[: SPOTS[self.severity]]:
            draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=255)
        mask = mask.filter(ImageFilter.GaussianBlur(min(size) / 60))
        return composite(new("RGB", image.size, DIRT), image, drawn(mask, image, DIRT_OPACITY))


def covered(side: int, pitch: float, share: float, start: float) -> np.ndarray:
    """Return how much of each of the pixels of a line, 0 to 1, stripes cover that take a share of each pitch."""
    borders = np.arange(side + 1) / pitch + start
    # What the stripes, each in the middle of its pitch, cover up to a point.
    before = np.floor(borders) * share + np.clip(borders % 1 - (1 - share) / 2, 0, share)
    return np.diff(before) * pitch
