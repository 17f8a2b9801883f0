"""ROUGE-L of one caption: the longest common subsequence of words.

C.-Y. Lin, ROUGE: a package for automatic evaluation of summaries, ACL workshop 2004. As in the COCO evaluation, beta is
1.2 and the best precision and the best recall over the references count, be they of different references.
"""

from __future__ import annotations

from collections.abc import Sequence

BETA = 1.2


def rouge_l(candidate: Sequence[str], references: Sequence[Sequence[str]]) -> float:
    """Return ROUGE-L in [0, 1] of a caption against its references, all of them words.

    Nobody's words are no words: an empty caption scores 1 where a reference is empty too, else 0.
    """
    # The COCO evaluation takes an empty caption for one empty word.
    candidate = candidate or ("",)
    references = [reference or ("",) for reference in references]
    common = [_common_length(candidate, reference) for reference in references]
    precision = max(common) / len(candidate)
    recall = max(length / len(reference) for length, reference in zip(common, references, strict=True))
    if precision == 0 or recall == 0:
        return 0.0
    return (1 + BETA**2) * precision * recall / (recall + BETA**2 * precision)


def _common_length(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the length of the longest common subsequence.

    M. Crochemore et al., A fast and practical bit-vector algorithm for the longest common subsequence problem, 2001:
    a zero bit at a place of `first` means that the length grows there.
    """
    places: dict[str, int] = {}
    for place, word in enumerate(first):
        places[word] = places.get(word, 0) | 1 << place
    every = (1 << len(first)) - 1
    flat = every
    for word in second:
        matching = flat & places.get(word, 0)
        flat = ((flat + matching) | (flat - matching)) & every
    return len(first) - flat.bit_count()
