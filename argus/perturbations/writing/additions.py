"""Things that come in between the words: what speakers say while they think, stammering, emoji."""

from __future__ import annotations

from typing import TYPE_CHECKING

from argus.perturbations.writing.letters import letter_places
from argus.perturbations.writing.words import WordByWord, pick

if TYPE_CHECKING:
    from numpy.random import Generator

FILLERS = ("um", "uh", "er", "hmm", "well", "like", "you know", "I mean", "sort of", "basically", "actually", "so")
# Faces, hearts and signs: none shows a thing that a picture may hold.
EMOJI = ("😀", "😂", "😍", "😊", "😎", "🤔", "😅", "🙄", "👍", "👏", "🙏", "💯", "✨", "❤️", "🎉")


class Filler(WordByWord):
    """A filler comes in before a word: "riding um a wave"."""

    def rewrite(self, word: str, rng: Generator) -> str:
        return f"{pick(FILLERS, rng)} {word}"


class Stutter(WordByWord):
    """A word's first letter is said once or twice before it: "s-s-surfboard"."""

    def rewrite(self, word: str, rng: Generator) -> str:
        place = letter_places(word)[0]
        return word[:place] + f"{word[place]}-" * int(rng.integers(1, 3)) + word[place:]


class Emoji(WordByWord):
    """An emoji comes in after a word; none stands for a thing or a number."""

    def rewrite(self, word: str, rng: Generator) -> str:
        return f"{word} {pick(EMOJI, rng)}"
