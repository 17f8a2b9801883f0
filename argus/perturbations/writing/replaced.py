"""Words replaced by others from a table: misspelt, misheard, abbreviated, by a synonym, contracted."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from argus.perturbations.writing.table import table
from argus.perturbations.writing.words import Pieces, WordByWord, WordPerturbation, core_of, in_case_of, pick, split

if TYPE_CHECKING:
    from numpy.random import Generator


@lru_cache(maxsize=1)
def homophones() -> dict[str, tuple[str, ...]]:
    """Return for each word the others of its row that sound like it."""
    rows = [(first, *others) for first, others in table("homophones").items()]
    return {word: tuple(other for other in row if other != word) for row in rows for word in row}


class Replaced(WordByWord):
    """20 % x severity of the words that have an entry are replaced: all of them at severity 5, maybe none at 1.

    A text without such a word stays as it is. Case and punctuation are those of the word replaced.
    """

    share = 0.2
    least = 0

    @abstractmethod
    def options(self, word: str) -> Sequence[str]:
        """Return what a word in small letters may become; nothing where it has no entry."""

    def fits(self, word: str) -> bool:
        return bool(self.options(core_of(word).lower()))

    def rewrite(self, word: str, rng: Generator) -> str:
        before, core, after = split(word)
        return before + in_case_of(core, pick(self.options(core.lower()), rng)) + after


class Homophone(Replaced):
    """A word becomes one that sounds the same, as a voice recognition might write it: "a plain in the sky"."""

    def options(self, word: str) -> Sequence[str]:
        return homophones().get(word, ())


class Abbreviation(Replaced):
    """A word is written as in a text message: "ppl w/ umbrellas"."""

    def options(self, word: str) -> Sequence[str]:
        return table("abbreviations").get(word, ())


class Synonym(Replaced):
    """A word becomes another one for the same thing: "a guy on a motorbike". No colour, number or place is among them.

    A small table, since nlpaug's SynonymAug needs WordNet or PPDB, which are downloaded, and takes any sense of a word.
    """

    def options(self, word: str) -> Sequence[str]:
        return table("synonyms").get(word, ())


class Contraction(WordPerturbation):
    """Turns "it is" into "it's" and "it's" into "it is": 20 % x severity of what can be contracted or written out."""

    share = 0.2
    least = 0

    def applies(self, pieces: Pieces, place: int) -> bool:
        return self._short(pieces, place) != "" or self._long(pieces[place]) != ""

    def change(self, pieces: Pieces, place: int, rng: Generator) -> None:
        before, core, after = split(pieces[place])
        if short := self._short(pieces, place):
            tail = split(pieces[place + 2])[2]
            pieces[place : place + 3] = [before + in_case_of(core, short) + tail, "", ""]
        elif long := self._long(pieces[place]):
            pieces[place] = before + in_case_of(core, long) + after

    def _short(self, pieces: Pieces, place: int) -> str:
        """Return the contraction of a word and the next one, or ""."""
        if place + 2 >= len(pieces) or not self.free(pieces[place + 2]):
            return ""
        _, first, closing = split(pieces[place])
        opening, second, _ = split(pieces[place + 2])
        found = table("contractions").get(f"{first} {second}".lower(), ("",))
        return "" if closing or opening else found[0]

    def _long(self, word: str) -> str:
        return _written_out().get(core_of(word).lower().replace("’", "'"), "")


@lru_cache(maxsize=1)
def _written_out() -> dict[str, str]:
    return {short: long for long, (short, *_) in reversed(table("contractions").items())}
