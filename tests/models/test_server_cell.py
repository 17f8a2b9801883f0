"""Whole cells over a server: what is recorded, what E says, and that the key is nowhere."""

from __future__ import annotations

import logging
import math
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from omegaconf import DictConfig

from argus import tracking
from argus.cell import evaluate
from argus.configuration import conf_dir
from argus.errors import ConfigError
from argus.planning import make_plan
from argus.records import Costs
from argus.tracking import Store
from tests.models.stub_server import KEY, Refusal, Stub, Table, serving

PLANTED = "sk-planted-abcdefghij"
READ_ALL = """
import sys, pathlib
for path in sorted(pathlib.Path(sys.argv[1]).rglob("*")):
    if path.is_file():
        sys.stdout.buffer.write(path.read_bytes())
"""
Compose = Callable[..., DictConfig]


@pytest.fixture
def stub() -> Iterator[Stub]:
    with serving(Table()) as running:
        yield running


@pytest.fixture
def composed(store: Store, pocket_data_dir: str) -> Iterator[Compose]:
    fixed = ["model=server", "dataset=coco", "task=captioning", f"data_dir={pocket_data_dir}"]
    fixed += [f"tracking.root={store.root}", f"tracking.uri={store.uri}", f"tracking.artifacts={store.artifacts}"]
    fixed += [f"tracking.experiment={store.experiment}", f"tracking.scores_experiment={store.scores_experiment}"]
    fixed += [f"argus.lock='{tracking.new_lock(store)}'", "hardware.probe.repeats=1"]
    with initialize_config_dir(str(conf_dir()), version_base=None):
        yield lambda *typed: compose("run", overrides=[*fixed, *typed])


def everything(store: Store, *printed: str) -> bytes:
    """Return all bytes of the tracking folder and of what was printed or logged.

    Another process reads them: closing a database's file would free the locks that SQLite holds on it in this one.
    """
    files = subprocess.run([sys.executable, "-c", READ_ALL, str(store.root)], stdout=subprocess.PIPE, check=True).stdout
    return b"\n".join([files, *(text.encode() for text in printed)])


@pytest.mark.parametrize(
    ("refusal", "status"),
    [
        (None, "FINISHED"),
        (Refusal(400, f"{KEY} may not do this"), "FAILED"),
        (Refusal(401, f"{KEY} is wrong"), "FAILED"),
    ],
)
def test_the_key_reaches_the_server_and_no_log_param_tag_or_artifact(
    stub: Stub,
    store: Store,
    composed: Compose,
    refusal: Refusal | None,
    status: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", PLANTED)
    caplog.set_level(logging.DEBUG)
    if refusal:
        stub.refusals.extend([refusal] * 100)
    state = evaluate(composed(f"model.base_url={stub.url}"), None)
    assert state.status == status
    assert set(stub.keys) == {f"Bearer {PLANTED}"}
    run = tracking.get(store, state.run_id)
    assert run.params["model.api_key_env"] == "OPENAI_API_KEY"
    kept = everything(store, caplog.text, *capfd.readouterr(), str(state), str(run))
    assert stub.url.encode() in kept
    assert b"chat/completions" in kept
    assert PLANTED.encode() not in kept


def test_a_key_in_the_address_leaves_no_run(store: Store, composed: Compose) -> None:
    with pytest.raises(ConfigError, match=r"model\.api_key_env"):
        evaluate(composed(f"model.base_url=http://{PLANTED}@127.0.0.1:9/v1"), None)
    assert tracking.find(store, store.experiment, "") == ()
    assert PLANTED.encode() not in everything(store)


def test_a_cell_tells_what_was_served_and_that_its_costs_are_not_known(
    stub: Stub, store: Store, composed: Compose
) -> None:
    state = evaluate(composed(f"model.base_url={stub.url}"), None)
    run = tracking.get(store, state.run_id)
    assert run.params["model.loaded_revision"] == "tiny (owned_by stub, version 0.1)"
    assert run.params["model.deployed_parameters"] == "{}"
    costs = {name: run.metrics[f"cost.{name}"] for name in Costs.__annotations__}
    unknown = {"peak_memory_mb", "parameters", "weights_mb", "flops_per_sample"}
    assert {name for name, cost in costs.items() if math.isnan(cost)} == unknown


@pytest.mark.parametrize(
    ("typed", "told"), [([], "is not set"), (["model.base_url=http://127.0.0.1:9/v1"], "cannot be reached")]
)
def test_without_a_server_nothing_starts(store: Store, composed: Compose, typed: list[str], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        evaluate(composed(*typed), None)
    with pytest.raises(ConfigError, match=told):
        make_plan({}, lambda some: composed(*some, *typed), lambda _: "")
    assert tracking.find(store, store.experiment, "") == ()


def test_the_doctor_tells_what_a_server_serves(stub: Stub, tmp_path: Path, pocket_data_dir: str) -> None:
    typed = ["model=server", f"model.base_url={stub.url}", f"data_dir={pocket_data_dir}", "suite.prepare.images=8"]
    command = [sys.executable, "-m", "argus.doctor", *typed]
    done = subprocess.run(command, cwd=tmp_path, text=True, capture_output=True)
    models = [line for line in done.stdout.splitlines() if "model=" in line]
    assert models == [f"ok       model=server: {stub.url} tiny (owned_by stub, version 0.1)"]
    assert done.returncode == 0, done.stdout + done.stderr
