"""What docs/data.md tells a user to write works as written."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hydra.utils import instantiate
from omegaconf import OmegaConf

from argus.data.base import Dataset
from argus.records import Caption, Entry, ImageSource

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "data.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    (found,) = re.findall(rf"```{language}\n(.*?)```", PAGE, flags=re.DOTALL)
    return found


def test_own_captions_in_cocos_json_need_a_yaml_only(tmp_path: Path, write: Any, picture: Any) -> None:
    picture("pictures/first.jpg")
    images = [{"id": 1, "file_name": "first.jpg"}]
    write("captions.json", {"images": images, "annotations": [{"id": 1, "image_id": 1, "caption": "a grey wall"}]})
    config = OmegaConf.create(block("yaml"))
    config.reader.root = str(tmp_path)
    assert [entry.captions for entry in instantiate(config.reader).entries()] == [(Caption("1", "a grey wall"),)]


def test_own_layout_needs_a_class_with_two_methods(tmp_path: Path, write: Any, picture: Any) -> None:
    path = picture("pictures/first.jpg")
    write("pictures/first.txt", "a grey wall")
    names = {"Dataset": Dataset, "Caption": Caption, "Entry": Entry, "ImageSource": ImageSource, "Path": Path}
    exec(block("python"), names)
    (entry,) = names["Mine"](tmp_path).entries()  # type: ignore[call-arg]
    assert entry == Entry("first", ImageSource(path), (Caption("first", "a grey wall"),))
