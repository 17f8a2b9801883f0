"""Words that are left out, change places, or are said twice.

nlpaug's RandomWordAug, which has the first two, puts spaces around punctuation, folds white space, and capitalises what
comes first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from argus.perturbations.writing.words import Pieces, WordByWord, WordPerturbation, split

if TYPE_CHECKING:
    from numpy.random import Generator


class WordDrop(WordPerturbation):
    """Words are left out, with their punctuation and one gap each. A text of one word keeps it."""

    def applies(self, pieces: Pieces, place: int) -> bool:
        return len(pieces) > 3

    def change(self, pieces: Pieces, place: int, rng: Generator) -> None:
        pieces[place] = ""
        gap = place + 1
        if not any(pieces[place + 2 :: 2]):  # the last word takes the gap before it, wherever that is by now
            gap = place - 1
            while gap > 0 and not pieces[gap] and not pieces[gap - 1]:
                gap -= 2
        pieces[gap] = ""


class WordSwap(WordPerturbation):
    """A word and the next one change places, punctuation and all.

    Each time moves two words, so it happens at 5 % x severity of the places.
    """

    share = 0.05

    def applies(self, pieces: Pieces, place: int) -> bool:
        return place + 2 < len(pieces) and pieces[place] != pieces[place + 2] and self.free(pieces[place + 2])

    def change(self, pieces: Pieces, place: int, rng: Generator) -> None:
        pieces[place], pieces[place + 2] = pieces[place + 2], pieces[place]


class WordRepeat(WordByWord):
    """A word is written twice: "on on"."""

    def fits(self, word: str) -> bool:
        return True

    def rewrite(self, word: str, rng: Generator) -> str:
        before, core, after = split(word)
        return f"{before}{core} {core}{after}"
