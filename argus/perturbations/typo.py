"""Slips to a neighbouring key. Imports nlpaug for its keyboard; it loads torch and pandas by itself."""

from __future__ import annotations

from string import ascii_lowercase, ascii_uppercase
from typing import TYPE_CHECKING

from nlpaug.augmenter.char.keyboard import KeyboardAug

from argus.perturbations.writing.words import WordByWord

if TYPE_CHECKING:
    from numpy.random import Generator

LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)
# Letters to lower-case letters only: nlpaug's table maps "u" to " t", and "a" to "A".
NEIGHBOURS: dict[str, list[str]] = KeyboardAug(
    include_special_char=False, include_numeric=False, include_upper_case=False
).model.model


class Typo(WordByWord):
    """One letter of a touched word becomes its neighbour on a QWERTY keyboard, in the same case.

    The neighbours are nlpaug's; its own handling of texts would put spaces around apostrophes and hyphens, skip words
    of under four letters, and draw from Python's global generator.
    """

    def rewrite(self, word: str, rng: Generator) -> str:
        small = word.translate(LOWER)
        places = [place for place, char in enumerate(small) if char in NEIGHBOURS]
        place = places[rng.permutation(len(places))[0]]
        keys = NEIGHBOURS[small[place]]
        key = keys[rng.permutation(len(keys))[0]]
        return word[:place] + (key.upper() if word[place] in ascii_uppercase else key) + word[place + 1 :]
