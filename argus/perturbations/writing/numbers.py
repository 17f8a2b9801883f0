"""Digits for number words and the other way round."""

from __future__ import annotations

from typing import TYPE_CHECKING

from argus.perturbations.writing.meaning import NUMBERS
from argus.perturbations.writing.words import WordByWord, core_of, in_case_of, split

if TYPE_CHECKING:
    from numpy.random import Generator

# "A hundred" and "a dozen" are no "a 100" and "a 12".
DIGITS = {word: digits for word, digits in NUMBERS.items() if len(digits) < 3 and word != "dozen"}
SPELT = {digits: word for word, digits in DIGITS.items()}


class NumberWords(WordByWord):
    """Turns "two" into "2" and "2" into "two", from 0 to 99: 20 % x severity of them. The number stays the same."""

    share = 0.2
    least = 0

    def fits(self, word: str) -> bool:
        core = core_of(word).lower()
        return core in DIGITS or core in SPELT

    def rewrite(self, word: str, rng: Generator) -> str:
        before, core, after = split(word)
        small = core.lower()
        return before + (DIGITS[small] if small in DIGITS else in_case_of(core, SPELT[core])) + after
