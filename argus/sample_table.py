"""A cell's first samples as MLflow's table view shows them: what the model was given, what it said, what is right."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from argus.records import (
    Caption,
    CaptionPrediction,
    ChoicePrediction,
    Entry,
    Prediction,
    Question,
    RankPrediction,
)

FILE = "samples.json"
ROWS = 200  # predictions.parquet has them all; a browser should not
Row = dict[str, object]


def write(path: Path, entries: Sequence[Entry], predictions: Sequence[Prediction]) -> None:
    """Write the first 200 predictions as json, {"columns": [...], "data": [[...], ...]}; all are of one kind.

    `entries` have the texts as the model saw them.
    """
    captions = {caption.id: caption for entry in entries for caption in entry.captions}
    questions = {question.id: question for entry in entries for question in entry.questions}
    rows = [_row(prediction, captions, questions) for prediction in predictions[:ROWS]]
    columns = list(rows[0]) if rows else []
    data = [[row[column] for column in columns] for row in rows]
    path.write_text(json.dumps({"columns": columns, "data": data}, ensure_ascii=False), encoding="utf-8")


def _row(prediction: Prediction, captions: Mapping[str, Caption], questions: Mapping[str, Question]) -> Row:
    if isinstance(prediction, RankPrediction):
        return _ranked(prediction, captions)
    if isinstance(prediction, ChoicePrediction):
        return _chosen(prediction, questions[prediction.id])
    return _written(prediction)


def _ranked(prediction: RankPrediction, captions: Mapping[str, Caption]) -> Row:
    asks_with_text = prediction.direction == "text_to_image"
    return {
        "picture": prediction.image_id,
        "right": prediction.rank == 1,
        "direction": prediction.direction,
        "query": captions[prediction.id].text if asks_with_text else prediction.image_id,
        "first": prediction.top if asks_with_text else captions[prediction.top].text,
        "rank": prediction.rank,
        "candidates": prediction.candidates,
    }


def _chosen(prediction: ChoicePrediction, question: Question) -> Row:
    return {
        "picture": prediction.image_id,
        "right": prediction.predicted == prediction.target,
        "kind": prediction.kind,
        "question": question.text,
        "answer": question.choices[prediction.predicted],
        "expected": question.choices[prediction.target],
    }


def _written(prediction: CaptionPrediction) -> Row:
    return {
        "picture": prediction.image_id,
        "caption": prediction.text,
        **{f"reference {number}": text for number, text in enumerate(prediction.references[:2], start=1)},
    }
