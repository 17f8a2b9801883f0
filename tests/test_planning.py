from __future__ import annotations

from collections.abc import Iterator, Sequence
from io import StringIO

import pytest
from hydra import compose, initialize_config_dir
from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import DictConfig, OmegaConf
from rich.console import Console

from argus.configuration import conf_dir
from argus.errors import ConfigError
from argus.overrides import as_typed, axes_of, deferred
from argus.perturbations.noise import Noise
from argus.planning import Compose, Plan, expand, make_plan, sharing
from argus.report.plan import plan_report


@pytest.fixture
def composed(pocket_data_dir: str) -> Iterator[Compose]:
    with initialize_config_dir(str(conf_dir()), version_base=None):

        def make(overrides: Sequence[str]) -> DictConfig:
            return compose("run", overrides=[*overrides, f"data_dir={pocket_data_dir}"])

        yield make


def plan_of(composed: Compose, *typed: str, finished: Sequence[str] = ()) -> Plan:
    axes = axes_of(OverridesParser.create().parse_overrides(list(typed)))
    return make_plan(axes, composed, lambda fingerprint: "run" if fingerprint in finished else "")


def test_a_plan_names_the_models_whose_cells_are_dropped_and_what_they_lack(composed: Compose) -> None:
    console = Console(file=StringIO(), width=200)
    console.print(plan_report(plan_of(composed, "model=clip,lxmert", "perturbation=blur", "dataset=coco"), "", False))
    lines = console.file.getvalue().splitlines()
    lacking = "the model writes no text and embeds no pictures, so it cannot do captioning"
    assert f"  dropped 2 of lxmert: {lacking}" in lines


def test_a_sweep_takes_the_suites_datasets_their_tasks_and_a_clean_baseline(composed: Compose) -> None:
    plan = plan_of(composed, "model=clip", "perturbation=blur")
    cells = {(cell.key.dataset, cell.key.task) for cell in plan.run}
    assert cells == {
        ("coco", "retrieval"),
        ("coco", "captioning"),
        ("flickr30k", "retrieval"),
        ("flickr30k", "captioning"),
        ("visual_genome", "retrieval"),
        ("clevr", "reasoning"),
        ("vcr", "reasoning"),
    }
    assert {cell.key.perturbation for cell in plan.run} == {"clean", "blur"}
    assert len(plan.run) == 14


def test_there_is_one_clean_baseline_whatever_severities_are_swept(composed: Compose) -> None:
    plan = plan_of(composed, "dataset=coco", "task=retrieval", "perturbation=blur", "perturbation.severity=1,3,5")
    assert [(cell.key.perturbation, cell.key.severity) for cell in plan.run] == [
        ("clean", 0),
        ("blur", 1),
        ("blur", 3),
        ("blur", 5),
    ]


def test_a_perturbation_with_one_severity_has_it_once_whatever_is_swept(
    composed: Compose, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Noise, "severities", lambda self: (3,))
    plan = plan_of(composed, "dataset=clevr", "perturbation=blur,noise", "perturbation.severity=1,5")
    assert [(cell.key.perturbation, cell.key.severity) for cell in plan.run] == [
        ("clean", 0),
        ("blur", 1),
        ("blur", 5),
        ("noise", 3),
    ]


def test_a_severity_that_a_perturbation_lacks_is_dropped_with_its_reason(
    composed: Compose, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Noise, "severities", lambda self: (1, 3))
    plan = plan_of(composed, "dataset=clevr", "perturbation=blur,noise", "perturbation.severity=1,5")
    assert [(cell.key.perturbation, cell.key.severity) for cell in plan.run[1:]] == [
        ("blur", 1),
        ("blur", 5),
        ("noise", 1),
    ]
    assert [(drop.key.perturbation, drop.key.severity) for drop in plan.dropped] == [("noise", 5)]
    assert plan.dropped[0].reason == "severity 5 of Noise: choose one of (1, 3)"


def test_a_severity_that_no_perturbation_has_is_an_error(composed: Compose) -> None:
    with pytest.raises(ConfigError, match=r"severity 9 of Blur: choose one of"):
        plan_of(composed, "dataset=clevr", "perturbation=blur,typo", "perturbation.severity=3,9")


@pytest.mark.parametrize("knob", ["perturbation.protect=[dog]", "perturbation.protect_numbers=true"])
def test_protection_reaches_texts_alone_and_changes_their_fingerprint(composed: Compose, knob: str) -> None:
    typed = ["dataset=clevr", "perturbation=blur,typo"]
    before, after = plan_of(composed, *typed), plan_of(composed, *typed, knob)
    same = {cell.key.perturbation for cell in before.run if cell in after.run}
    assert {cell.key for cell in before.run} == {cell.key for cell in after.run}
    assert same == {"clean", "blur"}


def test_what_the_user_names_wins_over_the_suite(composed: Compose) -> None:
    plan = plan_of(composed, "dataset=clevr", "perturbation=noise")
    assert {cell.key.dataset for cell in plan.run} == {"clevr"}


def test_a_cell_that_makes_no_sense_is_dropped_with_its_reason(composed: Compose) -> None:
    plan = plan_of(composed, "dataset=clevr,coco", "task=captioning", "perturbation=typo")
    assert {(drop.key.dataset, drop.key.perturbation) for drop in plan.dropped} == {
        ("clevr", "clean"),
        ("clevr", "typo"),
        ("coco", "typo"),
    }
    assert all(drop.reason for drop in plan.dropped)
    assert [(cell.key.dataset, cell.key.perturbation) for cell in plan.run] == [("coco", "clean")]


