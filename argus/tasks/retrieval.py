"""Image→text and text→image retrieval over galleries that are the same for every model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from argus.errors import ConfigError, DataError
from argus.metrics.retrieval import mean_reciprocal_rank, median_rank, ranks, recall_at_k
from argus.metrics.score import retrieval_score
from argus.models.base import Embedder, Matcher, Model
from argus.records import Prediction, RankPrediction, Sample
from argus.tasks.base import Step, Task, Work
from argus.tasks.checks import require_ability, require_finite
from argus.tasks.embedding import Embedding
from argus.tasks.galleries import Gallery, galleries
from argus.tasks.ranking import first, reranked, shortlist

DIRECTIONS = ("image_to_text", "text_to_image")


@dataclass(frozen=True)
class Row:
    """One image's scores for all captions of its gallery, (captions,); `match` is NaN where a pair was not scored."""

    image_id: str
    score: np.ndarray  # cosine of an embedder, else the matcher's score
    match: np.ndarray | None = None  # where the top k are re-ranked


class Retrieval(Task):
    """Ranks all captions of an image's gallery, and all images of a caption's.

    An Embedder ranks by cosine; a Matcher by the score of every pair of the gallery. A model that is both ranks by
    cosine and, with `rerank_top_k`, re-orders each query's first k by match score + cosine. An image that cannot be
    read leaves the gallery with its captions. A query with several right answers has the rank of the best one.
    """

    name = "retrieval"
    abilities = (Embedder, Matcher)

    def __init__(self, gallery_size: int | None, rerank_top_k: int | None) -> None:
        if gallery_size is not None and gallery_size < 2:
            raise ConfigError(f"gallery_size is {gallery_size}: give at least 2 images, or null for one gallery of all")
        if rerank_top_k is not None and rerank_top_k < 1:
            raise ConfigError(f"rerank_top_k is {rerank_top_k}: give at least 1, or null for no re-ranking")
        self.gallery_size = gallery_size
        self.rerank_top_k = rerank_top_k

    def prepare(self, model: Model, work: Work) -> Step:
        """Return the step that scores a batch of images; a gallery's captions are embedded here, once.

        Where the top k are re-ranked, all images are embedded here too (the loop runs twice), since which captions an
        image is matched with depends on the others; the step then only matches.
        """
        require_ability(self, model)
        parts = galleries(work.clean, work.entries, self.gallery_size)
        if isinstance(model, Matcher) and not isinstance(model, Embedder):
            return _match_all(model, parts)
        assert isinstance(model, Embedder)  # by require_ability
        cosine = _cosine(model, parts, work.embedding)
        if self.rerank_top_k is None or not isinstance(model, Matcher):
            return cosine
        return _match_some(model, parts, work.loop(cosine), self.rerank_top_k)

    def collect(self, outputs: Sequence[Row], work: Work) -> tuple[Prediction, ...]:
        """Rank both directions of each gallery.

        Raises DataError where fewer than two images of a gallery could be read: there is nothing to confuse.
        """
        rows = {row.image_id: row for row in outputs}
        parts = galleries(work.clean, work.entries, self.gallery_size)
        return tuple(prediction for part in parts for prediction in self._rank(part, rows))

    def measure(self, predictions: Sequence[Prediction]) -> Mapping[str, float]:
        """Return recall at 1, 5 and 10, median rank and mean reciprocal rank of each direction, and their score."""
        metrics = {"score": retrieval_score(predictions)}
        for direction in DIRECTIONS:
            found = [p.rank for p in predictions if isinstance(p, RankPrediction) and p.direction == direction]
            metrics |= {f"{direction}_recall_at_{k}": recall_at_k(found, k) for k in (1, 5, 10)}
            metrics[f"{direction}_median_rank"] = median_rank(found)
            metrics[f"{direction}_mean_reciprocal_rank"] = mean_reciprocal_rank(found)
        return metrics

    def facts(self, model: Model, work: Work) -> Mapping[str, float]:
        """Return the number and sizes (in images) of the galleries, and how many texts an embedder had to cut."""
        parts = galleries(work.clean, work.entries, self.gallery_size)
        sizes = [len(part.images) for part in parts]
        numbers = {"galleries": len(sizes), "smallest_gallery": min(sizes), "largest_gallery": max(sizes)}
        if isinstance(model, Embedder):
            numbers["truncated_texts"] = model.truncated([c.text for part in parts for c in part.captions])
        return numbers

    def _rank(self, gallery: Gallery, rows: Mapping[str, Row]) -> list[RankPrediction]:
        images, captions = gallery.kept(rows)
        if images.sum() < 2:
            raise DataError(
                f"{images.sum()} of {len(images)} images of the gallery that starts with '{gallery.images[0]}' could "
                "be read; retrieval needs two or more in each gallery: give more images or repair them"
            )
        kept = [rows[image] for image in gallery.images if image in rows]
        image_ids = [row.image_id for row in kept]
        caption_ids = [caption.id for caption, keep in zip(gallery.captions, captions, strict=True) if keep]
        owners = [gallery.images[owner] for owner in gallery.owner[captions]]
        right = gallery.right()[np.ix_(images, captions)]
        score = _stack([row.score for row in kept])[:, captions]
        match = _stack([row.match for row in kept if row.match is not None])
        by_image, by_text = score, score.T
        if len(match) and self.rerank_top_k is not None:
            match = match[:, captions]
            by_image = reranked(score, match, shortlist(score, right, self.rerank_top_k))
            by_text = reranked(score.T, match.T, shortlist(score.T, right.T, self.rerank_top_k))
        return [
            *_predictions("image_to_text", by_image, right, image_ids, image_ids, caption_ids),
            *_predictions("text_to_image", by_text, right.T, caption_ids, owners, image_ids),
        ]


