from __future__ import annotations

from pathlib import Path

import pytest

from argus.data.selection import counts, take
from argus.errors import ConfigError, DataError
from argus.records import Caption, Entry, ImageSource, Question

QUESTION = Question("q", "Which?", ("a", "b"), 0, "kind")


def entry(name: str, captions: int, questions: int) -> Entry:
    texts = tuple(Caption(f"{name}{n}", "text") for n in range(captions))
    return Entry(name, ImageSource(Path(name)), texts, (QUESTION,) * questions)


ENTRIES = (entry("a", 5, 0), entry("b", 1, 2), entry("c", 0, 3))


def test_take_keeps_the_first_in_order() -> None:
    assert take(ENTRIES, limit=2, expected=None) == ENTRIES[:2]
    assert take(ENTRIES, limit=None, expected=None) == ENTRIES
    assert take(ENTRIES, limit=9, expected=3) == ENTRIES


def test_expected_count_is_of_the_split_not_of_the_limit() -> None:
    assert len(take(ENTRIES, limit=1, expected=3)) == 1


def test_split_with_images_missing_is_an_error() -> None:
    thousand = tuple(entry(str(n), 1, 0) for n in range(990))
    with pytest.raises(DataError, match=r"990 images, but dataset.expected=1000"):
        take(thousand, limit=None, expected=1000)


@pytest.mark.parametrize("limit", [0, -1])
def test_limit_below_one_is_an_error(limit: int) -> None:
    with pytest.raises(ConfigError, match=f"limit={limit}"):
        take(ENTRIES, limit=limit, expected=None)


def test_counts_are_of_images_captions_and_questions() -> None:
    assert counts(ENTRIES) == {"images": 3, "captions": 6, "questions": 5}
    assert counts(()) == {"images": 0, "captions": 0, "questions": 0}
