"""Too little and too much light, and a wrong tone curve."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from PIL import ImageChops
from PIL.Image import Image, Resampling

from argus.perturbations.base import ImagePerturbation
from argus.perturbations.photo.canvas import grain, ramp, scaled, toned

if TYPE_CHECKING:
    from numpy.random import Generator

# The exponent of a channel's value that is proportional to light, near enough to sRGB.
DISPLAY_GAMMA = 2.2
# Stops: each halves the light.
STOPS_UNDER = {1: 1.0, 2: 2.0, 3: 3.0, 4: 4.0, 5: 5.0}
# Deviations of values in [0, 1].
SENSOR_NOISE = {1: 0.02, 2: 0.03, 3: 0.04, 4: 0.05, 5: 0.06}
STOPS_OVER = {1: 0.5, 2: 1.0, 3: 1.5, 4: 2.25, 5: 3.0}
GAMMAS = {1: 1.2, 2: 1.5, 3: 1.8, 4: 2.2, 5: 3.0}


class LowLight(ImagePerturbation):
    """1 to 5 stops less light, and a sensor's noise in the grains of `noise`.

    Shot noise grows with the root of the light, and a channel's value is nearly that root: the noise is even in it.
    """

    def perturb(self, image: Image, rng: Generator) -> Image:
        curve = ramp() * 2 ** (-STOPS_UNDER[self.severity] / DISPLAY_GAMMA)
        side = ceil(scaled(1, image))
        coarse = ceil(image.width / side), ceil(image.height / side)
        noise = grain(rng, coarse, SENSOR_NOISE[self.severity], channels=(3,))
        noise = noise.resize((coarse[0] * side, coarse[1] * side), Resampling.NEAREST).crop((0, 0, *image.size))
        return ImageChops.add(toned(image, curve, curve, curve), noise, scale=1, offset=-128)


class OverExposure(ImagePerturbation):
    """0.5 to 3 stops more light, cut off at white."""

    def perturb(self, image: Image, rng: Generator) -> Image:
        curve = ramp() * 2 ** (STOPS_OVER[self.severity] / DISPLAY_GAMMA)
        return toned(image, curve, curve, curve)


class Gamma(ImagePerturbation):
    """Washed out by a display's tone curve applied once more: values in [0, 1] to the power of 1 / 1.2 to 1 / 3."""

    def perturb(self, image: Image, rng: Generator) -> Image:
        curve = ramp() ** (1 / GAMMAS[self.severity])
        return toned(image, curve, curve, curve)
