"""The caption tokenizer of the COCO evaluation, in Python: no Java, same tokens."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from argus.metrics.captions import abbreviations

if TYPE_CHECKING:
    from argus.metrics.captions.grammar import Shape

# The evaluation also lists -LRB- and its like, in capitals; tokens are in lower case by then, so brackets stay.
_PUNCTUATION = frozenset(("''", "'", "``", "`", ".", "?", "!", ",", ":", "-", "--", "...", ";"))
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_LINE_BREAK = re.compile("[\n\r\u2028\u2029\u000b\u000c]")
# Nearly all words of a caption are letters before a space or before the last full stop: no need to try every shape.
_SIMPLE_WORD = re.compile(r"([A-Za-z]+)(?:[ \n]+|\Z)")
_LAST_WORD = re.compile(r"([A-Za-z]{2,})\. *(?=\n|\Z)")
_NOT_SIMPLE = frozenset(("cannot", "gonna", "gotta", "lemme", "gimme", "wanna"))
_NOT_LAST = _NOT_SIMPLE | abbreviations.FULL_STOP_KEPT


def tokenize(text: str) -> tuple[str, ...]:
    """Return the lower-case tokens of one caption, without punctuation; see `tokenize_lines`."""
    return tokenize_lines((text,))[0]


def tokenize_lines(texts: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the lower-case tokens of each caption, without punctuation.

    Equal to pycocoevalcap's PTBTokenizer, which writes all captions into one file, runs Stanford's PTBTokenizer 3.4.1
    with -preserveLines -lowerCase over it, and drops a list of punctuation marks. Line breaks inside a caption count as
    spaces.
    """
    lines = [_LINE_BREAK.sub(" ", _ASTRAL.sub(_as_two_units, text)) for text in texts]
    return [_tokens(line, _following(lines, index)) for index, line in enumerate(lines)]


def _following(lines: Sequence[str], index: int) -> str:
    """Return as much of what comes after a line as the tokenizer may look at."""
    if index == len(lines) - 1:
        return ""
    if not lines[index].rstrip().endswith("."):
        return "\n"
    # A full stop after "K" or "no" is read by the word or number that comes next, be it another caption's.
    behind = next((i for i in range(index + 1, len(lines)) if lines[i].strip()), len(lines) - 1)
    return "\n" + "\n".join(lines[index + 1 : behind + 1]) + ("\n" if behind < len(lines) - 1 else "")


def _tokens(line: str, following: str) -> tuple[str, ...]:
    text = line + following
    tokens: list[str] = []
    position = 0
    while position < len(line):
        token, position = _simple(text, position) or _longest(text, position)
        if token:
            tokens.append(token)
    written = " ".join(tokens).lower().rstrip().split(" ")
    return tuple(_as_characters(token) for token in written if token and token not in _PUNCTUATION)


def _as_two_units(character: re.Match[str]) -> str:
    """Return a character outside the Basic Multilingual Plane as Java sees it: two surrogates."""
    units = character[0].encode("utf-16-be")
    return chr(int.from_bytes(units[:2])) + chr(int.from_bytes(units[2:]))


def _as_characters(token: str) -> str:
    """Return a token with its surrogates joined again; one without its partner becomes a question mark, as in Java."""
    if not _SURROGATE.search(token):
        return token
    return token.encode("utf-16-be", "surrogatepass").decode("utf-16-be", "replace").replace("\ufffd", "?")


def _simple(text: str, position: int) -> tuple[str, int] | None:
    """Return a plain word at a position and the position behind it, or None where the shapes must decide."""
    match = _SIMPLE_WORD.match(text, position)
    if match:
        return None if match[1].lower() in _NOT_SIMPLE else (match[1], match.end())
    match = _LAST_WORD.match(text, position)
    return (match[1], match.end()) if match and match[1].lower() not in _NOT_LAST else None


@cache
def _shapes() -> tuple[Shape, ...]:
    # Compiling them takes half a second: only who scores captions should wait for it.
    from argus.metrics.captions.grammar import SHAPES

    return SHAPES


def _longest(text: str, position: int) -> tuple[str, int]:
    """Return the token at a position, "" where there is none, and the position behind it."""
    reach, end, chosen = position, position + 1, None
    for shape in _shapes():
        match = shape.pattern.match(text, position)
        if match and match.end() > reach:
            reach, end, chosen = match.end(), match.end(1) - shape.split, shape
    return (chosen.spell(text[position:end]) if chosen else ""), end