def test_a_perturbation_of_pictures_and_texts_is_dropped_where_no_text_is_read(composed: Compose) -> None:
    plan = plan_of(composed, "dataset=coco", "perturbation=blur_typo")
    assert [(drop.key.task, drop.key.modality) for drop in plan.dropped] == [("captioning", "both")]
    assert [cell.key.task for cell in plan.run if cell.key.perturbation == "blur_typo"] == ["retrieval"]


def test_cells_are_ordered_by_model_with_baselines_first(composed: Compose) -> None:
    plan = plan_of(composed, "model=blip,clip", "dataset=coco,clevr", "perturbation=blur,clean")
    models = [cell.key.model for cell in plan.run]
    assert models == sorted(models)
    clip = [cell.key.perturbation for cell in plan.run if cell.key.model == "clip"]
    assert clip == ["clean"] * 3 + ["blur"] * 3


def test_a_finished_cell_is_skipped_and_the_others_run(composed: Compose) -> None:
    first = plan_of(composed, "dataset=coco", "perturbation=blur")
    second = plan_of(composed, "dataset=coco", "perturbation=blur", finished=[first.run[0].fingerprint])
    assert [cell.key for cell in second.skipped] == [first.run[0].key]
    assert [cell.key for cell in second.run] == [cell.key for cell in first.run[1:]]


@pytest.mark.parametrize(
    "changed", ["seed=1", "dataset.limit=5", "task.member.gallery_size=10", "perturbation.severity=4"]
)
def test_whatever_can_change_a_result_changes_the_fingerprint(composed: Compose, changed: str) -> None:
    typed = ["dataset=coco", "task=retrieval", "perturbation=blur"]
    before, after = plan_of(composed, *typed), plan_of(composed, *typed, changed)
    assert before.run[-1].fingerprint != after.run[-1].fingerprint


def test_the_same_command_gives_the_same_fingerprints(composed: Compose) -> None:
    assert plan_of(composed, "perturbation=blur") == plan_of(composed, "perturbation=blur")


CELLS = [
    ("model=blip", "dataset=coco", "task=captioning", "perturbation=clean"),
    ("model=clip", "dataset=coco", "task=retrieval", "perturbation=typo", "perturbation.protect=[dog]"),
    ("model=clip", "dataset=coco", "task=retrieval", "perturbation=blur", "perturbation.severity=5", "seed=3"),
    ("model=clip", "dataset=vcr", "task=reasoning", "perturbation=blur", "model.adapter.text_padding=longest"),
    ("dataset=coco",),
]


def test_configs_that_share_their_parts_are_those_composed_whole(composed: Compose) -> None:
    shared = sharing(composed)
    for overrides in [*CELLS, *CELLS[::-1]]:
        assert shared(overrides) == composed(overrides)


def test_a_perturbation_that_changes_more_than_its_section_is_composed_whole() -> None:
    def make(overrides: Sequence[str]) -> DictConfig:
        wide = "perturbation=wide" in overrides
        return OmegaConf.create({"perturbation": {"name": "wide" if wide else "plain"}, "seed": 7 if wide else 0})

    shared = sharing(make)
    assert [shared((f"perturbation={name}",)).seed for name in ("plain", "wide", "plain")] == [0, 7, 0]


def test_two_cells_of_one_name_are_refused(composed: Compose) -> None:
    with pytest.raises(ConfigError, match=r"same name.*clip · coco"):
        plan_of(composed, "dataset=coco", "perturbation=blur", "seed=0,1")


def test_an_interval_is_refused_with_the_way_to_write_a_list() -> None:
    with pytest.raises(ConfigError, match=r"seed=a,b"):
        axes_of(OverridesParser.create().parse_overrides(["seed=interval(0,1)"]))


def test_every_candidate_is_named_once(composed: Compose) -> None:
    axes = {"perturbation": ["clean", "blur"], "perturbation.severity": ["1", "2"], "dataset": ["coco"]}
    found = expand(axes, composed)
    assert len(found) == len(set(found)) == 2 + 4


def test_a_knob_of_one_task_reaches_the_cells_of_that_task_alone(composed: Compose) -> None:
    plan = plan_of(composed, "dataset=coco", "task.member.gallery_size=7")
    knobs = {cell.key.task: "task.member.gallery_size=7" in cell.overrides for cell in plan.run}
    assert knobs == {"retrieval": True, "captioning": False}


def test_the_tasks_that_the_user_lets_a_dataset_offer_are_planned(composed: Compose) -> None:
    typed = deferred(["-m", "dataset=visual_genome", "dataset.tasks=[retrieval,captioning]"])[1:]
    plan = plan_of(composed, *typed, "model=clip", "perturbation=blur")
    assert {cell.key.task for cell in plan.run} == {"retrieval", "captioning"}


def test_severity_0_is_none_of_a_perturbation_though_it_is_cleans(composed: Compose) -> None:
    with pytest.raises(ConfigError, match="severity 0 of Blur"):
        plan_of(composed, "dataset=coco", "perturbation=blur", "perturbation.severity=0")


@pytest.mark.parametrize("word", ["dataset.limit=null", "hardware.threads=null", "dataset.expected=null"])
def test_null_is_a_value_in_a_sweep_too(composed: Compose, word: str) -> None:
    (typed,) = deferred(["-m", word])[1:]
    plan = plan_of(composed, typed, "dataset=coco", "task=retrieval", "model=clip", "perturbation=blur")
    assert all(word in cell.overrides for cell in plan.run)
    assert as_typed(typed) == word
