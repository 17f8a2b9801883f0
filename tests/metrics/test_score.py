from __future__ import annotations

import pytest

from argus.errors import ConfigError, DataError
from argus.metrics.score import score_of
from argus.records import CaptionPrediction, ChoicePrediction, RankPrediction


def hit(direction: str, rank: int) -> RankPrediction:
    return RankPrediction("q", "x", direction, rank, 3, "", 0.0)


def answer(predicted: int) -> ChoicePrediction:
    return ChoicePrediction("q", "x", "count", "", (0.0, 1.0), predicted, 1)


CAPTIONS = [
    CaptionPrediction("x", "x", "a red dog runs", ("a red dog runs", "a dog")),
    CaptionPrediction("y", "y", "two cats sleep here", ("two cats sleep here", "cats")),
    CaptionPrediction("z", "z", "a plane", ("people eat rice", "some food")),
]


def test_retrieval_weighs_both_directions_the_same_however_many_queries_each_has():
    predictions = [hit("image_to_text", 1), *[hit("text_to_image", rank) for rank in (1, 2, 3, 4)]]
    assert score_of("retrieval", predictions) == (1 + 0.25) / 2


def test_retrieval_with_one_direction_only_is_an_error():
    with pytest.raises(DataError, match="text_to_image"):
        score_of("retrieval", [hit("image_to_text", 1)])


def test_reasoning_is_the_share_of_right_answers():
    assert score_of("reasoning", [answer(1), answer(0), answer(1), answer(1)]) == 0.75


def test_captioning_is_a_share_of_the_ceiling_and_never_above_one():
    half = score_of("captioning", CAPTIONS, ceiling=20.0)
    assert 0 < half < 1
    assert score_of("captioning", CAPTIONS, ceiling=40.0) == pytest.approx(half / 2)
    assert score_of("captioning", CAPTIONS, ceiling=0.1) == 1


def test_a_resample_may_hold_an_image_twice():
    assert score_of("captioning", [CAPTIONS[0], *CAPTIONS], ceiling=20.0) > 0
    assert score_of("reasoning", [answer(1)] * 2 + [answer(0)] * 2) == 0.5


@pytest.mark.parametrize("task", ["retrieval", "captioning", "reasoning"])
def test_no_prediction_is_an_error_not_a_zero(task):
    with pytest.raises(DataError):
        score_of(task, [], ceiling=1.0)


def test_captioning_needs_a_ceiling_and_other_tasks_a_known_name():
    with pytest.raises(ConfigError, match="ceiling"):
        score_of("captioning", CAPTIONS)
    with pytest.raises(ConfigError, match="'segmentation'"):
        score_of("segmentation", CAPTIONS)
