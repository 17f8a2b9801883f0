"""Counts of word sequences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

LONGEST = 4


def ngrams(words: Sequence[str]) -> Counter[tuple[str, ...]]:
    """Return how often each sequence of 1 to 4 words occurs."""
    counts: Counter[tuple[str, ...]] = Counter()
    for n in range(1, LONGEST + 1):
        counts.update(zip(*(words[start:] for start in range(n)), strict=False))
    return counts
