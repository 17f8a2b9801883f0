"""What a cell's metrics are made of, image by image: sums that give every metric again, over all images or a resample.

The captions and the questions of a picture go together: they are no independent draws (E. Miller, Adding Error Bars to
Evals, 2024, on clustered standard errors). What the rest of the corpus decides stays as it was found: the gallery a
caption was ranked in, and the document frequencies of CIDEr-D. A picture drawn twice would otherwise make its own rare
words commoner, and every resample would score lower than the corpus.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from argus.errors import ConfigError, DataError
from argus.metrics.accuracy import metric_name
from argus.metrics.captions.bleu import bleu_of_totals
from argus.metrics.captions.ngrams import LONGEST
from argus.metrics.score import caption_scores
from argus.records import CaptionPrediction, ChoicePrediction, Prediction, RankPrediction

DIRECTIONS = ("image_to_text", "text_to_image")
RECALLS = (1, 5, 10)
LENGTHS = range(1, LONGEST + 1)
QUESTIONS, RIGHT = "questions.", "right."  # begin the columns of a kind of question

Totals = Mapping[str, np.ndarray]
"""Sums by column name, each of one shape: one number for each resample."""


@dataclass(frozen=True)
class ImageSums:
    """One row for each image, sorted by id; `columns` are (images,) float64 and add up over any choice of images."""

    image_ids: tuple[str, ...]
    columns: Mapping[str, np.ndarray]

    def totals(self) -> dict[str, np.ndarray]:
        """Return the sum of each column over all images."""
        return {name: column.sum() for name, column in self.columns.items()}


class _Adder:
    """Adds numbers up by image and column."""

    def __init__(self, image_ids: Sequence[str]) -> None:
        self.ids = tuple(sorted(set(image_ids)))
        places = {image: place for place, image in enumerate(self.ids)}
        self.rows = np.array([places[image] for image in image_ids], dtype=np.intp)
        self.columns: dict[str, np.ndarray] = {}

    def add(self, name: str, numbers: Sequence[float] | np.ndarray, where: np.ndarray | None = None) -> None:
        """Add a column: one number for each of the image ids given, or only for those where a mask is set."""
        values = np.asarray(numbers, dtype=np.float64)
        rows = self.rows if where is None else self.rows[where]
        kept = values if where is None else values[where]
        self.columns[name] = np.bincount(rows, weights=kept, minlength=len(self.ids))

    def sums(self) -> ImageSums:
        return ImageSums(self.ids, self.columns)


def image_sums(task_name: str, predictions: Sequence[Prediction]) -> ImageSums:
    """Return the sums of a task's predictions ("retrieval", "captioning", "reasoning"), an image twice counting twice.

    Raises DataError where there are too few predictions for a score, or a joint question spans two images; ConfigError
    for another task.
    """
    if task_name == "retrieval":
        return _of_ranks([p for p in predictions if isinstance(p, RankPrediction)])
    if task_name == "captioning":
        return _of_captions([p for p in predictions if isinstance(p, CaptionPrediction)])
    if task_name == "reasoning":
        return _of_choices([p for p in predictions if isinstance(p, ChoicePrediction)])
    raise ConfigError(f"no metric is known for task '{task_name}': choose retrieval, captioning or reasoning")


def _of_ranks(found: Sequence[RankPrediction]) -> ImageSums:
    adder = _Adder([one.image_id for one in found])
    ranks = np.array([one.rank for one in found])
    directions = np.array([one.direction for one in found])
    for direction in DIRECTIONS:
        mine = directions == direction
        if not mine.any():
            raise DataError(f"no {direction} query among {len(found)} predictions: retrieval scores both ways")
        adder.add(f"{direction}.queries", mine)
        adder.add(f"{direction}.reciprocal_ranks", 1 / ranks, mine)
        for k in RECALLS:
            adder.add(f"{direction}.hits_at_{k}", ranks <= k, mine)
    return adder.sums()


def _of_captions(found: Sequence[CaptionPrediction]) -> ImageSums:
    scores = caption_scores(found)
    adder = _Adder([one.image_id for one in found])
    adder.add("captions", np.ones(len(found)))
    for name in ("cider_d", "rouge_l"):
        adder.add(name, [scores.images[place][name] for place in range(len(found))])
    counted = [scores.bleu_statistics[place] for place in range(len(found))]
    for n in LENGTHS:
        adder.add(f"found_{n}", [one.found[n - 1] for one in counted])
        adder.add(f"written_{n}", [one.written[n - 1] for one in counted])
    adder.add("length", [one.length for one in counted])
    adder.add("reference_length", [one.reference_length for one in counted])
    return adder.sums()


def _of_choices(found: Sequence[ChoicePrediction]) -> ImageSums:
    if not found:
        raise DataError("no answered question among the predictions: reasoning scores the accuracy of answers")
    adder = _Adder([one.image_id for one in found])
    adder.add("questions", np.ones(len(found)))
    hits = np.array([one.predicted == one.target for one in found])
    adder.add("right", hits)
    adder.add("chance", [1 / len(one.scores) for one in found])
    kinds = np.array([metric_name(one.kind) for one in found])
    for kind in np.unique(kinds):
        adder.add(f"{QUESTIONS}{kind}", kinds == kind)
        adder.add(f"{RIGHT}{kind}", hits, kinds == kind)
    joint: dict[str, tuple[str, bool]] = {}
    firsts = np.zeros(len(found), dtype=bool)
    for place, one in enumerate(found):
        image, right = joint.get(one.group, (one.image_id, True))
        if one.group and image != one.image_id:
            raise DataError(f"the joint question '{one.group}' is asked of two images, '{image}' and '{one.image_id}'")
        if one.group:
            firsts[place] = one.group not in joint
            joint[one.group] = (image, right and one.predicted == one.target)
    if joint:
        adder.add("joint_questions", firsts)
        adder.add("joint_right", [bool(one.group) and joint[one.group][1] for one in found], firsts)
    return adder.sums()


def metrics_of(task_name: str, totals: Totals, ceiling: float | None = None) -> dict[str, np.ndarray]:
    """Return a task's metrics by the names they are logged under, from column totals of any shape.

    `ceiling` is the CIDEr-D that scores 1, for captioning alone. NaN where a resample has nothing to average over.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        if task_name == "retrieval":
            return _retrieval(totals)
        if task_name == "reasoning":
            return _reasoning(totals)
        if ceiling is None:
            raise ConfigError("the score of captioning needs a ceiling: the CIDEr-D that scores 1")
        return _captioning(totals, ceiling)


