"""The worst drops of a sweep in pictures: examples that cells keep, whose answer got worse under a perturbation."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image

from argus.errors import DataError
from argus.examples import BETWEEN
from argus.records import CellResult
from argus.report.html.parts import Picture
from argus.scoring.analysis import Analysis
from argus.scoring.breakage import Breakage
from argus.scoring.records import Slot

MOST, MOST_CELLS, A_CHANGE = 12, 36, 2  # pictures, cells that are looked into, pictures of one perturbation and model
WIDTH, QUALITY = 480, 72
LOST = ("destructive", "caption_worse")

Told = Mapping[str, Any]
"""An example as `write_examples` keeps it."""

Open = Callable[[CellResult, Callable[[Path], Any]], Any]
"""Reads a cell's folder of examples; raises DataError where there is none."""


def drops(analysis: Analysis, opened: Open) -> tuple[tuple[Picture, ...], str]:
    """Return the pictures, worst cells first, and why some or all are lacking ("" where none is)."""
    found: list[Picture] = []
    taken: dict[tuple[str, str], int] = {}
    missing = ""
    for one in _worst_first(analysis.breakage)[:MOST_CELLS]:
        change = (one.name, one.slot.perturbation)
        if len(found) >= MOST:
            break
        if taken.get(change, 0) >= A_CHANGE:
            continue
        cells = analysis.cells[one.name]
        try:
            picture = _picture(one, cells[one.slot.baseline], cells[one.slot], opened)
        except DataError as error:
            missing = f"Some examples could not be read: {error}"
            continue
        if picture is not None:
            found.append(picture)
            taken[change] = taken.get(change, 0) + 1
    return tuple(found), missing


def _lost(one: Breakage) -> float:
    values = [one.measures[name].value for name in LOST if name in one.measures]
    return (values[0] or 0.0) if values else 0.0


def _worst_first(found: Sequence[Breakage]) -> list[Breakage]:
    return sorted((one for one in found if _lost(one) > 0), key=lambda one: -_lost(one))


def _picture(one: Breakage, clean: CellResult, perturbed: CellResult, opened: Open) -> Picture | None:
    """Return the first kept example that got worse, or None."""
    before: list[Told] = opened(clean, _read)
    known = {told["id"]: told for told in before}

    def worse(folder: Path) -> Picture | None:
        for told in _read(folder):
            if told["id"] in known and (facts := next(_worse(known[told["id"]], told), None)):
                return _shown(one, folder / told["picture"], facts)
        return None

    picture: Picture | None = opened(perturbed, worse)
    return picture


def _read(folder: Path) -> list[Told]:
    told: list[Told] = json.loads((folder / "examples.json").read_text())
    return told


def _worse(clean: Told, perturbed: Told) -> Iterator[tuple[tuple[str, str], ...]]:
    """Give for each answer that got worse what was asked, what was answered, and what is right."""
    earlier = {_key(one): one for one in clean["predictions"]}
    for after in perturbed["predictions"]:
        before = earlier.get(_key(after))
        if before is None:
            continue
        if "rank" in after and after["rank"] > before["rank"]:
            yield (
                *_texts(after, perturbed),
                ("clean", _ranked(before, clean)),
                ("perturbed", _ranked(after, perturbed)),
            )
        if "predicted" in after and before["predicted"] == before["target"] != after["predicted"]:
            choices = perturbed.get("choices", {}).get(after["id"])  # older runs kept none
            right = _choice(after["target"], choices)
            yield (
                *_texts(after, perturbed),
                ("right, and clean", right),
                ("perturbed", _choice(after["predicted"], choices)),
            )
        if "references" in after and after["text"] != before["text"]:
            yield (("clean", before["text"]), ("perturbed", after["text"]), ("a reference", after["references"][0]))


def _key(prediction: Mapping[str, Any]) -> tuple[str, str]:
    return prediction["id"], prediction.get("direction", "")


def _texts(prediction: Mapping[str, Any], told: Told) -> tuple[tuple[str, str], ...]:
    """Return the question or caption of a prediction, as it was and as the model read it."""
    text = told["texts"].get(prediction["id"])
    if text is None:
        return (("asked", "which caption belongs to the picture"),)
    read = (("read as", text["seen"]),) if text["seen"] != text["clean"] else ()
    asked = "caption" if "rank" in prediction else "question"
    return ((asked, text["clean"]), *read)


def _ranked(prediction: Mapping[str, Any], told: Told) -> str:
    rank = f"the right one came at rank {prediction['rank']} of {prediction['candidates']}"
    first = told.get("first", {}).get(prediction["top"])  # older runs kept none, and pictures have no text
    return rank if prediction["rank"] == 1 or first is None else f"{rank}, after “{first}”"


def _choice(index: int, choices: Sequence[str] | None) -> str:
    return f"choice {index + 1}" if choices is None else choices[index]


def _shown(one: Breakage, path: Path, facts: tuple[tuple[str, str], ...]) -> Picture:
    slot: Slot = one.slot
    with Image.open(path) as opened:
        pair = opened.convert("RGB")
    if slot.modality == "text":
        pair = pair.crop((0, 0, (pair.width - BETWEEN) // 2, pair.height))
    pair.thumbnail((WIDTH, WIDTH))
    data = BytesIO()
    pair.save(data, "WEBP", quality=QUALITY)
    source = f"data:image/webp;base64,{base64.b64encode(data.getvalue()).decode()}"
    change = f"{slot.perturbation} {slot.severity}"
    seen = f"A picture of {slot.dataset} twice: clean to the left, under {change} to the right."
    if slot.modality == "text":
        seen = f"A picture of {slot.dataset}; only texts are changed by {change}."
    title = f"{one.name}, {slot.dataset} {slot.task}, {change}"
    told = " ".join(f"{name}: {text}." for name, text in facts)
    lost = ("lost in this cell", f"{_lost(one):.0%} of {one.samples} samples")
    return Picture(title, source, pair.width, pair.height, f"{seen} {told}", (*facts, lost))
