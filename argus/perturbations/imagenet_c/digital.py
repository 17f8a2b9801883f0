"""What ImageNet-C calls digital: contrast, colour, a wobble, big pixels, JPEG."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING

import cv2
import numpy as np
from PIL import Image as Pillow
from PIL.Image import Image, Resampling

from argus.perturbations.base import ImagePerturbation
from argus.perturbations.imagenet_c.filters import as_picture, as_pixels

if TYPE_CHECKING:
    from numpy.random import Generator

# All figures: Hendrycks & Dietterich, ICLR 2019. Here: the share that stays of a value's distance to the mean.
CONTRASTS = {1: 0.4, 2: 0.3, 3: 0.2, 4: 0.1, 5: 0.05}
# Factor of the saturation of HSV, and what is added to it.
SATURATIONS = {1: (0.3, 0.0), 2: (0.1, 0.0), 3: (2.0, 0.0), 4: (5.0, 0.1), 5: (20.0, 0.2)}
# Of a side.
SIDES = {1: 0.6, 2: 0.5, 3: 0.4, 4: 0.3, 5: 0.25}
QUALITIES = {1: 25, 2: 18, 3: 15, 4: 10, 5: 7}


class Contrast(ImagePerturbation):
    """40 to 5 % of each channel's distance to its own mean stays."""

    def perturb(self, image: Image, rng: Generator) -> Image:
        kept, values = CONTRASTS[self.severity], np.arange(256)
        counts = np.array(image.histogram()).reshape(3, 256)
        means = counts @ values / counts[0].sum()
        curves = values * kept + means[:, None] * (1 - kept)
        return image.point(np.rint(curves).astype(int).ravel().tolist())


class Saturate(ImagePerturbation):
    """The saturation of HSV times 0.3 and 0.1 (paler), then 2, 5 and 20 (stronger), plus 0 to 0.2; greys turn red."""

    def perturb(self, image: Image, rng: Generator) -> Image:
        factor, added = SATURATIONS[self.severity]
        red, green, blue = cv2.split(as_pixels(image))
        high = cv2.max(cv2.max(red, green), blue)
        low = cv2.min(cv2.min(red, green), blue)
        # Value and hue stay where each channel's distance to the largest one grows by one factor.
        growth = saturation_growth(factor, added).take(high.astype(np.int32) * 256 + low)
        top = high.astype(np.float32)
        channels = [top - (top - channel) * growth for channel in (red, green, blue)]
        if added:
            # Grey has no hue; red's is 0.
            grey = high == low
            for channel in channels[1:]:
                channel[grey] *= 1 - added
        return as_picture(cv2.merge(channels))


class Pixelate(ImagePerturbation):
    """Reduced to 60 to 25 % of its sides by averaging, and enlarged again pixel by pixel."""

    def perturb(self, image: Image, rng: Generator) -> Image:
        small = [max(1, int(length * SIDES[self.severity])) for length in image.size]
        return image.resize((small[0], small[1]), Resampling.BOX).resize(image.size, Resampling.NEAREST)


class JpegCompression(ImagePerturbation):
    """Saved as JPEG of quality 25 to 7."""

    def perturb(self, image: Image, rng: Generator) -> Image:
        file = BytesIO()
        image.save(file, "JPEG", quality=QUALITIES[self.severity])
        with Pillow.open(file) as reopened:
            return reopened.convert("RGB")


def saturation_growth(factor: float, added: float) -> np.ndarray:
    """Return for 256 x largest + smallest value the new saturation by the old one, float32; 0 where that is 0."""
    high, low = np.arange(256.0)[:, None], np.arange(256.0)[None, :]
    saturation = np.divide(high - low, high, out=np.zeros((256, 256)), where=high > low)
    new = np.clip(saturation * factor + added, 0, 1)
    return np.divide(new, saturation, out=np.zeros_like(new), where=saturation > 0).astype(np.float32).ravel()
