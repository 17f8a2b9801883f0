"""Promises of the typos."""

from __future__ import annotations

import random
import threading
from itertools import pairwise

import numpy as np
import pytest

from argus.perturbations.typo import Typo

LONG = "the quick brown fox jumps over lazy dogs again today " * 10  # 100 words
NEIGHBOURS_OF_U = set("hijk")  # nlpaug 1.1.11 lists neither "y" nor "7" here once keys other than letters are left out


def changed(before: str, after: str) -> set[int]:
    pairs = zip(before.split(), after.split(), strict=True)
    return {place for place, (old, new) in enumerate(pairs) if old != new}


@pytest.mark.parametrize("severity", [1, 2, 3, 4, 5])
def test_share_of_touched_words_is_ten_percent_times_severity(severity):
    assert len(changed(LONG, Typo(severity).text(LONG, 0, "id"))) == pytest.approx(10 * severity, abs=1)


@pytest.mark.parametrize(("severity", "expected"), [(1, 1.0), (3, 1.2), (5, 2.0)])
def test_share_holds_on_average_for_short_texts(severity, expected):
    # Four words: 0.4, 1.2 and 2 of them, and never less than one.
    counts = [
        len(changed("what is that thing", Typo(severity).text("what is that thing", 0, str(i)))) for i in range(500)
    ]
    assert np.mean(counts) == pytest.approx(expected, abs=0.06)


def test_one_letter_of_a_touched_word_changes_and_everything_else_stays():
    text = " A  TV-set,\tisn't it?\nÜber café: 35-mm (OK)  "
    for number in range(300):
        after = Typo(5).text(text, 0, str(number))
        assert len(after) == len(text)
        for old, new in zip(text, after, strict=True):
            assert old == new or (old.isascii() and old.isalpha() and new.isalpha() and old.isupper() == new.isupper())
        words = zip(text.split(), after.split(), strict=True)
        assert all(sum(a != b for a, b in zip(old, new, strict=True)) <= 1 for old, new in words)


def test_words_touched_at_a_lower_severity_are_touched_at_a_higher_one():
    touched = [changed(LONG, Typo(severity).text(LONG, 0, "id")) for severity in (1, 2, 3, 4, 5)]
    assert all(low < high for low, high in pairwise(touched))


def test_a_slip_goes_to_a_neighbouring_letter():
    assert {Typo(1).text("u", 0, str(number)) for number in range(200)} == NEIGHBOURS_OF_U
    assert {Typo(1).text("U", 0, str(number)) for number in range(200)} == {key.upper() for key in NEIGHBOURS_OF_U}


def test_seed_and_id_choose_the_typo():
    text = "a small dog next to a large cat"
    assert len({Typo(2).text(text, seed, "id") for seed in range(20)}) > 10
    assert len({Typo(2).text(text, 0, str(number)) for number in range(20)}) > 10


def test_another_thread_that_draws_from_the_global_generator_sees_its_own_numbers():
    random.seed(0)
    expected = [random.random() for _ in range(20_000)]
    typo = Typo(5)
    stop = threading.Event()

    def keep_typing() -> None:
        while not stop.is_set():
            typo.text(LONG, 0, "id")

    worker = threading.Thread(target=keep_typing)
    random.seed(0)
    worker.start()
    drawn = [random.random() for _ in range(20_000)]
    stop.set()
    worker.join()
    assert drawn == expected
