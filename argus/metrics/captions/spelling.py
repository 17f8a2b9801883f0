"""How the reference tokenizer writes a token it has found: brackets, quotes, dashes and money in the treebank's way."""

from __future__ import annotations

import re
from collections.abc import Callable

Spelling = Callable[[str], str]

_BRACKETS = {"(": "-LRB-", ")": "-RRB-", "{": "-LCB-", "}": "-RCB-", "[": "-LSB-", "]": "-RSB-"}
_FRACTIONS = {"\u00bc": "1/4", "\u00bd": "1/2", "\u00be": "3/4", "\u2153": "1/3", "\u2154": "2/3"}
_MONEY = {"\u00a2": "cents", "\u00a3": "#", "\u0080": "$", "\u00a4": "$", "\u20a0": "$", "\u20ac": "$"}
_QUOTES = str.maketrans(
    {
        '"': "''",
        **dict.fromkeys("\u0091\u2018\u201b\u2039", "`"),
        **dict.fromkeys("\u0092\u2019\u203a", "'"),
        **dict.fromkeys("\u0093\u201c\u00ab", "``"),
        **dict.fromkeys("\u0094\u201d\u00bb", "''"),
    }
)


def same(token: str) -> str:
    return token


def nothing(token: str) -> str:
    return ""


def without_soft_hyphens(token: str) -> str:
    return token.replace("\u00ad", "") or "-"


def with_fixed_spaces(token: str) -> str:
    return token.replace(" ", "\u00a0")


def with_plain_ampersand(token: str) -> str:
    return re.sub("&amp;", "&", token, flags=re.IGNORECASE)


def with_named_parentheses(token: str) -> str:
    return with_fixed_spaces(token).replace("(", "-LRB-").replace(")", "-RRB-")


def bracket(token: str) -> str:
    return _BRACKETS.get(token) or re.sub("&(lt|gt);", _angle, token, flags=re.IGNORECASE)


def _angle(entity: re.Match[str]) -> str:
    return "<" if entity[1].lower() == "lt" else ">"


def quotes(token: str) -> str:
    # Whether a straight quote opens or closes does not matter: both spellings are dropped as punctuation.
    return re.sub("&apos;", "'", re.sub("&quot;", '"', token)).translate(_QUOTES)


def dash(token: str) -> str:
    return "--"


def hyphens(token: str) -> str:
    return "--" if len(token) in (3, 4) else token


def dots(token: str) -> str:
    return "..."


def fraction_sign(token: str) -> str:
    return _FRACTIONS.get(token, token)


def currency(token: str) -> str:
    return _MONEY.get(token, token)
