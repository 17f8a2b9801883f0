"""The weather of ImageNet-C: fog, frost, snow, bright light."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, NamedTuple

import cv2
import numpy as np
from PIL.Image import Image

from argus.perturbations.base import ImagePerturbation
from argus.perturbations.imagenet_c.filters import as_picture, as_pixels, smeared
from argus.perturbations.imagenet_c.frost import TONES, frosted_glass
from argus.perturbations.imagenet_c.plasma import plasma

if TYPE_CHECKING:
    from numpy.random import Generator

# All figures: Hendrycks & Dietterich, ICLR 2019. Here: what is added, of a white value, and the plasma's decay.
FOGS = {1: (1.5, 2), 2: (2.0, 2), 3: (2.5, 1.7), 4: (2.5, 1.5), 5: (3.0, 1.4)}
# Shares of the picture and of the frost.
FROSTS = {1: (1.0, 0.4), 2: (0.8, 0.6), 3: (0.7, 0.7), 4: (0.65, 0.7), 5: (0.6, 0.75)}
# Degrees.
FALLING = (-135, -45)
# Of the value of HSV.
LIGHTER = {1: 0.1, 2: 0.2, 3: 0.3, 4: 0.4, 5: 0.5}


class Flakes(NamedTuple):
    """How much snow: flakes are what a random field has above the least value."""

    mean: float  # of the field's values, in [0, 1]
    deviation: float
    side: float  # of a flake before it falls, in pixels
    least: float
    radius: int  # of the smear, in pixels
    sigma: float
    kept: float  # share of the picture that is not whitened


FLAKES = {
    1: Flakes(0.1, 0.3, 3, 0.5, 10, 4, 0.8),
    2: Flakes(0.2, 0.3, 2, 0.5, 12, 4, 0.7),
    3: Flakes(0.55, 0.3, 4, 0.9, 12, 8, 0.7),
    4: Flakes(0.55, 0.3, 4.5, 0.85, 12, 8, 0.65),
    5: Flakes(0.55, 0.3, 2.5, 0.85, 12, 12, 0.55),
}


class Fog(ImagePerturbation):
    """Clouds of 1.5 to 3 times white are added, and the sum is scaled down to the picture's brightest value."""

    def perturb(self, image: Image, rng: Generator) -> Image:
        added, decay = FOGS[self.severity]
        brightest = float(np.max(image.getextrema())) / 255
        gain = brightest / (brightest + added)
        clouds = plasma(rng, image.size, decay) * np.float32(255 * added * gain)
        return as_picture(cv2.addWeighted(as_pixels(image), gain, cv2.merge([clouds] * 3), 1, 0, dtype=cv2.CV_32F))


class Frost(ImagePerturbation):
    """A window's ice, one of five textures, over the picture: 100 to 60 % of the picture and 40 to 75 % of the ice."""

    def perturb(self, image: Image, rng: Generator) -> Image:
        kept, added = FROSTS[self.severity]
        ice = frosted_glass(int(rng.integers(len(TONES))), image.size, rng.random(2).tolist())
        return as_picture(cv2.addWeighted(as_pixels(image), kept, ice, added, 0, dtype=cv2.CV_8U))


class Snow(ImagePerturbation):
    """Falling flakes, 2 to 4.5 px and smeared over up to 25, and 20 to 45 % of the way to a whitened picture."""

    def perturb(self, image: Image, rng: Generator) -> Image:
        flakes = FLAKES[self.severity]
        angle = rng.uniform(*FALLING)
        fallen = snowfall(rng, image.size, angle, flakes)
        values = as_pixels(image).astype(np.float32)
        white = cv2.merge([cv2.cvtColor(values, cv2.COLOR_RGB2GRAY) * np.float32(1.5) + np.float32(127.5)] * 3)
        values = cv2.addWeighted(values, flakes.kept, np.maximum(values, white), 1 - flakes.kept, 0)
        # The same flakes a second time, turned by 180 degrees.
        fallen += fallen[::-1, ::-1].copy()
        return as_picture(cv2.add(values, cv2.merge([fallen * np.float32(255)] * 3)))


class Brightness(ImagePerturbation):
    """10 to 50 % of white is added to the value of HSV; hue and saturation stay. White stays white."""

    def perturb(self, image: Image, rng: Generator) -> Image:
        value = np.arange(256, dtype=np.float32)
        brighter = np.minimum(value + LIGHTER[self.severity] * 255, 255)
        # Where hue and saturation stay, all three channels grow by one factor. Black has none and becomes grey.
        gains = brighter / np.maximum(value, 1)
        gains[0] = 0
        offsets = np.where(value == 0, brighter, 0).astype(np.float32)
        pixels = as_pixels(image)
        largest = np.maximum(np.maximum(pixels[..., 0], pixels[..., 1]), pixels[..., 2])
        gain, offset = (cv2.merge([table[largest]] * 3) for table in (gains.astype(np.float32), offsets))
        return as_picture(pixels * gain + offset)


def snowfall(rng: Generator, size: tuple[int, int], angle: float, flakes: Flakes) -> np.ndarray:
    """Return (height, width) float32 in [0, 1] of flakes that fall along `angle`."""
    columns, rows = (ceil(length / flakes.side) for length in size)
    field = rng.standard_normal((rows, columns), np.float32) * np.float32(flakes.deviation) + np.float32(flakes.mean)
    # The field's corner values stay at its corners, so that its pixels lie at all distances from the values drawn.
    across, down = ((each - 1) / max(1, round(each * flakes.side) - 1) for each in (columns, rows))
    places = np.array([[across, 0, 0], [0, down, 0]])
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    values = cv2.warpAffine(field, places, size, flags=flags, borderMode=cv2.BORDER_REPLICATE)
    values = np.where(values < flakes.least, 0, np.minimum(values, 1)).astype(np.float32)
    return smeared(values.reshape(size[::-1]), flakes.radius, flakes.sigma, angle)
