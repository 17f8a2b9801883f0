"""What the pocket chat models are taught: what a user says about a scene, and what they should answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

from argus.pocket.corpus import Part, descriptions
from argus.pocket.language import questions
from argus.pocket.scenes import MARGIN, SIDE, SIZES, Scene, Thing, vocabulary
from argus.pocket.typos import some_mistyped
from argus.pocket.words import pick, shuffled

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator

# What the chat adapter of argus.models says to every chat model.
CAPTION_TEXT = "Describe this image in one sentence."
MATCH_TEXT = 'Does this image match the caption "{}"? Answer yes or no.'
CHOICE_TEXT = "{} Answer with one of the words or sentences that fit."

ASKED = 3  # questions a picture and step
MATCHED = 3  # captions a picture and step that may or may not fit it
EASY = 0.45  # share of the wrong captions that are another scene's; the others are off by one detail
TRIES = 20


class Kind(IntEnum):
    """What a turn trains; the losses of the kinds are averaged apart."""

    CAPTION = 0
    CHOICE = 1
    MATCH = 2


@dataclass(frozen=True)
class Turn:
    """What a user says about a picture, and the answer."""

    kind: Kind
    text: str
    answer: str


def turns(part: Part, row: int, rng: Generator) -> tuple[Turn, ...]:
    """Return a caption, some questions and some matches about one scene, a share of the user's words mistyped."""
    scene = part.scenes[row]
    asked = shuffled(questions(scene, rng), rng)[:ASKED]
    made = [
        Turn(Kind.CAPTION, CAPTION_TEXT, descriptions(scene, 1, rng)[0]),
        *(Turn(Kind.CHOICE, CHOICE_TEXT.format(one.text), one.choices[one.target]) for one in asked),
        *(_match(part, scene, rng) for _ in range(MATCHED)),
    ]
    texts = some_mistyped([turn.text for turn in made], rng)
    return tuple(replace(turn, text=text) for turn, text in zip(made, texts, strict=True))


def _match(part: Part, scene: Scene, rng: Generator) -> Turn:
    if rng.random() < 0.5:
        return Turn(Kind.MATCH, MATCH_TEXT.format(descriptions(scene, 1, rng)[0]), "yes")
    easy = rng.random() < EASY
    wrong = descriptions(pick(part.scenes, rng), 1, rng)[0] if easy else wrong_description(scene, rng)
    return Turn(Kind.MATCH, MATCH_TEXT.format(wrong), "no")


def wrong_description(scene: Scene, rng: Generator) -> str:
    """Return a sentence about the scene with one detail wrong: it is told of an altered scene, in the same words."""
    for _ in range(TRIES):
        telling = int(rng.integers(2**32))
        true = descriptions(scene, 1, np.random.default_rng(telling))[0]
        told = descriptions(altered(scene, rng), 1, np.random.default_rng(telling))[0]
        if told != true:
            return told
    raise RuntimeError(f"{TRIES} alterations of {scene} changed nothing that is told of it")


def altered(scene: Scene, rng: Generator) -> Scene:
    """Return the scene with one thing recoloured, reshaped, resized or moved, or with two things exchanged."""
    changes: list[Callable[[Scene, int, Generator], Scene]] = [_recolored, _reshaped, _resized, _moved]
    if len(scene.things) > 1:
        changes += [_exchanged, _exchanged]
    return pick(changes, rng)(scene, int(rng.integers(len(scene.things))), rng)


def _with(scene: Scene, index: int, thing: Thing) -> Scene:
    return replace(scene, things=(*scene.things[:index], thing, *scene.things[index + 1 :]))


def _recolored(scene: Scene, index: int, rng: Generator) -> Scene:
    thing = scene.things[index]
    taken = {other.color for other in scene.things if other.shape == thing.shape}
    colors = [color for color in vocabulary(scene.style).colors if color not in taken]
    return _with(scene, index, replace(thing, color=pick(colors, rng)))


def _reshaped(scene: Scene, index: int, rng: Generator) -> Scene:
    thing = scene.things[index]
    taken = {other.shape for other in scene.things if other.color == thing.color}
    shapes = [shape for shape in vocabulary(scene.style).shapes if shape not in taken]
    return _with(scene, index, replace(thing, shape=pick(shapes, rng))) if shapes else scene


def _resized(scene: Scene, index: int, rng: Generator) -> Scene:
    thing = scene.things[index]
    return _with(scene, index, replace(thing, size=SIZES[1 - SIZES.index(thing.size)]))


def _moved(scene: Scene, index: int, rng: Generator) -> Scene:
    x, y = (float(rng.uniform(MARGIN, SIDE - MARGIN)) for _ in range(2))
    return _with(scene, index, replace(scene.things[index], x=x, y=y))


def _exchanged(scene: Scene, index: int, rng: Generator) -> Scene:
    other = pick([i for i in range(len(scene.things)) if i != index], rng)
    one, two = scene.things[index], scene.things[other]
    swapped = _with(scene, index, replace(one, x=two.x, y=two.y))
    return _with(swapped, other, replace(two, x=one.x, y=one.y))
