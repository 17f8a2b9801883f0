from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from argus.data.coco import Coco
from argus.errors import ConfigError, DataError

NAMES = {7: "COCO_val2014_000000000007.jpg", 42: "COCO_val2014_000000000042.jpg"}


def captions_file(images: dict[int, str], captions: list[tuple[int, int, Any]]) -> dict[str, Any]:
    return {
        "images": [{"id": number, "file_name": name} for number, name in images.items()],
        "annotations": [{"id": id_, "image_id": image, "caption": text} for id_, image, text in captions],
    }


TWO = captions_file(NAMES, [(1, 42, "a cat "), (2, 7, "a dog\n"), (3, 42, "one  cat")])


def coco(root: Path, **changes: Any) -> Coco:
    return Coco(root, **({"annotations": "captions.json", "images": "pictures"} | changes))


@pytest.mark.parametrize("name", ["COCO_val2014_{:012d}.jpg", "{:012d}.jpg", "COCO_train2014_{:012d}.JPG", "{}.png"])
def test_pictures_of_any_release_are_found_by_id(tmp_path: Path, write: Any, picture: Any, name: str) -> None:
    write("captions.json", TWO)
    paths = [picture("pictures/" + name.format(number)) for number in NAMES]
    assert [entry.source.path for entry in coco(tmp_path).entries()] == paths


def test_the_stated_name_is_preferred_to_the_id(tmp_path: Path, write: Any, picture: Any) -> None:
    write("captions.json", TWO)
    stated = [picture(f"pictures/{name}") for name in NAMES.values()]
    for number in NAMES:
        picture(f"pictures/{number:012d}.jpg")
    assert [entry.source.path for entry in coco(tmp_path).entries()] == stated


def test_a_number_that_only_ends_alike_is_another_picture(tmp_path: Path, write: Any, picture: Any) -> None:
    write("captions.json", captions_file({7: "000000000007.jpg"}, [(1, 7, "a dog")]))
    picture("pictures/000000000017.jpg")
    with pytest.raises(DataError, match=r"1 of 1 pictures are missing.*000000000007.jpg"):
        coco(tmp_path).entries()


def test_images_keep_the_order_of_the_file_and_captions_theirs(tmp_path: Path, write: Any, picture: Any) -> None:
    write("captions.json", TWO)
    for name in NAMES.values():
        picture(f"pictures/{name}")
    first, second = coco(tmp_path).entries()
    assert (first.id, second.id) == ("7", "42")
    assert [(caption.id, caption.text) for caption in second.captions] == [("1", "a cat"), ("3", "one cat")]


def test_karpathy_split_chooses_and_orders_the_images(tmp_path: Path, write: Any, picture: Any) -> None:
    write("captions.json", TWO | {"images": [*TWO["images"], {"id": 9, "file_name": "000000000009.jpg"}]})
    splits = [(42, "test"), (9, "restval"), (7, "test")]
    write("karpathy.json", {"images": [{"cocoid": number, "split": split} for number, split in splits]})
    for name in NAMES.values():
        picture(f"pictures/{name}")
    entries = coco(tmp_path, karpathy="karpathy.json", split="test").entries()
    assert [entry.id for entry in entries] == ["42", "7"]
    with pytest.raises(DataError, match=r"no split 'tset'; it has \['restval', 'test'\]"):
        coco(tmp_path, karpathy="karpathy.json", split="tset").entries()


def test_karpathy_image_without_annotations_is_an_error(tmp_path: Path, write: Any, picture: Any) -> None:
    write("captions.json", TWO)
    write("karpathy.json", {"images": [{"cocoid": number, "split": "test"} for number in (7, 8, 42)]})
    picture("pictures/7.jpg")
    with pytest.raises(DataError, match=r"split 'test'.*do not describe: 8;"):
        coco(tmp_path, karpathy="karpathy.json", split="test").entries()


@pytest.mark.parametrize("changes", [{"karpathy": "karpathy.json"}, {"split": "test"}])
def test_split_and_split_file_go_together(tmp_path: Path, changes: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match="give both"):
        coco(tmp_path, **changes)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('{"images": [', "not valid json"),
        ("\x00", "not valid json"),
        ([], "not laid out as expected"),
        ({"images": []}, "no key 'annotations'"),
        ({"images": [], "annotations": []}, "no entries"),
        (captions_file({7: "7.jpg"}, [(1, 7, None)]), "None stands where a text should"),
        (captions_file({7: "7.jpg"}, [(1, 8, "a cat")]), "captions of images not listed: 8"),
        (captions_file({7: "7.jpg", 8: "8.jpg"}, [(1, 7, "a cat")]), "images without a caption: 8"),
        (captions_file({7: "7.jpg"}, [(1, 7, "  ")]), "images without a caption: 7"),
        (captions_file({7: "7.jpg"}, [(1, 7, "a cat"), (1, 7, "a dog")]), "caption ids.*more than once: 1"),
        ({"images": [{"id": 7, "file_name": "7.jpg"}] * 2, "annotations": []}, "image id 7 occurs twice"),
        ({"images": [{"id": "x", "file_name": "7.jpg"}], "annotations": []}, "not laid out as expected"),
    ],
)
def test_faulty_annotations_are_named(tmp_path: Path, write: Any, picture: Any, content: Any, reason: str) -> None:
    write("captions.json", content)
    picture("pictures/7.jpg")
    with pytest.raises(DataError, match=reason):
        coco(tmp_path).entries()


def test_instances_in_place_of_captions_are_named(tmp_path: Path, write: Any, picture: Any) -> None:
    boxes = {
        "images": [{"id": 7, "file_name": "7.jpg"}],
        "annotations": [{"id": 1, "image_id": 7, "bbox": [0, 0, 1, 1]}],
    }
    write("captions.json", boxes)
    picture("pictures/7.jpg")
    with pytest.raises(DataError, match=r"captions.json' has no key 'caption'"):
        coco(tmp_path).entries()


def test_missing_pictures_are_counted_and_the_first_five_named(tmp_path: Path, write: Any, picture: Any) -> None:
    names = {number: f"{number}.jpg" for number in range(1, 9)}
    write("captions.json", captions_file(names, [(number, number, "a cat") for number in names]))
    picture("pictures/1.jpg")
    with pytest.raises(DataError, match="7 of 8 pictures are missing") as error:
        coco(tmp_path).entries()
    assert "6.jpg" in str(error.value)
    assert "7.jpg" not in str(error.value)
    assert Coco.layout in str(error.value)


def test_blank_captions_are_left_out_and_counted(
    tmp_path: Path, write: Any, picture: Any, caplog: pytest.LogCaptureFixture
) -> None:
    write("captions.json", captions_file({7: "7.jpg"}, [(1, 7, "a cat"), (2, 7, " \t")]))
    picture("pictures/7.jpg")
    with caplog.at_level(logging.WARNING):
        (entry,) = coco(tmp_path).entries()
    assert [caption.id for caption in entry.captions] == ["1"]
    assert "left out 1 captions of only spaces" in caplog.text


def test_missing_folder_of_pictures_is_named(tmp_path: Path, write: Any) -> None:
    write("captions.json", TWO)
    with pytest.raises(DataError, match=r"folder '.*pictures' is missing"):
        coco(tmp_path).entries()


def test_annotation_files_are_all_that_was_read(tmp_path: Path, write: Any) -> None:
    files = tuple(write(name, {}) for name in ("a.json", "b.json", "k.json"))
    assert coco(tmp_path, annotations=["a.json", "b.json"], karpathy="k.json", split="test").annotation_files() == files