def _predictions(
    direction: str,
    scores: np.ndarray,
    right: np.ndarray,
    query_ids: Sequence[str],
    image_ids: Sequence[str],
    candidate_ids: Sequence[str],
) -> list[RankPrediction]:
    best = np.where(right, scores, -np.inf).max(axis=1)
    numbers = zip(query_ids, image_ids, ranks(scores, right), first(scores, right), best, strict=True)
    return [
        RankPrediction(
            id=query,
            image_id=image,
            direction=direction,
            rank=int(rank),
            candidates=len(candidate_ids),
            top=candidate_ids[top],
            score=float(value),
        )
        for query, image, rank, top, value in numbers
    ]


def _stack(rows: Sequence[np.ndarray]) -> np.ndarray:
    return np.stack(rows) if rows else np.empty((0, 0))


def _cosine(model: Embedder, parts: Sequence[Gallery], embedding: Embedding) -> Step:
    vectors = embedding.distinct(model, (caption.text for part in parts for caption in part.captions))
    texts = [np.stack([vectors[caption.text] for caption in part.captions]) for part in parts]
    home = {image: number for number, part in enumerate(parts) for image in part.images}

    def step(batch: Sequence[Sample]) -> list[Row]:
        images = embedding.images(model, [sample.image for sample in batch])
        # One product per image: a larger matrix product may round differently with the batch size.
        return [
            Row(sample.id, require_finite(texts[home[sample.id]] @ image, sample.id))
            for sample, image in zip(batch, images, strict=True)
        ]

    return step


def _match_all(model: Matcher, parts: Sequence[Gallery]) -> Step:
    texts = {image: [caption.text for caption in part.captions] for part in parts for image in part.images}

    def step(batch: Sequence[Sample]) -> list[Row]:
        scores = model.match([sample.image for sample in batch], [texts[sample.id] for sample in batch])
        return [
            Row(sample.id, require_finite(score.numpy(), sample.id))
            for sample, score in zip(batch, scores, strict=True)
        ]

    return step


def _match_some(model: Matcher, parts: Sequence[Gallery], rows: Sequence[Row], top_k: int) -> Step:
    """Return the step that matches an image with the captions where either direction has the pair in its top k."""
    by_image = {row.image_id: row for row in rows}
    wanted = {image: mask for part in parts for image, mask in _wanted(part, by_image, top_k).items()}
    texts = {image: [caption.text for caption in part.captions] for part in parts for image in part.images}

    def step(batch: Sequence[Sample]) -> list[Row]:
        chosen = [np.flatnonzero(wanted[sample.id]) for sample in batch]
        asked = [[texts[sample.id][i] for i in columns] for sample, columns in zip(batch, chosen, strict=True)]
        scores = model.match([sample.image for sample in batch], asked)
        answers = []
        for sample, columns, score in zip(batch, chosen, scores, strict=True):
            match = np.full(len(texts[sample.id]), np.nan)
            match[columns] = require_finite(score.numpy(), sample.id)
            answers.append(Row(sample.id, by_image[sample.id].score, match))
        return answers

    return step


def _wanted(gallery: Gallery, rows: Mapping[str, Row], top_k: int) -> dict[str, np.ndarray]:
    images, captions = gallery.kept(rows)
    kept = [image for image in gallery.images if image in rows]
    if not kept:
        return {}
    right = gallery.right()[np.ix_(images, captions)]
    score = _stack([rows[image].score for image in kept])[:, captions]
    wanted = np.zeros((len(kept), len(captions)), dtype=bool)
    wanted[:, captions] = shortlist(score, right, top_k) | shortlist(score.T, right.T, top_k).T
    return dict(zip(kept, wanted, strict=True))
