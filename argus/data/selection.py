"""Which entries of a dataset are used, and how many they are."""

from __future__ import annotations

from collections.abc import Sequence

from argus.errors import ConfigError, DataError
from argus.records import Entry


def take(entries: Sequence[Entry], limit: int | None, expected: int | None) -> tuple[Entry, ...]:
    """Return the first `limit` entries (null: all), after checking that the split has `expected` of them (null: any).

    Raises DataError when the split has another number of images than the yaml states, ConfigError for a limit below 1.
    """
    if limit is not None and limit < 1:
        raise ConfigError(f"dataset.limit={limit}: give 1 or more, or null for every image")
    if expected is not None and len(entries) != expected:
        raise DataError(
            f"the split has {len(entries)} images, but dataset.expected={expected}; check that the annotation files "
            "are whole and the split is the one you mean, or set dataset.expected=null"
        )
    return tuple(entries[:limit])


def counts(entries: Sequence[Entry]) -> dict[str, int]:
    """Return how many images, captions and questions there are."""
    return {
        "images": len(entries),
        "captions": sum(len(entry.captions) for entry in entries),
        "questions": sum(len(entry.questions) for entry in entries),
    }
