"""CIDEr-D: how much a caption has in common with its references, rare word sequences weighing more.

R. Vedantam, C. L. Zitnick, D. Parikh, CIDEr: consensus-based image description evaluation, CVPR 2015. Its unit: 0 to
10, where 1.0 is what papers print as 100.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from argus.errors import DataError
from argus.metrics.captions.ngrams import LONGEST, ngrams

SIGMA = 6.0
_SCALE = 10.0

Sequences = Counter[tuple[str, ...]]


@dataclass(frozen=True)
class _Weighted:
    """A caption's weight for each word sequence, the norm for each length (4), and its number of word pairs."""

    weights: Mapping[tuple[str, ...], float]
    norms: tuple[float, ...]
    pairs: int


def cider_d(candidates: Sequence[Sequence[str]], references: Sequence[Sequence[Sequence[str]]]) -> list[float]:
    """Return the CIDEr-D of each image's caption; the corpus has their mean.

    Captions are words. In how many of these images a sequence occurs decides its weight, so that a score holds for this
    corpus alone. Raises DataError for fewer than two images.
    """
    if len(candidates) < 2:
        raise DataError(
            f"CIDEr-D needs at least two images, not {len(candidates)}: with one, every word is in every image and "
            "weighs nothing. Give more images"
        )
    counted = [[ngrams(reference) for reference in group] for group in references]
    images = Counter(sequence for group in counted for sequence in set().union(*group))
    log_images = math.log(len(candidates))
    # Sequences that no reference has weigh as much as those of one image.
    rarity = {sequence: log_images - math.log(count) for sequence, count in images.items()}
    scores = []
    for candidate, group in zip(candidates, counted, strict=True):
        weighted = _weighted(ngrams(candidate), rarity, log_images)
        similarity = [_similarity(weighted, _weighted(reference, rarity, log_images)) for reference in group]
        scores.append(_SCALE * sum(similarity) / len(group))
    return scores


def _weighted(counts: Sequences, rarity: Mapping[tuple[str, ...], float], rarest: float) -> _Weighted:
    weights, squares, pairs = {}, [0.0] * LONGEST, 0
    for sequence, count in counts.items():
        weight = weights[sequence] = count * rarity.get(sequence, rarest)
        squares[len(sequence) - 1] += weight * weight
        pairs += count if len(sequence) == 2 else 0
    return _Weighted(weights, tuple(map(math.sqrt, squares)), pairs)


def _similarity(candidate: _Weighted, reference: _Weighted) -> float:
    """Return the mean over lengths of the clipped cosine, less the more the captions differ in length."""
    products = [0.0] * LONGEST
    for sequence, weight in candidate.weights.items():
        other = reference.weights.get(sequence)
        if other is not None:
            products[len(sequence) - 1] += min(weight, other) * other
    norms = [a * b for a, b in zip(candidate.norms, reference.norms, strict=True)]
    cosines = [product / norm if norm else product for product, norm in zip(products, norms, strict=True)]
    # The reference implementation measures length in word pairs, one fewer than words.
    penalty = math.exp(-((candidate.pairs - reference.pairs) ** 2) / (2 * SIGMA**2))
    return penalty * sum(cosines) / LONGEST
