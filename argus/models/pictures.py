"""What is done to a picture that image processors would refuse or blow up, before any of them sees it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from PIL.Image import Image, Resampling

LONGEST = 200
"""How many times as long as wide a picture may be: Qwen's processor refuses more, and CLIP's, which scales the shorter
side to 224 pixels, would make it of 5000 x 1 more than a million pixels long."""


def bounded(images: Sequence[Image]) -> list[Image]:
    """Return the pictures, one of more than LONGEST times its shorter side stretched across to that."""
    return [_stretched(image) for image in images]


def _stretched(image: Image) -> Image:
    least = math.ceil(max(image.size) / LONGEST)
    if min(image.size) >= least:
        return image
    return image.resize((max(image.width, least), max(image.height, least)), Resampling.BICUBIC)
