"""Embedding pictures and texts in batches, each batch once for all cells of a model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from argus.cache import Cache
from argus.tasks.checks import require_finite

if TYPE_CHECKING:
    from PIL.Image import Image

    from argus.models.base import Embedder

TEXTS_AT_ONCE = 128  # bounds the memory of one call: a gallery of COCO holds 25,000 texts
Arrays = Cache[np.ndarray]


def array_bytes(array: np.ndarray) -> int:
    return array.nbytes


def no_cache() -> Arrays:
    return Cache(0, array_bytes)


@dataclass(frozen=True)
class Embedding:
    """Embeds with the one model that `cache` is for.

    A batch is looked up by its content as a whole: its parts alone could round differently. `anew` computes also what
    is held, since costs are being measured.
    """

    cache: Arrays = field(default_factory=no_cache)
    anew: bool = False

    def images(self, model: Embedder, images: Sequence[Image]) -> np.ndarray:
        """Return (len(images), d) unit-length rows, not to be written to."""
        parts = (part for image in images for part in (repr(image.size).encode(), image.tobytes()))
        return self._get("images", parts, lambda: model.embed_images(images).numpy())

    def distinct(self, model: Embedder, texts: Iterable[str]) -> dict[str, np.ndarray]:
        """Return the (d,) embedding of each distinct text, in batches of similar length.

        Raises ArgusError where an embedding is not finite.
        """
        # Sorted by length, so that a batch is padded little; the text itself settles the order among equals.
        ordered = sorted(set(texts), key=lambda text: (len(text), text))
        vectors: dict[str, np.ndarray] = {}
        for start in range(0, len(ordered), TEXTS_AT_ONCE):
            batch = ordered[start : start + TEXTS_AT_ONCE]
            for text, row in zip(batch, self._texts(model, batch), strict=True):
                vectors[text] = require_finite(row, text)
        return vectors

    def _texts(self, model: Embedder, texts: Sequence[str]) -> np.ndarray:
        parts = (text.encode("utf-8", "surrogatepass") for text in texts)
        return self._get("texts", parts, lambda: model.embed_texts(texts).numpy())

    def _get(self, kind: str, parts: Iterable[bytes], make: Callable[[], np.ndarray]) -> np.ndarray:
        if not self.cache.limit:
            return make()
        key = _digest(kind, parts)
        if not self.anew:
            return self.cache.get(key, make)
        rows = make()
        self.cache.put(key, rows)
        return rows


def _digest(kind: str, parts: Iterable[bytes]) -> bytes:
    digest = blake2b(kind.encode())
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.digest()
