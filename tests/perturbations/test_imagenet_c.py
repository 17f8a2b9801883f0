"""The corruptions of ImageNet-C: small cases by hand, statistics of what is drawn, and what differs on odd pictures."""

from __future__ import annotations

import runpy
from io import BytesIO
from itertools import pairwise, product
from pathlib import Path

import cv2
import numpy as np
import pytest
from omegaconf import OmegaConf
from PIL import Image
from scipy.ndimage import gaussian_filter, zoom

from argus.configuration import conf_dir
from argus.perturbations.imagenet_c import noise
from argus.perturbations.imagenet_c.blur import DefocusBlur, GaussianBlur, MotionBlur, ZoomBlur, disk
from argus.perturbations.imagenet_c.digital import Contrast, JpegCompression, Pixelate, Saturate
from argus.perturbations.imagenet_c.elastic import ElasticTransform, smooth_steps
from argus.perturbations.imagenet_c.filters import smear
from argus.perturbations.imagenet_c.frost import TONES, texture
from argus.perturbations.imagenet_c.glass import GlassBlur, draw_steps, scattered
from argus.perturbations.imagenet_c.plasma import plasma
from argus.perturbations.imagenet_c.spatter import MUD, Spatter
from argus.perturbations.imagenet_c.weather import Brightness, Fog, Frost, Snow

SEVERITIES = (1, 2, 3, 4, 5)
# Of severities 1 to 5, of kinds that round little and use nothing but numpy and Pillow; measured with numpy 2.4.6,
# scipy 1.17.1 and Pillow 13.0.0.
DIGESTS = {
    Contrast: ["90216616b6eabe76", "d7b572aff4df88b0", "f03966abdc6c5a76", "aa4c82811cd7ec75", "60b5afc4f4463a5e"],
    Pixelate: ["dbe0c18b64f6d107", "d8a9e77d8e57d0b8", "38774aa665e0e553", "5cf03ffdba535584", "0a929f2cafad5cd9"],
    noise.ImpulseNoise: [
        "82bb72135cc34aa6", "bf4e1c093930f0fa", "c523ea4c95f7af4f", "4eff77f040b29da7", "7d5d4881784512a2",
    ],
    noise.ShotNoise: [
        "9020b66ff861bdf6", "228f61f63a006507", "c40794009fd2eea5", "1c554570cef13418", "f481b1fcf75c49a5",
    ],
}  # fmt: skip


def pixels(image: Image.Image) -> np.ndarray:
    return np.asarray(image, dtype=float)


def plain(*colour: int, size: tuple[int, int] = (224, 224)) -> Image.Image:
    return Image.new("RGB", size, colour)


def after(kind: type, severity: int, image: Image.Image, key: str = "id") -> np.ndarray:
    return pixels(kind(severity).image(image, 0, key))


# Noise


@pytest.mark.parametrize(("severity", "deviation"), [(1, 0.08), (2, 0.12), (3, 0.18)])
def test_gaussian_noise_has_the_published_deviation(severity, deviation):
    difference = (after(noise.GaussianNoise, severity, plain(128, 128, 128)) - 128) / 255
    assert difference.std() == pytest.approx(deviation, rel=0.02)
    assert abs(difference.mean()) < 0.002


def test_speckle_noise_is_in_proportion_to_the_value():
    for value in (40, 80, 120):
        # At severity 2 a deviation is a fifth of the value.
        changed = after(noise.SpeckleNoise, 2, plain(value, value, value))
        assert changed.std() == pytest.approx(0.2 * value, rel=0.02)
        assert changed.mean() == pytest.approx(value, rel=0.005)
    assert not after(noise.SpeckleNoise, 5, plain(0, 0, 0)).any()


@pytest.mark.parametrize(("severity", "photons"), [(1, 60), (2, 25), (3, 12)])
def test_shot_noise_counts_photons(severity, photons):
    # A Poisson count's variance is its mean: a quarter of white is photons / 4, and nothing is cut.
    changed = after(noise.ShotNoise, severity, plain(64, 64, 64)) / 255
    assert changed.mean() == pytest.approx(64 / 255, rel=0.01)
    assert changed.std() == pytest.approx(np.sqrt(64 / 255 / photons), rel=0.02)
    assert len(np.unique(changed)) <= photons + 1


