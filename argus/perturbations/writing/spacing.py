"""White space that is too much, missing, or in the middle of a word.

nlpaug's SplitAug draws from numpy's global generator and puts spaces around punctuation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from argus.perturbations.writing.letters import pick_place
from argus.perturbations.writing.words import Pieces, WordByWord, WordPerturbation, pick

if TYPE_CHECKING:
    from numpy.random import Generator

GAPS = ("  ", "   ", "\t", "\n", "\u00a0", " \u00a0")


class Whitespace(WordPerturbation):
    """The gap after a word becomes two or three spaces, a tab, a line break or a space that does not break.

    Behind the last word one appears. Words stay; many tokenizers see no difference.
    """

    def applies(self, pieces: Pieces, place: int) -> bool:
        return True

    def change(self, pieces: Pieces, place: int, rng: Generator) -> None:
        pieces[place + 1] = pick([gap for gap in GAPS if gap != pieces[place + 1]], rng)


class WordMerge(WordPerturbation):
    """A word runs into the next one: "surfboardon"."""

    def applies(self, pieces: Pieces, place: int) -> bool:
        return place + 2 < len(pieces) and self.free(pieces[place + 2])

    def change(self, pieces: Pieces, place: int, rng: Generator) -> None:
        pieces[place + 1] = ""


class WordSplit(WordByWord):
    """A space comes in between two letters or digits of a word: "surf board"."""

    def fits(self, word: str) -> bool:
        return bool(_seams(word))

    def rewrite(self, word: str, rng: Generator) -> str:
        place = pick_place(_seams(word), rng)
        return f"{word[:place]} {word[place:]}"


def _seams(word: str) -> list[int]:
    return [place for place in range(1, len(word)) if word[place - 1].isalnum() and word[place].isalnum()]
