"""One letter of a word goes wrong: swapped, lost, too much, another one, held too long.

nlpaug's RandomCharAug does the first four, but at 36 µs a word, with draws that may change nothing (a letter replaced
by itself, two equal letters exchanged), and it never inserts at a word's end.
"""

from __future__ import annotations

from string import ascii_letters, ascii_lowercase
from typing import TYPE_CHECKING

from argus.perturbations.writing.words import WordByWord, pick

if TYPE_CHECKING:
    from numpy.random import Generator

LETTERS = frozenset(ascii_letters)


def letter_places(word: str) -> list[int]:
    """Return where a word has letters from A to Z."""
    return [place for place, char in enumerate(word) if char in LETTERS]


def pick_place(places: list[int], rng: Generator) -> int:
    return places[int(rng.integers(len(places)))]


class SwappedLetters(WordByWord):
    """Two neighbouring letters change places; capitals stay where they are."""

    def fits(self, word: str) -> bool:
        return bool(_pairs(word))

    def rewrite(self, word: str, rng: Generator) -> str:
        place = pick_place(_pairs(word), rng)
        first, second = word[place], word[place + 1]
        return word[:place] + _cased(first, second) + _cased(second, first) + word[place + 2 :]


def _pairs(word: str) -> list[int]:
    small = word.lower() if word.isascii() else word
    return [
        place
        for place in range(len(word) - 1)
        if word[place] in LETTERS and word[place + 1] in LETTERS and small[place] != small[place + 1]
    ]


def _cased(model: str, letter: str) -> str:
    return letter.upper() if model.isupper() else letter.lower()


class MissingLetter(WordByWord):
    """A letter is left out; a word of one letter stays."""

    def fits(self, word: str) -> bool:
        return len(letter_places(word)) > 1

    def rewrite(self, word: str, rng: Generator) -> str:
        place = pick_place(letter_places(word), rng)
        return word[:place] + word[place + 1 :]


class ExtraLetter(WordByWord):
    """A random letter comes in before or after one of the word's letters, in its case."""

    def rewrite(self, word: str, rng: Generator) -> str:
        place = pick_place(letter_places(word), rng)
        extra = _cased(word[place], pick(ascii_lowercase, rng))
        place += int(rng.integers(2))
        return word[:place] + extra + word[place:]


class WrongLetter(WordByWord):
    """A letter becomes another random one of the same case."""

    def rewrite(self, word: str, rng: Generator) -> str:
        place = pick_place(letter_places(word), rng)
        others = ascii_lowercase.replace(word[place].lower(), "")
        return word[:place] + _cased(word[place], pick(others, rng)) + word[place + 1 :]


class RepeatedLetter(WordByWord):
    """A letter is held: it stands there two to four times."""

    def rewrite(self, word: str, rng: Generator) -> str:
        place = pick_place(letter_places(word), rng)
        return word[:place] + word[place] * int(rng.integers(2, 5)) + word[place + 1 :]
