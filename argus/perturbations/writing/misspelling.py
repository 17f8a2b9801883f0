"""Spelling mistakes that people made. Imports nlpaug for its table; it loads torch and pandas by itself."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import nlpaug
from nlpaug.model.word_dict.spelling import Spelling

from argus.perturbations.writing.replaced import Replaced

SHORTEST = 4  # letters: mistakes in shorter words are other words


class Misspelling(Replaced):
    """A word is spelt as somebody once misspelt it: "kichen", "freind".

    Of nlpaug's table (learners' essays and edits of Wikipedia, 13,000 words) only mistakes of one letter too much, too
    few, wrong, or swapped, which are no other word of the table: it also says "beach -> bitch" and "the -> [[th".
    """

    def options(self, word: str) -> Sequence[str]:
        return mistakes(word)


@lru_cache(maxsize=1)
def _table() -> dict[str, list[str]]:
    path = Path(nlpaug.__file__).parent / "res" / "word" / "spelling" / "spelling_en.txt"
    found: dict[str, list[str]] = Spelling(str(path), include_reverse=False).dict
    return found


@lru_cache(maxsize=100_000)
def mistakes(word: str) -> tuple[str, ...]:
    """Return the mistakes known for a word in small letters, sorted: nlpaug's order changes with the hash seed."""
    if len(word) < SHORTEST:
        return ()
    known = _table()
    return tuple(
        sorted(
            wrong
            for wrong in known.get(word, [])
            if wrong.isalpha() and wrong.islower() and wrong not in known and one_slip_apart(word, wrong)
        )
    )


def one_slip_apart(word: str, other: str) -> bool:
    """Return whether one letter more, less, replaced or swapped with its neighbour makes one word the other."""
    short, long = sorted((word, other), key=len)
    if short == long or len(long) - len(short) > 1:
        return False
    same = next((place for place, (one, two) in enumerate(zip(short, long, strict=False)) if one != two), len(short))
    one, two = short[same:], long[same:]
    if len(short) < len(long):
        return one == two[1:]
    return one[1:] == two[1:] or (one[:2] == two[1::-1] and one[2:] == two[2:])
