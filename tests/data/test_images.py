"""Every kind of file is decoded as a viewer would show it, or refused by name."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageFile, features

from argus.data.drawing import draw_marks
from argus.data.images import load_image
from argus.errors import DataError
from argus.records import Box, ImageSource, Mark

KINDS = ["JPEG", "PNG", "GIF", "BMP", "TIFF", "WEBP", *(["AVIF"] if features.check("avif") else [])]
RED, GREEN, WHITE = (255, 0, 0), (0, 255, 0), (255, 255, 255)


@pytest.fixture
def saved(tmp_path: Path) -> Any:
    """Save an image and read it back through load_image."""

    def round_trip(image: Image.Image, name: str, **options: Any) -> Image.Image:
        image.save(tmp_path / name, **options)
        return load_image(ImageSource(tmp_path / name))

    return round_trip


def gradient(width: int = 40, height: int = 30) -> Image.Image:
    """Red grows to the right, green downwards: a turn or a flip shows."""
    across, down = np.meshgrid(np.linspace(0, 255, width), np.linspace(0, 255, height))
    return Image.fromarray(np.stack([across, down, np.full_like(across, 64)], axis=-1).astype(np.uint8))


def near(first: Image.Image, second: Image.Image, tolerance: int) -> bool:
    if first.mode != second.mode or first.size != second.size:
        return False
    return int(np.abs(np.asarray(first).astype(int) - np.asarray(second).astype(int)).max()) <= tolerance


def png(header: bytes, rows: bytes, *chunks: tuple[bytes, bytes]) -> bytes:
    """A PNG by hand, for kinds that Pillow does not write."""

    def chunk(name: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    body = [(b"IHDR", header), *chunks, (b"IDAT", zlib.compress(rows)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(name, content) for name, content in body)


@pytest.mark.parametrize("name", ["a.png", "a.bmp", "a.tif", "a.gif"])
def test_grey_becomes_rgb_with_the_same_values(saved: Any, name: str) -> None:
    grey = gradient().convert("L")
    assert near(saved(grey, name), grey.convert("RGB"), 0)


def test_rgb_is_unchanged(saved: Any) -> None:
    assert near(saved(gradient(), "a.png"), gradient(), 0)


@pytest.mark.parametrize(
    ("orientation", "turn_when_stored"),
    [
        (1, None),
        (2, Image.Transpose.FLIP_LEFT_RIGHT),
        (3, Image.Transpose.ROTATE_180),
        (4, Image.Transpose.FLIP_TOP_BOTTOM),
        (5, Image.Transpose.TRANSPOSE),
        (6, Image.Transpose.ROTATE_90),
        (7, Image.Transpose.TRANSVERSE),
        (8, Image.Transpose.ROTATE_270),
    ],
)
@pytest.mark.parametrize("name", ["a.jpg", "a.png"])
def test_exif_rotation_is_undone(saved: Any, name: str, orientation: int, turn_when_stored: Any) -> None:
    stored = gradient() if turn_when_stored is None else gradient().transpose(turn_when_stored)
    exif = Image.Exif()
    exif[0x0112] = orientation
    assert near(saved(stored, name, exif=exif), gradient(), 24)


@pytest.mark.filterwarnings("ignore:Corrupt EXIF data")
@pytest.mark.parametrize("exif", [b"Exif\x00\x00garbage", b"Exif\x00\x00", b"Exif\x00\x00II*\x00\xff\xff\xff\xff"])
@pytest.mark.parametrize("name", ["a.jpg", "a.webp"])
def test_broken_exif_does_not_cost_the_picture(saved: Any, name: str, exif: bytes) -> None:
    assert near(saved(gradient(), name, quality=100, exif=exif), gradient(), 24)


def test_cmyk_jpeg_keeps_its_colours(saved: Any) -> None:
    assert near(saved(gradient().convert("CMYK"), "a.jpg", quality=100), gradient(), 24)


@pytest.mark.parametrize("mode", ["RGBA", "LA"])
def test_transparency_stands_on_white(saved: Any, mode: str) -> None:
    image = Image.new(mode, (4, 2), (0, 0, 0, 0) if mode == "RGBA" else (0, 0))
    image.paste((255, 0, 0, 255) if mode == "RGBA" else (10, 255), (0, 0, 2, 2))
    shown = saved(image, "a.png")
    assert shown.getpixel((0, 0)) == (RED if mode == "RGBA" else (10, 10, 10))
    assert shown.getpixel((3, 1)) == WHITE


def test_half_transparency_mixes_with_white(saved: Any) -> None:
    shown = saved(Image.new("RGBA", (2, 2), (0, 0, 0, 128)), "a.png")
    assert shown.getpixel((0, 0)) == (127, 127, 127)


@pytest.mark.parametrize(("name", "transparency"), [("a.png", 0), ("a.png", b"\x00\xff"), ("a.gif", 0)])
def test_palette_with_transparency_stands_on_white(saved: Any, name: str, transparency: int | bytes) -> None:
    image = Image.new("P", (4, 2), 0)
    image.putpalette([0, 0, 0, *GREEN])
    image.paste(1, (0, 0, 2, 2))
    shown = saved(image, name, transparency=transparency)
    assert (shown.getpixel((0, 0)), shown.getpixel((3, 1))) == (GREEN, WHITE)


def test_opaque_palette_keeps_its_colours(saved: Any) -> None:
    image = Image.new("P", (2, 2), 1)
    image.putpalette([0, 0, 0, *GREEN])
    assert saved(image, "a.png").getpixel((0, 0)) == GREEN


@pytest.mark.parametrize(("mode", "colour"), [("RGB", RED), ("L", 9), ("1", 0)])
def test_a_single_transparent_colour_stands_on_white(saved: Any, mode: str, colour: Any) -> None:
    assert saved(Image.new(mode, (2, 2), colour), "a.png", transparency=colour).getpixel((0, 0)) == WHITE


@pytest.mark.parametrize("name", ["a.png", "a.tif"])
def test_sixteen_bit_grey_is_scaled_over_its_full_range(saved: Any, name: str) -> None:
    values = np.array([[0, 257, 32768, 65535]], dtype=np.uint16)
    shown = saved(Image.fromarray(values), name)
    assert [shown.getpixel((x, 0)) for x in range(4)] == [(0,) * 3, (1,) * 3, (128,) * 3, (255,) * 3]


def test_sixteen_bit_grey_with_a_transparent_value_stands_on_white(tmp_path: Path) -> None:
    header, rows = struct.pack(">IIBBBBB", 2, 1, 16, 0, 0, 0, 0), b"\x00" + struct.pack(">HH", 1000, 25700)
    (tmp_path / "a.png").write_bytes(png(header, rows, (b"tRNS", struct.pack(">H", 1000))))
    shown = load_image(ImageSource(tmp_path / "a.png"))
    assert [shown.getpixel((x, 0)) for x in range(2)] == [WHITE, (100, 100, 100)]


def test_sixteen_bit_colour_and_grey_with_alpha_are_scaled(tmp_path: Path) -> None:
    colour = png(struct.pack(">IIBBBBB", 1, 1, 16, 2, 0, 0, 0), b"\x00" + struct.pack(">HHH", 65535, 32896, 0))
    alpha = png(struct.pack(">IIBBBBB", 1, 1, 16, 4, 0, 0, 0), b"\x00" + struct.pack(">HH", 32896, 65535))
    shown = []
    for name, content in (("colour.png", colour), ("alpha.png", alpha)):
        (tmp_path / name).write_bytes(content)
        shown.append(load_image(ImageSource(tmp_path / name)).getpixel((0, 0)))
    assert shown == [(255, 128, 0), (128, 128, 128)]


def test_grey_beyond_sixteen_bits_is_refused_by_name(saved: Any) -> None:
    with pytest.raises(DataError, match=r"a.tif.*outside 16 bits"):
        saved(Image.fromarray(np.array([[0, 70000]], dtype=np.int32)), "a.tif")
    with pytest.raises(DataError, match=r"b.tif.*no agreed range"):
        saved(Image.fromarray(np.array([[0, 0.5]], dtype=np.float32)), "b.tif")


@pytest.mark.parametrize("name", ["a.gif", "a.png", "a.webp"])
def test_animation_shows_its_first_frame(saved: Any, name: str) -> None:
    frames = [Image.new("RGB", (4, 4), colour) for colour in (RED, GREEN)]
    lossless = {"lossless": True} if name == "a.webp" else {}
    shown = saved(frames[0], name, save_all=True, append_images=frames[1:], **lossless)
    assert near(shown, frames[0], 1)


@pytest.mark.parametrize("ending", ["jpg", "gif", "txt", "JPEG", ""])
def test_wrong_extension_does_not_matter(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"a.{ending}"
    gradient().save(path, format="PNG")
    assert near(load_image(ImageSource(path)), gradient(), 0)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("share", [0.1, 0.5, 0.8])
def test_truncated_file_is_refused_by_name(tmp_path: Path, kind: str, share: float) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    Image.fromarray(noise).save(tmp_path / "whole", format=kind)
    content = (tmp_path / "whole").read_bytes()
    (tmp_path / "cut.img").write_bytes(content[: int(share * len(content))])
    with pytest.raises(DataError, match=r"cut.img' cannot be read as a picture: "):
        load_image(ImageSource(tmp_path / "cut.img"))


def test_truncated_files_are_refused_without_touching_pillow_settings() -> None:
    assert ImageFile.LOAD_TRUNCATED_IMAGES is False


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"", "the file is empty"), (b"<html>404</html>", "not a picture"), (b"\x89PNG", "not a pic")],
)
def test_empty_file_and_other_content_are_refused_by_name(tmp_path: Path, content: bytes, reason: str) -> None:
    (tmp_path / "a.jpg").write_bytes(content)
    with pytest.raises(DataError, match=rf"a.jpg' cannot be read as a picture: {reason}"):
        load_image(ImageSource(tmp_path / "a.jpg"))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS)
def test_damaged_files_are_shown_or_refused_by_name(tmp_path: Path, kind: str) -> None:
    path, reasons = tmp_path / "damaged.img", []
    gradient().save(path, format=kind)
    whole = path.read_bytes()
    for position in range(0, len(whole), max(1, len(whole) // 150)):
        path.write_bytes(whole[:position] + bytes([whole[position] ^ 0xFF]) + whole[position + 1 :])
        try:
            assert load_image(ImageSource(path)).mode == "RGB"
        except DataError as error:
            reasons.append(str(error))
    assert reasons
    assert all(str(path) in reason for reason in reasons)


def test_missing_file_and_folder_are_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"b.jpg.*no such file"):
        load_image(ImageSource(tmp_path / "b.jpg"))
    with pytest.raises(DataError, match=str(tmp_path)):
        load_image(ImageSource(tmp_path))


def test_decompression_bomb_is_named(tmp_path: Path) -> None:
    (tmp_path / "bomb.png").write_bytes(png(struct.pack(">IIBBBBB", 60000, 60000, 8, 0, 0, 0, 0), b"\x00"))
    with pytest.raises(DataError, match=r"bomb.png.*decompression bomb"):
        load_image(ImageSource(tmp_path / "bomb.png"))


@pytest.mark.parametrize("size", [(1, 1), (100, 1), (25, 100), (332, 27), (2000, 3)])
def test_small_and_long_pictures_keep_their_size(saved: Any, size: tuple[int, int]) -> None:
    assert saved(gradient(*size), "a.png").size == size


@pytest.mark.parametrize(
    ("box", "kept"),
    [
        ((10, 5, 20, 15), (10, 5, 20, 15)),
        ((-5, -5, 10, 10), (0, 0, 10, 10)),
        ((30, 20, 99, 99), (30, 20, 40, 30)),
        ((1.2, 2.7, 3.1, 4.0), (1, 2, 4, 4)),
        ((39.5, 29.5, 39.7, 29.7), (39, 29, 40, 30)),
    ],
)
def test_crop_is_cut_to_the_picture(tmp_path: Path, box: Box, kept: tuple[int, int, int, int]) -> None:
    gradient().save(tmp_path / "a.png")
    shown = load_image(ImageSource(tmp_path / "a.png", crop=box))
    assert near(shown, gradient().crop(kept), 0)


@pytest.mark.parametrize("box", [(40, 0, 50, 10), (0, -9, 5, 0), (5, 5, 5, 5), (9, 9, 2, 2)])
def test_crop_outside_the_picture_is_refused_by_name(tmp_path: Path, box: Box) -> None:
    gradient().save(tmp_path / "a.png")
    with pytest.raises(DataError, match=r"a.png' has 40x30 pixels"):
        load_image(ImageSource(tmp_path / "a.png", crop=box))


def test_crop_counts_from_the_upright_picture(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    gradient().transpose(Image.Transpose.ROTATE_90).save(tmp_path / "a.png", exif=exif)
    shown = load_image(ImageSource(tmp_path / "a.png", crop=(0, 0, 35, 5)))
    assert near(shown, gradient().crop((0, 0, 35, 5)), 0)


def test_marks_are_drawn_where_the_upright_picture_has_them(tmp_path: Path) -> None:
    gradient(200, 150).save(tmp_path / "a.png")
    marks = (Mark("person1", (50, 60, 90, 120)),)
    marked = draw_marks(gradient(200, 150), marks)
    assert near(load_image(ImageSource(tmp_path / "a.png", marks=marks)), marked, 0)
    assert not near(marked, gradient(200, 150), 0)
    cropped = load_image(ImageSource(tmp_path / "a.png", crop=(40, 40, 120, 130), marks=marks))
    assert near(cropped, marked.crop((40, 40, 120, 130)), 0)
