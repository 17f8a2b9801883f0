"""Mistyped texts for training, so that every piece of a tokenizer has been seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from argus.pocket.words import pick

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.random import Generator

LETTERS = "abcdefghijklmnopqrstuvwxyz"
SHARE = 0.1
"""Share of the training texts that carry typos."""
WORDS = 0.3  # share of the words of such a text that are mistyped


def some_mistyped(texts: Sequence[str], rng: Generator) -> list[str]:
    """Return the texts, each with typos by a chance of SHARE."""
    return [mistyped(text, rng) if rng.random() < SHARE else text for text in texts]


def mistyped(text: str, rng: Generator) -> str:
    """Return the text with one letter of some words left out, doubled, replaced or swapped with the next."""
    return " ".join(_slip(word, rng) if rng.random() < WORDS else word for word in text.split(" "))


def _slip(word: str, rng: Generator) -> str:
    if len(word) < 2:
        return word
    at = int(rng.integers(len(word) - 1))
    before, letter, after = word[:at], word[at], word[at + 1 :]
    slips = (
        before + after,
        before + letter + letter + after,
        before + pick(LETTERS, rng) + after,
        before + after[0] + letter + after[1:],
    )
    return pick(slips, rng)
