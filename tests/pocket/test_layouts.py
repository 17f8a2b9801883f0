"""Promises of the pocket data sets: official layouts, the same bytes every time, and safe to make at once."""

from __future__ import annotations

import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from argus.data.clevr import Clevr
from argus.errors import DataError
from argus.pocket import layouts
from argus.pocket.asking import ANSWERS
from argus.pocket.evaluate import entries
from argus.pocket.layouts import SEED, STAMP, ensure_pocket, write_pocket

from .conftest import IMAGES


def digest(root: Path) -> dict[str, str]:
    files = (path for path in root.rglob("*") if path.is_file())
    return {str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def silent(done: int, total: int) -> None:
    pass


def test_same_bytes_every_time(pocket: Path, tmp_path: Path):
    write_pocket(tmp_path / "again", IMAGES)
    assert digest(tmp_path / "again") == digest(pocket)


def test_another_seed_gives_other_pictures(pocket: Path, tmp_path: Path):
    write_pocket(tmp_path / "other", 2, SEED + 1)
    other, own = digest(tmp_path / "other"), digest(pocket)
    assert not {v for k, v in other.items() if "val2017" in k} & {v for k, v in own.items() if "val2017" in k}


def test_the_readers_of_the_official_data_read_all_of_it(pocket: Path):
    read = entries(pocket)
    assert {name: len(found) for name, found in read.items()} == dict.fromkeys(read, IMAGES)
    for name in ("coco", "flickr30k", "visual_genome"):
        assert all(len(entry.captions) == 5 for entry in read[name])
    assert all(len(entry.questions) == 4 for entry in read["clevr"] + read["vcr"])
    assert all(entry.source.marks for entry in read["vcr"])
    assert all(entry.source.path.is_file() for found in read.values() for entry in found)


def test_flickr_token_file_and_split_file_say_the_same(pocket: Path):
    lines = (pocket / "flickr30k" / "results_20130124.token").read_text().splitlines()
    images = json.loads((pocket / "flickr30k" / "dataset_flickr30k.json").read_text())["images"]
    told = [
        f"{image['filename']}#{number}\t{sentence['raw']}"
        for image in images
        for number, sentence in enumerate(image["sentences"])
    ]
    assert lines == told
    assert {image["split"] for image in images} == {"test"}


def test_clevr_answers_are_within_the_official_set_without_one_to_spare(pocket: Path):
    # The reader refuses an answer that is not in the set it is given.
    found = Clevr(pocket / "clevr" / "CLEVR_v1.0", split="val", answers=ANSWERS).entries()
    assert {question.choices for entry in found for question in entry.questions} == {ANSWERS}


@pytest.mark.parametrize(
    ("mine", "official", "inside"),
    [
        ("coco/annotations/captions_val2017.json", "coco/annotations/captions_val2017.json", "annotations"),
        ("flickr30k/dataset_flickr30k.json", "flickr30k/dataset_flickr30k.json", "images"),
        ("visual_genome/image_data.json", "visual_genome/image_data.json", None),
        ("visual_genome/region_descriptions.json", "visual_genome/region_descriptions.json", None),
        (
            "clevr/CLEVR_v1.0/scenes/CLEVR_val_scenes.json",
            "clevr/CLEVR_v1.0/scenes/CLEVR_val_scenes.json",
            "scenes",
        ),
        (
            "clevr/CLEVR_v1.0/questions/CLEVR_val_questions.json",
            "clevr/CLEVR_v1.0/questions/CLEVR_val_questions.json",
            "questions",
        ),
        ("vcr/val.jsonl", "vcr/val.jsonl", None),
    ],
)
def test_keys_are_those_of_the_official_files(pocket: Path, sample_data: Path, mine: str, official: str, inside: str):
    found, expected = (first(root / name, inside) for root, name in ((pocket, mine), (sample_data, official)))
    extra = {"template_filename"}  # only the excerpt's generator writes it
    assert shape(found) == {key: value for key, value in shape(expected).items() if key not in extra}


def first(path: Path, inside: str | None) -> dict[str, object]:
    content = json.loads(path.read_text().splitlines()[0] if path.suffix == ".jsonl" else path.read_text())
    if inside is not None:
        content = content[inside]
    return content[0] if isinstance(content, list) else content


def shape(record: dict[str, object]) -> dict[str, str]:
    """Return the type of each value; ids that no generated picture has (null) count as numbers and texts do."""
    return {key: "" if value is None or key == "url" else type(value).__name__ for key, value in record.items()}


def test_vcr_metadata_has_the_official_keys(pocket: Path, sample_data: Path):
    found, expected = (
        json.loads(next((root / "vcr" / "vcr1images").rglob("*.json")).read_text()) for root in (pocket, sample_data)
    )
    assert set(found) == set(expected)
    assert len(found["boxes"][0]) == len(expected["boxes"][0]) == 5
    assert len(found["boxes"]) == len(found["names"]) == len(found["segms"])


def test_ensure_writes_once_and_anew_for_another_size_or_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    root, calls = tmp_path / "data" / "pocket", []
    ensure_pocket(root, 1, lambda done, total: calls.append((done, total)))
    assert calls == [(number, 5) for number in range(1, 6)]
    ensure_pocket(str(root), 1, lambda done, total: calls.append((done, total)))
    assert len(calls) == 5
    ensure_pocket(root, 2, silent)
    assert len(list((root / "coco" / "val2017").iterdir())) == 2
    monkeypatch.setattr(layouts, "VERSION", layouts.VERSION + 1)
    (root / "coco" / "stale.txt").write_text("of the last version")
    ensure_pocket(root, 2, silent)
    assert not (root / "coco" / "stale.txt").exists()
    assert sorted(path.name for path in root.parent.iterdir()) == [".pocket.lock", "pocket"]


def test_several_at_once_write_it_once(tmp_path: Path):
    root, calls = tmp_path / "pocket", []
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: ensure_pocket(root, 1, lambda done, total: calls.append(done)), range(4)))
    assert calls == [1, 2, 3, 4, 5]
    assert json.loads((root / STAMP).read_text())["images"] == 1


def test_a_folder_of_something_else_is_not_touched(tmp_path: Path):
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(DataError, match="not empty"):
        ensure_pocket(tmp_path, 1, silent)
    assert (tmp_path / "thesis.txt").read_text() == "mine"


def test_a_failure_leaves_nothing_behind(tmp_path: Path):
    def refuse(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_pocket(tmp_path / "pocket", 1, progress=refuse)
    assert list(tmp_path.iterdir()) == []
