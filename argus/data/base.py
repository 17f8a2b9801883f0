"""What a dataset is: entries read from its official on-disk layout."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path

from argus.data.checks import check_entries
from argus.errors import DataError
from argus.records import Entry


class Dataset(ABC):
    """Reads one dataset. Subclasses set `layout` and fill `annotation_files` and `read`."""

    layout: str  # the files expected below `root`, shown when one is missing

    def __init__(self, root: Path | str) -> None:
        self.root = Path(root).expanduser()

    def entries(self) -> tuple[Entry, ...]:
        """Return every entry of the split, in the order of the annotation file.

        Raises DataError when a file is missing or malformed, an id occurs twice, a right answer is not among its
        choices, or nothing was found. Pictures are only looked for here; `load_image` reads them.
        """
        if not self.root.is_dir():
            raise DataError(f"no folder '{self.root}'. Expected layout:\n{self.layout}")
        entries = self.read()
        if not entries:
            raise DataError(f"no entries under '{self.root}'. Expected layout:\n{self.layout}")
        check_entries(entries, self.root, self.layout)
        return entries

    @abstractmethod
    def annotation_files(self) -> tuple[Path, ...]:
        """Return every file but the pictures that `read` reads: what can change a result.

        Raises DataError when one is missing.
        """

    @abstractmethod
    def read(self) -> tuple[Entry, ...]:
        """Return the entries; `self.root` exists."""

    def file(self, *parts: str) -> Path:
        """Return the path of a required file below the root, or raise DataError naming it and the layout."""
        path = self.root.joinpath(*parts)
        if not path.is_file():
            raise DataError(f"file '{path}' is missing. Expected layout:\n{self.layout}")
        return path

    def folder(self, *parts: str) -> Path:
        """Return the path of a required folder below the root, or raise DataError naming it and the layout."""
        path = self.root.joinpath(*parts)
        if not path.is_dir():
            raise DataError(f"folder '{path}' is missing. Expected layout:\n{self.layout}")
        return path
