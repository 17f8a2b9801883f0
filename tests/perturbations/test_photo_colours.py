"""Promises of light, colours and detail."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image
from scipy.ndimage import gaussian_filter

from argus.perturbations.photo.colour import ColourCast, Grey, Hue, Posterise, Solarise
from argus.perturbations.photo.compression import Banding, Palette
from argus.perturbations.photo.detail import FilmGrain, Sharpen
from argus.perturbations.photo.exposure import Gamma, LowLight, OverExposure
from argus.perturbations.photo.optics import Reflection, Vignette
from argus.perturbations.photo.sensor import Flicker
from argus.perturbations.photo.weather import Shadow, SunFlare


def pixels(image: Image.Image) -> np.ndarray:
    return np.asarray(image, dtype=float)


def plain(*colour: int, size: tuple[int, int] = (224, 224)) -> Image.Image:
    return Image.new("RGB", size, colour)


def ramp() -> Image.Image:
    """All 256 greys, one a column."""
    return Image.fromarray(np.broadcast_to(np.arange(256, dtype=np.uint8)[None, :, None], (16, 256, 3)).copy())


@pytest.mark.parametrize(("value", "expected"), [(0, 0), (100, 137), (186, 255), (255, 255)])
def test_over_exposure_of_severity_2_doubles_the_light_and_never_wraps_round(value, expected):
    # 100 x 2 ** (1 / 2.2) = 137.04
    assert (pixels(OverExposure(2).image(plain(value, value, value), 0, "id")) == expected).all()


def test_gamma_of_severity_4_lifts_shadows_and_keeps_black_and_white():
    after = pixels(Gamma(4).image(ramp(), 0, "id"))[0, :, 0]
    assert (after[0], after[255]) == (0, 255)
    assert after[64] == pytest.approx(255 * (64 / 255) ** (1 / 2.2), abs=0.5)


@pytest.mark.parametrize(("severity", "stops", "deviation"), [(1, 1, 0.02), (3, 3, 0.04), (5, 5, 0.06)])
def test_low_light_has_the_stated_stops_and_noise(severity, stops, deviation):
    after = pixels(LowLight(severity).image(plain(255, 255, 255), 0, "id"))
    assert after.mean() == pytest.approx(255 * 2 ** (-stops / 2.2), abs=0.5)
    assert after.std() == pytest.approx(255 * deviation, rel=0.03)
    # On black, half of the noise is cut off, and none of it wraps round to white.
    assert pixels(LowLight(severity).image(plain(0, 0, 0), 0, "id")).max() < 128


def test_low_light_is_grained_like_noise_in_large_pictures():
    after = pixels(LowLight(3).image(plain(200, 200, 200, size=(672, 672)), 0, "id"))
    grains = after.reshape(224, 3, 224, 3, 3)
    assert (grains == grains[:, :1, :, :1]).all()
    assert after.std() > 5


def test_vignette_keeps_the_centre_and_takes_the_stated_light_from_the_corners(make_picture):
    image = make_picture(320, 240)
    before, after = pixels(image), pixels(Vignette(4).image(image, 0, "id"))
    assert (after[118:122, 158:162] == before[118:122, 158:162]).all()
    white = pixels(Vignette(4).image(plain(255, 255, 255, size=(320, 240)), 0, "id"))[:, :, 0]
    assert white[0, 0] == pytest.approx(255 * 0.15, abs=3)
    # Half way along the middle row: radius 80 of 200.
    assert white[120, 240] == pytest.approx(255 * (1 - 0.85 * 0.4**2), abs=2)


def test_shadow_takes_the_stated_light_within_a_band_and_none_outside():
    after = pixels(Shadow(3).image(plain(200, 200, 200), 0, "id"))[:, :, 0]
    assert (after == 200).mean() > 0.2
    assert (after == round(200 * 0.45)).mean() > 0.2
    assert np.isin(after, (200, 90)).mean() > 0.8


def test_sun_flare_shines_from_above_and_darkens_nothing(make_picture):
    image = make_picture(320, 240)
    for number in range(10):
        more = pixels(SunFlare(3).image(image, 0, str(number))) - pixels(image)
        assert more.min() >= 0
        light = pixels(SunFlare(1).image(plain(0, 0, 0), 0, str(number))).sum(axis=2)
        assert np.unravel_index(light.argmax(), light.shape)[0] < 112


@pytest.mark.parametrize("severity", [1, 3, 5])
def test_flicker_darkens_rows_as_a_whole_to_the_stated_depth(severity):
    lost = {1: 0.2, 3: 0.5, 5: 0.9}[severity]
    after = pixels(Flicker(severity).image(plain(200, 200, 200, size=(30, 400)), 0, "id"))[:, :, 0]
    assert (after == after[:, :1]).all()
    assert (after.max(), after.min()) == (pytest.approx(200, abs=1), pytest.approx(200 * (1 - lost), abs=1))


def test_reflection_adds_the_turned_picture():
    image = plain(0, 0, 0, size=(320, 240))
    image.paste((255, 255, 255), (0, 0, 160, 240))
    after = pixels(Reflection(3).image(image, 0, "id"))[:, :, 0]
    # 45 % of white, away from the blurred edge.
    assert (after[:, 190:] == round(255 * 0.45)).all()
    assert (after[:, :150] == 255).all()


@pytest.mark.parametrize(("severity", "lost"), [(1, 0.2), (3, 0.6), (5, 1.0)])
def test_grey_goes_the_stated_way_to_luma(make_picture, severity, lost):
    image = make_picture(64, 48)
    before = pixels(image)
    expected = (1 - lost) * before + lost * (before @ [0.299, 0.587, 0.114])[:, :, None]
    assert np.abs(pixels(Grey(severity).image(image, 0, "id")) - expected).max() < 0.51


def test_hue_keeps_greys_and_the_sum_of_the_channels():
    assert Hue(3).image(ramp(), 0, "id").tobytes() == ramp().tobytes()
    for number in range(5):
        after = pixels(Hue(3).image(plain(150, 120, 100), 0, str(number)))[0, 0]
        assert after.sum() == pytest.approx(370, abs=1.5)


def test_hue_of_60_degrees_six_times_is_the_picture_again():
    image = plain(150, 120, 100)
    after = image
    for _ in range(6):
        after = Hue(3).image(after, 0, "id")
    assert np.abs(pixels(after) - pixels(image)).max() <= 3


@pytest.mark.parametrize(("severity", "lost"), [(1, 0.1), (3, 0.35), (5, 0.7)])
def test_colour_cast_spares_one_channel_and_takes_the_stated_light_from_another(severity, lost):
    seen = set()
    for number in range(30):
        red, green, blue = after = pixels(ColourCast(severity).image(plain(200, 200, 200), 0, str(number)))[0, 0]
        assert (max(after), min(after)) == (200, pytest.approx(200 * (1 - lost), abs=0.6))
        seen.add((red == 200, green == 200, blue == 200))
    assert len(seen) >= 3


@pytest.mark.parametrize(("severity", "levels"), [(1, 16), (3, 5), (5, 2)])
def test_posterise_leaves_evenly_spaced_values_with_black_and_white(severity, levels):
    after = np.asarray(Posterise(severity).image(ramp(), 0, "id"))
    assert np.unique(after).tolist() == [round(255 * level / (levels - 1)) for level in range(levels)]
    assert np.abs(after.astype(int) - np.asarray(ramp())).max() <= 255 / (levels - 1) / 2 + 1


def test_solarise_inverts_from_the_threshold_on():
    after = np.asarray(Solarise(4).image(ramp(), 0, "id"))[0, :, 0]
    assert after.tolist() == [*range(144), *(255 - value for value in range(144, 256))]


def test_solarise_inverts_the_brightest_of_a_dark_picture():
    image = plain(20, 20, 20)
    image.putpixel((3, 3), (90, 20, 20))
    after = Solarise(1).image(image, 0, "id")
    assert (after.getpixel((3, 3)), after.getpixel((4, 4))) == ((165, 20, 20), (20, 20, 20))


@pytest.mark.parametrize(("severity", "levels"), [(1, 16), (3, 6), (5, 3)])
def test_banding_leaves_the_stated_number_of_greys_and_colour_differences(severity, levels):
    assert len(np.unique(np.asarray(Banding(severity).image(ramp(), 0, "id")))) == levels
    before, after = (
        each.convert("YCbCr") for each in (plain(140, 120, 110), Banding(3).image(plain(140, 120, 110), 0, ""))
    )
    assert after.getpixel((0, 0))[1:] == pytest.approx(before.getpixel((0, 0))[1:], abs=1)


@pytest.mark.parametrize(("severity", "colours"), [(1, 64), (3, 16), (5, 4)])
def test_palette_leaves_no_more_colours_than_stated(make_picture, severity, colours):
    after = np.asarray(Palette(severity).image(make_picture(320, 240), 0, "id")).reshape(-1, 3)
    assert colours / 2 <= len(np.unique(after, axis=0)) <= colours


def test_sharpen_adds_the_stated_share_of_the_difference_to_a_blur():
    image = plain(100, 100, 100)
    image.paste((150, 150, 150), (112, 0, 224, 224))
    after = pixels(Sharpen(2).image(image, 0, "id"))
    smooth = gaussian_filter(pixels(image), (1, 1, 0))
    expected = pixels(image) + 1.2 * (pixels(image) - smooth)
    # Pillow's blur is three box blurs.
    assert np.abs(after - expected).max() < 4
    assert after.max() > 160


def test_film_grain_is_grey_strongest_between_and_absent_in_black_and_white():
    middle = pixels(FilmGrain(2).image(plain(128, 128, 128), 0, "id"))
    assert np.ptp(middle, axis=2).max() == 0
    assert middle.std() == pytest.approx(0.08 * 255, rel=0.05)
    assert middle.mean() == pytest.approx(128, abs=1)
    for value in (0, 255):
        assert (pixels(FilmGrain(5).image(plain(value, value, value), 0, "id")) == value).all()
    assert 0.2 < pixels(FilmGrain(2).image(plain(30, 30, 30), 0, "id")).std() / middle.std() < 0.4
