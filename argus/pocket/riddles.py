"""Questions in VCR's form: four answers, and four rationales for the right one, decided by the picture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from argus.pocket.scenes import PLACES, SIZES, vocabulary
from argus.pocket.words import OPPOSITE, direction, pick, shuffled
from argus.records import Question
from argus.seeding import rng_for

if TYPE_CHECKING:
    from numpy.random import Generator

    from argus.pocket.scenes import Scene

CHOICES = 4
RIDDLES = 2
"""Riddles of a scene."""
Tokens = tuple[str | tuple[int, ...], ...]
"""Words, and in their midst indices into the scene's things, as VCR writes them."""
TOWARDS = {
    "left": ("to", "the", "left", "of"),
    "right": ("to", "the", "right", "of"),
    "above": ("above",),
    "below": ("below",),
}
Options = tuple[tuple[Tokens, ...], int]
"""CHOICES sentences and the index of the right one."""


@dataclass(frozen=True)
class Riddle:
    """A question with four answers and four rationales; `answer` and `rationale` index the right ones."""

    question: Tokens
    answers: tuple[Tokens, ...]
    answer: int
    rationales: tuple[Tokens, ...]
    rationale: int


def names(shapes: Sequence[str]) -> tuple[str, ...]:
    """Return "star1", "ring1", "star2": each shape with its ordinal among its like."""
    seen: Counter[str] = Counter()
    numbered = []
    for shape in shapes:
        seen[shape] += 1
        numbered.append(f"{shape}{seen[shape]}")
    return tuple(numbered)


def spoken(tokens: Tokens, called: Sequence[str]) -> str:
    """Return the tokens as a sentence: things by their names, no space before punctuation."""
    words = [token if isinstance(token, str) else " and ".join(called[i] for i in token) for token in tokens]
    text = " ".join(words)
    for mark in "?.,":
        text = text.replace(f" {mark}", mark)
    return text


def riddles(scene: Scene) -> tuple[Riddle, ...]:
    """Return RIDDLES different riddles, which belong to the scene: the things that they speak of are marked on it."""
    rng = rng_for(RIDDLES, repr(scene))
    found: dict[Tokens, Riddle] = {}
    while len(found) < RIDDLES:
        new = _riddle(scene, rng)
        found.setdefault(new.question, new)
    return tuple(found.values())


def mentioned(scene: Scene) -> tuple[int, ...]:
    """Return the indices of the things that the scene's riddles speak of, in order."""
    texts = [text for one in riddles(scene) for text in (one.question, *one.answers, *one.rationales)]
    return tuple(sorted({index for text in texts for token in text if not isinstance(token, str) for index in token}))


def as_questions(riddle: Riddle, scene: Scene, group: str) -> tuple[Question, Question]:
    """Return Q->A and QA->R; the second asks for the reason behind question and right answer."""
    called = names([thing.shape for thing in scene.things])
    text = spoken(riddle.question, called)
    answers = tuple(spoken(answer, called) for answer in riddle.answers)
    rationales = tuple(spoken(rationale, called) for rationale in riddle.rationales)
    reason = f"{text} {answers[riddle.answer]}"
    return (
        Question(f"{group}:a", text, answers, riddle.answer, "Q->A", group),
        Question(f"{group}:r", reason, rationales, riddle.rationale, "QA->R", group),
    )


def _riddle(scene: Scene, rng: Generator) -> Riddle:
    """Return a riddle about colour, place or looks of a thing, or about the way from one to another."""
    makers = [_color, _place, _looks] + ([_way] if len(scene.things) > 1 else [])
    return pick(makers, rng)(scene, int(rng.integers(len(scene.things))), rng)


def _color(scene: Scene, index: int, rng: Generator) -> Riddle:
    question = ("What", "color", "is", (index,), "?")
    answers = _mixed([(((index,), "is", color, ".")) for color in _colors(scene, index, rng)], rng)
    return Riddle(question, *answers, *_place_options(scene, index, ("I", "see", (index,)), rng))


def _place(scene: Scene, index: int, rng: Generator) -> Riddle:
    answers = _place_options(scene, index, ((index,), "is"), rng)
    sentences: list[Tokens] = [
        ((index,), "is", "the", size, color, "shape", "there", ".") for size, color in _appearances(scene, index, rng)
    ]
    return Riddle(("Where", "is", (index,), "?"), *answers, *_mixed(sentences, rng))


def _looks(scene: Scene, index: int, rng: Generator) -> Riddle:
    question = ("What", "does", (index,), "look", "like", "?")
    sentences: list[Tokens] = [
        ((index,), "is", size, "and", color, ".") for size, color in _appearances(scene, index, rng)
    ]
    return Riddle(question, *_mixed(sentences, rng), *_place_options(scene, index, ("I", "see", (index,)), rng))


def _way(scene: Scene, index: int, rng: Generator) -> Riddle:
    other = pick([i for i in range(len(scene.things)) if i != index], rng)
    right = direction(scene.things[index], scene.things[other])
    ways = [right, OPPOSITE[right], *(way for way in TOWARDS if way not in (right, OPPOSITE[right]))]
    answers = _mixed([((index,), "is", *TOWARDS[way], (other,), ".") for way in ways], rng)
    reason = _place_options(scene, other, ("I", "see", (other,)), rng)
    return Riddle(("Where", "is", (index,), "from", (other,), "?"), *answers, *reason)


def _mixed(sentences: Sequence[Tokens], rng: Generator) -> Options:
    """Return the sentences in a random order; the first one is the right one."""
    order = [int(i) for i in rng.permutation(len(sentences))]
    return tuple(sentences[i] for i in order), order.index(0)


def _colors(scene: Scene, index: int, rng: Generator) -> list[str]:
    """Return the thing's colour and others, colours of its neighbours first: they must be looked up, not spotted."""
    own = scene.things[index].color
    nearby = [thing.color for thing in scene.things]
    rest = shuffled(vocabulary(scene.style).colors, rng)
    return list(dict.fromkeys([own, *nearby, *rest]))[:CHOICES]


def _appearances(scene: Scene, index: int, rng: Generator) -> list[tuple[str, str]]:
    """Return (size, colour) of a thing, then with one and with both of them changed."""
    thing = scene.things[index]
    resized = SIZES[1 - SIZES.index(thing.size)]
    recolored = _colors(scene, index, rng)[1]
    return [(thing.size, thing.color), (resized, thing.color), (thing.size, recolored), (resized, recolored)]


def _place_options(scene: Scene, index: int, opening: Tokens, rng: Generator) -> Options:
    own = scene.things[index].place
    places = [own, *[place for place in shuffled(sum(PLACES, ()), rng) if place != own]][:CHOICES]
    return _mixed([(*opening, "at", "the", *place.split(), "of", "the", "room", ".") for place in places], rng)
