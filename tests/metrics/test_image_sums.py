"""Every metric of a cell comes again from sums over its images, of all of them or of a resample."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest

from argus.errors import ConfigError, DataError
from argus.metrics.captions.bleu import bleu, total
from argus.metrics.image_sums import ImageSums, image_sums, metrics_of
from argus.metrics.score import caption_scores
from argus.records import CaptionPrediction, ChoicePrediction, Prediction, RankPrediction
from argus.tasks.captioning import Captioning
from argus.tasks.reasoning import Reasoning
from argus.tasks.retrieval import Retrieval

WORDS = ["a", "red", "blue", "dog", "cat", "runs", "sleeps", "on", "the", "small", "mat", "plane", "sky"]
CEILING = 1.5


def ranks(rng: random.Random, images: int) -> list[Prediction]:
    """An image→text query and one to seven text→image queries of each image."""
    found: list[Prediction] = []
    for image in range(images):
        found.append(RankPrediction(f"{image}", f"{image}", "image_to_text", rng.randint(1, 12), 20, "", 0.0))
        for caption in range(rng.randint(1, 7)):
            rank = rng.choice((1, 1, 2, 6, 11))
            found.append(RankPrediction(f"{image}-{caption}", f"{image}", "text_to_image", rank, 20, "", 0.0))
    return found


def captions(rng: random.Random, images: int) -> list[Prediction]:
    def sentence() -> str:
        return " ".join(rng.choices(WORDS, k=rng.randint(2, 9)))

    return [
        CaptionPrediction(f"{image}", f"{image}", sentence(), tuple(sentence() for _ in range(rng.randint(1, 5))))
        for image in range(images)
    ]


def choices(rng: random.Random, images: int) -> list[Prediction]:
    """VCR's Q->A and QA->R of the same group, and free questions with another number of choices."""
    found: list[Prediction] = []
    for image in range(images):
        for question in range(rng.randint(1, 4)):
            for kind in ("Q->A", "QA->R"):
                scores, guess = (0.0,) * 4, rng.choice((0, 1, 1))
                name = f"{image}-{question}"
                found.append(ChoicePrediction(f"{name}-{kind}", f"{image}", kind, name, scores, guess, 1))
        found.append(ChoicePrediction(f"{image}-free", f"{image}", "count", "", (0.0,) * 11, rng.randint(0, 2), 1))
    return found


TASKS = {
    "retrieval": (ranks, Retrieval(None, None)),
    "captioning": (captions, Captioning(CEILING)),
    "reasoning": (choices, Reasoning()),
}


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("seed", range(5))
def test_sums_over_all_images_give_the_metrics_that_the_task_measured(name: str, seed: int) -> None:
    make, task = TASKS[name]
    predictions = make(random.Random(seed), 30)
    measured = task.measure(predictions)
    again = metrics_of(name, image_sums(name, predictions).totals(), CEILING)
    assert {"score"} < set(again) <= set(measured)
    for metric, value in again.items():
        assert float(value) == pytest.approx(measured[metric], abs=1e-12), metric


def test_joint_questions_are_among_the_metrics_and_right_only_when_all_parts_are() -> None:
    parts = [("q", 1), ("q", 0), ("r", 1), ("r", 1), ("", 1)]
    predictions = [ChoicePrediction(f"{n}", "x", "", group, (0.0, 0.0), p, 1) for n, (group, p) in enumerate(parts)]
    metrics = metrics_of("reasoning", image_sums("reasoning", predictions).totals())
    assert metrics["accuracy_q_to_ar"] == 0.5
    assert metrics["score"] == 0.8
    assert metrics["accuracy_chance_adjusted"] == pytest.approx((0.8 - 0.5) / 0.5)


def test_captions_above_the_ceiling_score_one() -> None:
    predictions = captions(random.Random(0), 30)
    measured = Captioning(0.01).measure(predictions)
    assert measured["score"] == metrics_of("captioning", image_sums("captioning", predictions).totals(), 0.01)["score"]
    assert measured["score"] == 1


