"""Reading annotation files: what is wrong with one is said with its path."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from argus.errors import DataError

PICTURE_ENDINGS = {".bmp", ".gif", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp"}


def several(names: str | Iterable[str]) -> tuple[str, ...]:
    """Return one name, or a yaml list of names, as a tuple."""
    return (names,) if isinstance(names, str) else tuple(names)


@contextmanager
def expected_shape(where: str, layout: str) -> Iterator[None]:
    """Turn what a wrongly shaped json makes plain indexing raise into a DataError; keep the block small."""
    try:
        yield
    except KeyError as error:
        raise DataError(f"{where} has no key {error}. Expected layout:\n{layout}") from error
    except (AttributeError, IndexError, TypeError, ValueError) as error:
        raise DataError(f"{where} is not laid out as expected ({error}). Expected layout:\n{layout}") from error


def text(value: Any) -> str:
    """Return the value, or raise TypeError when it is not a string, to be used under `expected_shape`."""
    if not isinstance(value, str):
        raise TypeError(f"{value!r} stands where a text should")
    return value


def read_json(path: Path) -> Any:
    """Return the content of a json file, or raise DataError naming it and the place of the fault."""
    try:
        # utf-8-sig: a byte order mark, which Windows editors add, is not a fault.
        return json.loads(path.read_text(encoding="utf-8-sig"))
    except ValueError as error:
        raise DataError(f"'{path}' is not valid json ({error}); download or unpack it again") from error


def read_json_lines(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield for each line with text its place ("'path' line 3") and its content."""
    for where, line in read_lines(path):
        try:
            yield where, json.loads(line)
        except ValueError as error:
            raise DataError(f"{where} is not valid json ({error}); download or unpack the file again") from error


def read_lines(path: Path) -> Iterator[tuple[str, str]]:
    """Yield for each line with text its place and the line without its end."""
    with path.open(encoding="utf-8-sig") as lines:
        try:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield f"'{path}' line {number}", line.rstrip("\n")
        except UnicodeDecodeError as error:
            raise DataError(f"'{path}' is not UTF-8 text ({error}); download or unpack it again") from error


class Pictures:
    """The picture files of some folders, found by name or, where names differ between releases, by number."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self.folders = folders
        self.by_name: dict[str, Path] = {}
        self.by_number: dict[int, Path] = {}
        for folder in folders:
            for path in sorted(folder.iterdir()):
                if path.suffix.lower() in PICTURE_ENDINGS:
                    self.by_name.setdefault(path.name, path)
                    if number := re.search(r"[0-9]+$", path.stem):
                        self.by_number.setdefault(int(number[0]), path)

    def find(self, name: str, number: int) -> Path:
        """Return the file of that name, else one whose name ends in the number, else where it should have been."""
        return self.by_name.get(name) or self.by_number.get(number) or self.folders[0] / name
