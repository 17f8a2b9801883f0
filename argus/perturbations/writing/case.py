"""Capitals where none belong. A model whose tokenizer makes all letters small sees no difference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from argus.perturbations.writing.letters import LETTERS, letter_places, pick_place
from argus.perturbations.writing.words import WordByWord

if TYPE_CHECKING:
    from numpy.random import Generator


class Uppercase(WordByWord):
    """A word is shouted: "SURFBOARD"."""

    def fits(self, word: str) -> bool:
        return any(char in LETTERS and char.islower() for char in word)

    def rewrite(self, word: str, rng: Generator) -> str:
        return "".join(char.upper() if char in LETTERS else char for char in word)


class MixedCase(WordByWord):
    """Letters of a word change their case at random, one at least: "sUrfBOarD"."""

    def rewrite(self, word: str, rng: Generator) -> str:
        places = letter_places(word)
        flipped = {place for place, drawn in zip(places, rng.random(len(places)), strict=True) if drawn < 0.5}
        flipped.add(pick_place(places, rng))
        return "".join(char.swapcase() if place in flipped else char for place, char in enumerate(word))
