"""Promises of the scenes: the same seed gives the same picture, and a picture shows what its scene says."""

from __future__ import annotations

from math import hypot

import numpy as np
import pytest

from argus.pocket.corpus import evaluation_scene, patch_labels, training_scene
from argus.pocket.scenes import SIDE, STYLES, Scene, Thing, draw, sample_scene, vocabulary
from argus.pocket.shapes import COLORS

SEED = 5


@pytest.mark.parametrize("style", STYLES)
def test_same_seed_gives_the_same_scene_and_bytes(style):
    first, second = (sample_scene(style, np.random.default_rng(SEED)) for _ in range(2))
    assert first == second
    assert draw(first).tobytes() == draw(second).tobytes()
    assert draw(first).size == (SIDE, SIDE)
    assert draw(first).mode == "RGB"


@pytest.mark.parametrize("style", STYLES)
def test_things_lie_apart_within_the_picture_and_no_two_are_alike(style):
    for number in range(60):
        things = training_scene(style, SEED, number).things
        assert len({(thing.shape, thing.color) for thing in things}) == len(things)
        for thing in things:
            assert min(thing.box) >= 0
            assert max(thing.box) <= SIDE
        for i, one in enumerate(things):
            assert all(hypot(one.x - o.x, one.y - o.y) > one.radius + o.radius for o in things[:i])


def test_vcr_shapes_are_unique_so_that_a_name_means_one_thing():
    for number in range(60):
        shapes = [thing.shape for thing in training_scene("vcr", SEED, number).things]
        assert len(set(shapes)) == len(shapes)


@pytest.mark.parametrize("style", STYLES)
def test_small_and_large_come_equally_often(style):
    sizes = [thing.size for number in range(150) for thing in training_scene(style, SEED, number).things]
    assert 0.4 < sizes.count("small") / len(sizes) < 0.6


@pytest.mark.parametrize("style", STYLES)
def test_training_and_evaluation_share_no_scene_and_no_picture(style):
    # Of the same seed, which is the worst case: the suite's data and its training have different ones.
    trained = [training_scene(style, SEED, number) for number in range(200)]
    held_out = [evaluation_scene(style, SEED, number) for number in range(100)]
    assert not set(trained) & set(held_out)
    assert not {draw(scene).tobytes() for scene in trained} & {draw(scene).tobytes() for scene in held_out}


def test_styles_look_different():
    means = np.array([np.asarray(draw(Scene(style, (), 0.5))).mean(axis=(0, 1)) for style in STYLES])
    distances = np.linalg.norm(means[:, None] - means[None], axis=-1)
    assert distances[~np.eye(len(STYLES), dtype=bool)].min() > 10


@pytest.mark.parametrize("style", ["coco", "clevr"])
def test_every_shape_and_colour_is_drawn_in_its_colour(style):
    words = vocabulary(style)
    empty = np.asarray(draw(Scene(style, ()))).astype(int)
    for shape in words.shapes:
        for color in words.colors:
            thing = Thing(shape, color, "large", SIDE / 2, SIDE / 2, 30.0, words.materials[0])
            drawn = np.asarray(draw(Scene(style, (thing,)))).astype(int)
            close = np.abs(drawn - COLORS[color]).max(axis=-1) < 12
            assert close.sum() - (np.abs(empty - COLORS[color]).max(axis=-1) < 12).sum() > 250, (shape, color)
            changed = np.argwhere((drawn != empty).any(axis=-1))
            assert np.abs(changed - SIDE / 2).max() <= 31, shape


def test_metal_and_rubber_differ_by_a_white_highlight():
    def white(material: str) -> int:
        thing = Thing("sphere", "red", "small", 100.0, 100.0, 15.0, material)
        return int((np.asarray(draw(Scene("clevr", (thing,)))).min(axis=-1) > 245).sum())

    assert white("rubber") == 0 < white("metal")


def test_patch_labels_tell_what_lies_over_the_middle_of_a_patch():
    thing = Thing("star", "red", "small", 42.0, 14.0, 13.0)  # over the second patch of the first row
    labels = patch_labels(Scene("coco", (thing,)))
    shown = np.argwhere(labels[0]).ravel()
    assert shown.tolist() == [1]
    assert labels[:, 0].tolist() == [0, 0, 0, 0]
    assert labels[3].sum() == 0
