"""Questions in CLEVR's language, each with its functional program and the answer that the scene gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from argus.pocket.scenes import SIZES, SOLID, vocabulary
from argus.pocket.words import article, pick, shuffled

if TYPE_CHECKING:
    from numpy.random import Generator

    from argus.pocket.scenes import Scene, Thing

YES_NO = ("yes", "no")
COUNTS = tuple(str(count) for count in range(11))
ANSWERS = (*SOLID.colors, *SOLID.shapes, *SOLID.materials, *SIZES, *YES_NO, *COUNTS)
"""CLEVR's 28 answers."""
ATTRIBUTES = ("size", "color", "material", "shape")
SIDES = {"left": "to the left of", "right": "to the right of"}
Wanted = dict[str, str]
"""Attribute to value: what a filter asks of a thing."""


@dataclass(frozen=True)
class Step:
    """One node of a CLEVR program; `inputs` are indices of earlier nodes."""

    function: str
    inputs: tuple[int, ...] = ()
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class Asked:
    """A question, its answer among the choices, and the program that finds it; `kind` is its last function."""

    text: str
    answer: str
    choices: tuple[str, ...]
    program: tuple[Step, ...]

    @property
    def kind(self) -> str:
        return self.program[-1].function


def ask(scene: Scene, count: int, rng: Generator) -> tuple[Asked, ...]:
    """Return up to `count` different questions: of an attribute, of how many, of another attribute, of whether."""
    makers: list[Callable[[Scene, Generator], Asked | None]]
    makers = [_attribute, _number, _attribute, pick((_exists, _beside), rng)]
    found: dict[str, Asked] = {}
    for turn in range(3 * count):
        asked = makers[turn % len(makers)](scene, rng)
        if asked is not None and len(found) < count:
            found.setdefault(asked.text, asked)
    return tuple(found.values())


def _value(thing: Thing, attribute: str) -> str:
    values = {"size": thing.size, "color": thing.color, "material": thing.material, "shape": thing.shape}
    return values[attribute]


def _matching(things: tuple[Thing, ...], wanted: Wanted) -> tuple[Thing, ...]:
    return tuple(t for t in things if all(_value(t, attribute) == value for attribute, value in wanted.items()))


def _noun(wanted: Wanted, plural: bool = False) -> str:
    words = [wanted.get(attribute, "") for attribute in ATTRIBUTES[:3]] + [wanted.get("shape", "thing")]
    return " ".join(word for word in words if word) + ("s" if plural else "")


def _filters(wanted: Wanted, start: tuple[Step, ...]) -> tuple[Step, ...]:
    """Return the steps that follow `start`, one filter after the other."""
    steps = list(start)
    for attribute in ATTRIBUTES:
        if attribute in wanted:
            steps.append(Step(f"filter_{attribute}", (len(steps) - 1,), (wanted[attribute],)))
    return tuple(steps)


def _then(steps: tuple[Step, ...], function: str, *values: str) -> tuple[Step, ...]:
    return (*steps, Step(function, (len(steps) - 1,), values))


SCENE = (Step("scene"),)


def _known(scene: Scene) -> tuple[str, ...]:
    return ATTRIBUTES if scene.style == "clevr" else ("size", "color", "shape")


def _unique(scene: Scene, thing: Thing, hidden: str, rng: Generator) -> Wanted | None:
    """Return the fewest attributes, `hidden` not among them, that no other thing shares; None where all do not do."""
    usable = [attribute for attribute in _known(scene) if attribute != hidden]
    for length in range(1, len(usable) + 1):
        for attributes in shuffled(list(combinations(usable, length)), rng):
            wanted = {attribute: _value(thing, attribute) for attribute in attributes}
            if len(_matching(scene.things, wanted)) == 1:
                return wanted
    return None


def _attribute(scene: Scene, rng: Generator) -> Asked | None:
    attribute, thing = pick(_known(scene), rng), pick(scene.things, rng)
    wanted = _unique(scene, thing, attribute, rng)
    if wanted is None:
        return None
    the = f"the {_noun(wanted)}"
    texts = {
        "color": f"What color is {the}?",
        "size": f"What size is {the}?",
        "shape": f"What is the shape of {the}?",
        "material": f"What is {the} made of?",
    }
    program = _then(_then(_filters(wanted, SCENE), "unique"), f"query_{attribute}")
    return Asked(texts[attribute], _value(thing, attribute), _choices(scene, attribute), program)


def _choices(scene: Scene, attribute: str) -> tuple[str, ...]:
    words = vocabulary(scene.style)
    values = {"size": SIZES, "color": words.colors, "material": words.materials, "shape": words.shapes}
    return values[attribute]


def _number(scene: Scene, rng: Generator) -> Asked:
    wanted: Wanted = {}
    if rng.random() < 0.8:
        attribute = pick(_known(scene), rng)
        seen = _value(pick(scene.things, rng), attribute)
        wanted = {attribute: seen if rng.random() < 0.75 else pick(_choices(scene, attribute), rng)}
    text = f"How many {_noun(wanted, plural=True)} are there?"
    return Asked(text, str(len(_matching(scene.things, wanted))), COUNTS, _then(_filters(wanted, SCENE), "count"))


def _described(scene: Scene, thing: Thing, rng: Generator) -> Wanted:
    """Return two attributes of a thing, one of them its colour or shape."""
    attributes = ("color", "shape") if rng.random() < 0.6 else ("size", pick(("color", "shape"), rng))
    return {attribute: _value(thing, attribute) for attribute in attributes}


def _changed(scene: Scene, wanted: Wanted, rng: Generator) -> Wanted:
    """Return the description with one attribute changed, so that it fits no thing where that can be."""
    options = [
        {**wanted, attribute: value}
        for attribute in wanted
        for value in _choices(scene, attribute)
        if value != wanted[attribute]
    ]
    absent = [option for option in options if not _matching(scene.things, option)]
    return pick(absent or options, rng)


def _exists(scene: Scene, rng: Generator) -> Asked:
    wanted = _described(scene, pick(scene.things, rng), rng)
    if rng.random() < 0.5:
        wanted = _changed(scene, wanted, rng)
    answer = "yes" if _matching(scene.things, wanted) else "no"
    return Asked(f"Is there {article(_noun(wanted))}?", answer, YES_NO, _then(_filters(wanted, SCENE), "exist"))


def _beside(scene: Scene, rng: Generator) -> Asked | None:
    """Ask whether there is a thing on one side of another, about a thing that is in the picture."""
    if len(scene.things) < 2:
        return None
    anchor, thing = shuffled(scene.things, rng)[:2]
    origin, wanted = _unique(scene, anchor, "", rng), _unique(scene, thing, "", rng)
    if origin is None or wanted is None:
        return None
    side = pick(("left", "right"), rng)
    there = [t for t in scene.things if (t.x < anchor.x if side == "left" else t.x > anchor.x)]
    answer = "yes" if _matching(tuple(there), wanted) else "no"
    text = f"Is there {article(_noun(wanted))} {SIDES[side]} the {_noun(origin)}?"
    start = _then(_then(_filters(origin, SCENE), "unique"), "relate", side)
    return Asked(text, answer, YES_NO, _then(_filters(wanted, start), "exist"))
