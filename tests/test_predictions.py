from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from argus.errors import DataError
from argus.metrics.image_sums import image_sums
from argus.predictions import read_image_sums, read_predictions, write_image_sums, write_predictions
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


def test_image_sums_come_back_as_they_were(tmp_path: Path) -> None:
    sums = image_sums("reasoning", [EXAMPLES[2]])
    write_image_sums(tmp_path / "image_sums.parquet", sums)
    again = read_image_sums(tmp_path / "image_sums.parquet")
    assert again.image_ids == sums.image_ids == ("1",)
    assert {name: column.tolist() for name, column in again.columns.items()} == {
        name: column.tolist() for name, column in sums.columns.items()
    }


def test_a_table_without_image_ids_is_refused_by_name(tmp_path: Path) -> None:
    pd.DataFrame({"a": [1]}).to_parquet(tmp_path / "other.parquet")
    with pytest.raises(DataError, match=r"other\.parquet.*no image sums"):
        read_image_sums(tmp_path / "other.parquet")


@pytest.mark.parametrize("read", [read_predictions, read_image_sums])
def test_a_damaged_table_is_named_with_what_to_do(tmp_path, read):
    path = tmp_path / "table.parquet"
    path.write_text("junk")
    with pytest.raises(DataError, match=r"table\.parquet' cannot be read .*argus\.rerun=true"):
        read(path)
