"""The shapes of tokens that the reference tokenizer knows, as regular expressions.

Each shape is tried at the present place and the one that reaches furthest wins; among equals, the earlier one. What a
shape wants to see behind the token, but does not take (`after`), counts for the reach.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from re import Pattern

from argus.metrics.captions import abbreviations, spelling
from argus.metrics.captions.characters import DIGIT, LETTER, SPACE_OR_NEWLINE, SYMBOL, WORD_LETTER
from argus.metrics.captions.spelling import Spelling


@dataclass(frozen=True)
class Shape:
    """A kind of token: group 1 of `pattern`, less its last `split` characters, which are read again."""

    pattern: Pattern[str]
    spell: Spelling
    split: int


def _shape(token: str, after: str = "", spell: Spelling = spelling.same, split: int = 0) -> Shape:
    return Shape(re.compile(f"({token})(?:{after})"), spell, split)


def _words(words: frozenset[str]) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


def _capitalised(words: frozenset[str]) -> str:
    return f"(?=[A-Z])(?i:{_words(words)})"


_D = f"[{DIGIT}]"
_ALNUM = f"[{LETTER}{DIGIT}]"
_APOSTROPHE = "(?:['\u0092\u2019]|&(?i:apos);)"
_ANY_APOSTROPHE = "(?:['`\u0092\u2019\u0091\u2018\u201b]|&(?i:apos);)"
_HYPHEN = "[-_\u058a\u2010\u2011]"

# --- words ---
_ENTITY_LETTER = "&[aeiouAEIOU](?i:acute|grave|uml);"
_LETTER = f"(?:[{WORD_LETTER}]|{_ENTITY_LETTER})"
_PLAIN_WORD = f"{_LETTER}(?:[{WORD_LETTER}{DIGIT}]|{_ENTITY_LETTER})*"
_WORD = f"{_PLAIN_WORD}(?:[.!?]{_PLAIN_WORD})*"
_CLITIC = f"{_APOSTROPHE}(?:[msdMSD]|(?i:re|ve|ll))"
_NEGATION = f"[nN]{_ANY_APOSTROPHE}[tT]"
_BEFORE_NEGATION = "[A-Za-z\u00ad]*[A-MO-Za-mo-z]\u00ad*"
_ELISION = f"(?:[dDoOlL]{_ANY_APOSTROPHE}{_ALNUM})"
_HYPHENATED = f"{_ELISION}?{_ALNUM}+(?:{_HYPHEN}{_ELISION}?{_ALNUM}+)*"
_INITIALS = (
    "(?:(?i:canada|sino|korean|eu|japan|non)-[uU]\\.[sS]|[uU]\\.[sS]\\.-(?:[uU]\\.[sS]\\.[sS]\\.[rR]|[uU]\\.[kK])"
    "|[A-Za-z](?:\\.[A-Za-z])+)"
)
_HYPHENATED_NUMBERS = f"[A-Za-z0-9][A-Za-z0-9.,\u00ad]*(?:-(?:{_INITIALS}\\.|[A-Za-z0-9\u00ad]+))+"
_CAPITALS_WITH_AND = "[A-Z]+(?:(?:[+&]|&(?i:amp);)[A-Z]+)+"
_SLASHED_PART = "[A-Za-z0-9]+(?:-[A-Za-z]+){0,2}"
_SLASHED = f"{_SLASHED_PART}(?:\\\\?/{_SLASHED_PART}){{1,2}}"
_EXTENSION = (
    "bat|bmp|class|cgi|cpp|c|dll|docx|doc|exe|gif|gz|html|htm|h|java|jar|jpeg|jpg|mov|mp3|pdf|php|pl|png|ppt|ps"
    "|py|sql|tar|txt|wav|xml|x|zip"
)
_FILE_PART = f"(?:[{WORD_LETTER}{DIGIT}]|{_ENTITY_LETTER})+"
_FILE = f"{_FILE_PART}(?:\\.{_FILE_PART})*\\.(?i:{_EXTENSION})"
_FIRM_ABBREVIATION = (
    f"(?:(?i:{_words(abbreviations.FIRM)}|(?:ed|ph)\\.d)|{_capitalised(abbreviations.FIRM_CAPITALISED)})\\."
)
_PAUSE = "[,;:\u3001]"

# --- numbers ---
_NUMBER_MARK = "[.:,\u00ad\u066b\u066c]"
_NUMBER = f"[-+]?(?:{_D}+(?:{_NUMBER_MARK}{_D}+)*|(?:{_NUMBER_MARK}{_D}+)+)"
_SLASH = "(?:\\\\?/|\u2044)"
_PHONE_TAIL = "[0-9]{3,4}[- \u00a0]?[0-9]{3,5}"

# --- addresses ---
_NOT_IN_URL = ' \\t\\n\\f\\r"<>|'
_URL = f"(?i:https?)://[^{_NOT_IN_URL}(){{}}]+[^{_NOT_IN_URL}.!?(){{}},\\-]"
_LABEL = f"[^{_NOT_IN_URL}.!?(){{}},]+\\."
# The range from comma to underscore takes out digits and capitals too: a slip of the tool that shows in its tokens.
_BARE_LABEL = f"[^{_NOT_IN_URL}`'!(){{}}$,-_]+\\."
_PATH = f"/[^{_NOT_IN_URL}()]+[^{_NOT_IN_URL}.!?(){{}},\\-]"
_MAIL_NAME = '[^ \\t\\n\\f\\r"<>|()\u00a0{}]'
_MAIL_HOST = '[^ \\t\\n\\f\\r"<>|().\u00a0{}]'
_MAIL = f"(?:&(?i:lt);|<)?[a-zA-Z0-9]{_MAIL_NAME}*@(?:{_MAIL_HOST}+\\.)*{_MAIL_HOST}+(?:&(?i:gt);|>)?"

# --- mark-up ---
_ATTRIBUTE_NAME = "[A-Za-z][A-Za-z0-9_:.\\-]*"
_TAG = (
    f"<(?:[!?][A-Za-z\\-][^>\\r\\n]*|/{_ATTRIBUTE_NAME}[ ]*"
    f"|{_ATTRIBUTE_NAME}(?:[ ]+{_ATTRIBUTE_NAME}(?:[ ]*=[ ]*(?:'[^'\\r\\n]*'|\"[^\"\\r\\n]*\"))?)*[ ]*/?[ ]*)>"
)

# --- faces, quotes, money ---
_FACE = "[<>]?[:;=][-o*']?[()DPdpO\\\\{@|\\[\\]]"
_SIDE_FACE = "[-^x=~<>']_[-^x=~<>']|\\([-^x=~<>'][_.]?[-^x=~<>']\\)|\\([\\^x=~<>']-[\\^x=~<>'`]\\)"
_CURLY_QUOTE = "[`\u2018\u2019\u201a\u201b\u201c\u201d\u0091-\u0094\u201e\u201f\u2039\u203a\u00ab\u00bb]"
_MONEY_SIGN = "[\u00a2\u00a3\u00a4\u00a5\u0080\u20a0\u20ac\u060b\u0e3f\u20a4\uffe0\uffe1\uffe5\uffe6]"
_SOFT = spelling.without_soft_hyphens
_NAMED = spelling.with_named_parentheses
_SENTENCE_START = f"(?:{_capitalised(abbreviations.SENTENCE_STARTS)}|{_TAG})"

SHAPES: tuple[Shape, ...] = (
    _shape("[cC]\\+\\+|[cCfF]#"),
    _shape("(?i:cannot|'twas)", split=3),
    _shape("(?i:'tis|gonna|gotta|lemme|gimme|wanna)", split=2),
    _shape(_TAG, spell=spelling.with_fixed_spaces),
    _shape("&(?i:md|mdash|ndash);|[\u0096\u0097\u2013\u2014\u2015]", spell=spelling.dash),
    _shape("&(?i:amp);", spell=spelling.with_plain_ampersand),
    _shape("&(?i:HT|TL|UR|LR|QC|QL|QR|odq|cdq|#[0-9]+);"),
    _shape(_WORD, after=_CLITIC, spell=_SOFT),
    _shape(_BEFORE_NEGATION, after=_NEGATION, spell=_SOFT),
    _shape(_WORD, spell=_SOFT),
    _shape(f"{_APOSTROPHE}[nN]{_APOSTROPHE}?|[lLdDjJ]{_APOSTROPHE}|(?i:ol|dunkin|somethin){_APOSTROPHE}"),
    _shape(f"{_APOSTROPHE}(?i:em|till|til|cause|[2-9]0s)"),
    _shape(f"[A-HJ-XZn]{_ANY_APOSTROPHE}[{LETTER}]{{2,}}"),
    _shape(f"[{LETTER}]+[aeiouyAEIOUY]{_ANY_APOSTROPHE}[aeiouA-Z][{LETTER}]*"),
    _shape("(?i:cont'd\\.?|nor'easter|c'mon|e'er|s'mores|ev'ry|li'l|nat'l)"),
    _shape(f"[oO]{_ANY_APOSTROPHE}[oO]"),
    _shape(f"[yY]{_APOSTROPHE}", after=f"[{LETTER}]"),
    _shape(_URL),
    _shape(f"(?i:www)\\.(?:{_LABEL})+[a-zA-Z]{{2,4}}"),
    _shape(f"(?i:www)\\.(?:{_LABEL})+?[a-zA-Z]{{2,4}}{_PATH}"),
    _shape(f"(?:{_BARE_LABEL})+(?i:com|net|org|edu)"),
    _shape(f"(?:{_BARE_LABEL})+?(?i:com|net|org|edu){_PATH}"),
    _shape(_MAIL),
    _shape(f"@[a-zA-Z_][a-zA-Z_0-9]*|\\#{_LETTER}+"),
    _shape(_CLITIC, after="[^A-Za-z]", spell=spelling.quotes),
    _shape(_NEGATION, spell=spelling.quotes),
    _shape(f"{_D}{{1,2}}[-/]{_D}{{1,2}}[-/]{_D}{{2,4}}"),
    _shape(_NUMBER, spell=_SOFT),
    _shape("[\u207a\u207b\u208a\u208b]?(?:[\u2070\u00b9\u00b2\u00b3\u2074-\u2079]+|[\u2080-\u2089]+)"),
    _shape(f"(?:{_D}{{1,4}}[- \u00a0])?{_D}{{1,4}}{_SLASH}{_D}{{1,4}}", spell=spelling.with_fixed_spaces),
    _shape("[\u00bc\u00bd\u00be\u2153-\u215e]", spell=spelling.fraction_sign),
    _shape("-(?i:RRB|LRB|RCB|LCB|RSB|LSB)-|(?i:c\\.d\\.s|pro-|anti-)"),
    _shape("(?i:s(?:&amp;|&)(?:p-500|ls))", spell=spelling.with_plain_ampersand),
    _shape(f"[cC][aA][pP]{_APOSTROPHE}[nN]|[cC]{_APOSTROPHE}[eE][sS][tT]", spell=spelling.with_plain_ampersand),
    _shape(_SLASHED),
    _shape("[A-Z]*\\$|\\#", spell=spelling.currency),
    _shape(_MONEY_SIGN, spell=spelling.currency),
    _shape(f"(?i:{_words(abbreviations.BEFORE_A_NUMBER)})\\.", after=f"[{SPACE_OR_NEWLINE}]?{_D}"),
    _shape(_FIRM_ABBREVIATION, after="(?:[^\\r][^\\r])?"),
    _shape(f"(?i:{_words(abbreviations.LOOSE)})\\."),
    _shape("[A-Za-z]", after=f"\\.[{SPACE_OR_NEWLINE}]+{_SENTENCE_START}[{SPACE_OR_NEWLINE}]"),
    _shape(f"{_INITIALS}\\.|[A-Za-z]\\."),
    _shape(_INITIALS, after=f"[{SPACE_OR_NEWLINE}]"),
    _shape(f"{_APOSTROPHE}[0-9][0-9]", after=f"[{SPACE_OR_NEWLINE}]"),
    _shape(_FILE, after=f"[{SPACE_OR_NEWLINE}.?!,]"),
    _shape(f"{_WORD}\\.", after=_PAUSE, spell=_SOFT),
    _shape(f"(?:\\([0-9]{{2,3}}\\)[ \u00a0]?){_PHONE_TAIL}", spell=_NAMED),
    _shape(f"(?:\\+\\+?)?[0-9]{{2,4}}[- \u00a0]{_PHONE_TAIL}", spell=_NAMED),
    _shape(f"(?:\\+\\+?)?[0-9]{{2,4}}[- \u00a0][0-9]{{2,4}}[- \u00a0]{_PHONE_TAIL}", spell=_NAMED),
    _shape("(?:(?:\\+\\+?)?[0-9]{2,4}\\.)?[0-9]{2,4}\\.[0-9]{3,4}\\.[0-9]{3,5}", spell=_NAMED),
    _shape('"|&(?i:quot);', spell=spelling.quotes),
    _shape("<|&(?i:lt);", spell=spelling.bracket),
    _shape(">|&(?i:gt);", spell=spelling.bracket),
    _shape(_FACE, after="[^A-Za-z0-9]", spell=_NAMED),
    _shape(_SIDE_FACE, spell=_NAMED),
    _shape("[(){}\\[\\]]", spell=spelling.bracket),
    _shape("-+", spell=spelling.hyphens),
    _shape("\\.{3,5}|(?:\\.[ \u00a0]){2,4}\\.|[\u0085\u2026]", spell=spelling.dots),
    _shape("@+|\\#+|_+|\\*+|(?:\\\\\\*){1,3}"),
    _shape("[?!]+"),
    _shape(f"{_HYPHENATED_NUMBERS}\\.", after=_PAUSE, spell=_SOFT),
    _shape(_HYPHENATED_NUMBERS, spell=_SOFT),
    _shape(f"{_HYPHENATED}\\.", after=_PAUSE),
    _shape(_HYPHENATED),
    _shape(f"{_CAPITALS_WITH_AND}\\.", after=_PAUSE, spell=spelling.with_plain_ampersand),
    _shape(_CAPITALS_WITH_AND, spell=spelling.with_plain_ampersand),
    _shape("'", after="[A-Za-z][^ \\t\\n\\r\u00a0]", spell=spelling.quotes),
    _shape(_CLITIC, spell=spelling.quotes),
    _shape(f"{_CURLY_QUOTE}{{1,2}}", spell=spelling.quotes),
    _shape(f"''|{_APOSTROPHE}", spell=spelling.quotes),
    _shape("<<|>>"),
    _shape(f"[{SYMBOL}]"),
    _shape(f"[{SPACE_OR_NEWLINE}]+|&(?i:nbsp);", spell=spelling.nothing),
)