def _retrieval(totals: Totals) -> dict[str, np.ndarray]:
    metrics: dict[str, np.ndarray] = {}
    for direction in DIRECTIONS:
        queries = totals[f"{direction}.queries"]
        metrics |= {f"{direction}_recall_at_{k}": totals[f"{direction}.hits_at_{k}"] / queries for k in RECALLS}
        metrics[f"{direction}_mean_reciprocal_rank"] = totals[f"{direction}.reciprocal_ranks"] / queries
    first, second = (metrics[f"{direction}_recall_at_1"] for direction in DIRECTIONS)
    return {"score": (first + second) / 2, **metrics}


def _captioning(totals: Totals, ceiling: float) -> dict[str, np.ndarray]:
    cider = totals["cider_d"] / totals["captions"]
    found, written = ([totals[f"{kind}_{n}"] for n in LENGTHS] for kind in ("found", "written"))
    bleus = bleu_of_totals(found, written, totals["length"], totals["reference_length"])
    return {
        "score": np.minimum(cider / ceiling, 1.0),
        "cider_d": cider,
        "rouge_l": totals["rouge_l"] / totals["captions"],
        **{f"bleu_{n}": np.asarray(value) for n, value in enumerate(bleus, start=1)},
    }


def _reasoning(totals: Totals) -> dict[str, np.ndarray]:
    right, chance = totals["right"] / totals["questions"], totals["chance"] / totals["questions"]
    metrics = {"score": right, "accuracy": right, "accuracy_chance_adjusted": (right - chance) / (1 - chance)}
    for kind in (name.removeprefix(RIGHT) for name in totals if name.startswith(RIGHT)):  # older runs have none
        metrics[f"accuracy_{kind}"] = totals[f"{RIGHT}{kind}"] / totals[f"{QUESTIONS}{kind}"]
    if "joint_questions" in totals:
        metrics["accuracy_q_to_ar"] = totals["joint_right"] / totals["joint_questions"]
    return metrics


def images_asked(sums: ImageSums) -> dict[str, int]:
    """Return of how many images each kind of question was asked, by the name of its accuracy."""
    columns = {
        f"accuracy_{name.removeprefix(QUESTIONS)}": column
        for name, column in sums.columns.items()
        if name.startswith(QUESTIONS)
    }
    if "joint_questions" in sums.columns:
        columns["accuracy_q_to_ar"] = sums.columns["joint_questions"]
    return {name: int(np.count_nonzero(column)) for name, column in columns.items()}
