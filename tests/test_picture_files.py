"""Promises of perturbed pictures on disk."""

from __future__ import annotations

import os
import pickle
import re
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from argus.errors import ConfigError, DataError
from argus.picture_files import PictureFiles

SIDE = 20  # pixels: 1,200 bytes and a header of 128
BYTES = 3 * SIDE * SIDE + 128


def picture(number: int) -> Image.Image:
    return Image.fromarray(np.random.default_rng(number).integers(0, 256, (SIDE, SIDE, 3), dtype=np.uint8))


def maker(made: list[int], number: int) -> Callable[[], Image.Image]:
    def make() -> Image.Image:
        made.append(number)
        return picture(number)

    return make


def size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def test_another_process_finds_the_same_pixels(tmp_path: Path) -> None:
    files, made = PictureFiles(tmp_path, 10**6, "v"), list[int]()
    first = files.get(("a", 1), maker(made, 1))
    again = pickle.loads(pickle.dumps(files)).get(("a", 1), maker(made, 2))
    assert made == [1]
    assert (again.mode, again.size, again.tobytes()) == (first.mode, first.size, first.tobytes())


@pytest.mark.parametrize("other", [("v", ("a", "1")), ("v", ("a", 2)), ("w", ("a", 1))], ids=repr)
def test_another_key_or_version_is_another_picture(tmp_path: Path, other: tuple[str, tuple[object, ...]]) -> None:
    made: list[int] = []
    PictureFiles(tmp_path, 10**6, "v").get(("a", 1), maker(made, 1))
    PictureFiles(tmp_path, 10**6, other[0]).get(other[1], maker(made, 2))
    assert made == [1, 2]


def test_a_limit_of_zero_keeps_nothing(tmp_path: Path) -> None:
    made: list[int] = []
    for _ in range(2):
        PictureFiles(tmp_path / "none", 0, "v").get(("a",), maker(made, 1))
    assert made == [1, 1]
    assert not (tmp_path / "none").exists()


def test_the_folder_never_exceeds_its_limit(tmp_path: Path) -> None:
    limit = 100 * BYTES
    files = PictureFiles(tmp_path, limit, "v")
    for number in range(350):
        files.get((number,), lambda: picture(0))
        assert size(tmp_path) <= limit
    assert size(tmp_path) > limit / 2


def test_what_earlier_processes_left_counts(tmp_path: Path) -> None:
    limit = 100 * BYTES
    for process in range(20):
        files = PictureFiles(tmp_path, limit, "v")
        for number in range(9):
            files.get((process, number), lambda: picture(0))
        assert size(tmp_path) <= limit


def test_what_was_unused_longest_goes_first(tmp_path: Path) -> None:
    files, made = PictureFiles(tmp_path, 40 * BYTES, "v"), list[int]()
    for number in range(30):
        files.get((number,), maker(made, number))
    for age, file in enumerate(tmp_path.rglob("*.npy")):
        os.utime(file, (age, age))
    files.get((7,), maker(made, 7))  # used now
    for number in range(30, 45):
        files.get((number,), maker(made, number))
    assert made == list(range(45))
    files.get((7,), maker(made, 7))
    assert made == list(range(45))


def test_a_picture_too_large_for_the_folder_is_not_kept(tmp_path: Path) -> None:
    PictureFiles(tmp_path, 10 * BYTES, "v").get(("a",), lambda: picture(0))
    assert size(tmp_path) == 0


@pytest.mark.parametrize("kept", [0, 60, 128, 900])
def test_a_damaged_file_is_made_anew(tmp_path: Path, kept: int) -> None:
    files, made = PictureFiles(tmp_path, 10**6, "v"), list[int]()
    files.get(("a",), maker(made, 1))
    (file,) = tmp_path.rglob("*.npy")
    file.write_bytes(file.read_bytes()[:kept])
    for _ in range(2):
        assert files.get(("a",), maker(made, 1)).tobytes() == picture(1).tobytes()
    assert made == [1, 1]


def test_a_picture_that_cannot_be_made_leaves_nothing(tmp_path: Path) -> None:
    def fail() -> Image.Image:
        raise DataError("broken")

    with pytest.raises(DataError, match="broken"):
        PictureFiles(tmp_path, 10**6, "v").get(("a",), fail)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match=f"'{re.escape(str(tmp_path / 'file'))}' cannot keep pictures"):
        PictureFiles(tmp_path / "file", 10**6, "v").get(("a",), lambda: picture(0))


def fill(folder: Path) -> list[bytes]:
    files = PictureFiles(folder, 60 * BYTES, "v")
    return [files.get((number,), lambda number=number: picture(number)).tobytes() for number in range(200)]


def test_processes_that_share_a_folder_get_the_same_pictures(tmp_path: Path) -> None:
    with ProcessPoolExecutor(2) as pool:
        first, second = pool.map(fill, [tmp_path, tmp_path])
    assert first == second == [picture(number).tobytes() for number in range(200)]
