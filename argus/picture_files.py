"""Perturbed pictures on disk, so that other processes and later sweeps need not perturb them again."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

import numpy as np
from PIL.Image import Image, fromarray

from argus.errors import ConfigError

FILLED = 0.8  # of the limit, once those unused longest were removed
SHARE = 1 / 20  # of the limit: a process counts the files again whenever it has written as much


class PictureFiles:
    """Keeps pictures as they are in memory, up to `limit` bytes in a folder; 0 keeps none.

    `version` stands for the code and the libraries that make them: pictures of another one are not found, and go once
    they are those unused longest. Processes may share a folder; each may exceed the limit by a twentieth.
    """

    def __init__(self, folder: Path, limit: int, version: str) -> None:
        self.folder, self.limit, self.version = folder, limit, version
        self._unseen = float("inf")  # bytes written since the last count: a new process counts what others left

    def __reduce__(self) -> tuple[type[PictureFiles], tuple[Path, int, str]]:
        """A copy in another process counts for itself."""
        return type(self), (self.folder, self.limit, self.version)

    def get(self, key: tuple[object, ...], make: Callable[[], Image]) -> Image:
        """Return the RGB picture of this key, made now where it is not kept; keys are told apart by their repr.

        Raises ConfigError where the folder cannot be written to.
        """
        if not self.limit:
            return make()
        file = self._file(key)
        found = _read(file)
        if found is not None:
            return found
        picture = make()
        try:
            self._keep(file, picture)
        except OSError as error:
            raise ConfigError(
                f"'{self.folder}' cannot keep pictures ({error}): name another folder, argus.disk_cache=…, or keep "
                "none, argus.disk_cache_mb=0"
            ) from error
        return picture

    def _file(self, key: tuple[object, ...]) -> Path:
        digest = hashlib.sha256(repr((self.version, *key)).encode()).hexdigest()
        return self.folder / digest[:2] / f"{digest}.npy"

    def _keep(self, file: Path, picture: Image) -> None:
        pixels = np.asarray(picture)
        if pixels.nbytes > self.limit * SHARE:
            return  # it would push out too many others
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(f".{uuid4().hex}")
        try:
            with part.open("wb") as opened:
                np.save(opened, pixels, allow_pickle=False)
            part.replace(file)  # in one step: nobody reads half a picture
        finally:
            part.unlink(missing_ok=True)
        self._unseen += pixels.nbytes
        if self._unseen > self.limit * SHARE:
            self._tidy()

    def _tidy(self) -> None:
        """Count all files; remove those unused longest where there are too many bytes."""
        self._unseen = 0.0
        files = sorted(_files(self.folder))
        held = sum(size for _, size, _ in files)
        if held <= self.limit * (1 - SHARE):
            return
        for _, size, file in files:
            if held <= self.limit * FILLED:
                break
            file.unlink(missing_ok=True)  # another process may have been faster
            held -= size


def _read(file: Path) -> Image | None:
    """Return a kept picture and note that it was used; None where there is none, or a damaged one."""
    try:
        pixels = np.load(file, allow_pickle=False)
        os.utime(file)
    except (OSError, ValueError, EOFError):
        return None
    return fromarray(pixels)


def _files(folder: Path) -> list[tuple[int, int, Path]]:
    """Return (last use in ns, bytes, path) of what a folder keeps, half-written pictures of killed processes too."""
    found = []
    for file in folder.glob("??/*"):
        with suppress(FileNotFoundError):
            status = file.stat()
            found.append((status.st_mtime_ns, status.st_size, file))
    return found
