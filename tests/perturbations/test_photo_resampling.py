"""Promises of making pictures small and large again, and of framing them otherwise."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image
from PIL.Image import Resampling

from argus.perturbations.photo.framing import Aspect, Crop, Padding
from argus.perturbations.photo.resampling import (
    DownsampleAliased,
    DownsampleArea,
    DownsampleBicubic,
    DownsampleBilinear,
    DownsampleLanczos,
    DownsampleNearest,
)

CHAINS = {
    DownsampleNearest: (Resampling.NEAREST, Resampling.NEAREST),
    DownsampleBilinear: (Resampling.BILINEAR, Resampling.BILINEAR),
    DownsampleBicubic: (Resampling.BICUBIC, Resampling.BICUBIC),
    DownsampleLanczos: (Resampling.LANCZOS, Resampling.LANCZOS),
    DownsampleArea: (Resampling.BOX, Resampling.BILINEAR),
}


def pixels(image: Image.Image) -> np.ndarray:
    return np.asarray(image, dtype=float)


@pytest.mark.parametrize("member", CHAINS, ids=lambda member: member.__name__)
@pytest.mark.parametrize(
    ("size", "severity", "thumbnail"),
    # Factors 2 and 7, of the short side or of 224, whichever is less.
    [((300, 224), 2, (150, 112)), ((70, 112), 2, (35, 56)), ((896, 672), 2, (149, 112)), ((224, 448), 5, (32, 64))],
)
def test_a_thumbnail_is_made_and_enlarged_with_the_filter_named(make_picture, member, size, severity, thumbnail):
    image = make_picture(*size)
    down, up = CHAINS[member]
    expected = image.resize(thumbnail, down).resize(size, up)
    assert member(severity).image(image, 0, "id").tobytes() == expected.tobytes()


def test_aliased_keeps_the_contrast_of_stripes_that_smoothing_turns_grey():
    # Thirds of 225 columns: it looks at the middle of every third one, and these alternate between black and white.
    columns = (np.arange(225) % 2 * 255).astype(np.uint8)
    stripes = Image.fromarray(np.broadcast_to(columns[None, :, None], (224, 225, 3)).copy())
    aliased = np.asarray(DownsampleAliased(3).resampled(stripes, (75, 75)))
    assert (aliased[:, 1::3] == np.resize([255, 0], 75)[:, None]).all()
    assert np.ptp(np.asarray(DownsampleBilinear(3).resampled(stripes, (75, 75)))[:, 10:-10].astype(int)) < 60


def coordinates(width: int, height: int) -> Image.Image:
    """A picture that tells of each pixel where it was: red its column, green its row, of 256."""
    row, column = np.mgrid[:height, :width]
    values = [column * 256 // width, row * 256 // height, np.full((height, width), 255)]
    return Image.fromarray(np.stack(values, axis=-1).astype(np.uint8))


def window(image: Image.Image) -> np.ndarray:
    """Return left, top, right, bottom of what is seen, in 256ths."""
    seen = pixels(image)[:, :, :2].reshape(-1, 2)
    return np.concatenate([seen.min(axis=0), seen.max(axis=0) + 1])


@pytest.mark.parametrize(("severity", "kept"), [(1, 0.95), (3, 0.78), (5, 0.5)])
def test_crop_shows_the_stated_share_of_each_side(severity, kept):
    left, top, right, bottom = window(Crop(severity).image(coordinates(512, 256), 0, "id"))
    assert ((right - left) / 256, (bottom - top) / 256) == (pytest.approx(kept, abs=0.015),) * 2


def test_crop_of_a_higher_severity_lies_within_that_of_a_lower_one_wherever_it_is():
    for number in range(20):
        windows = [window(Crop(severity).image(coordinates(256, 256), 0, str(number))) for severity in (1, 2, 3, 4, 5)]
        inwards = np.diff(windows, axis=0) * [1, 1, -1, -1]
        assert (inwards >= -1).all()
    assert len({tuple(window(Crop(5).image(coordinates(256, 256), 0, str(number)))) for number in range(20)}) > 15


def test_padding_is_the_shrunk_picture_amid_black(make_picture):
    image = make_picture(200, 100)
    after = Padding(4).image(image, 0, "id")
    assert after.crop((50, 25, 150, 75)).tobytes() == image.resize((100, 50), Resampling.BICUBIC).tobytes()
    black = pixels(after)
    black[25:75, 50:150] = 0
    assert not black.any()


@pytest.mark.parametrize(("size", "box"), [((200, 100), (50, 0, 150, 100)), ((100, 200), (0, 50, 100, 150))])
def test_aspect_squeezes_the_long_side_between_bars(make_picture, size, box):
    image = make_picture(*size)
    after = Aspect(4).image(image, 0, "id")
    assert after.crop(box).tobytes() == image.resize((100, 100), Resampling.BICUBIC).tobytes()
    assert (pixels(after).sum(axis=2) == 0).mean() >= 0.5
