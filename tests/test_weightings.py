"""python -m argus.aggregate -m …: several aggregations end in one table."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from argus.aggregate import check_output, only_weights
from argus.errors import ConfigError
from argus.tracking import Store

SYNTHETIC = runpy.run_path(str(Path(__file__).parents[1] / "benchmarks" / "aggregate.py"))
FEW = ["score.formulas.costs=[latency_p50_ms,throughput_per_s,parameters]", "score.bootstrap.resamples=100"]
ENDING, CLEAN = "Does the winner survive other weights?", "Clean score by dataset and by task"
OTHERWISE = "Does the winner stay the same?"


def make_sweep(store: Store) -> str:
    """Two models' cells on two data sets, 20 pictures each."""
    planned = [key for key in SYNTHETIC["keys"](2 * 49) if key.dataset in ("coco", "clevr") and key.severity in (0, 3)]
    return SYNTHETIC["make_sweep"](store, planned, 20)


def aggregate(store: Store, *typed: str) -> subprocess.CompletedProcess[str]:
    names = [f"tracking.experiment={store.experiment}", f"tracking.scores_experiment={store.scores_experiment}"]
    command = [sys.executable, "-m", "argus.aggregate", *typed, *FEW, f"tracking.root={store.root}", *names]
    environment = os.environ | {"COLUMNS": "100", "OMP_NUM_THREADS": "1"}
    return subprocess.run(command, env=environment, text=True, capture_output=True)


def left_behind(store: Store) -> list[Path]:
    return list((store.root / "sweeps" / "aggregate").glob("jobs-*"))


def test_several_weightings_end_in_one_table_and_print_once_what_they_share(store: Store) -> None:
    make_sweep(store)
    done = aggregate(store, "-m", "score=equal,capability,edge")
    assert done.returncode == 0, done.stdout + done.stderr
    jobs, closing = done.stdout.split(ENDING)
    assert jobs.count("A(M), score") == jobs.count("How far to trust") == jobs.count("Report: ") == 3
    assert jobs.count(CLEAN) == 1
    assert jobs.index(CLEAN) < jobs.index("score 'capability'")
    for label in ("score=equal", "score=capability", "score=edge"):
        assert f" {label} " in closing
    assert "tracking.root" not in closing
    assert "3 weightings" in closing
    assert not left_behind(store)


def test_a_single_job_has_no_closing_table(store: Store) -> None:
    make_sweep(store)
    for typed in ((), ("-m", "score=edge")):
        done = aggregate(store, *typed)
        assert done.returncode == 0, done.stdout + done.stderr
        assert ENDING not in done.stdout
        assert CLEAN in done.stdout


def test_jobs_about_several_sweeps_each_print_everything(store: Store) -> None:
    first, second = make_sweep(store), make_sweep(store)
    done = aggregate(store, "-m", f"sweep='{first}','{second}'")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(CLEAN) == 2
    assert "under all 2 jobs" in done.stdout.split(OTHERWISE)[1]


def test_a_failed_job_costs_the_others_nothing_and_shows_in_table_and_exit_status(store: Store) -> None:
    make_sweep(store)
    done = aggregate(store, "-m", "sweep=nowhere,newest")
    assert done.returncode == 1
    assert CLEAN in done.stdout
    closing = done.stdout.split(OTHERWISE)[1]
    assert " sweep=nowhere " in closing
    assert " failed " in closing
    assert "error: sweep=nowhere failed: no run 'nowhere'" in done.stderr
    assert "Traceback" not in done.stderr
    assert not left_behind(store)


def test_what_stops_all_jobs_is_told_once(store: Store) -> None:
    done = aggregate(store, "-m", "score=equal,edge")
    assert done.returncode == 1
    assert done.stderr.count("run python -m argus.run -m model=… first") == 1
    assert ENDING not in done.stdout


def test_jobs_in_processes_of_their_own_end_in_the_table_too(store: Store) -> None:
    make_sweep(store)
    done = aggregate(store, "-m", "score=equal,edge", "hydra/launcher=joblib", "hydra.launcher.n_jobs=2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 weightings" in done.stdout.split(ENDING)[1]
    assert not left_behind(store)


@pytest.mark.parametrize(
    ("typed", "alone"),
    [
        (["-m", "score=equal,edge", "tracking.root=x"], True),
        (["-m", "score.weights.E=1,2", "score.name=a,b", "sweep=abc"], True),
        (["-m", "score=equal,edge", "sweep=a,b"], False),
        (["-m", "score.formulas.cdc=a,b"], False),
    ],
)
def test_only_jobs_that_differ_in_their_weights_alone_share_what_they_print(typed: list[str], alone: bool) -> None:
    assert only_weights(typed) is alone


@pytest.mark.parametrize(
    ("typed", "named"),
    [
        (["score=equal,edge", "report=r.html"], "report='report-${score.name}.html'"),
        (["score.weights.E=0,1", "report=r-${score.name}.html"], "report='report-${score.weights.E}.html'"),
        (
            ["score=equal,edge", "score.weights.E=0,1", "output=s-${score.name}.json"],
            "-${score.name}-${score.weights.E}.",
        ),
    ],
)
def test_a_file_that_each_job_would_write_over_the_last_is_refused_with_a_name_that_is_not(typed, named) -> None:
    with pytest.raises(ConfigError, match=re.escape(named)):
        check_output(["-m", *typed])
    check_output(typed)


def test_a_file_named_after_what_varies_is_written_by_each_job() -> None:
    check_output(["-m", "score=equal,edge", "report=r-${score.name}.html"])
    check_output(["-m", "score.weights.E=0,1", "output=s-${score.weights.E}.json"])
