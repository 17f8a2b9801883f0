"""The worst drops of a sweep in pictures: examples that cells keep, whose answer got worse under a perturbation."""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
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

MOST, MOST_CELLS = 12, 36  # pictures, and cells that are looked into
WIDTH, QUALITY = 480, 72
LOST = ("destructive", "caption_worse")
LOST_CAPTIONS, LOST_ANSWERS = (
    "captions of this cell with a lower CIDEr-D than when clean",
    "answers of this cell right when clean and wrong here",
)

Told = Mapping[str, Any]
"""An example as `write_examples` keeps it."""

Facts = tuple[tuple[str, str], ...]
"""What stands beneath a picture: names and texts."""

Open = Callable[[CellResult, Callable[[Path], Any]], Any]
"""Reads a cell's folder of examples; raises DataError where there is none."""

Quality = Callable[[CellResult], Mapping[str, float]]
"""Gives the CIDEr-D of each image of a captioning cell; raises DataError where the cell kept none."""


def drops(analysis: Analysis, opened: Open, quality: Quality) -> tuple[tuple[Picture, ...], str]:
    """Return the pictures, worst cells first, and why some or all are lacking ("" where none is)."""
    found: dict[tuple[str, str, str], Picture] = {}  # one for each model, perturbation and task, for variety
    shown: set[tuple[str, str]] = set()  # data set and id of the pictures so far
    missing = ""
    for one in _worst_first(analysis.breakage)[:MOST_CELLS]:
        key = (one.name, one.slot.perturbation, one.slot.task)
        if len(found) >= MOST:
            break
        if key in found:
            continue
        try:
            picture = _worst_kept(one, analysis.cells[one.name], opened, quality, shown)
        except DataError as error:
            missing = f"Some examples could not be read: {error}"
            continue
        if picture is not None:
            found[key], identity = picture
            shown.add(identity)
    return tuple(found.values()), missing


def _lost(one: Breakage) -> float:
    values = [one.measures[name].value for name in LOST if name in one.measures]
    return (values[0] or 0.0) if values else 0.0


def _worst_first(found: Sequence[Breakage]) -> list[Breakage]:
    """Return the cells that lost something, the worst of each task first, then the second of each, and so on."""
    # Shares of tasks do not compare: a caption is sooner a little worse than an answer is wrong.
    ordered = sorted((one for one in found if _lost(one) > 0), key=lambda one: -_lost(one))
    places: Counter[str] = Counter()
    ranked = []
    for one in ordered:
        ranked.append((places[one.slot.task], one))
        places[one.slot.task] += 1
    return [one for _, one in sorted(ranked, key=lambda pair: pair[0])]


def _worst_kept(
    one: Breakage,
    cells: Mapping[Slot, CellResult],
    opened: Open,
    quality: Quality,
    shown: AbstractSet[tuple[str, str]],
) -> tuple[Picture, tuple[str, str]] | None:
    """Return the example that got most worse, if possible one not shown yet, with data set and id; None if none did."""
    clean, perturbed = cells[one.slot.baseline], cells[one.slot]
    known = {told["id"]: told for told in opened(clean, _read)}
    captioned = one.slot.task == "captioning"
    worse = _captions if captioned else _answers
    before, after = (quality(clean), quality(perturbed)) if captioned else ({}, {})

    def worst(folder: Path) -> tuple[Picture, tuple[str, str]] | None:
        found = [
            (lost, told["picture"], facts, (one.slot.dataset, name))
            for told in _read(folder)
            if (name := told["id"]) in known
            for lost, facts in worse(known[name], told, before.get(name, 0.0), after.get(name, 0.0))
        ]
        if not found:
            return None
        _, picture, facts, identity = max(found, key=lambda each: (each[3] not in shown, each[0]))
        return _shown(one, folder / picture, facts), identity

    picture: tuple[Picture, tuple[str, str]] | None = opened(perturbed, worst)
    return picture


def _read(folder: Path) -> list[Told]:
    told: list[Told] = json.loads((folder / "examples.json").read_text())
    return told


def _captions(clean: Told, perturbed: Told, before: float, after: float) -> Iterator[tuple[float, Facts]]:
    """Give both captions, and how much CIDEr-D fell, where the one of the perturbed picture has the lower CIDEr-D."""
    if after < before and clean["predictions"] and perturbed["predictions"]:
        first, then = clean["predictions"][0], perturbed["predictions"][0]
        told = (("clean", first["text"]), ("perturbed", then["text"]), ("a reference", first["references"][0]))
        yield before - after, (*told, ("CIDEr-D of the two", f"{before:.2f} and {after:.2f}"))


def _answers(clean: Told, perturbed: Told, *_: float) -> Iterator[tuple[float, Facts]]:
    """Give for each answer that was right and is wrong how far it fell, what was asked, what was answered."""
    earlier = {_key(one): one for one in clean["predictions"]}
    for after in perturbed["predictions"]:
        before = earlier.get(_key(after))
        if before is None:
            continue
        if "rank" in after and after["rank"] > before["rank"] == 1:
            told = (("clean", _ranked(before, clean)), ("perturbed", _ranked(after, perturbed)))
            yield after["rank"], (*_texts(after, perturbed), *told)
        if "predicted" in after and before["predicted"] == before["target"] != after["predicted"]:
            choices = perturbed.get("choices", {}).get(after["id"])  # older runs kept none
            right, wrong = _choice(after["target"], choices), _choice(after["predicted"], choices)
            yield 1.0, (*_texts(after, perturbed), ("clean, and right", right), ("perturbed", wrong))


def _key(prediction: Mapping[str, Any]) -> tuple[str, str]:
    return prediction["id"], prediction.get("direction", "")


def _texts(prediction: Mapping[str, Any], told: Told) -> Facts:
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


def _shown(one: Breakage, path: Path, facts: Facts) -> Picture:
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
    # Both directions of retrieval weigh the same, whatever their numbers: no share of all queries.
    of = ", mean of both directions" if slot.task == "retrieval" else f" of {one.samples}"
    lost = (LOST_CAPTIONS if slot.task == "captioning" else LOST_ANSWERS, f"{_lost(one):.0%}{of}")
    return Picture(title, source, pair.width, pair.height, f"{seen} {told}", (*facts, lost))
