"""Promises of what comes in the way, is written on a picture or is left of it after saving."""

from __future__ import annotations

from io import BytesIO
from itertools import pairwise

import numpy as np
import pytest
from PIL import Image

from argus.perturbations.photo.compression import DoubleJpeg, PacketLoss, WebP
from argus.perturbations.photo.occlusion import DirtyLens, GridMask, Occlusion
from argus.perturbations.photo.overlay import WORDS, Typographic, Watermark
from argus.perturbations.photo.screen import Halftone, Moire
from argus.perturbations.photo.sensor import DeadLines
from argus.perturbations.photo.weather import Rain

SEVERITIES = (1, 2, 3, 4, 5)
GREY = Image.new("RGB", (320, 240), (128, 128, 128))


def pixels(image: Image.Image) -> np.ndarray:
    return np.asarray(image, dtype=float)


def touched(member: type, severity: int, key: str = "id") -> np.ndarray:
    return (pixels(member(severity).image(GREY, 0, key)) != 128).any(axis=2)


@pytest.mark.parametrize("member", [Occlusion, GridMask, DirtyLens, DeadLines, PacketLoss, Typographic])
def test_what_a_lower_severity_hides_a_higher_one_hides_too(make_picture, member):
    image = make_picture(320, 240)
    for key in ("a", "b", "c"):
        hidden = [(pixels(member(each).image(image, 0, key)) != pixels(image)).any(axis=2) for each in SEVERITIES]
        # A pixel may happen to have the value that would hide it.
        assert all((light & ~heavy).mean() < 0.002 for light, heavy in pairwise(hidden))
        assert all(light.mean() < heavy.mean() for light, heavy in pairwise(hidden))


def test_occlusion_is_six_boxes_of_one_colour_at_most_of_the_stated_area():
    for key in "abcdef":
        after = np.asarray(Occlusion(3).image(GREY, 0, key))
        colours = np.unique(after[touched(Occlusion, 3, key)], axis=0)
        assert len(colours) == 1
        # A quarter, less what lies outside or twice; 1 % for the borders' pixels.
        assert 0.08 < touched(Occlusion, 3, key).mean() < 0.26


@pytest.mark.parametrize(("severity", "side"), [(1, 0.2), (3, 0.5), (5, 0.8)])
@pytest.mark.parametrize("size", [(320, 240), (64, 64), (1000, 300)])
def test_grid_mask_blackens_the_square_of_its_side(severity, side, size):
    white = Image.new("RGB", size, (255, 255, 255))
    lost = np.mean([255 - pixels(GridMask(severity).image(white, 0, str(number))).mean() for number in range(20)])
    assert lost / 255 == pytest.approx(side**2, rel=0.05)


def test_dirt_only_draws_towards_its_colour():
    after = pixels(DirtyLens(5).image(GREY, 0, "id"))
    assert ((after <= 128) & (after >= [62, 54, 44])).all()
    assert after.min() < 90


def test_rain_falls_on_the_places_of_lower_severities():
    black = Image.new("RGB", (320, 240))
    streaks = []
    for severity, veiled in zip(SEVERITIES, (0.05, 0.1, 0.18, 0.28, 0.4), strict=True):
        beyond = pixels(Rain(severity).image(black, 0, "id"))[:, :, 0] - round(128 * veiled)
        streaks.append(beyond / (205 - 128 * veiled))
    assert all((light < heavy + 0.03).all() for light, heavy in pairwise(streaks))
    covered = [(each > 0.1).mean() for each in streaks]
    assert all(0.01 < light < heavy < 0.8 for light, heavy in pairwise(covered))


@pytest.mark.parametrize(("severity", "share"), [(1, 0.005), (3, 0.04), (5, 0.25)])
def test_dead_lines_are_the_stated_share_of_rows_and_columns(severity, share):
    dead = touched(DeadLines, severity)
    rows, columns = dead.all(axis=1).sum(), dead.all(axis=0).sum()
    # Two pixels wide at a short side of 240: 120 rows and 160 columns.
    assert (rows + columns) / 2 == max(1, round(share * 280))
    cross = dead.all(axis=1)[:, None] | dead.all(axis=0)[None, :]
    assert (dead == cross).all()


def test_lost_packets_show_one_other_part_of_the_picture(make_picture):
    image = make_picture(320, 240)
    before, after = np.asarray(image), np.asarray(PacketLoss(3).image(image, 0, "id"))
    lost = (before != after).any(axis=2)
    assert lost.mean() == pytest.approx(0.2, abs=0.02)
    rows, columns = (places[::97] for places in np.nonzero(lost))
    shifts = [
        (y, x)
        for y in range(24, 97)
        for x in range(32, 129)
        if (before[(rows - y) % 240, (columns - x) % 320] == after[rows, columns]).all()
    ]
    assert len(shifts) == 1
    assert (np.roll(before, shifts[0], axis=(0, 1))[lost] == after[lost]).all()


