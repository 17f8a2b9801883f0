"""Characters that look like others: marks above letters, letters of other alphabets, digits for letters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from argus.perturbations.writing.letters import pick_place
from argus.perturbations.writing.words import HAS_LETTER, WordByWord, pick

if TYPE_CHECKING:
    from numpy.random import Generator


def both_cases(small: Mapping[str, str]) -> dict[str, str]:
    """Return the table with a row for each capital as well."""
    return {**small, **{letter.upper(): options.upper() for letter, options in small.items()}}


# Letters of Latin-1 and Latin Extended-A (Unicode), by the letter they are built on.
ACCENTED = both_cases(
    {
        "a": "áàâäãå",
        "c": "çćč",
        "e": "éèêë",
        "g": "ğ",
        "i": "íìîï",
        "l": "ł",
        "n": "ñń",
        "o": "óòôöõø",
        "r": "ř",
        "s": "šś",
        "t": "ť",
        "u": "úùûü",
        "y": "ý",
        "z": "žż",
    }
)
# Cyrillic, Greek and Armenian letters that most fonts draw like the Latin one (Unicode's confusables, UTS 39).
LOOKALIKES = {
    **dict(zip("acdeghijlopqsuvwxy", "асԁеɡһіјӏорԛѕսѵԝху", strict=True)),
    **dict(zip("ABCEHIJKMNOPSTXYZ", "АВСЕНІЈКМΝОРЅТХΥΖ", strict=True)),
}
DIGITS = {"a": "4", "b": "8", "e": "3", "g": "9", "i": "1", "o": "0", "s": "5", "t": "7", "z": "2"}
LEET = str.maketrans(DIGITS | {letter.upper(): digit for letter, digit in DIGITS.items()})


class OneLetter(WordByWord):
    """One letter of a touched word is replaced by one from a table. Subclasses set the table."""

    table: Mapping[str, str]

    def fits(self, word: str) -> bool:
        return any(char in self.table for char in word)

    def rewrite(self, word: str, rng: Generator) -> str:
        place = pick_place([place for place, char in enumerate(word) if char in self.table], rng)
        return word[:place] + pick(self.table[word[place]], rng) + word[place + 1 :]


class Accents(OneLetter):
    """A letter gets a mark it should not have: "dög"."""

    table = ACCENTED


class Homoglyphs(OneLetter):
    """A letter becomes one of another alphabet that looks the same."""

    table = LOOKALIKES


class Leet(WordByWord):
    """Letters of a touched word become digits, all that have a likeness: "5urf804rd".

    A word of which no letter would be left ("at") stays: it would be a number.
    """

    def fits(self, word: str) -> bool:
        after = word.translate(LEET)
        return after != word and HAS_LETTER(after) is not None

    def rewrite(self, word: str, rng: Generator) -> str:
        return word.translate(LEET)
