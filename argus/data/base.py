"""What a dataset is: entries read from its official on-disk layout."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path

from argus.errors import DataError
from argus.records import Entry


class Dataset(ABC):
    """Reads one dataset. Subclasses set `layout` and fill `read`."""

    layout: str  # the files expected below `root`, shown when one is missing

    def __init__(self, root: Path) -> None:
        self.root = root

    def entries(self) -> tuple[Entry, ...]:
        """Return every entry of the split, ordered as in the annotation file.

        Raises DataError when a file is missing or malformed, an id occurs twice, or nothing was found.
        """
        if not self.root.is_dir():
            raise DataError(f"no folder '{self.root}'. Expected layout:\n{self.layout}")
        entries = self.read()
        if not entries:
            raise DataError(f"no entries under '{self.root}'. Expected layout:\n{self.layout}")
        repeated = {entry.id for entry in entries} if len({e.id for e in entries}) < len(entries) else ()
        if repeated:
            raise DataError(f"ids occur twice under '{self.root}'")
        return entries

    @abstractmethod
    def read(self) -> tuple[Entry, ...]:
        """Return the entries; `self.root` exists."""

    def file(self, *parts: str) -> Path:
        """Return the path of a required file below the root, or raise DataError naming it and the layout."""
        path = self.root.joinpath(*parts)
        if not path.exists():
            raise DataError(f"'{path}' is missing. Expected layout:\n{self.layout}")
        return path
