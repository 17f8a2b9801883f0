"""Pictures as a viewer would show them, whatever the file is like inside."""

from __future__ import annotations

import math
import struct
import zlib
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from argus.data.drawing import draw_marks
from argus.errors import DataError
from argus.records import Box, ImageSource

FAULTS = (
    *(OSError, SyntaxError, ValueError, TypeError, AttributeError, LookupError, ArithmeticError, RuntimeError),
    *(struct.error, zlib.error),
)
"""What Pillow's decoders were seen to raise on damaged files of some twenty formats."""
ALPHA_MODES = {"RGBA", "RGBa", "LA", "La", "PA"}
SIXTEEN_BIT_MODES = {"I;16", "I;16B", "I;16L", "I;16N", "I"}
FULL_SCALE = 65535


def load_image(source: ImageSource) -> Image.Image:
    """Return the picture upright, in RGB, with its marks drawn, cut to its crop.

    Transparency stands on white; of an animation the first frame is taken; the file's ending does not matter. Colour
    profiles are not applied, as in the models' own preprocessing. Raises DataError naming the path and the reason.
    """
    picture = decode(source.path)
    if source.marks:
        picture = draw_marks(picture, source.marks)
    if source.crop is not None:
        picture = picture.crop(clamp(source.crop, picture.size, source.path))
    return picture


def decode(path: Path) -> Image.Image:
    """Return the upright RGB picture of a file, or raise DataError naming the path and the reason."""
    try:
        if path.is_file() and path.stat().st_size == 0:
            raise unreadable(path, "the file is empty; download or unpack it again")
        with Image.open(path) as image:
            image.load()
            picture = upright(image)
    except Image.DecompressionBombError as error:
        raise unreadable(path, f"too many pixels, perhaps a decompression bomb ({error})") from error
    except UnidentifiedImageError as error:
        raise unreadable(path, "not a picture, or in a format that Pillow does not read") from error
    except FileNotFoundError as error:
        raise unreadable(path, "there is no such file") from error
    except FAULTS as error:
        raise unreadable(path, f"broken or cut short ({error}); download or unpack it again") from error
    return flatten(picture, path)


def stamp(path: Path) -> tuple[int, int] | None:
    """Return what changes when a file does (time of change in ns, bytes), or None where there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def unreadable(path: Path, reason: str) -> DataError:
    return DataError(f"'{path}' cannot be read as a picture: {reason}")


def upright(image: Image.Image) -> Image.Image:
    """Return the image turned as its EXIF orientation says; as it is where the EXIF block is broken."""
    try:
        return ImageOps.exif_transpose(image)
    except FAULTS:
        return image.copy()


def flatten(image: Image.Image, path: Path) -> Image.Image:
    """Return any mode as RGB: 16 bits scaled to 8, transparency on white."""
    if image.mode == "F":
        raise unreadable(path, "floating-point pixels have no agreed range; save it with 8 bits")
    if image.mode in SIXTEEN_BIT_MODES:
        image = eight_bit(image, path)
    if image.mode in ALPHA_MODES or "transparency" in image.info:
        layer = image.convert("RGBA")
        return Image.alpha_composite(Image.new("RGBA", layer.size, "white"), layer).convert("RGB")
    return image.convert("RGB")


def eight_bit(image: Image.Image, path: Path) -> Image.Image:
    """Return 16-bit grey as 8-bit grey, the full scale on the full scale: Pillow's own conversion clips at 255."""
    values = np.asarray(image).astype(np.int64)
    if values.min() < 0 or values.max() > FULL_SCALE:
        reason = f"grey values from {values.min()} to {values.max()} are outside 16 bits; save it with 8 bits"
        raise unreadable(path, reason)
    if (transparent := image.info.get("transparency")) is not None:
        values[values == transparent] = FULL_SCALE  # white
    return Image.fromarray(((values * 255 + FULL_SCALE // 2) // FULL_SCALE).astype(np.uint8))


def clamp(box: Box, size: tuple[int, int], path: Path) -> tuple[int, int, int, int]:
    """Return the box in whole pixels, cut to the picture, or raise DataError when nothing of it is left."""
    width, height = size
    left, top = max(0, math.floor(box[0])), max(0, math.floor(box[1]))
    right, bottom = min(width, math.ceil(box[2])), min(height, math.ceil(box[3]))
    if right <= left or bottom <= top:
        raise DataError(f"'{path}' has {width}x{height} pixels, and nothing of the box {box} lies in it")
    return left, top, right, bottom