def test_typographic_sticks_a_white_note_with_black_letters_on_the_picture():
    for key in "abcdefgh":
        hidden = touched(Typographic, 3, key)
        rows, columns = np.flatnonzero(hidden.any(axis=1)), np.flatnonzero(hidden.any(axis=0))
        note = pixels(Typographic(3).image(GREY, 0, key))[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1, 0]
        assert note.min() == 0
        assert 0.6 < (note == 255).mean() < 0.95
        assert (note[0] == 255).all()
        # Letters of 15 % of 240 pixels amid margins.
        assert 36 * 1.5 < note.shape[0] < 36 * 2.5


def test_typographic_draws_all_its_words_and_leaves_room_for_the_longest():
    notes = {Typographic(5).image(GREY, 0, str(number)).tobytes() for number in range(100)}
    assert len(notes) == 100
    assert len(WORDS) == len(set(WORDS)) == 22
    portrait = Image.new("RGB", (150, 600), (128, 128, 128))
    for number in range(40):
        hidden = (pixels(Typographic(5).image(portrait, 0, str(number))) != 128).any(axis=(0, 2))
        assert hidden.sum() <= 0.96 * 150


def test_watermark_lightens_the_same_places_more_and_more():
    marks = [pixels(Watermark(each).image(GREY, 0, "id")) for each in SEVERITIES]
    assert all((light <= heavy).all() for light, heavy in pairwise(marks))
    assert marks[0].min() == 128
    assert marks[-1].max() == pytest.approx(128 + 0.9 * 127, abs=2)
    assert 0.05 < (marks[-1][:, :, 0] > 128).mean() < 0.4


def test_moire_only_takes_light_and_colours_it():
    after = pixels(Moire(4).image(GREY, 0, "id"))
    assert after.max() <= 128
    # Two gratings that each take up to half.
    assert after.min() == pytest.approx(128 * 0.25, abs=6)
    assert np.ptp(after, axis=2).mean() > 10


@pytest.mark.parametrize("size", [(8, 8), (224, 224), (896, 672)])
def test_halftone_keeps_the_mean_grey(size):
    after = pixels(Halftone(4).image(Image.new("RGB", size, (128, 128, 128)), 0, "id"))
    assert after.std() > 15
    assert after.mean() == pytest.approx(128, abs=6)


def test_halftone_has_as_many_dots_in_a_large_picture():
    peaks = []
    for side in (224, 672):
        after = pixels(Halftone(3).image(Image.new("RGB", (side, side), (128, 128, 128)), 0, "id"))[:, :, 2]
        spectrum = np.abs(np.fft.rfft(after.mean(axis=0) - after.mean()))
        peaks.append(int(spectrum.argmax()))
    # The blue screen stands straight: 224 / 3.5 dots a side.
    assert peaks == [64, 64]


def again(image: Image.Image, kind: str, quality: int) -> Image.Image:
    file = BytesIO()
    image.save(file, kind, quality=quality)
    return Image.open(file).convert("RGB")


@pytest.mark.parametrize(("severity", "quality"), [(1, 60), (3, 12), (5, 0)])
def test_webp_is_what_saving_at_the_stated_quality_leaves(make_picture, severity, quality):
    image = make_picture(320, 240)
    assert WebP(severity).image(image, 0, "id").tobytes() == again(image, "WEBP", quality).tobytes()


def test_double_jpeg_is_saved_twice_on_grids_that_do_not_meet(make_picture):
    image = make_picture(320, 240)
    once = pixels(again(image, "JPEG", 18))
    offsets = set()
    for key in "abcd":
        after = DoubleJpeg(3).image(image, 0, key)
        found = []
        for top in range(1, 8):
            for left in range(1, 8):
                moved = np.pad(once, ((top, 0), (left, 0), (0, 0)), mode="edge").astype(np.uint8)
                second = again(Image.fromarray(moved), "JPEG", 18).crop((left, top, left + 320, top + 240))
                found += [(top, left)] if second.tobytes() == after.tobytes() else []
        assert len(found) == 1
        offsets.update(found)
    assert len(offsets) > 1


def test_large_pictures_get_the_artefacts_of_a_reduced_copy(make_picture):
    image = make_picture(900, 700)
    small = image.reduce(3)
    artefacts = pixels(again(small, "WEBP", 4)) - pixels(small)
    after = pixels(WebP(4).image(image, 0, "id")) - pixels(image)
    # Averaged over the reduction's blocks; clipping at black and white and the smooth enlargement cost some.
    blocks = after[:699].reshape(233, 3, 300, 3, 3).mean(axis=(1, 3))
    assert np.corrcoef(blocks.ravel(), artefacts[:233].ravel())[0, 1] > 0.8
