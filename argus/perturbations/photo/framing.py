"""Pictures cut out, bordered and squeezed, at the size they had."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PIL.Image import Image, Resampling

from argus.perturbations.base import ImagePerturbation
from argus.perturbations.photo.whole import centred

if TYPE_CHECKING:
    from numpy.random import Generator

# Of a side.
SHARES = {1: 0.9, 2: 0.8, 3: 0.65, 4: 0.5, 5: 0.35}
KEPT = {1: 0.95, 2: 0.88, 3: 0.78, 4: 0.65, 5: 0.5}


class Crop(ImagePerturbation):
    """A window of 95 to 50 % of each side, enlarged to the picture's size.

    It is drawn about the middle, up to half way to the border; windows of higher severities lie within it.
    """

    def perturb(self, image: Image, rng: Generator) -> Image:
        kept = KEPT[self.severity]
        left, top = rng.uniform(0.25, 0.75, 2) * (1 - kept) * image.size
        box = (left, top, left + kept * image.width, top + kept * image.height)
        return image.resize(image.size, Resampling.BICUBIC, box=box)


class Padding(ImagePerturbation):
    """The picture shrunk to 90 to 35 % of each side, amid black."""

    def perturb(self, image: Image, rng: Generator) -> Image:
        width, height = (shortened(side, self.severity) for side in image.size)
        return centred(image.resize((width, height), Resampling.BICUBIC), image.size)


class Aspect(ImagePerturbation):
    """Squeezed along its long side to 90 to 35 % of it, between black bars: another aspect forced into this one."""

    def perturb(self, image: Image, rng: Generator) -> Image:
        width, height = image.size
        long = shortened(max(width, height), self.severity)
        size = (long, height) if width >= height else (width, long)
        return centred(image.resize(size, Resampling.BICUBIC), image.size)


def shortened(side: int, severity: int) -> int:
    """Return the share of the side that the severity leaves: at least a pixel less and at least one."""
    return max(1, min(side - 1, round(side * SHARES[severity])))
