"""The one number of a cell, in [0, 1], from its predictions alone: so it can be repeated over any part of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from argus.errors import ConfigError, DataError
from argus.metrics.accuracy import accuracy
from argus.metrics.captions import CaptionScores, score_captions
from argus.metrics.retrieval import recall_at_k
from argus.records import CaptionPrediction, ChoicePrediction, Prediction, RankPrediction


def score_of(task_name: str, predictions: Sequence[Prediction], ceiling: float | None = None) -> float:
    """Return the score of the predictions of a task ("retrieval", "captioning", "reasoning").

    `ceiling` is the CIDEr-D that scores 1, for captioning alone. Raises ConfigError for another task or a missing
    ceiling, DataError where the predictions are too few.
    """
    if task_name == "retrieval":
        return retrieval_score(predictions)
    if task_name == "reasoning":
        return reasoning_score(predictions)
    if task_name != "captioning":
        raise ConfigError(f"no score is known for task '{task_name}': choose retrieval, captioning or reasoning")
    if ceiling is None:
        raise ConfigError("the score of captioning needs a ceiling: the CIDEr-D that scores 1")
    return captioning_score(predictions, ceiling)


def retrieval_score(predictions: Sequence[Prediction]) -> float:
    """Return the mean of image→text and text→image R@1."""
    ranked = [p for p in predictions if isinstance(p, RankPrediction)]
    recalls = []
    for direction in ("image_to_text", "text_to_image"):
        found = [p.rank for p in ranked if p.direction == direction]
        if not found:
            raise DataError(f"no {direction} query among {len(predictions)} predictions: retrieval scores both ways")
        recalls.append(recall_at_k(found, 1))
    return sum(recalls) / len(recalls)


def captioning_score(predictions: Sequence[Prediction], ceiling: float) -> float:
    """Return min(CIDEr-D / ceiling, 1), CIDEr-D in its own unit (1.5 is what papers print as 150)."""
    return capped(caption_scores(predictions).corpus["cider_d"], ceiling)


def capped(cider_d: float, ceiling: float) -> float:
    """Return the CIDEr-D as a share of the ceiling, 1 at most."""
    return min(cider_d / ceiling, 1.0)


def caption_scores(predictions: Sequence[Prediction]) -> CaptionScores:
    """Return all caption metrics. Raises DataError for one image: CIDEr-D weighs words by how many images have them."""
    captions = tuple(p for p in predictions if isinstance(p, CaptionPrediction))
    if len(captions) < 2:
        raise DataError(f"captions of {len(captions)} image(s): CIDEr-D is undefined below two; give more images")
    return _scores_of(captions)


# A cell wants these scores for its metrics and, image by image, for its sums: seconds, where the set is large.
@lru_cache(maxsize=1)
def _scores_of(captions: tuple[CaptionPrediction, ...]) -> CaptionScores:
    # By place, not by id: a resample has images twice.
    return score_captions(
        dict(enumerate(caption.text for caption in captions)),
        dict(enumerate(caption.references for caption in captions)),
    )


def reasoning_score(predictions: Sequence[Prediction]) -> float:
    """Return the accuracy over all questions."""
    answers = [p for p in predictions if isinstance(p, ChoicePrediction)]
    if not answers:
        raise DataError("no answered question among the predictions: reasoning scores the accuracy of answers")
    return accuracy([answer.predicted for answer in answers], [answer.target for answer in answers])
