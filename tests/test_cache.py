"""Promises of what is kept between cells."""

from __future__ import annotations

import pickle
from collections.abc import Callable

import pytest

from argus.cache import Cache
from argus.errors import DataError


def maker(made: list[str], value: str) -> Callable[[], str]:
    def make() -> str:
        made.append(value)
        return value

    return make


def test_a_value_is_made_once() -> None:
    made: list[str] = []
    cache = Cache(100, len)
    assert [cache.get("a", maker(made, "abc")) for _ in range(2)] == ["abc", "abc"]
    assert made == ["abc"]


def test_what_was_unused_longest_is_forgotten_first() -> None:
    made: list[str] = []
    cache = Cache(2, len)
    for name in "abacab":  # c pushes b out, b pushes c out
        cache.get(name, maker(made, name))
    assert made == ["a", "b", "c", "b"]
    assert cache.held == 2


@pytest.mark.parametrize("limit", [0, 2])
def test_a_value_larger_than_the_limit_is_not_kept(limit: int) -> None:
    made: list[str] = []
    cache = Cache(limit, len)
    for _ in range(2):
        cache.get("a", maker(made, "abc"))
    assert (made, cache.held) == (["abc", "abc"], 0)


def test_a_failure_is_not_remembered() -> None:
    def fail() -> str:
        raise DataError("broken")

    made: list[str] = []
    cache = Cache(100, len)
    with pytest.raises(DataError):
        cache.get("a", fail)
    cache.get("a", maker(made, "a"))
    assert made == ["a"]


def test_a_copy_in_another_process_starts_empty() -> None:
    cache = Cache(100, len)
    cache.put("a", "abc")
    copy = pickle.loads(pickle.dumps(cache))
    assert (copy.limit, copy.held, cache.held) == (100, 0, 3)
