"""Rain and the sun."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PIL import ImageChops, ImageDraw, ImageFilter
from PIL.Image import Image, composite, new

from argus.perturbations.base import ImagePerturbation
from argus.perturbations.photo.canvas import DRAWING_SIDE, PATTERN_SIDE, canvas_size, drawn, either_way, places, spread

if TYPE_CHECKING:
    from numpy.random import Generator

STREAKS = {1: 100, 2: 250, 3: 500, 4: 1000, 5: 2000}
RAIN = (205, 212, 220)
STREAK_OPACITY = 0.6
# The veil of rain further away.
VEIL = (128, 132, 138)
VEILED = {1: 0.05, 2: 0.1, 3: 0.18, 4: 0.28, 5: 0.4}
# The flare's core, in short sides.
FLARES = {1: 0.06, 2: 0.12, 3: 0.2, 4: 0.35, 5: 0.6}
SUN = (255, 248, 225)
# Where the ghosts lie on the line from the sun through the centre, their radii in short sides, their brightness.
GHOSTS = ((0.4, 0.05, 0.25), (-0.3, 0.03, 0.35), (-0.7, 0.08, 0.2), (-1.2, 0.14, 0.15))
# Light lost in the shadow.
SHADED = {1: 0.25, 2: 0.4, 3: 0.55, 4: 0.7, 5: 0.85}


class Rain(ImagePerturbation):
    """100 to 2000 slanted streaks and a grey veil; the streaks of lower severities stay."""

    def perturb(self, image: Image, rng: Generator) -> Image:
        width, height = canvas_size(image, DRAWING_SIDE)
        short = min(width, height)
        slant = either_way(rng) * rng.uniform(0.05, 0.35)
        starts = rng.uniform(-0.1, 1.1, (STREAKS[5], 2)) * (width, height)
        lengths = short * rng.uniform(0.03, 0.12, STREAKS[5])
        mask = new("L", (width, height))
        draw = ImageDraw.Draw(mask)
        for (x, y), length in list(zip(starts, lengths, strict=True))[: STREAKS[self.severity]]:
            draw.line((x, y, x + slant * length, y + length), fill=255, width=1 if length < 0.08 * short else 2)
        mask = mask.filter(ImageFilter.GaussianBlur(0.7))
        veiled = composite(
            new("RGB", image.size, VEIL), image, new("L", image.size, round(255 * VEILED[self.severity]))
        )
        return composite(new("RGB", image.size, RAIN), veiled, drawn(mask, image, STREAK_OPACITY))


class SunFlare(ImagePerturbation):
    """The sun in the upper half, its glow and the ghosts of the lens, larger and brighter with severity."""

    def perturb(self, image: Image, rng: Generator) -> Image:
        core = FLARES[self.severity]
        x, y = places(canvas_size(image, PATTERN_SIDE))
        sun_x, sun_y = x[0] * rng.uniform(-0.9, 0.9), y[0] * rng.uniform(0.2, 0.9)
        light = 1 / (1 + away(x, y, sun_x, sun_y) / core**2)
        for along, radius, brightness in GHOSTS:
            ghost = away(x, y, along * sun_x, along * sun_y) < radius**2
            light = np.maximum(light, ghost * min(1, brightness * (0.5 + core / FLARES[3])))
        glow = new("RGB", image.size, SUN)
        return ImageChops.screen(image, composite(glow, new("RGB", image.size), spread(light, image)))


class Shadow(ImagePerturbation):
    """A band with soft edges, about half of the picture, in which 25 to 85 % of the light is lost."""

    def perturb(self, image: Image, rng: Generator) -> Image:
        x, y = places(canvas_size(image, PATTERN_SIDE))
        angle = rng.uniform(0, np.pi)
        across = x[None, :] * np.cos(angle) + y[:, None] * np.sin(angle)
        middle = rng.uniform(-0.25, 0.25)
        depth = np.clip((0.3 - np.abs(across - middle)) / 0.04 + 0.5, 0, 1)
        kept = spread(1 - SHADED[self.severity] * depth, image)
        return ImageChops.multiply(image, kept.convert("RGB"))


def away(x: np.ndarray, y: np.ndarray, from_x: float, from_y: float) -> np.ndarray:
    """Return the squared distances, (height, width), of all places to a point."""
    return (x[None, :] - from_x) ** 2 + (y[:, None] - from_y) ** 2
