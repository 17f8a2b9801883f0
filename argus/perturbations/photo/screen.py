"""Pictures photographed from a screen or from print."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PIL import ImageChops
from PIL.Image import Image

from argus.perturbations.base import ImagePerturbation
from argus.perturbations.photo.canvas import (
    DRAWING_SIDE,
    PATTERN_SIDE,
    REFERENCE_SIDE,
    canvas_size,
    places,
    spread,
    wave,
)

if TYPE_CHECKING:
    from numpy.random import Generator

# The depth of the fringes.
FRINGES = {1: 0.1, 2: 0.2, 3: 0.35, 4: 0.5, 5: 0.7}
# The contrast of the dots against that of the picture's full range.
DOTS = {1: 0.1, 2: 0.2, 3: 0.35, 4: 0.6, 5: 1.0}
# Pixels between dots at a short side of 224, and at least.
DOT_PITCH = 3.5
LEAST_PITCH = 2.5
# Degrees at which the inks' screens are turned against each other in four-colour print.
SCREEN_ANGLES = (15, 75, 0)


class Moire(ImagePerturbation):
    """Coloured fringes where a camera's pixels meet a screen's.

    Each is the beat of two gratings, slightly bent by the lens; a screen's red, green and blue stripes lie a third of
    their distance apart, and so do the fringes (Yuan et al., AIM 2019 demoireing challenge, render them from there).
    """

    def perturb(self, image: Image, rng: Generator) -> Image:
        x, y = places(canvas_size(image, PATTERN_SIDE))
        kept = np.ones((len(y), len(x), 3), dtype=np.float32)
        for _ in range(2):
            angle, beats, bend, start = rng.random(4) * (2 * np.pi, 14, 12, 1) + (0, 6, 3, 0)
            along_x = beats * np.cos(angle) * x + bend * x**2 + start
            along_y = beats * np.sin(angle) * y + bend * y**2
            waves = np.stack([wave(along_x + stripe / 3, along_y) for stripe in range(3)], axis=-1)
            kept *= 1 - np.float32(FRINGES[self.severity] / 2) * (1 + waves)
        return ImageChops.multiply(image, spread(kept, image))


class Halftone(ImagePerturbation):
    """The dots of print, about 3.5 px apart at a short side of 224, up to the full contrast of the picture."""

    def perturb(self, image: Image, rng: Generator) -> Image:
        # Dots finer than the pixels of a small picture would be averaged away: it gets its own size as canvas.
        size = min(image.size, canvas_size(image, DRAWING_SIDE))
        x, y = places(size)
        pitch = max(LEAST_PITCH / min(size), DOT_PITCH / REFERENCE_SIDE)
        dots = []
        for angle in np.deg2rad(SCREEN_ANGLES):
            across, down = np.cos(angle) / pitch, np.sin(angle) / pitch
            both = wave(across * x, down * y) + wave(-down * x, across * y)
            dots.append(both * np.float32(DOTS[self.severity] / 4))
        # 128 stands for no change.
        pattern = spread(np.stack(dots, axis=-1) + np.float32(128 / 255), image)
        return ImageChops.add(image, pattern, scale=1, offset=-128)
