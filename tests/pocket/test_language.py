"""Promises of the language: all that is said of a scene is true, and every question has its one right answer."""

from __future__ import annotations

import re

import numpy as np
import pytest

from argus.pocket.asking import ANSWERS, Asked, ask
from argus.pocket.corpus import marks, training_scene
from argus.pocket.language import REGIONS, captions, questions, regions
from argus.pocket.reading import some_choices
from argus.pocket.riddles import mentioned, names, riddles
from argus.pocket.scenes import FLAT, SIDE, SOLID, STYLES, Scene, Thing
from argus.pocket.typos import mistyped

SEED, SCENES = 3, 60
WORDS = {"coco": "grassy", "flickr30k": "wall", "visual_genome": "stripes", "clevr": "floor", "vcr": "room"}


def scenes(style: str) -> list[Scene]:
    return [training_scene(style, SEED, number) for number in range(SCENES)]


def generator() -> np.random.Generator:
    return np.random.default_rng(SEED)


@pytest.mark.parametrize("style", STYLES)
def test_captions_are_five_and_name_only_what_is_there(style):
    for scene in scenes(style):
        told = captions(scene, generator())
        assert len(told) == 5
        assert told == captions(scene, generator())
        seen = {(thing.color, thing.shape) for thing in scene.things}
        for text in told:
            pairs = re.findall(rf"({'|'.join(SOLID.colors + FLAT.colors)}) (?:rubber |metal )?([a-z]+)", text.lower())
            assert {(c, s) for c, s in pairs if s in FLAT.shapes + SOLID.shapes} <= seen, text
        assert any(WORDS[style] in text for text in told)


def test_relations_and_places_are_as_in_the_picture():
    left = Thing("star", "red", "small", 30.0, 112.0, 18.0)
    right = Thing("ring", "blue", "large", 190.0, 120.0, 30.0)
    told = captions(Scene("coco", (left, right)), generator())
    assert told[1] in (
        "A red star to the left of a blue ring on a grassy field.",
        "A blue ring to the right of a red star on a grassy field.",
    )
    assert "a red star at the left" in told[0].lower()
    assert "a blue ring at the right" in told[0].lower()


def test_regions_have_a_box_in_the_picture_around_the_thing_they_speak_of():
    for scene in scenes("visual_genome"):
        found = regions(scene, generator())
        assert len(found) == REGIONS
        for region in found:
            left, top, right, bottom = region.box
            assert 0 <= left < right <= SIDE
            assert 0 <= top < bottom <= SIDE
            inside = [t for t in scene.things if left <= t.x <= right and top <= t.y <= bottom]
            assert any(f"{thing.color} {thing.shape}" in region.phrase for thing in inside)


def answer(asked: Asked, scene: Scene) -> str:
    """Run the question's program over the scene, as CLEVR defines its functions."""
    results: list[list[Thing]] = []
    for step in asked.program:
        given = results[step.inputs[0]] if step.inputs else []
        kind, _, attribute = step.function.partition("_")
        if kind == "filter":
            results.append([thing for thing in given if getattr(thing, attribute) == step.values[0]])
        elif kind == "relate":
            (anchor,) = given
            sign = -1 if step.values[0] == "left" else 1
            results.append([thing for thing in scene.things if sign * (thing.x - anchor.x) > 0])
        elif kind == "query":
            (thing,) = given
            return str(getattr(thing, attribute))
        elif kind in ("count", "exist"):
            return str(len(given)) if kind == "count" else ("yes" if given else "no")
        else:
            results.append(list(scene.things) if kind == "scene" else given)
    raise AssertionError(f"no answer: {asked}")


@pytest.mark.parametrize("style", ["coco", "clevr"])
def test_programs_give_the_stated_answers(style):
    for scene in scenes(style):
        asked = ask(scene, 4, generator())
        assert len({one.text for one in asked}) == len(asked) > 1
        assert [answer(one, scene) for one in asked] == [one.answer for one in asked]
        assert all(one.answer in one.choices for one in asked)


def test_clevr_answers_are_the_official_28_and_all_kinds_are_asked():
    assert len(ANSWERS) == len(set(ANSWERS)) == 28
    rng = generator()
    asked = [one for scene in scenes("clevr") for one in questions(scene, rng)]
    assert all(one.choices == ANSWERS for one in asked)
    queries = {f"query_{attribute}" for attribute in ("size", "color", "material", "shape")}
    assert {one.kind for one in asked} == {"count", "exist"} | queries


def holds(sentence: str, scene: Scene) -> bool:
    """Judge a VCR sentence by the scene."""
    things = dict(zip(names([thing.shape for thing in scene.things]), scene.things, strict=True))
    if found := re.fullmatch(r"(?:I see )?(\w+1) (?:is )?at the ([a-z ]+) of the room\.", sentence):
        return things[found[1]].place == found[2]
    if found := re.fullmatch(r"(\w+1) is (?:the )?(small|large) (?:and )?(\w+)(?: shape there)?\.", sentence):
        return (things[found[1]].size, things[found[1]].color) == (found[2], found[3])
    if found := re.fullmatch(r"(\w+1) is (?:to the )?(left|right|above|below)(?: of)? (\w+1)\.", sentence):
        one, other = things[found[1]], things[found[3]]
        across, down = one.x - other.x, one.y - other.y
        level = abs(across) >= abs(down)
        sides = {"left": across < 0, "right": across > 0, "above": down < 0, "below": down > 0}
        return sides[found[2]] and level == (found[2] in ("left", "right"))
    found = re.fullmatch(r"(\w+1) is (\w+)\.", sentence)
    assert found, sentence
    return things[found[1]].color == found[2]


def test_of_vcr_choices_the_right_one_alone_is_true():
    for scene in scenes("vcr"):
        for question in questions(scene, generator()):
            judged = [holds(choice, scene) for choice in question.choices]
            assert judged == [number == question.target for number in range(4)], question


def test_vcr_asks_two_riddles_with_four_choices_and_marks_what_they_mention():
    positions = set()
    for scene in scenes("vcr"):
        asked = questions(scene, generator())
        assert [one.kind for one in asked] == ["Q->A", "QA->R"] * 2
        assert all(len(set(one.choices)) == 4 for one in asked)
        positions |= {one.target for one in asked}
        shown = {mark.label for mark in marks(scene)}
        spoken_of = set(re.findall(r"[a-z]+1", " ".join(one.text + " ".join(one.choices) for one in asked)))
        assert shown == spoken_of
        assert len(mentioned(scene)) == len(shown)
        assert riddles(scene) == riddles(scene)
    assert positions == {0, 1, 2, 3}


def test_names_count_within_a_class():
    assert names(["star", "ring", "star"]) == ("star1", "ring1", "star2")


def test_training_answers_hold_the_right_one_first_and_one_that_does_not_fit():
    for scene in scenes("clevr")[:10]:
        for question in questions(scene, generator()):
            choices = some_choices(question, 4, generator())
            assert choices[0] == question.choices[question.target]
            assert len(set(choices)) == 4


def test_typos_change_letters_but_not_the_number_of_words():
    text = "a large red star at the top left"
    changed = [mistyped(text, np.random.default_rng(seed)) for seed in range(20)]
    assert any(one != text for one in changed)
    assert all(len(one.split(" ")) == len(text.split(" ")) for one in changed)
