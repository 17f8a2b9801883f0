from __future__ import annotations

from collections.abc import Iterator

import pytest
from hydra import compose, initialize_config_dir

from argus.configuration import conf_dir
from argus.errors import ConfigError
from argus.models.base import Model
from argus.settings import check_values, flat, model_class, settings_of, task_class
from argus.tasks.base import Task


def members(group: str) -> list[str]:
    return sorted(path.stem for path in (conf_dir() / group).glob("*.yaml"))


@pytest.fixture(autouse=True)
def _configs() -> Iterator[None]:
    with initialize_config_dir(str(conf_dir()), version_base=None):
        yield


@pytest.mark.parametrize("model", members("model"))
@pytest.mark.parametrize("suite", members("suite"))
def test_every_model_composes_with_every_suite_and_names_a_class(model: str, suite: str) -> None:
    cfg = compose("run", overrides=[f"model={model}", f"suite={suite}", "data_dir=/data"])
    assert issubclass(model_class(cfg), Model)
    assert settings_of(cfg).key.model == model


@pytest.mark.parametrize("hardware", members("hardware"))
def test_every_hardware_profile_composes_and_pairs_no_model_with_float16(hardware: str) -> None:
    cell = settings_of(compose("run", overrides=[f"hardware={hardware}"]))
    assert cell.hardware.runtime.dtype in ("float32", "bfloat16")
    assert set(cell.hardware.references) >= {"latency_p50_ms", "parameters"}


@pytest.mark.parametrize("task", members("task"))
def test_every_task_names_a_class_of_its_own_name(task: str) -> None:
    cfg = compose("run", overrides=[f"task={task}"])
    assert issubclass(task_class(cfg), Task)
    assert task_class(cfg).name == task == cfg.task.name


def test_a_value_that_must_be_given_is_named() -> None:
    with pytest.raises(ConfigError, match=r"data_dir.*key=value"):
        settings_of(compose("run", overrides=["suite=official"]))


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("seed=-1", "seed=-1"),
        ("seed=abc", "seed=abc"),
        ("dataset.limit=0", "dataset.limit=0"),
        ("dataset.limit=many", "dataset.limit=many"),
        ("hardware.batch_size=0", "hardware.batch_size=0"),
        ("hardware.probe.repeats=0", "hardware.probe.repeats=0"),
    ],
)
def test_a_number_that_cannot_work_is_named_with_what_can(typed: str, told: str) -> None:
    with pytest.raises(ConfigError, match=rf"{told}: give a whole number, [01] or more"):
        check_values(compose("run", overrides=[typed]))


def test_params_hold_what_is_used_and_no_tables_of_alternatives() -> None:
    params = flat(compose("run", overrides=["suite=official", "data_dir=/data", "model=blip"]))
    assert params["model.checkpoint.vqa"] == "Salesforce/blip-vqa-base"
    assert params["dataset.caption_ceiling"] == 1.5
    assert not [name for name in params if "pocket" in name or "spec" in name]
    assert len(params) < 80
