"""Two stored sweeps compared, as a nightly job would."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pandas as pd
import pytest
from hydra import compose, initialize_config_dir
from omegaconf import DictConfig
from rich.console import Console

from argus import tracking
from argus.aggregate import paired
from argus.comparing import compare_sweeps
from argus.configuration import conf_dir
from argus.errors import DataError
from argus.scoring.gate import Limits
from argus.tracking import Store

SYNTHETIC = runpy.run_path(str(Path(__file__).parents[1] / "benchmarks" / "aggregate.py"))
COSTS = "score.formulas.costs=[parameters]"
FREE, TIGHT = Limits(None, None, None, None, None), Limits(-0.01, None, None, None, None)


def score(*overrides: str) -> DictConfig:
    with initialize_config_dir(str(conf_dir()), version_base=None):
        return compose("aggregate", overrides=[COSTS, "score.bootstrap.resamples=200", *overrides]).score


def planned() -> list:
    return [key for key in SYNTHETIC["keys"](49) if key.dataset in ("flickr30k", "clevr") and key.severity in (0, 3)]


@pytest.fixture
def sweeps(store: Store) -> tuple[str, str]:
    """One model, sixty pictures a data set, before and after a change that costs three in ten right answers."""
    return tuple(SYNTHETIC["make_sweep"](store, planned(), 60, hits) for hits in (0.8, 0.5))


def test_sweeps_over_other_data_do_not_compare(store: Store) -> None:
    sweeps = [SYNTHETIC["make_sweep"](store, planned(), images, hits) for images, hits in ((60, 0.8), (50, 0.5))]
    with pytest.raises(DataError, match=r"other data of clevr \(images 60 and 50\): compare sweeps over the same"):
        compare_sweeps(store, *sweeps, score(), FREE, Console(file=StringIO()))


def test_a_fall_is_found_printed_kept_and_stopped_by_its_limit(store: Store, sweeps: tuple[str, str]) -> None:
    console = Console(file=StringIO(), width=120)
    compared = compare_sweeps(store, *sweeps, score(), TIGHT, console)
    assert [breach.what for breach in compared.breaches] == ["model0 on cpu: P"]
    printed = console.file.getvalue()
    for promise in ("worse", "cells fell, beyond noise", "may not pass: model0 on cpu: P: changed by -0."):
        assert promise in printed
    (run,) = tracking.find(store, store.scores_experiment, "tags.`argus.kind` = 'change'")
    assert run.metrics["model0.P"] < -0.01
    with tracking.fetched(store, run.id, "change.json") as path:
        assert json.loads(path.read_text())["passes"] is False
    with tracking.fetched(store, run.id, "change.csv") as path:
        rows = pd.read_csv(path)
    assert rows.kind.value_counts().to_dict() == {"cell": 9, "figure": 5}
    assert (rows[rows.regression].change < 0).all()


def test_the_same_sweep_twice_passes_the_tightest_gate_and_is_kept_once(store: Store, sweeps: tuple[str, str]) -> None:
    for _ in range(2):
        none = compare_sweeps(store, sweeps[0], sweeps[0], score(), Limits(0, 0, 0, 0, 0), Console(file=StringIO()))
        assert none.breaches == ()
    assert len(tracking.find(store, store.scores_experiment, "tags.`argus.kind` = 'change'")) == 1


def test_without_limits_nothing_is_judged_and_newest_is_the_last_sweep(store: Store, sweeps: tuple[str, str]) -> None:
    compared = compare_sweeps(store, sweeps[0], "newest", score(), FREE, Console(file=StringIO()))
    assert compared.document["after"] == sweeps[1]
    assert compared.breaches == ()
    assert compared.document["passes"] is True


def test_sweeps_of_another_seed_do_not_compare(store: Store, sweeps: tuple[str, str], monkeypatch) -> None:
    find = tracking.find

    def reseeded(*args, **kwargs):
        runs = find(*args, **kwargs)
        later = [run for run in runs if run.tags.get("argus.fingerprint", "").endswith("0.5")]
        for run in later:
            run.params["seed"] = "1"
        return runs

    monkeypatch.setattr(tracking, "find", reseeded)
    with pytest.raises(DataError, match="seed '0' and '1': compare sweeps of the same seed"):
        compare_sweeps(store, *sweeps, score(), FREE, Console(file=StringIO()))


def test_a_comma_becomes_a_list_of_quoted_ids_and_a_multirun_stays_as_it_is() -> None:
    assert paired(["sweep=1e5,newest", "gate.P=-0.1"]) == ["sweep=['1e5','newest']", "gate.P=-0.1"]
    assert paired(["sweep=['a','b']"]) == ["sweep=['a','b']"]
    assert paired(["sweep=abc"]) == ["sweep=abc"]
    assert paired(["-m", "sweep=a,b"]) == ["-m", "sweep=a,b"]


def command(store: Store, *typed: str) -> subprocess.CompletedProcess[str]:
    places = {"uri": store.uri, "root": store.root, "experiment": store.experiment}
    settings = [f"tracking.{name}={place}" for name, place in places.items()]
    settings += [
        f"tracking.scores_experiment={store.scores_experiment}",
        COSTS,
        "score.bootstrap.resamples=200",
        *typed,
    ]
    return subprocess.run([sys.executable, "-m", "argus.aggregate", *settings], text=True, capture_output=True)


def test_the_command_ends_with_status_one_where_the_gate_is_shut(store: Store, sweeps, tmp_path: Path) -> None:
    both = f"sweep={','.join(sweeps)}"
    shut = command(store, both, "gate.P=-0.01", f"output={tmp_path / 'change.json'}")
    assert shut.returncode == 1
    assert shut.stderr.strip() == "error: the gate is shut: 1 changes may not pass, named above"
    assert json.loads((tmp_path / "change.json").read_text())["passes"] is False
    for typed, message in (
        ([f"sweep={sweeps[0]}", "gate.P=-0.01"], "name both, sweep=BEFORE,AFTER"),
        ([both, "gate.P=0.5"], "gate.P=0.5: give the lowest change"),
    ):
        refused = command(store, *typed)
        assert refused.returncode == 1
        assert message in refused.stderr


def test_sweeps_of_one_model_without_a_common_cell_are_compared_as_such(store: Store) -> None:
    keys = {name: [key for key in planned() if key.dataset == name] for name in ("flickr30k", "clevr")}
    sweeps = [
        SYNTHETIC["make_sweep"](store, mine, 60, hits) for mine, hits in zip(keys.values(), (0.8, 0.7), strict=True)
    ]
    console = Console(file=StringIO(), width=120)
    compared = compare_sweeps(store, *sweeps, score(), TIGHT, console)
    assert not compared.change.cells
    assert compared.breaches
