"""Promises of the table of samples that the MLflow UI shows."""

from __future__ import annotations

import json
from pathlib import Path

from argus import sample_table
from argus.records import (
    Caption,
    CaptionPrediction,
    ChoicePrediction,
    Entry,
    ImageSource,
    Prediction,
    Question,
    RankPrediction,
)

ENTRY = Entry(
    "7",
    ImageSource(Path("7.jpg")),
    (Caption("c1", "a dog"), Caption("c2", "a czt")),
    (Question("q1", "Is it <red>?", ("no", "yes"), 1, "exist"),),
)


def table(path: Path, *predictions: Prediction) -> list[dict[str, object]]:
    sample_table.write(path / sample_table.FILE, [ENTRY], predictions)
    read = json.loads((path / sample_table.FILE).read_text(encoding="utf-8"))
    return [dict(zip(read["columns"], row, strict=True)) for row in read["data"]]


def test_a_query_stands_with_its_text_as_the_model_saw_it(tmp_path: Path) -> None:
    rows = table(
        tmp_path,
        RankPrediction("7", "7", "image_to_text", 1, 2, "c2", 0.5),
        RankPrediction("c2", "7", "text_to_image", 3, 9, "8", 0.5),
    )
    assert rows == [
        {
            "picture": "7",
            "direction": "image_to_text",
            "query": "7",
            "first": "a czt",
            "rank": 1,
            "candidates": 2,
            "right": True,
        },
        {
            "picture": "7",
            "direction": "text_to_image",
            "query": "a czt",
            "first": "8",
            "rank": 3,
            "candidates": 9,
            "right": False,
        },
    ]


def test_an_answer_stands_beside_the_expected_one(tmp_path: Path) -> None:
    (row,) = table(tmp_path, ChoicePrediction("q1", "7", "exist", "", (2.0, 1.0), 0, 1))
    assert row == {
        "picture": "7",
        "kind": "exist",
        "question": "Is it <red>?",
        "answer": "no",
        "expected": "yes",
        "right": False,
    }


def test_a_caption_stands_beside_two_references(tmp_path: Path) -> None:
    (row,) = table(tmp_path, CaptionPrediction("7", "7", "a dög", ("a dog", "one dog", "dogs")))
    assert row == {"picture": "7", "caption": "a dög", "reference 1": "a dog", "reference 2": "one dog"}


def test_a_browser_gets_the_first_200_alone(tmp_path: Path) -> None:
    many = [CaptionPrediction(str(number), str(number), "a dog", ("a dog",)) for number in range(500)]
    rows = table(tmp_path, *many)
    assert [row["picture"] for row in rows] == [str(number) for number in range(200)]
