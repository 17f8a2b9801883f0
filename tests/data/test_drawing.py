"""Promises of drawn marks: thin boxes with a name beside them, at any picture size, over nothing that matters."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from argus.data.drawing import draw_marks
from argus.pocket.corpus import evaluation_scene, marks
from argus.pocket.scenes import draw
from argus.records import Mark


def changed(size: tuple[int, int], *given: Mark) -> np.ndarray:
    """Return which pixels of a grey picture the marks change."""
    plain = Image.new("RGB", size, (120, 120, 120))
    return (np.asarray(draw_marks(plain, given)) != np.asarray(plain)).any(axis=-1)


def test_the_picture_given_stays_and_the_same_marks_give_the_same_pixels():
    plain = Image.new("RGB", (224, 224), (120, 120, 120))
    mark = Mark("person1", (50.0, 60.0, 120.0, 150.0))
    first, second = draw_marks(plain, [mark]), draw_marks(plain, [mark])
    assert first.tobytes() == second.tobytes() != plain.tobytes()
    assert plain.tobytes() == Image.new("RGB", (224, 224), (120, 120, 120)).tobytes()
    assert draw_marks(plain, []).tobytes() == plain.tobytes()


def test_inside_of_a_box_stays_as_it_was():
    touched = changed((224, 224), Mark("person1", (50.0, 60.0, 120.0, 150.0)))
    assert touched[60, 50:121].all()
    assert touched[60:151, 50].all()
    assert not touched[62:149, 52:119].any()


def test_label_stands_above_the_box_and_below_where_there_is_no_room():
    above = changed((224, 224), Mark("person1", (50.0, 60.0, 120.0, 150.0)))
    below = changed((224, 224), Mark("person1", (50.0, 2.0, 120.0, 150.0)))
    assert above[:59].any()
    assert not above[152:].any()
    assert below[152:].any()


@pytest.mark.parametrize("box", [(0, 0, 640, 480), (600, 100, 639, 200), (-20, -20, 700, 500), (300, 200, 300, 200)])
def test_label_lies_within_the_picture_wherever_the_box_is(box):
    wide = changed((800, 640), Mark("person12", (box[0] + 80, box[1] + 80, box[2] + 80, box[3] + 80)))
    cut = changed((640, 480), Mark("person12", box))
    font = 480 // 22
    assert cut.sum() > 2 * font
    assert wide.any()


def test_lines_and_letters_grow_with_the_picture():
    small = changed((224, 224), Mark("person1", (56.0, 56.0, 168.0, 168.0)))
    large = changed((1792, 1792), Mark("person1", (448.0, 448.0, 1344.0, 1344.0)))
    assert 0.5 < large.mean() / small.mean() < 1.5


def test_marks_leave_the_things_of_a_pocket_picture_visible():
    for number in range(20):
        scene = evaluation_scene("vcr", 1, number)
        plain, marked = (np.asarray(image) for image in (draw(scene), draw_marks(draw(scene), marks(scene))))
        for thing in scene.things:
            left, top, right, bottom = (int(edge) for edge in thing.box)
            same = (plain[top:bottom, left:right] == marked[top:bottom, left:right]).all(axis=-1)
            assert same.mean() > 0.7
