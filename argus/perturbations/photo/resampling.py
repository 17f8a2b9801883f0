"""Pictures made small and large again, by each of the usual filters.

Saxena et al. (VLM-RobustBench, arXiv 2603.06148) found resampling and geometry to hurt vision-language models most;
Parmar et al. (On Aliased Resizing, CVPR 2022) how far the libraries' filters of one name lie apart.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from PIL.Image import Image, Resampling, Transform

from argus.perturbations.base import ImagePerturbation
from argus.perturbations.photo.canvas import REFERENCE_SIDE

if TYPE_CHECKING:
    from numpy.random import Generator

# 2, 3 and 4.5 times fewer pixels a side lie around the 0.6 to 0.25 of ImageNet-C's pixelate; 7 leaves 32 pixels.
FACTORS = {1: 1.5, 2: 2.0, 3: 3.0, 4: 4.5, 5: 7.0}


class Downsample(ImagePerturbation):
    """Leaves a thumbnail whose short side is 224 / factor, or the picture's own / factor below 224, and enlarges it."""

    def perturb(self, image: Image, rng: Generator) -> Image:
        scale = min(1, REFERENCE_SIDE / min(image.size)) / FACTORS[self.severity]
        return self.resampled(image, (max(1, round(image.width * scale)), max(1, round(image.height * scale))))

    @abstractmethod
    def resampled(self, image: Image, size: tuple[int, int]) -> Image:
        """Return the picture reduced to (width, height) and enlarged to its own size again."""


class DownsampleNearest(Downsample):
    """Nearest neighbour both ways: most pixels are never looked at."""

    def resampled(self, image: Image, size: tuple[int, int]) -> Image:
        return image.resize(size, Resampling.NEAREST).resize(image.size, Resampling.NEAREST)


class DownsampleBilinear(Downsample):
    """Pillow's bilinear filter both ways, which smooths before it drops pixels."""

    def resampled(self, image: Image, size: tuple[int, int]) -> Image:
        return image.resize(size, Resampling.BILINEAR).resize(image.size, Resampling.BILINEAR)


class DownsampleBicubic(Downsample):
    """Pillow's bicubic filter both ways."""

    def resampled(self, image: Image, size: tuple[int, int]) -> Image:
        return image.resize(size, Resampling.BICUBIC).resize(image.size, Resampling.BICUBIC)


class DownsampleLanczos(Downsample):
    """Pillow's Lanczos filter both ways; it rings at edges."""

    def resampled(self, image: Image, size: tuple[int, int]) -> Image:
        return image.resize(size, Resampling.LANCZOS).resize(image.size, Resampling.LANCZOS)


class DownsampleArea(Downsample):
    """The mean of an area down, bilinear up, as OpenCV's INTER_AREA does; blocks up would be ImageNet-C's pixelate."""

    def resampled(self, image: Image, size: tuple[int, int]) -> Image:
        return image.resize(size, Resampling.BOX).resize(image.size, Resampling.BILINEAR)


class DownsampleAliased(Downsample):
    """Bilinear between four neighbours without smoothing first, as OpenCV's INTER_LINEAR and torch's interpolate."""

    def resampled(self, image: Image, size: tuple[int, int]) -> Image:
        step = (image.width / size[0], 0, 0, 0, image.height / size[1], 0)
        small = image.transform(size, Transform.AFFINE, step, Resampling.BILINEAR)
        return small.resize(image.size, Resampling.BILINEAR)
