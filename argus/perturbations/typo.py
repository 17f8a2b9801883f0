"""Slips to a neighbouring key. The only file that imports nlpaug, which loads torch and pandas by itself."""

from __future__ import annotations

import re
from copy import copy
from string import ascii_letters, ascii_lowercase, ascii_uppercase
from typing import TYPE_CHECKING, TypeVar

from nlpaug.augmenter.char.keyboard import KeyboardAug

from argus.perturbations.base import TextPerturbation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.random import Generator

Item = TypeVar("Item")

WORD = re.compile(r"\S+")
KEYS = frozenset(ascii_letters)
LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)


class Typo(TextPerturbation):
    """One letter in 10 % x severity of the words becomes its neighbour on a QWERTY keyboard.

    Words are separated by white space; only those with a letter from A to Z are counted and touched. At least one is,
    so every text with such a letter changes; a text without one (empty, digits, Chinese) comes back as it was. Case,
    spacing and punctuation stay.
    """

    def __init__(self, severity: int) -> None:
        super().__init__(severity)
        self.keyboard = Keyboard()

    def perturb(self, text: str, rng: Generator) -> str:
        words = [match.span() for match in WORD.finditer(text) if KEYS.intersection(match.group())]
        if not words:
            return text
        # The drawn fraction rounds the count up or down, so that short texts have the share on average.
        count = max(1, int(len(words) * self.severity / 10 + rng.random()))
        keyboard = self.keyboard.drawing_from(rng)
        for place in rng.permutation(len(words))[:count]:
            start, end = words[place]
            text = text[:start] + keyboard.slip(text[start:end]) + text[end:]
        return text


class Keyboard(KeyboardAug):
    """nlpaug's keyboard, with every draw from our generator instead of Python's global one.

    Saving, seeding and restoring the global state would repeat as well, but not while another thread draws from it.
    """

    rng: Generator

    def __init__(self) -> None:
        super().__init__(
            aug_char_min=1,
            aug_char_max=1,
            aug_word_p=1.0,
            min_char=1,
            tokenizer=as_one_word,
            reverse_tokenizer="".join,
            # Letters to lower-case letters only: nlpaug's table maps "u" to " t", and "a" to "A".
            include_special_char=False,
            include_numeric=False,
            include_upper_case=False,
        )

    def drawing_from(self, rng: Generator) -> Keyboard:
        """Return a copy that draws from `rng`, so that threads can share the original."""
        twin = copy(self)
        twin.rng = rng
        return twin

    def slip(self, word: str) -> str:
        """Return the word with one of its letters replaced by a neighbour of the same case."""
        (slipped,) = self.augment(word.translate(LOWER))
        return "".join(new.upper() if old in ascii_uppercase else new for old, new in zip(word, slipped, strict=True))

    def sample(self, x: Sequence[Item], num: int) -> list[Item]:
        """Return `num` different items; every draw of nlpaug passes here."""
        return [x[place] for place in self.rng.permutation(len(x))[:num]]


def as_one_word(text: str) -> list[str]:
    return [text]
