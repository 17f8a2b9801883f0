from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from argus.data.visual_genome import VisualGenome
from argus.errors import ConfigError, DataError
from argus.records import Caption


def genome(root: Path, **changes: Any) -> VisualGenome:
    settings: dict[str, Any] = {"images": ["VG_100K", "VG_100K_2"], "unit": "image", "max_regions": None}
    return VisualGenome(root, **(settings | changes))


def region(number: int, phrase: Any) -> dict[str, Any]:
    return {"region_id": number, "phrase": phrase, "x": 1, "y": 2, "width": 3, "height": 4}


@pytest.fixture(autouse=True)
def files(write: Any, picture: Any) -> None:
    write("image_data.json", [{"image_id": number} for number in (1, 2, 3, 4)])
    phrases = [region(10, "a red car "), region(11, "  "), region(12, "the sky"), region(13, "a tree")]
    write(
        "region_descriptions.json",
        [{"id": 1, "regions": phrases}, {"id": 2, "regions": [region(20, "a dog")]}, {"id": 3, "regions": []}],
    )
    picture("VG_100K_2/1.jpg")
    picture("VG_100K/2.jpg")
    picture("VG_100K/12.jpg")


def test_pictures_are_found_in_either_folder(tmp_path: Path) -> None:
    folders = [entry.source.path.parent.name for entry in genome(tmp_path).entries()]
    assert folders == ["VG_100K_2", "VG_100K"]


def test_a_small_set_may_have_one_of_the_folders(tmp_path: Path) -> None:
    (tmp_path / "VG_100K_2" / "1.jpg").rename(tmp_path / "VG_100K" / "1.jpg")
    (tmp_path / "VG_100K_2").rmdir()
    assert len(genome(tmp_path).entries()) == 2


def test_pictures_of_a_folder_that_is_missing_are_named(tmp_path: Path) -> None:
    (tmp_path / "VG_100K_2" / "1.jpg").unlink()
    (tmp_path / "VG_100K_2").rmdir()
    with pytest.raises(DataError, match=r"1 of 2 pictures are missing.*1.jpg"):
        genome(tmp_path).entries()
    with pytest.raises(DataError, match=r"folder '.*elsewhere' is missing"):
        genome(tmp_path, images="elsewhere").entries()


def test_blank_phrases_and_images_without_phrases_are_left_out_and_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        entries = genome(tmp_path).entries()
    assert [entry.id for entry in entries] == ["1", "2"]
    assert entries[0].captions == (Caption("1-10", "a red car"), Caption("1-12", "the sky"), Caption("1-13", "a tree"))
    assert "left out 1 phrases of only spaces, 2 images without a phrase" in caplog.text


def test_max_regions_keeps_the_first_that_say_something(tmp_path: Path) -> None:
    entries = genome(tmp_path, max_regions=2).entries()
    assert [[caption.id for caption in entry.captions] for entry in entries] == [["1-10", "1-12"], ["2-20"]]


def test_unit_region_crops_each_region_with_its_phrase(tmp_path: Path) -> None:
    entries = genome(tmp_path, unit="region").entries()
    assert [entry.id for entry in entries] == ["1-10", "1-12", "1-13", "2-20"]
    assert entries[1].captions == (Caption("1-12", "the sky"),)
    assert entries[1].source.crop == (1, 2, 4, 6)


def test_release_1_0_is_read_too(tmp_path: Path, write: Any) -> None:
    write("image_data.json", [{"id": number} for number in (1, 2, 3)])
    assert [entry.id for entry in genome(tmp_path).entries()] == ["1", "2"]


@pytest.mark.parametrize("changes", [{"unit": "regions"}, {"max_regions": 0}])
def test_impossible_settings_are_errors(tmp_path: Path, changes: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=next(iter(changes))):
        genome(tmp_path, **changes)


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("image_data.json", [{"image_id": 1}], "has images that .* has not: 2, 3"),
        ("image_data.json", [{"image_id": 1}, {"image_id": 1}], "more than once: 1"),
        ("image_data.json", [], "not laid out as expected"),
        ("region_descriptions.json", [{"id": 1, "regions": [region(1, None)]}], "not laid out as expected"),
        ("region_descriptions.json", [{"id": 1, "regions": [{"phrase": "a"}]}], "no key 'region_id'"),
        ("region_descriptions.json", [{"id": 1, "regions": [region(1, "a"), region(1, "b")]}], "more than once: 1-1"),
        ("region_descriptions.json", [{"id": 4, "regions": [region(1, "a")]}], "pictures are missing.*4.jpg"),
        ("region_descriptions.json", "[", "not valid json"),
    ],
)
def test_faulty_files_are_named(tmp_path: Path, write: Any, name: str, content: Any, reason: str) -> None:
    write(name, content)
    with pytest.raises(DataError, match=reason):
        genome(tmp_path).entries()
