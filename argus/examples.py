"""A few samples of a cell to look at: clean beside perturbed, with what the model made of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from PIL import Image

from argus.data.images import load_image
from argus.errors import DataError
from argus.perturbations.base import Perturbation
from argus.records import Caption, Entry, Prediction, Question, RankPrediction

SHOWN, SIDE, BETWEEN = 4, 320, 4  # pictures, the most pixels a side, and those between the two of a pair


def write_examples(
    folder: Path,
    clean: Sequence[Entry],
    entries: Sequence[Entry],
    perturbation: Perturbation,
    seed: int,
    predictions: Sequence[Prediction],
) -> None:
    """Write a picture pair (left clean, right as the model saw it) and a json of texts and predictions a sample."""
    folder.mkdir()
    told, captions = [], {caption.id: caption.text for entry in entries for caption in entry.captions}
    for number, (before, after) in enumerate(list(zip(clean, entries, strict=True))[:SHOWN]):
        try:
            image = load_image(before.source)
        except DataError:
            continue  # listed in failed_samples.json
        _pair(image, perturbation.image(image, seed, before.id)).save(folder / f"{number}.jpg", quality=85)
        told.append(_told(f"{number}.jpg", before, after, predictions, captions))
    (folder / "examples.json").write_text(json.dumps(told, indent=1, ensure_ascii=False))


def _pair(clean: Image.Image, perturbed: Image.Image) -> Image.Image:
    halves = [image.copy() for image in (clean, perturbed)]
    for half in halves:
        half.thumbnail((SIDE, SIDE))
    pair = Image.new("RGB", (halves[0].width * 2 + BETWEEN, halves[0].height), "white")
    pair.paste(halves[0], (0, 0))
    pair.paste(halves[1], (halves[0].width + BETWEEN, 0))
    return pair


def _told(
    picture: str, before: Entry, after: Entry, predictions: Sequence[Prediction], captions: Mapping[str, str]
) -> dict[str, object]:
    old: list[Caption | Question] = [*before.captions, *before.questions]
    new: list[Caption | Question] = [*after.captions, *after.questions]
    texts = {text.id: {"clean": text.text, "seen": seen.text} for text, seen in zip(old, new, strict=True)}
    mine = [prediction for prediction in predictions if prediction.image_id == before.id]
    tops = [prediction.top for prediction in mine if isinstance(prediction, RankPrediction)]
    return {
        "picture": picture,
        "id": before.id,
        "texts": texts,
        "choices": {question.id: list(question.choices) for question in before.questions},
        "first": {top: captions[top] for top in tops if top in captions},  # as the model read it
        "predictions": [asdict(prediction) for prediction in mine],
    }
