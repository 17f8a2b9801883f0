"""Words for single things and for where they are; shared by captions, regions, questions and riddles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from numpy.random import Generator

    from argus.pocket.scenes import Thing

T = TypeVar("T")
OPPOSITE = {"left": "right", "right": "left", "above": "below", "below": "above"}
NUMBERS = ("no", "one", "two", "three", "four", "five", "six")


def pick(items: Sequence[T], rng: Generator) -> T:
    """Return one of the items."""
    return items[int(rng.integers(len(items)))]


def shuffled(items: Sequence[T], rng: Generator) -> list[T]:
    """Return the items in a random order."""
    return [items[int(i)] for i in rng.permutation(len(items))]


def article(phrase: str) -> str:
    """Return the phrase behind "a" or "an"."""
    return f"{'an' if phrase[0] in 'aeiou' else 'a'} {phrase}"


def listed(phrases: Sequence[str]) -> str:
    """Return "one", "one and two" or "one, two and three"."""
    return " and ".join([", ".join(phrases[:-1]), phrases[-1]]) if len(phrases) > 1 else phrases[0]


def named(thing: Thing, sized: bool) -> str:
    """Return "red star" or "large red star"; solids are named with their material."""
    words = [thing.size if sized else "", thing.color, thing.material, thing.shape]
    return " ".join(word for word in words if word)


def direction(thing: Thing, other: Thing) -> str:
    """Return on which side of `other` the thing is, by the longer axis: left, right, above or below."""
    across, down = thing.x - other.x, thing.y - other.y
    if abs(across) >= abs(down):
        return "left" if across < 0 else "right"
    return "above" if down < 0 else "below"
