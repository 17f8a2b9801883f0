from __future__ import annotations

import pytest

from argus.errors import ConfigError
from argus.overrides import check_overrides, deferred


@pytest.mark.parametrize(
    "typed",
    [
        ["-m", "model=clip,blip", "perturbation=blur,typo", "perturbation.severity=1,3"],
        ["-m", "perturbation=glob(*)"],
        ["task.member.ceiling=2"],  # of captioning, not of the default task
        ["hydra/launcher=joblib", "hydra.launcher.n_jobs=2"],
        ["suite=official", "suite.checkpoints=pocket", "data_dir=/data"],
        ["experiment=quick"],
        [],
    ],
)
def test_what_exists_is_accepted(typed: list[str]) -> None:
    check_overrides("run", typed)


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("model=clipp", r"'clipp'.*blip, .*clip, .*'clip'"),
        ("model=clip,nothing", r"'nothing' in model"),
        ("sede=1", r"sede(.|\n)*seed"),
        ("dataset.limitt=3", r"limitt(.|\n)*'limit'"),
        ("model.adapter.beams=3", r"model\.adapter\.beams"),
        ("seed=interval(0,1)", r"seed=a,b"),
        ("seed=[1", r"\[1"),
    ],
)
def test_what_does_not_exist_is_named_with_what_does(word: str, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        check_overrides("run", ["-m", word])


def test_knobs_of_members_are_left_to_the_cells_of_a_sweep() -> None:
    typed = ["-m", "model=blip", "model.adapter.num_beams=3", "seed=1", "suite.data=official", "task.member.k=1,2"]
    assert deferred(typed) == [
        "-m",
        "model=blip",
        "model.adapter.num_beams=choice(3)",
        "seed=1",
        "suite.data=official",
        "task.member.k=1,2",
    ]
    assert deferred(typed[1:]) == typed[1:]
