"""Which kept examples are shown as the worst drops."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PIL import Image

from argus import drops as module
from argus.drops import MOST, drops
from argus.errors import DataError
from argus.scoring.breakage import Breakage
from argus.scoring.records import Slot, Value

CHOICES = ["yes", "no", "3 <b>"]


def choice(picture: str, predicted: int) -> dict:
    return {"id": f"q{picture}", "image_id": picture, "predicted": predicted, "target": 1, "scores": [0, 1, 0]}


def rank(picture: str, at: int) -> dict:
    return {
        "id": f"c{picture}",
        "image_id": picture,
        "direction": "text_to_image",
        "rank": at,
        "candidates": 9,
        "top": "other",
        "score": 0.5,
    }


@pytest.fixture
def kept(tmp_path: Path):
    """A function that reads examples: three pictures a cell, of which the first never gets worse."""

    def opened(cell, read):
        folder = tmp_path / cell.run_id
        if not folder.exists():
            folder.mkdir()
            severity, told = cell.key.severity, []
            for name in "abc":
                Image.new("RGB", (84, 40), "red").save(folder / f"{name}.jpg")
                worse = name != "a" and severity > 0
                answer = choice(name, 2 if worse else 1) if cell.key.task == "reasoning" else rank(name, 1 + 3 * worse)
                told.append(
                    {
                        "picture": f"{name}.jpg",
                        "id": name,
                        "texts": {answer["id"]: {"clean": "how many?", "seen": "hwo many?"}},
                        "choices": {f"q{name}": CHOICES},
                        "first": {"other": "a dog"},
                        "predictions": [answer],
                    }
                )
            (folder / "examples.json").write_text(json.dumps(told))
        return read(folder)

    return opened


def no_captions(cell):
    raise AssertionError("nothing is captioned here")


def test_samples_that_were_right_and_are_wrong_are_shown_with_both_answers(small, kept):
    pictures, missing = drops(small, kept, no_captions)
    assert missing == ""
    assert 0 < len(pictures) <= MOST
    told = {picture.title.split(",")[1].split()[1]: dict(picture.facts) for picture in pictures}
    assert told["reasoning"]["clean, and right"] == "no"
    assert told["reasoning"]["perturbed"] == "3 <b>"
    assert told["reasoning"]["read as"] == "hwo many?"
    assert told["retrieval"]["clean"] == "the right one came at rank 1 of 9"
    assert told["retrieval"]["perturbed"] == "the right one came at rank 4 of 9, after “a dog”"
    assert all(picture.source.startswith("data:image/webp;base64,") for picture in pictures)
    assert all("clean, and right: no" in one.alternative for one in pictures if "reasoning" in one.title)


def test_a_pair_is_shown_for_pictures_and_one_picture_where_only_texts_change(small, kept):
    widths = {picture.title.split(", ")[2].split()[0]: picture.width for picture in drops(small, kept, no_captions)[0]}
    assert widths == {"blur": 84, "typo": 40}


def test_each_model_perturbation_and_task_is_shown_once(small, kept):
    titles = [picture.title for picture in drops(small, kept, no_captions)[0]]
    assert len({title.rpartition(" ")[0] for title in titles}) == len(titles) == 2 * 2 * 2


def test_a_picture_that_is_not_shown_yet_is_preferred(small, kept, monkeypatch):
    taken, shown = [], module._shown

    def noted(one, path, facts):
        taken.append((one.slot.dataset, path.name))
        return shown(one, path, facts)

    monkeypatch.setattr(module, "_shown", noted)
    drops(small, kept, no_captions)
    assert {name for dataset, name in taken[:4] if dataset == "coco"} == {"b.jpg", "c.jpg"}  # a never gets worse


def test_what_a_cell_lost_is_said_in_the_words_of_its_task(small, kept):
    facts = [dict(picture.facts) for picture in drops(small, kept, no_captions)[0]]
    assert all("answers of this cell right when clean and wrong here" in one for one in facts)
    path = kept(next(iter(small.cells["clip"].values())), lambda folder: folder / "a.jpg")
    one = Breakage("clip", Slot("coco", "captioning", "blur", "image", 3), 64, {"caption_worse": Value(0.95, "")})
    told = dict(module._shown(one, path, ()).facts)
    assert told == {"captions of this cell with a lower CIDEr-D than when clean": "95% of 64"}


def test_cells_that_kept_no_examples_are_named(small):
    def nothing(cell, read):
        raise DataError(f"run {cell.run_id} has no readable artifact 'examples'")

    pictures, missing = drops(small, nothing, no_captions)
    assert pictures == ()
    assert "has no readable artifact 'examples'" in missing
