"""Promises of the cache of pictures."""

from __future__ import annotations

import pickle
from collections.abc import Callable

import pytest
from PIL import Image

from argus.data.cache import PictureCache
from argus.errors import DataError

BYTES = 10 * 10 * 3  # of one picture here


def maker(made: list[str], name: str, side: int = 10) -> Callable[[], Image.Image]:
    def make() -> Image.Image:
        made.append(name)
        return Image.new("RGB", (side, side))

    return make


def test_a_picture_is_made_once() -> None:
    made: list[str] = []
    cache = PictureCache(10 * BYTES)
    first, second = (cache.get("a", maker(made, "a")) for _ in range(2))
    assert first is second
    assert made == ["a"]


def test_what_was_unused_longest_is_forgotten_first() -> None:
    made: list[str] = []
    cache = PictureCache(2 * BYTES)
    for name in "abacab":  # c pushes b out, b pushes c out
        cache.get(name, maker(made, name))
    assert made == ["a", "b", "c", "b"]
    assert cache.held == 2 * BYTES


@pytest.mark.parametrize("limit", [0, BYTES - 1])
def test_a_picture_larger_than_the_limit_is_not_kept(limit: int) -> None:
    made: list[str] = []
    cache = PictureCache(limit)
    for _ in range(2):
        cache.get("a", maker(made, "a"))
    assert (made, cache.held) == (["a", "a"], 0)


def test_a_failure_is_not_remembered() -> None:
    def fail() -> Image.Image:
        raise DataError("broken")

    made: list[str] = []
    cache = PictureCache(BYTES)
    with pytest.raises(DataError):
        cache.get("a", fail)
    cache.get("a", maker(made, "a"))
    assert made == ["a"]


def test_a_copy_in_another_process_starts_empty() -> None:
    cache = PictureCache(BYTES)
    cache.get("a", maker([], "a"))
    copy = pickle.loads(pickle.dumps(cache))
    assert (copy.limit, copy.held, cache.held) == (BYTES, 0, BYTES)
