"""The contract of every dataset that has a yaml, read where its data is at hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hydra.utils import instantiate
from omegaconf import DictConfig, OmegaConf

from argus.data.base import Dataset
from argus.data.images import load_image
from argus.data.selection import take
from argus.errors import DataError

YAMLS = sorted((Path(__file__).resolve().parents[2] / "conf" / "dataset").glob("*.yaml"))
TASKS = {"retrieval", "captioning", "reasoning"}

every_yaml = pytest.mark.parametrize("path", YAMLS, ids=[path.stem for path in YAMLS])


def compose(path: Path, data_dir: Path, suite: str = "official") -> DictConfig:
    config: Any = OmegaConf.create(
        {"dataset": OmegaConf.load(path), "data_dir": str(data_dir), "suite": {"data": suite}}
    )
    return config.dataset


def reader(path: Path, data_dir: Path) -> Dataset:
    return instantiate(compose(path, data_dir).reader)


@every_yaml
@pytest.mark.parametrize("suite", ["pocket", "official"])
def test_yaml_resolves_and_states_what_every_cell_reads(path: Path, suite: str, tmp_path: Path) -> None:
    dataset = OmegaConf.to_container(compose(path, tmp_path, suite), resolve=True)
    assert dataset["name"] == path.stem
    assert set(dataset["tasks"]) <= TASKS
    assert {"caption_ceiling", "limit", "expected", "reader"} <= set(dataset)
    if "captioning" in dataset["tasks"]:
        assert dataset["caption_ceiling"] > 0


@every_yaml
def test_entries_have_the_texts_that_their_tasks_need(path: Path, sample_data: Path) -> None:
    entries = reader(path, sample_data).entries()
    for task in compose(path, sample_data).tasks:
        needed = [entry.questions if task == "reasoning" else entry.captions for entry in entries]
        assert all(needed), task


@every_yaml
def test_reading_twice_gives_the_same_entries_in_the_same_order(path: Path, sample_data: Path) -> None:
    assert reader(path, sample_data).entries() == reader(path, sample_data).entries()


@every_yaml
def test_texts_are_tidy(path: Path, sample_data: Path) -> None:
    for entry in reader(path, sample_data).entries():
        texts = [caption.text for caption in entry.captions]
        texts += [text for question in entry.questions for text in (question.text, *question.choices)]
        assert all(text and text == " ".join(text.split()) for text in texts)


@every_yaml
def test_pictures_are_rgb(path: Path, sample_data: Path) -> None:
    for entry in reader(path, sample_data).entries()[:3]:
        assert load_image(entry.source).mode == "RGB"


@every_yaml
def test_published_limit_is_no_smaller_than_the_excerpt(path: Path, sample_data: Path) -> None:
    dataset = compose(path, sample_data)
    entries = reader(path, sample_data).entries()
    assert take(entries, dataset.limit, dataset.expected) == entries


@every_yaml
def test_absent_data_is_named_with_the_layout(path: Path, tmp_path: Path) -> None:
    dataset = reader(path, tmp_path / "nowhere")
    with pytest.raises(DataError, match="nowhere") as error:
        dataset.entries()
    assert dataset.layout in str(error.value)
    with pytest.raises(DataError, match="nowhere"):
        dataset.annotation_files()


@every_yaml
def test_misspelt_key_fails_when_the_reader_is_built(path: Path, tmp_path: Path) -> None:
    config = compose(path, tmp_path).reader
    with pytest.raises(Exception, match="spilt"):
        instantiate(config, spilt="val")


@every_yaml
def test_root_may_start_at_the_home_folder(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert reader(path, Path("~/somewhere")).root.is_relative_to(tmp_path / "somewhere")