@pytest.mark.parametrize(("severity", "share"), [(1, 0.03), (3, 0.09), (5, 0.27)])
def test_impulse_noise_replaces_the_published_share_by_black_and_white(severity, share):
    changed = after(noise.ImpulseNoise, severity, plain(128, 128, 128))
    assert (changed != 128).mean() == pytest.approx(share, rel=0.05)
    assert (changed == 0).mean() == pytest.approx(share / 2, rel=0.1)
    assert set(np.unique(changed)) == {0, 128, 255}


def test_impulses_of_a_lower_severity_stay():
    changed = [after(noise.ImpulseNoise, severity, plain(128, 128, 128)) for severity in SEVERITIES]
    for low, high in pairwise(changed):
        assert (high[low != 128] == low[low != 128]).all()


# Blur


def test_gaussian_blur_is_the_exact_one(make_picture):
    image = make_picture(97, 64)
    for severity, sigma in zip(SEVERITIES, (1, 2, 3, 4, 6), strict=True):
        exact = gaussian_filter(pixels(image), (sigma, sigma, 0), mode="nearest")
        assert np.abs(after(GaussianBlur, severity, image) - exact).max() <= 0.51


def test_defocus_blur_spreads_a_point_over_a_disk():
    image = plain(0, 0, 0, size=(41, 41))
    image.putpixel((20, 20), (255, 255, 255))
    # 29 pixels lie within 3 of a pixel: 255 / 29 is 8.8.
    spread = after(DefocusBlur, 1, image)[..., 0]
    assert (spread == 9).sum() == 29
    assert spread[20, 17] == spread[23, 20] == 9
    assert spread[17, 17] == 0


def test_defocus_blur_of_a_large_disk_brightens_as_published():
    sums = [disk(radius, 0.5).sum() for radius in (4, 6, 8, 10)]
    assert sums == pytest.approx([1, 1, 1.013, 1.011], abs=5e-4)


def test_motion_blur_is_a_half_gaussian_in_whole_steps():
    weights, steps = smear(10, 3, 0)
    assert sum(weights) == pytest.approx(1, abs=1e-4)
    assert weights[3] / weights[0] == pytest.approx(np.exp(-0.5))
    assert steps[:4] == [(0, 0), (-1, 0), (-2, 0), (-3, 0)]
    # At 45 degrees a step of 1 is 0.71 pixels along each side.
    assert smear(10, 3, 45)[1][:5] == [(0, 0), (-1, -1), (-1, -1), (-2, -2), (-3, -3)]


@pytest.mark.parametrize("kind", [GaussianBlur, MotionBlur, ZoomBlur])
@pytest.mark.parametrize("size", [(224, 224), (7, 5), (1, 1)])
def test_blurs_keep_a_plain_picture(kind, size):
    for severity in SEVERITIES:
        assert (after(kind, severity, plain(10, 200, 255, size=size)) == (10, 200, 255)).all()


def test_zoom_blur_is_the_mean_of_the_zooms(make_picture):
    image = make_picture(120, 90)
    values = pixels(image)
    zooms = np.arange(1, 1.21, 0.02)
    total = values.copy()
    for factor in zooms:
        rows, columns = (int(np.ceil(length / factor)) for length in (90, 120))
        top, left = (90 - rows) // 2, (120 - columns) // 2
        part = values[top : top + rows, left : left + columns]
        total += zoom(part, (factor, factor, 1), order=1)[:90, :120]
    assert np.abs(after(ZoomBlur, 3, image) - total / (len(zooms) + 1)).max() <= 0.51


@pytest.mark.parametrize(("width", "height", "farthest"), [(23, 17, 1), (40, 31, 2), (40, 31, 4), (8, 8, 4), (3, 2, 2)])
def test_glass_blur_finds_what_going_through_the_pixels_would(width, height, farthest):
    rng = np.random.default_rng(0)
    values = rng.integers(0, 256, (height, width, 3), dtype=np.uint8)
    steps = draw_steps(rng, (width, height), farthest)
    one_by_one = values.copy()
    for y in range(height - farthest, farthest, -1):
        for x in range(width - farthest, farthest, -1):
            down, across = steps[:, y - farthest - 1, x - farthest - 1]
            one_by_one[y, x] = one_by_one[y + down, x + across]
    assert (scattered(values, steps, farthest) == one_by_one).all()


def test_glass_steps_are_even_and_never_reach_the_farthest_to_the_right():
    steps = draw_steps(np.random.default_rng(0), (400, 300), 3)
    counts = np.bincount(steps.ravel() + 3)
    assert len(counts) == 6
    assert counts / steps.size == pytest.approx(np.full(6, 1 / 6), rel=0.02)


