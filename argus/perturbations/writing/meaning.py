"""Words that decide what a sentence says of a picture: numbers, colours, negations and places."""

from __future__ import annotations

import re
from collections.abc import Sequence

from argus.perturbations.writing.table import table

SMALL_NUMBERS, TENS = table("meaning")["small numbers"], table("meaning")["tens"]
NUMBERS = {
    **{word: str(value) for value, word in enumerate(SMALL_NUMBERS)},
    **{word: str(10 * value) for value, word in enumerate(TENS, start=2)},
    **{
        f"{ten}-{unit}": str(10 * value + place)
        for value, ten in enumerate(TENS, start=2)
        for place, unit in enumerate(SMALL_NUMBERS[1:10], start=1)
    },
    "hundred": "100",
    "thousand": "1000",
    "dozen": "12",
}
"""Number words with their digits."""

TOLD = frozenset(word for kind in ("colours", "negations", "places") for word in table("meaning")[kind])
# Number words with a hyphen; digits with what is written onto them; words with their apostrophes.
TOKENS = re.compile(
    rf"\b(?:{'|'.join(TENS)})-(?:{'|'.join(SMALL_NUMBERS[1:10])})\b|\d+(?:[.,]\d+)*\w*|[^\W\d_]\w*(?:['’]\w+)?"
)
NUMBER = re.compile(r"(\d+(?:[.,]\d+)*)(?:st|nd|rd|th|mm|cm|m|km|ft|in|am|pm|s|x)?")
NUMBERED = re.compile(r"[a-z]+\d+")  # person1


def meaning_of(text: str) -> list[str]:
    """Return the numbers (as digits), numbered names, colours, negations (as "not") and places of a text, in order."""
    return [word for word in map(_meaning, TOKENS.findall(text.lower())) if word]


def _meaning(token: str) -> str:
    if token in NUMBERS:
        return NUMBERS[token]
    if token == "cannot" or token.endswith(("n't", "n’t")):
        return "not"
    if token in TOLD or NUMBERED.fullmatch(token):
        return token
    number = NUMBER.fullmatch(token)
    return number[1] if number else ""


def meaning_at_risk(before: str, after: str) -> bool:
    """Return whether one of those words was altered, lost, moved past another one, or came in anew.

    Saying one twice in a row puts nothing at risk, and neither does a word that came to look like a numbered name.
    """
    old, new = meaning_of(before), meaning_of(after)
    anew = {word for word in new if not NUMBERED.fullmatch(word)} - set(old)
    return bool(anew) or not _in_order(old, new)


def _in_order(some: Sequence[str], all_of: Sequence[str]) -> bool:
    rest = iter(all_of)
    return all(word in rest for word in some)


def is_number(word: str) -> bool:
    """Return whether a word in small letters, without punctuation around it, holds a digit or is a number word."""
    return word in NUMBERS or any(char.isdigit() for char in word)
