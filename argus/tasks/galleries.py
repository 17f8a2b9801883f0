"""The galleries that retrieval searches: the same for every model, since they follow from the entries alone."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from argus.errors import DataError
from argus.records import Caption, Entry


@dataclass(frozen=True)
class Gallery:
    """Images with all their captions. The arrays have one element for each caption."""

    images: tuple[str, ...]  # ids, in the order of the entries
    captions: tuple[Caption, ...]  # texts as the model sees them
    owner: np.ndarray  # index of the image that a caption belongs to
    meaning: np.ndarray  # equal numbers for captions of equal clean text

    def right(self) -> np.ndarray:
        """Return which caption is right for which image, (images, captions): its own, and those of the same text."""
        matrix = np.zeros((len(self.images), len(self.captions)), dtype=bool)
        for image in range(len(self.images)):
            matrix[image] = np.isin(self.meaning, self.meaning[self.owner == image])
        return matrix

    def kept(self, image_ids: Collection[str]) -> tuple[np.ndarray, np.ndarray]:
        """Return which images are among the ids, (images,), and which captions belong to them, (captions,)."""
        images = np.array([image in image_ids for image in self.images], dtype=bool)
        return images, images[self.owner]


def cut(count: int, size: int | None) -> tuple[range, ...]:
    """Return consecutive galleries of `size` entries; None is one gallery of all.

    A last one of under half the size joins the one before, so all have between 0.5 and 1.5 times the size (unless
    there are fewer entries than that altogether).
    """
    if size is None or count <= size:
        return (range(count),)
    starts = list(range(0, count, size))
    if 2 * (count - starts[-1]) < size:
        starts.pop()
    return tuple(range(start, stop) for start, stop in zip(starts, [*starts[1:], count], strict=True))


def galleries(clean: Sequence[Entry], entries: Sequence[Entry], size: int | None) -> tuple[Gallery, ...]:
    """Return the galleries of the entries; `clean` are the same entries before their texts were perturbed.

    Raises DataError where an entry has no caption: it could never be found.
    """
    bare = [entry.id for entry in entries if not entry.captions]
    if bare:
        raise DataError(f"{len(bare)} entries without a caption cannot be retrieved, first '{bare[0]}'; leave them out")
    return tuple(_gallery([clean[i] for i in part], [entries[i] for i in part]) for part in cut(len(entries), size))


def _gallery(clean: Sequence[Entry], entries: Sequence[Entry]) -> Gallery:
    numbers: dict[str, int] = {}
    texts = [caption.text.strip() for entry in clean for caption in entry.captions]
    return Gallery(
        images=tuple(entry.id for entry in entries),
        captions=tuple(caption for entry in entries for caption in entry.captions),
        owner=np.array([index for index, entry in enumerate(entries) for _ in entry.captions]),
        meaning=np.array([numbers.setdefault(text, len(numbers)) for text in texts]),
    )
