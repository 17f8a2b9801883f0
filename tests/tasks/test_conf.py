"""Every task in conf/task is built as its yaml says."""

from __future__ import annotations

from pathlib import Path

import pytest
from hydra.errors import InstantiationException
from hydra.utils import instantiate
from omegaconf import OmegaConf

from argus.configuration import conf_dir
from argus.tasks.base import Task

MEMBERS = sorted((conf_dir() / "task").glob("*.yaml"))


@pytest.mark.parametrize("path", MEMBERS, ids=lambda path: path.stem)
def test_yaml_builds_the_task_of_its_name(path: Path):
    cfg = OmegaConf.create({"task": OmegaConf.load(path), "dataset": {"caption_ceiling": 1.5}})
    task = instantiate(cfg.task.member, _convert_="all")
    assert isinstance(task, Task)
    assert path.stem == cfg.task.name == task.name


@pytest.mark.parametrize("path", MEMBERS, ids=lambda path: path.stem)
def test_misspelt_key_fails_when_the_task_is_built(path: Path):
    cfg = OmegaConf.create({"task": OmegaConf.load(path), "dataset": {"caption_ceiling": 1.5}})
    cfg.task.member.galery_size = 3
    with pytest.raises(InstantiationException):
        instantiate(cfg.task.member, _convert_="all")
