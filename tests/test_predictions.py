from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from argus.errors import DataError
from argus.predictions import read_predictions, write_predictions
from argus.records import CaptionPrediction, ChoicePrediction, Prediction, RankPrediction

EXAMPLES: list[Prediction] = [
    RankPrediction("q", "1", "image_to_text", 3, 20, "c7", 0.25),
    CaptionPrediction("1", "1", "a dog", ("a dog runs", "the dog")),
    ChoicePrediction("q1", "1", "count", "", (-0.5, -1.25), 0, 1),
]


@pytest.mark.parametrize("prediction", EXAMPLES, ids=lambda p: type(p).__name__)
def test_predictions_come_back_as_they_were(prediction: Prediction, tmp_path: Path) -> None:
    write_predictions(tmp_path / "p.parquet", [prediction, prediction])
    assert read_predictions(tmp_path / "p.parquet") == (prediction, prediction)


def test_another_table_is_refused_by_name(tmp_path: Path) -> None:
    pd.DataFrame({"a": [1]}).to_parquet(tmp_path / "other.parquet")
    with pytest.raises(DataError, match=r"other\.parquet.*no predictions"):
        read_predictions(tmp_path / "other.parquet")
