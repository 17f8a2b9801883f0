"""Every hardware profile in conf/hardware keeps the same promises."""

from __future__ import annotations

import inspect
from dataclasses import fields
from pathlib import Path

import pytest
from lightning import Trainer
from omegaconf import OmegaConf

from argus.configuration import conf_dir
from argus.efficiency.cost_score import cost_scores
from argus.models.base import Runtime
from argus.records import Costs

PROFILES = sorted((conf_dir() / "hardware").glob("*.yaml"))
SUITES = ("pocket", "official")
OF_THE_LOOP = {"logger", "enable_checkpointing", "enable_progress_bar", "enable_model_summary"}


@pytest.fixture(params=PROFILES, ids=lambda path: path.stem)
def path(request: pytest.FixtureRequest) -> Path:
    return request.param


@pytest.fixture
def profile(path: Path) -> dict:
    return OmegaConf.to_container(OmegaConf.load(path), resolve=True)


def test_profile_bears_the_name_of_its_file(path, profile):
    assert profile["name"] == path.stem


def test_trainer_takes_exactly_keywords_of_lightning(profile):
    known = set(inspect.signature(Trainer.__init__).parameters) - {"self"} - OF_THE_LOOP
    assert set(profile["trainer"]) <= known
    assert profile["trainer"]["precision"] == "32-true"  # casting is the adapter's business


def test_runtime_and_trainer_name_the_same_device(profile):
    runtime = Runtime(**profile["runtime"])
    assert (runtime.device, profile["trainer"]["accelerator"]) in {("cpu", "cpu"), ("cuda", "gpu")}


def test_no_profile_runs_in_float16_where_gemma_overflows(profile):
    assert profile["runtime"]["dtype"] in {"float32", "bfloat16"}


@pytest.mark.parametrize("suite", SUITES)
def test_references_are_costs_that_can_be_scored(profile, suite):
    references = profile["references"][suite]
    assert set(references) <= {field.name for field in fields(Costs)}
    assert cost_scores(references, references) == dict.fromkeys(references, 0.5)


@pytest.mark.parametrize("suite", SUITES)
def test_every_cost_that_enters_efficiency_has_a_reference(profile, suite):
    for path in (conf_dir() / "score" / "formulas").glob("*.yaml"):
        assert set(OmegaConf.load(path).costs) <= set(profile["references"][suite])


DEVICES = [path for path in PROFILES if OmegaConf.load(path).spec is not None]


@pytest.mark.parametrize("suite", SUITES)
@pytest.mark.parametrize("path", DEVICES, ids=lambda path: path.stem, indirect=True)
def test_references_are_within_the_spec_sheet_of_the_device(profile, suite):
    spec, references = profile["spec"], profile["references"][suite]
    assert set(spec) == {"memory_gb", "memory_gb_per_s", "peak_tflops", "power_w"}
    assert references["peak_memory_mb"] < spec["memory_gb"] * 1000
    peak = max(spec["peak_tflops"].values()) * 1e12
    assert references["flops_per_sample"] * references["throughput_per_s"] < peak
    assert references["flops_per_sample"] / (references["latency_p50_ms"] / 1e3) < peak
