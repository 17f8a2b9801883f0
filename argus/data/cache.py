"""Pictures kept between cells: what a perturbation does not touch is not read or computed again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image

CHANNELS = 3  # bytes of an RGB pixel


class PictureCache:
    """Holds RGB pictures up to `limit` bytes and forgets those longest unused. Nobody may draw on what it returns."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.held = 0  # bytes
        self._pictures: OrderedDict[Hashable, Image] = OrderedDict()
        self._lock = Lock()

    def __reduce__(self) -> tuple[type[PictureCache], tuple[int]]:
        """A copy in another process starts empty."""
        return PictureCache, (self.limit,)

    def get(self, key: Hashable, make: Callable[[], Image]) -> Image:
        """Return the picture of this key, made now where it is not held; what `make` raises is not remembered."""
        with self._lock:
            if key in self._pictures:
                self._pictures.move_to_end(key)
                return self._pictures[key]
        picture = make()
        self._keep(key, picture)
        return picture

    def _keep(self, key: Hashable, picture: Image) -> None:
        size = _bytes(picture)
        with self._lock:
            if size > self.limit or key in self._pictures:
                return
            self._pictures[key] = picture
            self.held += size
            while self.held > self.limit:
                self.held -= _bytes(self._pictures.popitem(last=False)[1])


def _bytes(picture: Image) -> int:
    return picture.width * picture.height * CHANNELS
