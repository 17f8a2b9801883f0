"""Which characters the reference tokenizer knows, observed by sending it every one of the Basic Multilingual Plane.

It was built when Unicode stood at version 6: letters added later are unknown to it, and what is unknown is dropped.
Everything here is text for the inside of a regular expression's square brackets.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import groupby


def _expand(ranges: str) -> frozenset[int]:
    """Return the code points of space-separated hexadecimal ranges."""
    bounds = [(item.split("-")[0], item.split("-")[-1]) for item in ranges.split()]
    return frozenset(point for first, last in bounds for point in range(int(first, 16), int(last, 16) + 1))


def _brackets(points: frozenset[int]) -> str:
    """Return the code points as the inside of a character class, neighbours joined into ranges."""
    runs = groupby(enumerate(sorted(points)), lambda pair: pair[1] - pair[0])
    ends = [(run[0][1], run[-1][1]) for run in (list(run) for _, run in runs)]
    return "".join(f"{re.escape(chr(first))}-{re.escape(chr(last))}" for first, last in ends)


def _where(test: Callable[[str], bool]) -> frozenset[int]:
    """Return the code points of the Basic Multilingual Plane whose character passes the test."""
    return frozenset(point for point in range(0x10000) if test(chr(point)))


_TOO_NEW = _expand(
    "037F 0528-052F 0560 0588 05EF 0860-086A 0870-0887 0889-088E 08A1 08AD-08C9 0978 0980 09FC 0AF9 0C34 0C5A 0C5D "
    "0C80 0CDD 0D04 0D54-0D56 0D5F 0DE6-0DEF 0E86 0E89 0E8C 0E8E-0E93 0E98 0EA0 0EA8-0EA9 0EAC 13F5 13F8-13FD "
    "16F1-16F8 170D 171F 1878 191D-191E 19B0-19C0 19C8-19C9 1B4C 1C80-1C88 1C90-1CBA 1CBD-1CBF 1CF2-1CF3 1CFA 2C2F "
    "2C5F 312E-312F 31BB-31BF 4DB6-4DBF 9FCD-9FFF A698-A69D A78F A794-A79F A7AB-A7DC A7F2-A7F7 A8FD-A8FE A9E0-A9E4 "
    "A9E6-A9FE AA7E-AA7F AB30-AB5A AB5C-AB69 AB70-ABBF"
)
_LETTERS = (_where(str.isalpha) | _expand("1885-1886")) - _TOO_NEW
_DIGITS = _where(str.isdecimal) - _TOO_NEW
# Accents, vowel signs and a few symbols that may stand inside a word, but not inside a hyphenated one.
_MARKS = _expand(
    "00AD 02C2-02C5 02D2-02DF 02E5-02EB 02ED 02EF-036F 0375 0378-0379 0384-0385 03F6 0483-0487 055A-055F 0591-05BD "
    "05BF 05C1-05C2 05C4-05C5 05C7 0615-061A 064B-065E 0670 06D6-06E4 06E7-06ED 06FD-06FE 070F 0711 0730-074C "
    "07A6-07B0 07EB-07F3 0900-0903 093C 093E-094E 0951-0955 0962-0963 0981-0983 09BC 09BE-09C4 09C7-09C8 09CB-09CD "
    "09D7 09E2-09E3 0A01-0A03 0A3C 0A3E-0A4F 0A81-0A83 0ABC 0ABE-0ACF 0B82 0BBE-0BC2 0BC6-0BC8 0BCA-0BCD 0C01-0C03 "
    "0C3E-0C56 0D3E-0D44 0D46-0D48 0E31 0E34-0E3A 0E47-0E4E 0EB1 0EB4-0EBC 0EC8-0ECD"
)
_SYMBOLS = _expand(
    "0021-002F 003A-0040 005B-0060 007B-007E 0091-0094 00A1-00A9 00AB-00AC 00AE-00B4 00B6-00B9 00BB-00BF 00D7 00F7 "
    "037E 0387 0589 05BE 05C0 05C3 05C6 05F3-05F4 0600-0603 0606-060C 0614 061B 061E-061F 066A 066D 06D4 0700-070D "
    "07F6-07F8 0964-0965 0E3F 0E4F 1FBD 2016-2023 2030-203B 203E-2042 2044 2070 2074-207E 2080-208E 20A0 20A4 20AC "
    "2100-2101 2103-2106 2108-2109 2114 2116-2118 211E-2123 2125 2127 2129 212E 213A-213B 2140-2144 214A-214D 214F "
    "2153-215E 2190-2BFF 3001-3002 3012 30FB FF01-FF0F FF1A-FF20 FF3B-FF40 FF5B-FF65 FFE0-FFE1 FFE5-FFE6"
)

LETTER = _brackets(_LETTERS)
DIGIT = _brackets(_DIGITS)
WORD_LETTER = _brackets(_LETTERS | _MARKS)
SYMBOL = _brackets(_SYMBOLS)
SPACE_OR_NEWLINE = " \\t\\n\u00a0\u2000-\u200a\u3000"
