"""Promises of the single image perturbations."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image
from scipy.ndimage import gaussian_filter

from argus.perturbations.blur import Blur, blurred
from argus.perturbations.noise import Noise


def pixels(image: Image.Image) -> np.ndarray:
    return np.asarray(image, dtype=float)


def plain(value: int, side: int = 224) -> Image.Image:
    return Image.new("RGB", (side, side), (value, value, value))


@pytest.mark.parametrize(("severity", "sigma"), [(1, 1), (2, 2), (3, 3), (4, 4), (5, 6)])
def test_blur_at_224_is_the_exact_gaussian(make_picture, severity, sigma):
    image = make_picture(300, 224)
    exact = gaussian_filter(pixels(image), (sigma, sigma, 0), mode="reflect")
    assert np.abs(pixels(Blur(severity).image(image, 0, "id")) - exact).max() <= 0.501


@pytest.mark.parametrize("sigma", [8.0, 11.9, 20.0, 41.0])
def test_blur_of_large_pictures_stays_close_to_the_exact_gaussian(make_picture, sigma):
    image = make_picture(400, 333)
    exact = gaussian_filter(pixels(image), (sigma, sigma, 0), mode="reflect")
    assert np.abs(pixels(blurred(image, sigma)) - exact).mean() < 0.5


@pytest.mark.parametrize("severity", [1, 2, 3, 4, 5])
def test_blur_hits_small_and_large_pictures_alike(make_picture, severity):
    large = make_picture(1120, 1120)
    distances = []
    for side in (224, 448, 1120):
        image = large.resize((side, side), Image.Resampling.BOX)
        after = Blur(severity).image(image, 0, "id")
        seen = [each.resize((224, 224), Image.Resampling.BOX) for each in (image, after)]
        distances.append(np.abs(pixels(seen[0]) - pixels(seen[1])).mean())
    assert max(distances) < 1.15 * min(distances)


@pytest.mark.parametrize("size", [(224, 224), (999, 777), (7, 5)])
def test_blur_keeps_a_plain_picture_up_to_its_border(size):
    image = Image.new("RGB", size, (10, 200, 255))
    assert Blur(5).image(image, 0, "id").tobytes() == image.tobytes()


@pytest.mark.parametrize(("severity", "deviation"), [(1, 0.08), (2, 0.12), (3, 0.18)])
def test_noise_has_the_stated_deviation_and_no_bias(severity, deviation):
    # At these severities less than 1 % of mid-grey values are clipped; 150,528 values leave a standard error of 0.2 %.
    difference = (pixels(Noise(severity).image(plain(128), 0, "id")) - 128) / 255
    assert difference.std() == pytest.approx(deviation, rel=0.02)
    assert abs(difference.mean()) < 0.002


@pytest.mark.parametrize("value", [0, 255])
def test_noise_is_clipped_and_never_wraps_round(value):
    after = pixels(Noise(5).image(plain(value), 0, "id"))
    # Half of the draws point out of the range and stay at its end; the others leave it by 0.38 x 255 x 0.8 on average.
    assert (after == value).mean() == pytest.approx(0.5, abs=0.01)
    assert np.abs(after - value).mean() == pytest.approx(0.38 * 255 * np.sqrt(1 / (2 * np.pi)), rel=0.05)


def test_noise_differs_between_channels_seeds_and_ids():
    first = Noise(3).image(plain(128), 0, "a")
    red, green, _ = first.split()
    assert abs(np.corrcoef(pixels(red).ravel(), pixels(green).ravel())[0, 1]) < 0.02
    assert first.tobytes() != Noise(3).image(plain(128), 1, "a").tobytes()
    assert first.tobytes() != Noise(3).image(plain(128), 0, "b").tobytes()


def test_noise_of_a_lower_severity_is_the_same_noise_made_smaller():
    light, heavy = (pixels(Noise(severity).image(plain(128), 0, "id")) - 128 for severity in (1, 2))
    inside = np.abs(heavy) < 120
    assert np.abs(light * 1.5 - heavy)[inside].max() <= 1.3


@pytest.mark.parametrize(("side", "grain"), [(8, 1), (224, 1), (225, 2), (448, 2), (449, 3)])
def test_noise_grain_follows_the_short_side(side, grain):
    after = pixels(Noise(3).image(Image.new("RGB", (side + 50, side), (128, 128, 128)), 0, "id"))[:, :, 0]
    whole = after[: side // grain * grain, : side // grain * grain]
    grains = whole.reshape(side // grain, grain, side // grain, grain)
    assert (grains == grains[:, :1, :, :1]).all()
    assert (grains[1:, 0, :, 0] == grains[:-1, 0, :, 0]).mean() < 0.1
