"""Too much sharpening, and grain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PIL import ImageChops
from PIL.Image import Image, Resampling
from PIL.ImageFilter import UnsharpMask

from argus.perturbations.base import ImagePerturbation
from argus.perturbations.blur import SMALLEST_SIGMA
from argus.perturbations.photo.canvas import REFERENCE_SIDE, grain, scaled

if TYPE_CHECKING:
    from numpy.random import Generator

# Percent.
AMOUNTS = {1: 60, 2: 120, 3: 250, 4: 500, 5: 1000}
# Deviations of values in [0, 1], in mid-grey.
GRAIN = {1: 0.05, 2: 0.08, 3: 0.13, 4: 0.2, 5: 0.3}


class Sharpen(ImagePerturbation):
    """Unsharp mask: 0.6 to 10 times the difference to a blur of sigma 1 px, at a short side of 224, is added."""

    def perturb(self, image: Image, rng: Generator) -> Image:
        sigma = max(SMALLEST_SIGMA, scaled(1, image))
        return image.filter(UnsharpMask(sigma, AMOUNTS[self.severity], threshold=0))


class FilmGrain(ImagePerturbation):
    """Grey grain of about a pixel at a short side of 224, strongest in mid-grey and none in black and white."""

    def perturb(self, image: Image, rng: Generator) -> Image:
        finer = max(1, min(image.size) / REFERENCE_SIDE)
        size = max(1, round(image.width / finer)), max(1, round(image.height / finer))
        film = grain(rng, size, GRAIN[self.severity], channels=())
        # Retouchers lay grain over a picture in the same blend mode.
        return ImageChops.overlay(image, film.resize(image.size, Resampling.BICUBIC).convert("RGB"))