def test_glass_blur_stays_near(make_picture):
    image = plain(0, 0, 0, size=(100, 100))
    image.paste((255, 255, 255), (0, 0, 50, 100))
    changed = after(GlassBlur, 1, image)
    assert (changed[:, :40] == 255).all()
    assert not changed[:, 60:].any()


# Weather


def test_brightness_adds_to_the_value_of_hsv():
    image = Image.new("RGB", (4, 1))
    for place, colour in enumerate([(100, 50, 0), (0, 0, 0), (255, 255, 255), (200, 100, 100)]):
        image.putpixel((place, 0), colour)
    # 0.3 of white is 76.5: 176.5 / 100 of the first, a grey, white as it was, and 255 / 200 of the last.
    assert after(Brightness, 3, image)[0].tolist() == [[176, 88, 0], [76, 76, 76], [255, 255, 255], [255, 128, 128]]


def test_fog_never_passes_the_brightest_value(make_picture):
    image = make_picture(90, 70).point(lambda value: value // 2)
    brightest = pixels(image).max()
    for severity in SEVERITIES:
        changed = after(Fog, severity, image)
        assert changed.max() <= brightest
        assert changed.std() < pixels(image).std()


@pytest.mark.parametrize("size", [(1, 1), (2, 3), (1, 300), (256, 256), (500, 333), (700, 20)])
def test_plasma_of_any_size_runs_from_0_to_1(size):
    clouds = plasma(np.random.default_rng(1), size, 1.7)
    assert clouds.shape == size[::-1]
    assert clouds.min() >= 0
    assert clouds.max() <= 1
    if size == (256, 256):
        assert (clouds.min(), clouds.max()) == (0, 1)


def test_plasma_is_rougher_where_it_decays_less():
    rough, smooth = (
        np.mean([np.abs(np.diff(plasma(np.random.default_rng(seed), (128, 128), decay))).mean() for seed in range(8)])
        for decay in (1.4, 2.0)
    )
    assert rough > 1.5 * smooth


def test_snow_whitens_and_falls():
    grey = plain(60, 60, 60)
    changed = [after(Snow, severity, grey)[..., 0] for severity in SEVERITIES]
    # Where no flake is: 0.8 of 60 and 0.2 of 1.5 x 60 + 127.5.
    assert changed[0].min() == round(0.8 * 60 + 0.2 * 217.5)
    assert all((each == 255).any() for each in changed[2:])
    # Flakes fall within 45 degrees of down: they are longer than wide.
    down, across = (np.mean([np.abs(np.diff(each, axis=axis)).mean() for each in changed]) for axis in (0, 1))
    assert down < across


def test_frost_textures_have_the_stated_tones():
    for which, (means, deviations) in enumerate(TONES):
        assert texture(which).mean(axis=(0, 1)) == pytest.approx(means, abs=3)
        assert texture(which).std(axis=(0, 1)) == pytest.approx(deviations, rel=0.1)


def test_frost_adds_its_share_of_the_ice():
    # On black at severity 2 there is nothing but 0.6 of a texture's part.
    found = {tuple(after(Frost, 2, plain(0, 0, 0), f"id {number}").mean(axis=(0, 1))) for number in range(20)}
    assert len(found) == 20
    low, high = (0.6 * extreme(means[0] for means, _ in TONES) for extreme in (min, max))
    assert all(low - 25 < red < high + 25 for red, _, _ in found)


def test_spatter_is_water_that_brightens_then_mud_that_hides():
    black, white = plain(0, 0, 0), plain(255, 255, 255)
    for severity in (1, 2, 3):
        red, green, blue = after(Spatter, severity, black).transpose(2, 0, 1)
        assert (blue == green).all()
        assert (red <= green).all()
        assert 0 < (green > 0).mean() < 0.5
        assert (after(Spatter, severity, white) == 255).all()
    for severity in (4, 5):
        changed = after(Spatter, severity, white)
        assert np.abs(changed - MUD).max(axis=2).min() < 40
        assert (changed == 255).all(axis=2).mean() > 0.5


# Digital


def test_contrast_keeps_a_share_of_the_distance_to_the_mean():
    image = Image.new("RGB", (2, 1))
    image.putpixel((0, 0), (100, 0, 50))
    image.putpixel((1, 0), (200, 250, 50))
    # Means 150, 125 and 50; at severity 4 a tenth stays.
    assert after(Contrast, 4, image)[0].tolist() == [[145, 112, 50], [155, 138, 50]]


def test_saturate_scales_the_saturation_of_hsv():
    red = plain(200, 100, 100, size=(1, 1))
    # Saturation 0.5: 0.15, 0.05, 1, 1 and 1; the value of 200 stays.
    assert [after(Saturate, severity, red)[0, 0].tolist() for severity in SEVERITIES] == [
        [200, 170, 170], [200, 190, 190], [200, 0, 0], [200, 0, 0], [200, 0, 0],
    ]  # fmt: skip
    # A grey gets red's hue, and 0.1 and 0.2 of saturation.
    grey = plain(200, 200, 200, size=(1, 1))
    assert [after(Saturate, severity, grey)[0, 0].tolist() for severity in (3, 4, 5)] == [
        [200, 200, 200], [200, 180, 180], [200, 160, 160],
    ]  # fmt: skip


def test_pixelate_averages_and_repeats():
    image = Image.new("RGB", (8, 4))
    for x, y in product(range(8), range(4)):
        image.putpixel((x, y), (10 * x, 0, 0))
    # At severity 5 a block of 4 x 4 is a pixel: the means of 0 to 30 and of 40 to 70.
    assert after(Pixelate, 5, image)[0, :, 0].tolist() == [15, 15, 15, 15, 55, 55, 55, 55]


@pytest.mark.parametrize(("severity", "quality"), [(1, 25), (2, 18), (3, 15), (4, 10), (5, 7)])
def test_jpeg_compression_is_a_saved_file(severity, quality, photo):
    file = BytesIO()
    photo.save(file, "JPEG", quality=quality)
    assert (after(JpegCompression, severity, photo) == pixels(Image.open(file))).all()


def test_elastic_transform_moves_pixels_by_smoothed_steps():
    # A picture whose values are the columns shows how far its pixels came: at 400 x 300 and severity 5, uniform steps
    # of 0.005 x 300 x 30 px at most, smoothed over 4 and 3 px.
    ramp = Image.fromarray(
        np.repeat(np.tile(np.linspace(0, 255, 400).astype(np.uint8), (300, 1))[..., None], 3, axis=2)
    )
    moved = (after(ElasticTransform, 5, ramp)[..., 0] - pixels(ramp)[..., 0])[20:-20, 40:-40] * 400 / 255
    expected = 45 / np.sqrt(3) / np.sqrt(4 * np.pi * 4 * 3)
    assert moved.std() == pytest.approx(expected, rel=0.15)
    assert not (after(ElasticTransform, 5, plain(9, 8, 7)) != (9, 8, 7)).any()


def test_elastic_steps_on_a_coarser_grid_are_as_long():
    fine, coarse = (smooth_steps(np.random.default_rng(0), (side, side)) for side in (590, 1210))
    # Smoothed over 5.9 and 12.1 px.
    assert coarse.std() * 12.1 == pytest.approx(fine.std() * 5.9, rel=0.1)


# The whole


@pytest.mark.parametrize("kind", DIGESTS)
def test_results_are_those_of_earlier_runs(kind):
    digest = runpy.run_path(str(Path(__file__).with_name("digests.py")))["digest"]
    assert [digest(kind(severity)) for severity in SEVERITIES] == DIGESTS[kind]


@pytest.mark.parametrize("kind", [DefocusBlur, GaussianBlur, ZoomBlur, ElasticTransform, Snow, Frost, Spatter])
def test_threads_of_opencv_do_not_matter(kind, make_picture):
    image, before = make_picture(500, 333), cv2.getNumThreads()
    found = set()
    for threads in (1, 2, 5):
        cv2.setNumThreads(threads)
        found.add(kind(3).image(image, 0, "id").tobytes())
    cv2.setNumThreads(before)
    assert len(found) == 1


def test_the_experiment_sweeps_all_19_at_all_severities():
    params = OmegaConf.load(conf_dir() / "experiment" / "imagenet_c.yaml").hydra.sweeper.params
    names = [name.strip() for name in params.perturbation.split(",")]
    yamls = [(path.stem, OmegaConf.load(path)) for path in (conf_dir() / "perturbation").glob("*.yaml")]
    mine = {name: config for name, config in yamls if "imagenet_c" in config.transform._target_}
    assert sorted(names) == sorted(mine)
    assert len(names) == 19
    assert {config.family for config in mine.values()} == {"noise", "blur", "weather", "digital"}
    assert params["perturbation.severity"] == "1,2,3,4,5"
