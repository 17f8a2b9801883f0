"""Changes without degrees: they are there or not, so severity 1 is all they have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PIL.Image import Image, Resampling, Transpose, merge, new

from argus.perturbations.base import ImagePerturbation
from argus.perturbations.photo.canvas import BLACK, either_way

if TYPE_CHECKING:
    from numpy.random import Generator


class Whole(ImagePerturbation):
    """A change that is there or not; its only severity is 1."""

    def severities(self) -> tuple[int, ...]:
        return (1,)


class FlipHorizontal(Whole):
    """Left and right swapped, as by a selfie camera: words and "left of" no longer hold."""

    def perturb(self, image: Image, rng: Generator) -> Image:
        return image.transpose(Transpose.FLIP_LEFT_RIGHT)


class FlipVertical(Whole):
    """Top and bottom swapped, as in a mirror of water."""

    def perturb(self, image: Image, rng: Generator) -> Image:
        return image.transpose(Transpose.FLIP_TOP_BOTTOM)


class UpsideDown(Whole):
    """Turned by 180 degrees: a camera held upside down whose EXIF orientation was lost."""

    def perturb(self, image: Image, rng: Generator) -> Image:
        return image.transpose(Transpose.ROTATE_180)


class Sideways(Whole):
    """Turned by 90 degrees to either side, as when an EXIF orientation was lost, and fitted into its size on black."""

    def perturb(self, image: Image, rng: Generator) -> Image:
        turned = image.transpose(Transpose.ROTATE_90 if either_way(rng) > 0 else Transpose.ROTATE_270)
        fit = min(image.width / turned.width, image.height / turned.height)
        size = max(1, round(turned.width * fit)), max(1, round(turned.height * fit))
        return centred(turned.resize(size, Resampling.BICUBIC), image.size)


class ChannelSwap(Whole):
    """Red and blue swapped: the picture was read as RGB where its library gave BGR."""

    def perturb(self, image: Image, rng: Generator) -> Image:
        return merge("RGB", image.split()[::-1])


class Invert(Whole):
    """The negative."""

    def perturb(self, image: Image, rng: Generator) -> Image:
        return image.point([255 - value for value in range(256)] * 3)


def centred(small: Image, size: tuple[int, int]) -> Image:
    """Return a black picture of (width, height) with the small one in its middle."""
    ground = new("RGB", size, BLACK)
    ground.paste(small, ((size[0] - small.width) // 2, (size[1] - small.height) // 2))
    return ground
