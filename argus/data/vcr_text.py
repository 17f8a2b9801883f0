"""VCR's tokens as plain sentences: objects by name, punctuation where a writer would put it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from argus.errors import DataError

Tokens = Sequence[str | list[int]]  # words, and lists of object numbers counted from 0

CONTRACTIONS = {"s", "t", "re", "ve", "ll", "d", "m"}  # what follows an apostrophe inside a word
CLOSING = {".", ",", "?", "!", ";", ":", "%", ")", "]", "}", "…"}  # no space before
OPENING = {"(", "[", "{", "$", "£", "€", "#"}  # no space after
JOINING = {"-", "/"}  # no space on either side


def object_names(classes: Iterable[str]) -> tuple[str, ...]:
    """Return each object's class with its ordinal among the objects of that class: person1, person2, car1."""
    seen: Counter[str] = Counter()
    names = []
    for name in classes:
        seen[name] += 1
        names.append(f"{name}{seen[name]}")
    return tuple(names)


def numbers_in(tokens: Tokens, names: Sequence[str], where: str) -> list[int]:
    """Return the numbers of the objects that a text speaks of, or raise DataError for one the picture does not have."""
    numbers = [number for token in tokens if not isinstance(token, str) for number in token]
    if wrong := [number for number in numbers if number not in range(len(names))]:
        raise DataError(f"{where} speaks of object {wrong[0]}, counted from 0, but the picture has {len(names)}")
    return numbers


def render(tokens: Tokens, names: Sequence[str], where: str) -> str:
    """Return the tokens as a sentence, or raise DataError for an object that the picture does not have."""
    if isinstance(tokens, str):
        raise DataError(f"{where} has the text {tokens[:60]!r} where VCR has a list of tokens")
    numbers_in(tokens, names, where)
    words = [token if isinstance(token, str) else listed([names[number] for number in token]) for token in tokens]
    return join([word for word in words if word.strip()])


def listed(called: Sequence[str]) -> str:
    """Return names as English lists them: "person1", "person1 and car1", "person1, person2 and car1"."""
    head, last = ", ".join(called[:-1]), "".join(called[-1:])
    return f"{head} and {last}" if head else last


def join(words: Sequence[str]) -> str:
    """Return the words as a sentence, with spaces where a writer would put them."""
    text, glue, quoted = "", True, False
    for index, word in enumerate(words):
        following = words[index + 1] if index + 1 < len(words) else ""
        contraction = word == "'" and following in CONTRACTIONS
        closes = word in CLOSING or word in JOINING or word.startswith("'") or (word == '"' and quoted)
        text += word if glue or closes else f" {word}"
        glue = word in OPENING or word in JOINING or contraction or (word == '"' and not quoted)
        quoted ^= word == '"'
    return text
