"""Promises of moving pixels."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from PIL import Image
from scipy.ndimage import map_coordinates

from argus.errors import ConfigError
from argus.perturbations.photo.geometry import Perspective, RollingShutter, Rotation, Shear, Translation
from argus.perturbations.photo.optics import ChromaticAberration, LensDistortion
from argus.perturbations.photo.warping import affine, curved, projective
from argus.perturbations.photo.whole import ChannelSwap, FlipHorizontal, FlipVertical, Invert, Sideways, UpsideDown

WHOLE = [ChannelSwap, FlipHorizontal, FlipVertical, Invert, Sideways, UpsideDown]


def pixels(image: Image.Image) -> np.ndarray:
    return np.asarray(image, dtype=float)


def dot(x: int, y: int, size: tuple[int, int] = (301, 301)) -> Image.Image:
    """A white dot of five pixels a side about (x, y)."""
    image = Image.new("RGB", size)
    image.paste((255, 255, 255), (x - 2, y - 2, x + 3, y + 3))
    return image


def found(image: Image.Image) -> np.ndarray:
    """Return (x, y) of the centre of mass."""
    mass = pixels(image).sum(axis=2)
    return (
        np.array([mass.sum(axis=0) @ np.arange(mass.shape[1]), mass.sum(axis=1) @ np.arange(mass.shape[0])])
        / mass.sum()
    )


@pytest.mark.parametrize(("severity", "degrees"), [(1, 4), (3, 15), (4, 30), (5, 45)])
def test_rotation_turns_a_known_point_about_the_centre_to_either_side(severity, degrees):
    seen = set()
    for number in range(20):
        x, y = found(Rotation(severity).image(dot(230, 150), 0, str(number))) - 150
        assert np.hypot(x, y) == pytest.approx(80, abs=0.3)
        assert abs(np.rad2deg(np.arctan2(y, x))) == pytest.approx(degrees, abs=0.3)
        seen.add(y > 0)
    assert seen == {True, False}


def test_shear_moves_rows_by_their_distance_from_the_middle():
    for number in range(5):
        # Severity 3: 0.2 pixels a row.
        x, y = found(Shear(3).image(dot(150, 50), 0, str(number)))
        assert (abs(x - 150), y) == (pytest.approx(20, abs=0.1), pytest.approx(50, abs=0.1))
    assert found(Shear(3).image(dot(40, 150), 0, "id")) == pytest.approx([40, 150], abs=0.1)


def test_translation_moves_both_sides_by_the_stated_share_and_leaves_black(make_picture):
    image = make_picture(200, 100)
    corners = set()
    for number in range(20):
        after = pixels(Translation(4).image(image, 0, str(number)))
        # 30 % of each side: 60 columns and 30 rows go.
        left, top = after[:, :60].any(), after[:30].any()
        part = after[0 if top else 30 : 70 if top else 100, 0 if left else 60 : 140 if left else 200]
        source = pixels(image)[30 if top else 0 :, 60 if left else 0 :][:70, :140]
        assert (part == source).all()
        assert after.sum() == part.sum()
        corners.add((left, top))
    assert len(corners) == 4


def test_translation_lets_no_picture_stay():
    assert not pixels(Translation(1).image(Image.new("RGB", (1, 1), (9, 9, 9)), 0, "id")).any()


def test_projective_sends_the_corners_where_it_is_told():
    corners = np.array([(30, 20), (280, 10), (250, 290), (60, 240)])
    white = Image.new("RGB", (301, 301), (255, 255, 255))
    mass = pixels(projective(white, corners))[:, :, 0]
    # The shoelace formula.
    x, y = corners.T
    area = abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2
    assert (mass > 0).sum() == pytest.approx(area, rel=0.01)
    for x, y in corners:
        inward = np.array([150, 150]) - (x, y)
        near, far = (x, y) + inward * 0.03, (x, y) - inward * 0.03
        assert mass[int(near[1]), int(near[0])] == 255
        assert mass[int(far[1]), int(far[0])] == 0


def test_perspective_pulls_corners_in_by_no_more_than_stated():
    white = Image.new("RGB", (200, 200), (255, 255, 255))
    for number in range(10):
        shown = [pixels(Perspective(severity).image(white, 0, str(number)))[:, :, 0] for severity in (1, 2, 3, 4, 5)]
        # A corner moves on a straight line; along a slanted edge a few pixels come in again.
        assert all((light < heavy).mean() < 0.005 for light, heavy in pairwise(shown))
        # 40 % at most: the middle fifth stays.
        assert shown[-1][81:119, 81:119].all()
        assert shown[-1].mean() < 240


def test_rolling_shutter_moves_whole_rows(make_picture):
    image = make_picture(120, 90)
    before, after = pixels(image), pixels(RollingShutter(4).image(image, 0, "id"))
    # 4 % of 90 rows: up to 4 pixels along and across.
    wide = np.pad(before, ((0, 0), (4, 4), (0, 0)), mode="edge")
    for row in range(90):
        sources = [wide[y, 4 + x : 124 + x] for y in range(max(0, row - 4), min(90, row + 5)) for x in range(-4, 5)]
        assert any((after[row] == source).all() for source in sources)


@pytest.mark.parametrize("size", [(64, 48), (5, 7), (7, 1), (1, 1)])
def test_flips_are_numpy_reversed(make_picture, size):
    image = make_picture(*size)
    before = np.asarray(image)
    assert (np.asarray(FlipHorizontal(1).image(image, 0, "id")) == before[:, ::-1]).all()
    assert (np.asarray(FlipVertical(1).image(image, 0, "id")) == before[::-1]).all()
    assert (np.asarray(UpsideDown(1).image(image, 0, "id")) == before[::-1, ::-1]).all()
    assert (np.asarray(ChannelSwap(1).image(image, 0, "id")) == before[:, :, ::-1]).all()
    assert (np.asarray(Invert(1).image(image, 0, "id")) == 255 - before).all()


def test_sideways_is_a_quarter_turn_to_either_side(make_picture):
    image = make_picture(50, 50)
    results = {Sideways(1).image(image, 0, str(number)).tobytes() for number in range(20)}
    assert results == {np.rot90(np.asarray(image), turns).tobytes() for turns in (1, 3)}


def test_sideways_fits_a_wide_picture_between_black_bars():
    after = pixels(Sideways(1).image(Image.new("RGB", (400, 200), (255, 255, 255)), 0, "id"))[:, :, 0]
    assert (after == 255).sum(axis=1).tolist() == [100] * 200
    assert (after[:, 150:250] == 255).all()


@pytest.mark.parametrize("member", WHOLE)
def test_what_has_no_degrees_has_severity_1_alone(member):
    assert member(1).severities() == (1,)
    with pytest.raises(ConfigError, match=rf"severity 3 of {member.__name__}: choose one of \(1,\)"):
        member(3)


def test_maps_that_move_nothing_return_the_picture(make_picture):
    for size in ((64, 48), (7, 3), (1, 1)):
        image = make_picture(*size)
        width, height = size
        corners = np.array([(0, 0), (width, 0), (width, height), (0, height)])
        assert affine(image, np.eye(2)).tobytes() == image.tobytes()
        assert projective(image, corners).tobytes() == image.tobytes()
        assert curved(image, lambda x, y: (x, y)).tobytes() == image.tobytes()


@pytest.mark.parametrize(("severity", "barrel"), [(1, 0.05), (3, 0.2), (5, 0.8)])
def test_lens_distortion_follows_browns_model(severity, barrel):
    # A smooth picture: the map is what is looked at, not the interpolation.
    row, column = np.mgrid[:300, :400]
    image = Image.fromarray(np.stack([column * 255 / 399, row * 255 / 299, 0 * row], axis=-1).astype(np.uint8))
    after = pixels(LensDistortion(severity).image(image, 0, "id"))
    y, x = row + 0.5 - 150, column + 0.5 - 200
    stretch = (1 + barrel * (x**2 + y**2) / (150**2 + 200**2)) / (1 + barrel)
    places = [y * stretch + 149.5, x * stretch + 199.5]
    expected = [map_coordinates(channel, places, order=1) for channel in np.moveaxis(pixels(image), 2, 0)]
    assert np.abs(after - np.stack(expected, axis=-1)).max() < 2.5


def test_chromatic_aberration_parts_the_colours_of_a_point_away_from_the_centre_and_not_of_the_centre():
    after = pixels(ChromaticAberration(5).image(dot(250, 150), 0, "id"))
    # Seen 100 pixels from the centre: enlarged by 7 and 3.5 %.
    columns = [after[:, :, channel].sum(axis=0) @ np.arange(301) / after[:, :, channel].sum() for channel in range(3)]
    assert columns == pytest.approx([257, 253.5, 250], abs=0.2)
    centre = pixels(ChromaticAberration(5).image(dot(150, 150), 0, "id"))
    assert np.ptp(centre[150, 150]) == 0
