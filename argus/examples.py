"""A few samples of a cell to look at: clean beside perturbed, with what the model made of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from PIL import Image

from argus.data.images import load_image
from argus.errors import DataError
from argus.perturbations.base import Perturbation
from argus.records import Caption, Entry, Prediction, Question

SHOWN, SIDE = 4, 320  # pictures, and the most pixels a side


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
    told = []
    for number, (before, after) in enumerate(list(zip(clean, entries, strict=True))[:SHOWN]):
        try:
            image = load_image(before.source)
        except DataError:
            continue  # listed in failed_samples.json
        _pair(image, perturbation.image(image, seed, before.id)).save(folder / f"{number}.jpg", quality=85)
        told.append(_told(f"{number}.jpg", before, after, predictions))
    (folder / "examples.json").write_text(json.dumps(told, indent=1, ensure_ascii=False))


def _pair(clean: Image.Image, perturbed: Image.Image) -> Image.Image:
    halves = [image.copy() for image in (clean, perturbed)]
    for half in halves:
        half.thumbnail((SIDE, SIDE))
    pair = Image.new("RGB", (halves[0].width * 2 + 4, halves[0].height), "white")
    pair.paste(halves[0], (0, 0))
    pair.paste(halves[1], (halves[0].width + 4, 0))
    return pair


def _told(picture: str, before: Entry, after: Entry, predictions: Sequence[Prediction]) -> dict[str, object]:
    old: list[Caption | Question] = [*before.captions, *before.questions]
    new: list[Caption | Question] = [*after.captions, *after.questions]
    texts = {text.id: {"clean": text.text, "seen": seen.text} for text, seen in zip(old, new, strict=True)}
    mine = [asdict(prediction) for prediction in predictions if prediction.image_id == before.id]
    return {"picture": picture, "id": before.id, "texts": texts, "predictions": mine}
