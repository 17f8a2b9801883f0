"""All caption metrics of a corpus and of each image, from plain texts."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from argus.errors import DataError
from argus.metrics.captions.bleu import BleuStatistics, bleu, bleu_statistics, total
from argus.metrics.captions.cider import cider_d
from argus.metrics.captions.rouge import rouge_l
from argus.metrics.captions.tokenizer import tokenize_lines

Id = TypeVar("Id", bound=Hashable)


@dataclass(frozen=True)
class CaptionScores:
    """Metric names (bleu_1 to 4, rouge_l, cider_d) to values, for the corpus and for each image.

    BLEU of the corpus comes from summed counts, the others are means over images. `bleu_statistics` are each image's
    counts, for sums over a resample.
    """

    corpus: Mapping[str, float]
    images: Mapping[Hashable, Mapping[str, float]]
    bleu_statistics: Mapping[Hashable, BleuStatistics]


@dataclass(frozen=True)
class TokenizedCaptions:
    """Captions as the COCO evaluation writes them: lower-case tokens with a space between, in the order of the ids."""

    candidates: Mapping[Hashable, str]
    references: Mapping[Hashable, tuple[str, ...]]


def score_captions(candidates: Mapping[Id, str], references: Mapping[Id, Sequence[str]]) -> CaptionScores:
    """Return BLEU-1 to 4, ROUGE-L and CIDEr-D of one caption per image against its references.

    Equal to pycocoevalcap 1.2. Raises DataError for fewer than two images (CIDEr-D has no meaning there), ids that are
    not the same on both sides, and images without a reference.
    """
    return score_tokenized(tokenize_captions(candidates, references))


def score_tokenized(captions: TokenizedCaptions) -> CaptionScores:
    """Return BLEU-1 to 4, ROUGE-L and CIDEr-D; raises DataError for fewer than two images."""
    overlap = score_overlap(captions)
    words, reference_words = _words(captions)
    ciders = dict(zip(captions.candidates, cider_d(words, reference_words), strict=True))
    return CaptionScores(
        {**overlap.corpus, "cider_d": sum(ciders.values()) / len(ciders)},
        {image: {**scores, "cider_d": ciders[image]} for image, scores in overlap.images.items()},
        overlap.bleu_statistics,
    )


def score_overlap(captions: TokenizedCaptions) -> CaptionScores:
    """Return BLEU-1 to 4 and ROUGE-L: all that a single image can have."""
    words, reference_words = _words(captions)
    statistics = dict(zip(captions.candidates, map(bleu_statistics, words, reference_words), strict=True))
    images: dict[Hashable, dict[str, float]] = {
        # ROUGE-L splits at spaces alone: the fixed space of "1 1/2" holds a word together there, but not elsewhere.
        image: _bleu_scores(statistics[image])
        | {"rouge_l": rouge_l(_spaced(text), [_spaced(reference) for reference in captions.references[image]])}
        for image, text in captions.candidates.items()
    }
    mean_rouge = sum(scores["rouge_l"] for scores in images.values()) / len(images)
    return CaptionScores(_bleu_scores(total(statistics.values())) | {"rouge_l": mean_rouge}, images, statistics)


def tokenize_captions(candidates: Mapping[Id, str], references: Mapping[Id, Sequence[str]]) -> TokenizedCaptions:
    """Return tokenized captions; raises DataError where there are none, or where ids do not match."""
    if not references:
        raise DataError("no image to score: give at least one image with references and a caption")
    _require_same_ids(candidates, references)
    bare = [image for image, group in references.items() if not group]
    if bare:
        raise DataError(f"{len(bare)} image(s) without a reference, first {bare[0]!r}; leave them out")
    lines = iter(tokenize_lines([text for group in references.values() for text in group]))
    tokenized: dict[Hashable, tuple[str, ...]] = {
        image: tuple(" ".join(next(lines)) for _ in group) for image, group in references.items()
    }
    written = tokenize_lines([candidates[image] for image in references])
    return TokenizedCaptions(dict(zip(references, map(" ".join, written), strict=True)), tokenized)


def _require_same_ids(candidates: Mapping[Id, str], references: Mapping[Id, Sequence[str]]) -> None:
    for has, lacks, here, there in (
        (candidates, references, "a caption", "references"),
        (references, candidates, "references", "a caption"),
    ):
        odd = [image for image in has if image not in lacks]
        if odd:
            first = ", ".join(map(repr, odd[:5]))
            raise DataError(f"{len(odd)} image(s) with {here} but without {there}: {first}{', …' * (len(odd) > 5)}")


def _words(captions: TokenizedCaptions) -> tuple[list[list[str]], list[list[list[str]]]]:
    return (
        [text.split() for text in captions.candidates.values()],
        [[text.split() for text in group] for group in captions.references.values()],
    )


def _spaced(text: str) -> list[str]:
    return text.split(" ") if text else []


def _bleu_scores(statistics: BleuStatistics) -> dict[str, float]:
    return {f"bleu_{n}": value for n, value in enumerate(bleu(statistics), start=1)}
