"""BLEU-1 to 4 of captions: a whole corpus, or one image.

K. Papineni et al., BLEU: a method for automatic evaluation of machine translation, ACL 2002. Word sequences found are
clipped at the most that any one reference has; the reference length nearest to the caption's counts (the shorter of two
as near). The two small constants are those of the COCO evaluation, so that a caption without a match scores nearly 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from argus.metrics.captions.ngrams import LONGEST, ngrams

Number = float | np.ndarray

_TINY, _SMALL = 1e-15, 1e-9


@dataclass(frozen=True)
class BleuStatistics:
    """What BLEU needs to know of one caption, or of many: a corpus is the sum of its captions."""

    found: tuple[int, ...]  # word sequences of length 1 to 4 that a reference has too
    written: tuple[int, ...]  # word sequences of length 1 to 4
    length: int  # words of the caption
    reference_length: int


def bleu_statistics(candidate: Sequence[str], references: Sequence[Sequence[str]]) -> BleuStatistics:
    """Return the statistics of one caption against its references, all of them words."""
    allowed: Counter[tuple[str, ...]] = Counter()
    for reference in references:
        allowed |= ngrams(reference)
    found = [0] * LONGEST
    for sequence, count in ngrams(candidate).items():
        found[len(sequence) - 1] += min(count, allowed[sequence])
    length = len(candidate)
    nearest = min((abs(len(reference) - length), len(reference)) for reference in references)[1]
    return BleuStatistics(tuple(found), tuple(max(0, length - n) for n in range(LONGEST)), length, nearest)


def total(statistics: Iterable[BleuStatistics]) -> BleuStatistics:
    """Return the statistics of a corpus; give a caption's twice where a resample has it twice."""
    items = list(statistics)
    return BleuStatistics(
        tuple(sum(item.found[n] for item in items) for n in range(LONGEST)),
        tuple(sum(item.written[n] for item in items) for n in range(LONGEST)),
        sum(item.length for item in items),
        sum(item.reference_length for item in items),
    )


def bleu(statistics: BleuStatistics) -> tuple[float, ...]:
    """Return BLEU-1 to 4, in [0, 1]."""
    values = bleu_of_totals(statistics.found, statistics.written, statistics.length, statistics.reference_length)
    return tuple(map(float, values))


def bleu_of_totals(
    found: Sequence[Number], written: Sequence[Number], length: Number, reference_length: Number
) -> tuple[Number, ...]:
    """Return BLEU-1 to 4 of counts as in BleuStatistics, or of arrays of them: one BLEU for each element."""
    ratio = (length + _TINY) / (reference_length + _SMALL)
    brevity = np.exp(np.minimum(1 - 1 / ratio, 0.0))
    scores: list[Number] = []
    product: Number = 1.0
    for n in range(LONGEST):
        product = product * ((found[n] + _TINY) / (written[n] + _SMALL))
        scores.append(product ** (1 / (n + 1)) * brevity)
    return tuple(scores)
