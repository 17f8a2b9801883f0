"""The mean of a picture at many zooms."""

from __future__ import annotations

from math import ceil

import cv2
import numpy as np


def zooms_averaged(values: np.ndarray, zooms: list[float]) -> np.ndarray:
    """Return the float32 mean of the (height, width, 3) values and of their middle at each zoom."""
    values = values.astype(np.float32)
    total = values.copy()
    for zoom in zooms:
        cv2.add(total, enlarged(values, zoom), dst=total)
    total /= len(zooms) + 1
    return total


def enlarged(values: np.ndarray, zoom: float) -> np.ndarray:
    """Return the middle, 1/zoom of each side and rounded up, stretched linearly over the whole.

    Its first pixels stay the first ones; its last ones become the last or, where the zoomed side is longer than the
    whole by rounding, lie beyond.
    """
    height, width = values.shape[:2]
    (down, top), (across, left) = (line(length, zoom) for length in (height, width))
    places = np.array([[across, 0, left], [0, down, top]], dtype=np.float64)
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    return cv2.warpAffine(values, places, (width, height), flags=flags, borderMode=cv2.BORDER_REPLICATE)


def line(length: int, zoom: float) -> tuple[float, float]:
    """Return the step between the places of two neighbours in a line of this length, and the place of the first."""
    part = ceil(length / zoom)
    longer = round(part * zoom)
    if part == longer:
        # Rounding leaves lines of a few pixels as they are: these are stretched from their middle instead.
        return 1 / zoom, (length - 1) / 2 * (1 - 1 / zoom)
    return (part - 1) / (longer - 1), (length - part) // 2
