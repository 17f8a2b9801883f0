from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest

from argus.errors import DataError
from argus.metrics.image_sums import image_sums
from argus.outcomes import read_outcomes
from argus.predictions import write_predictions
from argus.records import CaptionPrediction, ChoicePrediction, RankPrediction


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "predictions.parquet"


def test_ranks_of_one_are_right(path: Path) -> None:
    write_predictions(
        path,
        [
            RankPrediction("x", "x", "image_to_text", 1, 9, "x-1", 0.5),
            RankPrediction("x-1", "x", "text_to_image", 4, 9, "y", 0.5),
        ],
    )
    found = read_outcomes(path)
    assert found.right is not None
    assert found.rank is not None
    assert found.right.tolist() == [True, False]
    assert found.rank.tolist() == [1, 4]
    assert found.group.tolist() == ["image_to_text", "text_to_image"]
    assert found.answer.tolist() == ["x-1", "y"]
    assert found.image_ids.tolist() == ["x", "x"]


def test_confidence_and_entropy_are_of_the_softmax_of_each_questions_own_choices(path: Path) -> None:
    write_predictions(
        path,
        [
            ChoicePrediction("q1", "x", "", "", (math.log(3), 0.0), 0, 0),
            ChoicePrediction("q2", "x", "", "", (5.0, 5.0, 5.0, 5.0), 1, 0),
            ChoicePrediction("q3", "y", "", "", (900.0, -900.0, 0.0), 0, 2),
        ],
    )
    found = read_outcomes(path)
    assert found.right is not None
    assert found.right.tolist() == [True, False, False]
    assert found.confidence == pytest.approx([0.75, 0.25, 1.0])
    first = -(0.75 * math.log(0.75) + 0.25 * math.log(0.25)) / math.log(2)
    assert found.entropy == pytest.approx([first, 1.0, 0.0])


def test_captions_have_the_quality_that_their_sums_tell(path: Path) -> None:
    captions = [
        CaptionPrediction("y", "y", "a red dog", ("a red dog runs",)),
        CaptionPrediction("x", "x", "two cats", ("one plane in the sky",)),
    ]
    write_predictions(path, captions)
    found = read_outcomes(path, image_sums("captioning", captions))
    assert found.right is None
    assert found.quality is not None
    assert found.quality[0] > 0 == found.quality[1]
    assert found.answer.tolist() == ["a red dog", "two cats"]


def test_another_table_is_refused_by_name(path: Path) -> None:
    pd.DataFrame({"a": [1]}).to_parquet(path)
    with pytest.raises(DataError, match="holds no predictions"):
        read_outcomes(path)
