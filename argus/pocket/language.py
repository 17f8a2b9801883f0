"""What people say about a scene: captions, region phrases and questions, worded as in the dataset of its style."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from argus.pocket.asking import ANSWERS, Asked, ask
from argus.pocket.riddles import as_questions, riddles
from argus.pocket.scenes import SIDE
from argus.pocket.words import NUMBERS, article, direction, listed, named, pick, shuffled
from argus.records import Question

if TYPE_CHECKING:
    from numpy.random import Generator

    from argus.pocket.scenes import Scene, Thing
    from argus.records import Box

REGIONS = 5
"""Regions of a visual_genome picture."""


@dataclass(frozen=True)
class Region:
    """A phrase about a part of a picture; the box is in whole pixels."""

    phrase: str
    box: Box


@dataclass(frozen=True)
class Wording:
    """How a dataset says things. `at` and the relations have a hole for the place and for the other thing."""

    setting: str
    noun: str
    at: str
    relations: dict[str, str]
    finish: Callable[[str], str]


def _sentence(text: str) -> str:
    """Return the text as Flickr30k writes it: a capital first, a space before the full stop and the commas."""
    return f"{text[0].upper()}{text[1:]} .".replace(",", " ,").replace(":", " :")


def _plain(text: str) -> str:
    return text


def _stop(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


BESIDE = {"left": "to the left of {}", "right": "to the right of {}", "above": "above {}", "below": "below {}"}
SPOKEN = {"left": "left of {}", "right": "right of {}", "above": "over {}", "below": "under {}"}
WORDINGS = {
    "coco": Wording("on a grassy field", "shapes", "at the {}", BESIDE, _stop),
    "flickr30k": Wording("against a plain wall", "objects", "near the {}", SPOKEN, _sentence),
    "visual_genome": Wording("in front of stripes", "shapes", "at the {}", BESIDE, _plain),
    "clevr": Wording("on a gray floor", "things", "at the {}", BESIDE, _stop),
    "vcr": Wording("in a room", "shapes", "at the {}", BESIDE, _stop),
}


def captions(scene: Scene, rng: Generator) -> tuple[str, str, str, str, str]:
    """Return five true captions: places, a relation, a count and a list, a sized relation and a place, a sized list."""
    words = WORDINGS[scene.style]
    return (
        words.finish(_places(scene, words, rng)),
        words.finish(f"{_relation(scene, words, False, rng)} {words.setting}"),
        words.finish(_counted(scene, words, rng)),
        words.finish(_related_place(scene, words, rng)),
        words.finish(f"{_list(scene, True, rng)} {words.setting}"),
    )


def regions(scene: Scene, rng: Generator) -> tuple[Region, ...]:
    """Return REGIONS phrases with their boxes; a phrase tells a thing, its place and a neighbour where there is one."""
    words = WORDINGS[scene.style]
    things = [thing for _ in range(REGIONS) for thing in shuffled(scene.things, rng)][:REGIONS]
    return tuple(_region(scene, thing, words, rng) for thing in things)


def questions(scene: Scene, rng: Generator) -> tuple[Question, ...]:
    """Return questions with their choices.

    clevr: four, to be answered from ANSWERS. vcr: Q->A and QA->R of the scene's riddles, four sentences each. The other
    styles have no questions in their datasets; theirs (three) are for training, and are asked as in clevr.
    """
    if scene.style == "vcr":
        return tuple(q for i, one in enumerate(riddles(scene)) for q in as_questions(one, scene, str(i)))
    official = scene.style == "clevr"
    return tuple(
        _question(i, one, ANSWERS if official else one.choices)
        for i, one in enumerate(ask(scene, 4 if official else 3, rng))
    )


def _question(number: int, asked: Asked, choices: tuple[str, ...]) -> Question:
    return Question(str(number), asked.text, choices, choices.index(asked.answer), asked.kind)


def _list(scene: Scene, sized: bool, rng: Generator) -> str:
    return listed([article(named(thing, sized)) for thing in shuffled(scene.things, rng)])


def _places(scene: Scene, words: Wording, rng: Generator) -> str:
    phrases = [f"{article(named(t, False))} {words.at.format(t.place)}" for t in shuffled(scene.things, rng)]
    return listed(phrases)


def _pair(scene: Scene, words: Wording, sized: bool, rng: Generator) -> tuple[Thing, str]:
    """Return a thing and what it is next to ("above a blue circle"); alone, it is "alone"."""
    thing = pick(scene.things, rng)
    others = [other for other in scene.things if other is not thing]
    if not others:
        return thing, "alone"
    other = pick(others, rng)
    return thing, words.relations[direction(thing, other)].format(article(named(other, sized)))


def _relation(scene: Scene, words: Wording, sized: bool, rng: Generator) -> str:
    thing, beside = _pair(scene, words, sized, rng)
    return f"{article(named(thing, sized))} {beside}"


def _counted(scene: Scene, words: Wording, rng: Generator) -> str:
    count = len(scene.things)
    noun = words.noun if count > 1 else words.noun[:-1]
    return f"{NUMBERS[count]} {noun}: {_list(scene, False, rng)}"


def _related_place(scene: Scene, words: Wording, rng: Generator) -> str:
    thing, beside = _pair(scene, words, True, rng)
    return f"{article(named(thing, True))} {words.at.format(thing.place)}, {beside}"


def _region(scene: Scene, thing: Thing, words: Wording, rng: Generator) -> Region:
    where = words.at.format(thing.place)
    others = [other for other in scene.things if other is not thing]
    if not others:
        phrase = pick((f"{named(thing, True)} {where}", f"only {article(named(thing, True))} {where}"), rng)
        return Region(phrase, _pixels([thing.box]))
    other = pick(others, rng)
    beside = words.relations[direction(thing, other)].format(article(named(other, True)))
    back = words.relations[direction(other, thing)].format("it")
    texts = (
        f"{named(thing, True)} {where} {beside}",
        f"{article(named(thing, True))} {beside}, {where}",
        f"{named(thing, True)} {where} with {article(named(other, True))} {back}",
    )
    return Region(pick(texts, rng), _pixels([thing.box, other.box]))


def _pixels(boxes: list[Box]) -> Box:
    """Return the smallest whole-pixel box around the boxes, within the picture."""
    left, top = min(box[0] for box in boxes), min(box[1] for box in boxes)
    right, bottom = max(box[2] for box in boxes), max(box[3] for box in boxes)
    return (max(int(left), 0), max(int(top), 0), min(int(right) + 1, SIDE), min(int(bottom) + 1, SIDE))
