"""What the corruptions of ImageNet-C share: arrays of pictures, Gaussian smoothing, smear along a line, enlarging.

Lengths are pixels of the picture itself, whatever its size, as in the original: a large picture seen at a model's own
size suffers less than a small one.
"""

from __future__ import annotations

from math import ceil, cos, hypot, radians, sin

import cv2
import numpy as np
from PIL.Image import Image, fromarray

# Rows a strip of a smear: what is added up stays in the processor's cache.
STRIP = 64
# A smear's weights below this share would add less than a thousandth of a grey level.
SMALLEST_WEIGHT = 1e-6


def as_pixels(image: Image) -> np.ndarray:
    """Return the picture's (height, width, 3) uint8 values."""
    return np.asarray(image)


def as_picture(values: np.ndarray) -> Image:
    """Return the picture of (height, width, 3) grey levels, rounded, cut to 0 and 255; `values` may be overwritten."""
    if values.dtype != np.uint8:
        # Cut before the cast: uint8 would wrap round.
        np.clip(values, 0, 255, out=values)
        values = cv2.convertScaleAbs(values.reshape(len(values), -1)).reshape(values.shape)
    return fromarray(values)


def smoothed(
    values: np.ndarray,
    sigma: float | tuple[float, float],
    truncate: float = 4.0,
    border: int = cv2.BORDER_REPLICATE,
) -> np.ndarray:
    """Return the float32 convolution with a Gaussian of sigma pixels, or (across, down), cut at `truncate` sigma."""
    across, down = sigma if isinstance(sigma, tuple) else (sigma, sigma)
    row, column = (
        cv2.getGaussianKernel(2 * int(truncate * each + 0.5) + 1, each, cv2.CV_32F) for each in (across, down)
    )
    return cv2.sepFilter2D(values, cv2.CV_32F, row, column, borderType=border).reshape(values.shape)


def smeared(values: np.ndarray, radius: int, sigma: float, angle: float) -> np.ndarray:
    """Return float32 values smeared to one side along `angle` degrees, with a half Gaussian as weights.

    The smear is 2 radius + 1 pixels long; its steps are whole pixels; what lies outside continues the border.
    """
    weights, steps = smear(radius, sigma, angle)
    height, width = values.shape[:2]
    across = [dx for dx, _ in steps]
    down = [dy for _, dy in steps]
    left, top = max(0, *across), max(0, *down)
    edges = (top, -min(0, *down), left, -min(0, *across))
    padded = cv2.copyMakeBorder(values, *edges, cv2.BORDER_REPLICATE).astype(np.float32, copy=False)
    result = np.zeros((height, *values.shape[1:]), dtype=np.float32)
    for start in range(0, height, STRIP):
        strip = result[start : start + STRIP]
        for weight, (dx, dy) in zip(weights, steps, strict=True):
            rows = slice(start + top - dy, start + top - dy + len(strip))
            cv2.scaleAdd(padded[rows, left - dx : left - dx + width], weight, strip, strip)
    return result


def smear(radius: int, sigma: float, angle: float) -> tuple[list[float], list[tuple[int, int]]]:
    """Return the weights of a smear, 1 in all, and its steps (dx, dy) in pixels; a light weight has no step."""
    places = np.arange(2 * radius + 1)
    weights = np.exp(-(places**2) / (2 * sigma**2))
    weights /= weights.sum()
    across, down = cos(radians(angle)), sin(radians(angle))
    length = hypot(across, down)
    steps = [(-ceil(i * across / length - 0.5), -ceil(i * down / length - 0.5)) for i in places.tolist()]
    kept = [(w, step) for w, step in zip(weights.tolist(), steps, strict=True) if w > SMALLEST_WEIGHT]
    return [w for w, _ in kept], [step for _, step in kept]
