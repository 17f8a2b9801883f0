"""Real excerpts of the official releases are read whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hydra.utils import instantiate
from omegaconf import OmegaConf

from argus.data.base import Dataset
from argus.data.clevr import Clevr
from argus.data.coco import Coco
from argus.data.flickr30k import Flickr30k
from argus.data.images import load_image
from argus.data.selection import counts, take
from argus.data.vcr import Vcr
from argus.data.vcr_text import object_names, render
from argus.data.visual_genome import VisualGenome

CONF = Path(__file__).resolve().parents[2] / "conf" / "dataset"
ANSWERS = list(OmegaConf.load(CONF / "clevr.yaml").reader.answers)


def flickr(root: Path, **changes: str | None) -> Flickr30k:
    names = {"images": "flickr30k-images", "token": None, "karpathy": "dataset_flickr30k.json", "split": None}
    return Flickr30k(root / "flickr30k", **(names | changes))


def counted(dataset: Dataset) -> tuple[int, int, int]:
    found = counts(dataset.entries())
    return found["images"], found["captions"], found["questions"]


@pytest.mark.parametrize(("split", "images"), [("val", 140), ("train", 24)])
def test_coco_excerpt_has_five_captions_an_image(sample_data: Path, split: str, images: int) -> None:
    annotations = f"annotations/captions_{split}2017.json"
    assert counted(Coco(sample_data / "coco", annotations=annotations, images=f"{split}2017")) == (
        images,
        5 * images,
        0,
    )


def test_coco_val_and_train_can_be_read_together(sample_data: Path) -> None:
    annotations = ["annotations/captions_train2017.json", "annotations/captions_val2017.json"]
    dataset = Coco(sample_data / "coco", annotations=annotations, images=["train2017", "val2017"])
    assert counted(dataset) == (164, 820, 0)


def test_karpathy_test_images_of_2017_have_the_captions_that_the_split_lists(
    sample_data: Path, tmp_path: Path, write: Any
) -> None:
    listed = json.loads((sample_data / "coco" / "karpathy_test_excerpt.json").read_text(encoding="utf-8"))
    write("dataset_coco.json", {"images": [{"cocoid": int(number), "split": "test"} for number in listed]})
    for name in ("annotations", "val2017"):
        (tmp_path / name).symlink_to(sample_data / "coco" / name)
    annotations = "annotations/captions_val2017.json"
    dataset = Coco(tmp_path, annotations=annotations, images="val2017", karpathy="dataset_coco.json", split="test")
    entries = take(dataset.entries(), limit=None, expected=20)
    assert [entry.id for entry in entries] == list(listed)
    for entry in entries:
        assert {int(caption.id) for caption in entry.captions} >= set(listed[entry.id])


@pytest.mark.parametrize(("split", "images"), [(None, 43), ("train", 37), ("val", 3), ("test", 3)])
def test_flickr30k_excerpt_is_the_same_from_every_file_that_states_it(
    sample_data: Path, split: str | None, images: int
) -> None:
    karpathy = flickr(sample_data, split=split).entries()
    lists = flickr(sample_data, split=split, token="results_20130124.token", karpathy=None).entries()
    assert len(karpathy) == images
    assert sum(len(entry.captions) for entry in karpathy) == 5 * images
    assert sorted(karpathy, key=lambda entry: entry.id) == sorted(lists, key=lambda entry: entry.id)


def test_visual_genome_excerpt_has_all_regions_in_both_units(sample_data: Path) -> None:
    root, images = sample_data / "visual_genome", ["VG_100K", "VG_100K_2"]
    whole = VisualGenome(root, images=images, unit="image", max_regions=None)
    regions = VisualGenome(root, images=images, unit="region", max_regions=None)
    assert counted(whole) == (4, 1023, 0)
    assert counted(regions) == (1023, 1023, 0)
    assert [c for e in whole.entries() for c in e.captions] == [c for e in regions.entries() for c in e.captions]


def test_visual_genome_regions_can_all_be_cropped(sample_data: Path) -> None:
    root, images = sample_data / "visual_genome", ["VG_100K", "VG_100K_2"]
    for entry in VisualGenome(root, images=images, unit="region", max_regions=10).entries():
        left, top, right, bottom = entry.source.crop or (0, 0, 0, 0)
        width, height = load_image(entry.source).size
        assert 1 <= width <= right - left
        assert 1 <= height <= bottom - top


@pytest.mark.parametrize(("split", "images"), [("train", 48), ("val", 11)])
def test_clevr_excerpt_has_ten_questions_an_image_with_their_kinds(sample_data: Path, split: str, images: int) -> None:
    dataset = Clevr(sample_data / "clevr" / "CLEVR_v1.0", split=split, answers=ANSWERS)
    assert counted(dataset) == (images, 0, 10 * images)
    kinds = {question.kind for entry in dataset.entries() for question in entry.questions}
    assert {"count", "exist", "query_color", "equal_integer", "less_than"} <= kinds
    assert "open" not in kinds


def test_clevr_answers_are_the_28_of_the_release() -> None:
    assert len(ANSWERS) == 28
    assert all(isinstance(answer, str) for answer in ANSWERS)


@pytest.mark.parametrize("split", ["train", "val"])
def test_vcr_excerpt_has_both_questions_of_its_annotation(sample_data: Path, split: str) -> None:
    dataset = Vcr(sample_data / "vcr", split=split, images="vcr1images", modes=["q_to_a", "qa_to_r"], marks="all")
    assert counted(dataset) == (1, 0, 2)
    assert {question.kind for question in dataset.entries()[0].questions} == {"Q->A", "QA->R"}


def test_vcr_excerpt_reads_as_a_person_would_write_it(sample_data: Path) -> None:
    dataset = Vcr(sample_data / "vcr", split="val", images="vcr1images", modes=["q_to_a", "qa_to_r"], marks="mentioned")
    (entry,) = dataset.entries()
    answer, reason = entry.questions
    assert answer.text == "Does person1 live in this house?"
    assert answer.choices[answer.target] == "No, person1 is a visitor."
    assert reason.text == "Does person1 live in this house? No, person1 is a visitor."
    assert reason.choices[reason.target] == (
        "person1 is wearing outerwear, holding an umbrella, and there is a car outside."
    )
    assert [mark.label for mark in entry.source.marks] == ["person1", "person2", "person3"]


@pytest.mark.parametrize("name", ["vcr_cs_val_original.jsonl", "gd_vcr_val.jsonl"])
def test_real_vcr_texts_have_no_space_where_none_belongs(sample_data: Path, name: str) -> None:
    path = sample_data / "vcr" / "annotations_only" / name
    for line in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
        names = object_names(line["objects"])
        for tokens in [line["question"], *line["answer_choices"], *line["rationale_choices"]]:
            sentence = render(tokens, names, name)
            assert not any(wrong in sentence for wrong in (" .", " ,", " ?", " ;", " '", "  ", " - ")), sentence
            assert sentence == sentence.strip()


def test_every_excerpt_names_annotation_files_that_exist(sample_data: Path) -> None:
    for path in CONF.glob("*.yaml"):
        config = OmegaConf.create({"dataset": OmegaConf.load(path), "data_dir": str(sample_data)})
        files = instantiate(config.dataset.reader).annotation_files()
        assert files
        assert all(file.is_file() for file in files)
