"""Misread characters, as of a scanned page. Imports nlpaug, which loads torch and pandas by itself."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from nlpaug.augmenter.char.ocr import OcrAug

from argus.perturbations.writing.letters import pick_place
from argus.perturbations.writing.words import WordByWord, pick

if TYPE_CHECKING:
    from numpy.random import Generator

# nlpaug's table knows 29 characters and only single ones. What optical recognition confuses besides: our choice.
MORE = {"a": ["o"], "c": ["e"], "d": ["cl"], "e": ["c"], "f": ["t"], "h": ["li"], "i": ["l"], "m": ["rn"], "n": ["ri"]}
MORE |= {"t": ["f"], "w": ["vv"], "A": ["4"], "H": ["I-I"], "M": ["IVI"], "T": ["7"], "W": ["VV"]}


@lru_cache(maxsize=1)
def confusions() -> dict[str, list[str]]:
    """Return what each character may be read as: nlpaug's table, which works both ways, and ours."""
    theirs: dict[str, list[str]] = OcrAug.get_model(None).model
    # Sorted, since nlpaug's lists come in the order of its file.
    return {char: sorted({*theirs.get(char, []), *MORE.get(char, [])}) for char in {*theirs, *MORE}}


class Ocr(WordByWord):
    """One character of a touched word, letter or digit, is misread: "surfb0ard", "rnan".

    nlpaug's OcrAug puts spaces around punctuation and leaves words without a character of its table; only its table is
    used here.
    """

    def fits(self, word: str) -> bool:
        return any(char in confusions() for char in word)

    def rewrite(self, word: str, rng: Generator) -> str:
        place = pick_place([place for place, char in enumerate(word) if char in confusions()], rng)
        return word[:place] + pick(confusions()[word[place]], rng) + word[place + 1 :]