@pytest.mark.parametrize("name", ["retrieval", "reasoning"])
def test_a_resample_of_images_scores_as_its_predictions_do(name: str) -> None:
    make, task = TASKS[name]
    predictions = make(random.Random(1), 20)
    sums = image_sums(name, predictions)
    counts = np.random.default_rng(0).poisson(1.0, len(sums.image_ids))
    chosen = dict(zip(sums.image_ids, counts, strict=True))
    resample = [renamed(p, copy) for p in predictions for copy in range(chosen[p.image_id])]
    again = metrics_of(name, totals(sums, counts))
    for metric, value in again.items():
        assert float(value) == pytest.approx(task.measure(resample)[metric], abs=1e-12), metric


def renamed(prediction: Prediction, copy: int) -> Prediction:
    """A copy of a joint question is a question of its own."""
    if not isinstance(prediction, ChoicePrediction) or not prediction.group:
        return prediction
    return ChoicePrediction(**{**vars(prediction), "group": f"{prediction.group} copy {copy}"})


def totals(sums: ImageSums, counts: np.ndarray) -> dict[str, np.ndarray]:
    return {name: counts @ column for name, column in sums.columns.items()}


def test_bleu_of_a_resample_comes_from_its_counts_and_not_from_a_mean() -> None:
    predictions = captions(random.Random(2), 20)
    sums = image_sums("captioning", predictions)
    counts = np.random.default_rng(1).poisson(1.0, 20)
    statistics = caption_scores(predictions).bleu_statistics
    ids = [p.image_id for p in predictions]
    drawn = [statistics[ids.index(image)] for image, n in zip(sums.image_ids, counts, strict=True) for _ in range(n)]
    again = metrics_of("captioning", totals(sums, counts), CEILING)
    assert [float(again[f"bleu_{n}"]) for n in (1, 2, 3, 4)] == pytest.approx(bleu(total(drawn)), abs=1e-15)
    alone = np.array([bleu(statistics[place])[0] for place in range(20)])
    rows = np.array([counts[sums.image_ids.index(image)] for image in ids])
    assert abs(float(again["bleu_1"]) - float(rows @ alone) / rows.sum()) > 1e-3


def test_many_resamples_at_once_are_the_same_as_one_by_one() -> None:
    sums = image_sums("captioning", captions(random.Random(3), 15))
    counts = np.random.default_rng(2).poisson(1.0, (6, 15))
    together = metrics_of("captioning", totals(sums, counts), CEILING)
    for number, row in enumerate(counts):
        one = metrics_of("captioning", totals(sums, row), CEILING)
        assert {name: float(values[number]) for name, values in together.items()} == pytest.approx(
            {name: float(value) for name, value in one.items()}, abs=1e-12
        )


@pytest.mark.parametrize("name", TASKS)
def test_the_order_of_predictions_changes_no_sum(name: str) -> None:
    predictions = list(TASKS[name][0](random.Random(4), 10))
    first = image_sums(name, predictions)
    if name == "captioning":  # the weights of words are sums over the corpus: the last bit follows its order
        random.Random(0).shuffle(predictions)
    else:
        predictions.reverse()
    second = image_sums(name, predictions)
    assert first.image_ids == second.image_ids
    for column, values in first.columns.items():
        np.testing.assert_allclose(values, second.columns[column], rtol=1e-12)


def test_a_resample_without_any_query_has_no_score_rather_than_a_zero() -> None:
    sums = image_sums("retrieval", ranks(random.Random(5), 5))
    assert np.isnan(metrics_of("retrieval", totals(sums, np.zeros(5)))["score"])


@pytest.mark.parametrize(
    ("name", "few", "message"),
    [
        ("retrieval", [RankPrediction("q", "x", "image_to_text", 1, 3, "", 0.0)], "text_to_image"),
        ("captioning", [CaptionPrediction("x", "x", "a dog", ("a dog",))], "below two"),
        ("reasoning", [], "no answered question"),
    ],
)
def test_too_few_predictions_are_an_error(name: str, few: Sequence[Prediction], message: str) -> None:
    with pytest.raises(DataError, match=message):
        image_sums(name, few)


def test_a_joint_question_of_two_images_and_an_unknown_task_are_errors() -> None:
    two = [ChoicePrediction(image, image, "Q->A", "g", (0.0, 0.0), 0, 0) for image in ("x", "y")]
    with pytest.raises(DataError, match="'g' is asked of two images, 'x' and 'y'"):
        image_sums("reasoning", two)
    with pytest.raises(ConfigError, match="'segmentation'"):
        image_sums("segmentation", two)
    with pytest.raises(ConfigError, match="ceiling"):
        metrics_of("captioning", {})
