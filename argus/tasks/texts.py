"""Texts are embedded once each, in batches of similar length."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from argus.tasks.checks import require_finite

if TYPE_CHECKING:
    from argus.models.base import Embedder

TEXTS_AT_ONCE = 128  # bounds the memory of one call: a gallery of COCO holds 25,000 texts


def embed_distinct(model: Embedder, texts: Iterable[str]) -> dict[str, np.ndarray]:
    """Return the (d,) embedding of each distinct text.

    Raises ArgusError where an embedding is not finite.
    """
    # Sorted by length, so that a batch is padded little; the text itself settles the order among equals.
    distinct = sorted(set(texts), key=lambda text: (len(text), text))
    vectors: dict[str, np.ndarray] = {}
    for start in range(0, len(distinct), TEXTS_AT_ONCE):
        batch = distinct[start : start + TEXTS_AT_ONCE]
        for text, row in zip(batch, model.embed_texts(batch).numpy(), strict=True):
            vectors[text] = require_finite(row, text)
    return vectors
