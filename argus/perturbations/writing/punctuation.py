"""Punctuation that is lost, wrong, or too much."""

from __future__ import annotations

from typing import TYPE_CHECKING

from argus.perturbations.writing.words import WordByWord, pick

if TYPE_CHECKING:
    from numpy.random import Generator

MARKS = ",.;:!?"
ADDED = (",", ".", ";", ":", "!", "?", "...", "!!", " -")


class Punctuation(WordByWord):
    """Marks after a word are lost or become others; a word without any gets some. Nothing inside a word changes."""

    def fits(self, word: str) -> bool:
        return True

    def rewrite(self, word: str, rng: Generator) -> str:
        bare = word.rstrip(MARKS)
        marks = word[len(bare) :]
        return bare + pick([other for other in ("", *ADDED) if other != marks], rng)
