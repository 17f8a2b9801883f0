"""What all perturbations of writing share: which words are touched, how many of them, and which never are."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

from argus.errors import ConfigError
from argus.perturbations.base import TextPerturbation
from argus.perturbations.writing.meaning import is_number

if TYPE_CHECKING:
    from numpy.random import Generator

Pieces = list[str]
"""A text cut at its white space: gap, word, gap, word, …, gap. Words stand at the odd places."""

WORDS = re.compile(r"(\S+)")
HAS_LETTER = re.compile(r"[A-Za-z]").search
HAS_LETTER_OR_DIGIT = re.compile(r"[A-Za-z0-9]").search
PARTS = re.compile(r"(\W*)(.*?)(\W*)", re.DOTALL)
# <image>, <|im_start|>, [MASK], {caption}: what stands for something else is no writing.
SPECIAL = re.compile(r"<[^<>\s]+>|\[[A-Z]+\d*\]|\{\w*\}").search


class WordPerturbation(TextPerturbation, ABC):
    """Touches `share` x severity of the words it applies to, at least `least` of them.

    Words are what white space separates. One without a letter from A to Z or a digit, one that stands for something
    else (<image>, [MASK], {caption}) and a protected one are neither counted nor touched. The count is rounded up or
    down at random, so that short texts have the share on average. Words touched at a severity are touched, in the same
    way, at every higher one.

    `protect` names words that stay ("fire hydrant" protects both of its words), whatever their case, punctuation or
    possessive 's. `protect_numbers` does so for words with a digit and for number words.
    """

    share = 0.1
    least = 1

    def __init__(self, severity: int, protect: Sequence[str] = (), protect_numbers: bool = False) -> None:
        super().__init__(severity)
        if isinstance(protect, str) or not all(isinstance(word, str) for word in protect):
            raise ConfigError(f"protect={protect!r} of {type(self).__name__}: give a list of words, protect=[dog,cat]")
        self.protect = frozenset(part for word in protect for part in word.lower().split())
        self.protect_numbers = protect_numbers

    def perturb(self, text: str, rng: Generator) -> str:
        pieces = WORDS.split(text)
        places = [place for place in range(1, len(pieces), 2) if self.touches(pieces, place)]
        if not places:
            return text
        count = max(self.least, int(len(places) * self.share * self.severity + rng.random()))
        for chosen in rng.permutation(len(places))[:count]:
            self.change(pieces, places[chosen], rng)
        return "".join(pieces)

    def touches(self, pieces: Pieces, place: int) -> bool:
        """Return whether the word at `place` is one to choose from."""
        return self.free(pieces[place]) and self.applies(pieces, place)

    def free(self, word: str) -> bool:
        """Return whether a word may be changed at all."""
        if not HAS_LETTER_OR_DIGIT(word) or (SPECIAL(word) and word[0] in "<[{"):
            return False
        if not self.protect and not self.protect_numbers:
            return True
        core = core_of(word).lower()
        if core in self.protect or core.removesuffix("'s").removesuffix("’s") in self.protect:
            return False
        return not (self.protect_numbers and is_number(core))

    @abstractmethod
    def applies(self, pieces: Pieces, place: int) -> bool:
        """Return whether this perturbation has something to do at a place."""

    @abstractmethod
    def change(self, pieces: Pieces, place: int, rng: Generator) -> None:
        """Change the pieces at a place, or do nothing where an earlier change took what it needs."""


class WordByWord(WordPerturbation):
    """Looks at one word at a time. Subclasses fill `fits` and `rewrite`."""

    def applies(self, pieces: Pieces, place: int) -> bool:
        return self.fits(pieces[place])

    def change(self, pieces: Pieces, place: int, rng: Generator) -> None:
        pieces[place] = self.rewrite(pieces[place], rng)

    def fits(self, word: str) -> bool:
        """Return whether there is something to do with a word; those with a letter from A to Z unless overridden."""
        return HAS_LETTER(word) is not None

    @abstractmethod
    def rewrite(self, word: str, rng: Generator) -> str:
        """Return another word for one that fits."""


def split(word: str) -> tuple[str, str, str]:
    """Return what stands before the first letter or digit, the word itself, and what stands after the last one."""
    found = PARTS.fullmatch(word)
    assert found is not None
    return found[1], found[2], found[3]


def core_of(word: str) -> str:
    return split(word)[1]


def in_case_of(model: str, word: str) -> str:
    """Return the word in capitals, with a capital, or as it is, like the model."""
    if len(model) > 1 and model.isupper():
        return word.upper()
    return word[:1].upper() + word[1:] if model[:1].isupper() else word


def pick(options: Sequence[str], rng: Generator) -> str:
    return options[int(rng.integers(len(options)))]
