"""The main job as a user runs it: in processes of its own, on the shipped CLIP checkpoint and a few pictures."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from argus import tracking
from argus.configuration import conf_dir
from argus.records import LOAD
from argus.tracking import Store, StoredRun

SMALL = ["model=clip", "dataset=coco,clevr", "task.member.gallery_size=4"]
LONG = [*SMALL, "perturbation=blur,noise", "perturbation.severity=1,2,3,4,5"]  # long enough to be killed amid
LONG_CELLS = 3 * (1 + 2 * 5)


class Workplace:
    """A folder to run Argus in, with its own tracking store."""

    def __init__(self, folder: Path, database: Path, data: str) -> None:
        self.folder, self.data = folder, data
        root = folder / "mlruns"
        root.mkdir(parents=True)
        shutil.copy(database, root / "mlflow.db")  # an empty store: making one takes seconds
        self.store = Store(root, f"sqlite:///{root}/mlflow.db", str(root / "artifacts"), "argus", "argus-scores")
        tracking.prepare(self.store)

    def command(self, *typed: str, module: str = "argus.run") -> list[str]:
        given = (
            [f"data_dir={self.data}", "suite.prepare.images=8"]
            if module == "argus.run" and "--help" not in typed
            else []
        )
        return [sys.executable, "-m", module, *typed, *given]

    def run(self, *typed: str, module: str = "argus.run") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*typed, module=module), cwd=self.folder, env=environment(), text=True, capture_output=True
        )

    def cells(self, status: str = "") -> tuple[StoredRun, ...]:
        runs = tracking.find(self.store, "argus", "tags.`argus.kind` = 'cell'")
        return tuple(run for run in runs if not status or run.status == status)


def environment() -> dict[str, str]:
    return os.environ | {"COLUMNS": "120", "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("empty")
    store = Store(root, f"sqlite:///{root}/mlflow.db", None, "elsewhere", "elsewhere-scores")
    tracking.prepare(store)
    return root / "mlflow.db"


@pytest.fixture
def workplace(tmp_path: Path, empty_database: Path, pocket_data_dir: str) -> Workplace:
    return Workplace(tmp_path / "here", empty_database, pocket_data_dir)


@pytest.fixture
def own_data(tmp_path: Path, pocket_data_dir: str) -> str:
    """A copy of the data that a test may spoil."""
    return str(shutil.copytree(pocket_data_dir, tmp_path / "data"))


def test_a_sweep_ends_in_the_table_and_run_again_skips_every_cell(workplace: Workplace) -> None:
    first = workplace.run("-m", *SMALL, "perturbation=blur")
    assert first.returncode == 0, first.stdout + first.stderr
    assert "6 cells to run" in first.stdout
    assert Path(next(line for line in first.stdout.splitlines() if line.startswith("Report: "))[8:]).is_file()
    for heading in ("P", "CDC", "RR", "E", "overall"):
        assert heading in first.stdout
    before = workplace.cells()
    assert {run.status for run in before} == {"FINISHED"}
    second = workplace.run("-m", *SMALL, "perturbation=blur")
    assert second.returncode == 0, second.stdout + second.stderr
    assert "0 cells to run, 6 finished already" in second.stdout
    assert workplace.cells() == before
    cards = tracking.find(workplace.store, "argus-scores", "tags.`argus.kind` = 'scorecard'")
    assert [card.name.rpartition(" · ")[0] for card in cards] == ["clip · equal"]


def test_a_cell_keeps_params_metrics_and_artifacts(workplace: Workplace) -> None:
    done = workplace.run("model=clip", "dataset=coco", "task=retrieval", "task.member.gallery_size=4")
    assert done.returncode == 0, done.stdout + done.stderr
    (run,) = workplace.cells("FINISHED")
    assert run.params["data.images"] == "8"
    assert run.params["data.captions"] == "40"
    assert run.params["model.loaded_revision"].startswith("sha256:")
    assert json.loads(run.params["model.deployed_parameters"]) == {"model": run.metrics["cost.parameters"]}
    assert {"score", "image_to_text_recall_at_1", "cost.latency_p50_ms", "samples"} <= set(run.metrics)
    for name in (
        "predictions.parquet",
        "image_sums.parquet",
        "timings.json",
        "config.yaml",
        "environment.json",
        "examples",
    ):
        with tracking.fetched(workplace.store, run.id, name) as path:
            assert path.exists()


def test_the_same_seed_gives_the_same_metrics_with_one_worker_or_two_and_with_caches_or_without(
    workplace: Workplace, tmp_path: Path
) -> None:
    typed = ["-m", *SMALL, "perturbation=noise,typo"]
    other = Workplace(tmp_path / "other", workplace.store.root / "mlflow.db", workplace.data)
    assert workplace.run(*typed).returncode == 0
    parallel = ["hydra/launcher=joblib", "hydra.launcher.n_jobs=2", "hardware.threads=1"]
    done = other.run(*typed, *parallel, "argus.cache_mb=0")
    assert done.returncode == 0, done.stdout + done.stderr

    def results(place: Workplace) -> dict[str, dict[str, float]]:
        return {
            run.name: {name: value for name, value in run.metrics.items() if not name.startswith(("cost.", LOAD))}
            for run in place.cells("FINISHED")
        }

    assert len(results(workplace)) == 8  # CLIP reads no prompt for captions: that typo cell is dropped
    assert results(workplace) == results(other)


def test_a_cell_with_too_many_broken_pictures_fails_and_the_others_go_on(workplace: Workplace, own_data: str) -> None:
    workplace.data = own_data
    picture = sorted((Path(own_data) / "coco" / "val2017").iterdir())[0]
    picture.write_bytes(picture.read_bytes()[:2000])
    done = workplace.run("-m", *SMALL)
    assert done.returncode == 1
    assert "FAILED" in done.stdout
    assert "at most 1 % may fail" in done.stdout
    assert len(workplace.cells("FINISHED")) == 1
    failed = workplace.cells("FAILED")
    assert len(failed) == 2
    with tracking.fetched(workplace.store, failed[0].id, "traceback.txt") as path:
        assert picture.name in path.read_text()
    workplace.data = own_data
    again = workplace.run("-m", *SMALL)
    assert "2 cells to run, 1 finished already" in again.stdout


def test_a_killed_sweep_leaves_nothing_running_and_the_same_command_completes_it(workplace: Workplace) -> None:
    typed = ["-m", *LONG]
    process = subprocess.Popen(
        workplace.command(*typed), cwd=workplace.folder, env=environment(), stdout=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 120
    while len(workplace.cells("FINISHED")) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    finished = {run.id for run in workplace.cells("FINISHED")}
    assert 2 <= len(finished) < LONG_CELLS
    done = workplace.run(*typed)
    assert done.returncode == 0, done.stdout + done.stderr
    assert workplace.cells("RUNNING") == ()
    names = [run.name for run in workplace.cells("FINISHED")]
    assert len(names) == len(set(names)) == LONG_CELLS
    assert finished < {run.id for run in workplace.cells("FINISHED")}


def test_an_interrupted_sweep_closes_its_runs_as_killed(workplace: Workplace) -> None:
    process = subprocess.Popen(
        workplace.command("-m", *LONG),
        cwd=workplace.folder,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 120
    while not workplace.cells("FINISHED") and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    assert process.wait() != 0
    runs = tracking.find(workplace.store, "argus", "")
    assert "RUNNING" not in {run.status for run in runs}
    assert [run.status for run in runs if run.tags["argus.kind"] == "sweep"] == ["KILLED"]


def test_a_killed_worker_is_told_and_what_ended_is_kept(workplace: Workplace) -> None:
    launcher = ["hydra/launcher=joblib", "hydra.launcher.n_jobs=2", "hardware.threads=1"]
    process = subprocess.Popen(
        workplace.command("-m", *LONG, *launcher),
        cwd=workplace.folder,
        env=environment(),
        text=True,
        stdout=subprocess.PIPE,
    )
    deadline = time.monotonic() + 120
    while not workplace.cells("FINISHED") and time.monotonic() < deadline:
        time.sleep(0.05)
    for worker in workers_of(process.pid):
        os.kill(worker, signal.SIGKILL)
    told, _ = process.communicate()
    assert process.returncode == 1
    assert "the launcher stopped" in told
    assert "overall" in told  # the table stands, with gaps
    assert workplace.cells("RUNNING") == ()
    assert workplace.cells("FINISHED") != ()


def workers_of(pid: int) -> list[int]:
    """Return the processes that a sweep has started to work for it."""
    found = subprocess.run(["pgrep", "--parent", str(pid), "--full", "loky"], text=True, capture_output=True)
    return [int(word) for word in found.stdout.split()]


def test_two_sweeps_started_at_once_in_an_empty_folder_both_finish(tmp_path: Path, pocket_data_dir: str) -> None:
    data = [f"data_dir={pocket_data_dir}", "suite.prepare.images=8"]
    command = [sys.executable, "-m", "argus.run", "-m", *SMALL, *data]
    both = [subprocess.Popen(command, cwd=tmp_path, env=environment(), stdout=subprocess.DEVNULL) for _ in range(2)]
    assert [process.wait() for process in both] == [0, 0]


def test_four_weightings_give_their_own_scorecards_and_a_json(workplace: Workplace) -> None:
    assert workplace.run("-m", *SMALL, "perturbation=blur").returncode == 0
    files = ["output='scores-${score.name}.json'", "report='report-${score.name}.html'"]
    typed = ["-m", "score=equal,capability,reliability,edge", *files]
    done = workplace.run(*typed, module="argus.aggregate")
    assert done.returncode == 0, done.stdout + done.stderr
    cards = tracking.find(workplace.store, "argus-scores", "tags.`argus.kind` = 'scorecard'")
    assert {card.name.rpartition(" · ")[0] for card in cards} == {
        f"clip · {name}" for name in ("equal", "capability", "reliability", "edge")
    }
    assert len(cards) == 4
    told = (workplace.folder / "report-edge.html").read_text()
    assert "python -m argus.run -m model=clip dataset=coco,clevr" in told
    assert "pocket/clip" in told
    assert 'src="data:image/webp;base64,' in told
    document = json.loads((workplace.folder / "scores-edge.json").read_text())
    figures = document["models"]["clip"]
    for name in ("P", "CDC", "RR", "E", "overall"):
        assert 0 <= figures[name]["value"] <= 1.5
    weights = document["weights"]
    capped = {name: min(figures[name]["value"], 1.0) for name in weights}
    overall = sum(weights[name] * capped[name] for name in weights) / sum(weights.values())
    assert figures["overall"]["value"] == pytest.approx(overall)


def test_a_dry_run_names_every_cell_and_runs_none(workplace: Workplace) -> None:
    done = workplace.run("-m", *SMALL, "perturbation=typo", "argus.dry_run=true")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "clip · clevr · reasoning · typo 3" in done.stdout
    assert "picks captions from a bank" in done.stdout
    assert workplace.cells() == ()


def test_an_experiment_names_what_is_swept_and_the_command_line_wins(workplace: Workplace) -> None:
    typed = ["-m", *SMALL, "experiment=typing", "perturbation.severity=2", "argus.dry_run=true"]
    done = workplace.run(*typed)
    assert done.returncode == 0, done.stdout + done.stderr
    for name in ("typo", "missing_letter", "misspelling"):
        assert f"clip · clevr · reasoning · {name} 2 " in done.stdout
    assert "typo 3" not in done.stdout


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        (["experiment=typing"], ["experiment=typing sweeps perturbation, perturbation.severity", "add -m"]),
        (["-m", "model=clipp"], ["clipp", "blip", "clip", "gemma"]),
        (["-m", "perturbation=blurr"], ["blurr", "blur", "noise", "typo"]),
        (["-m", "sede=1"], ["sede", "seed"]),
        (["-m", "perturbation=blur", "perturbation.severity=9"], ["9", "1, 2, 3, 4, 5"]),
        (["-m", "model=clip", "model.checkpoint=/no/such/folder"], ["/no/such/folder", "config.json"]),
        (["-m", "dataset=coco", "dataset.reader.root=/no/such/data"], ["/no/such/data", "captions_val2017.json"]),
        (["-m", "suite=official"], ["data_dir"]),
    ],
)
def test_a_wrong_command_is_told_what_was_wrong_and_what_there_is(
    workplace: Workplace, typed: list[str], told: list[str]
) -> None:
    command = [sys.executable, "-m", "argus.run", *typed]
    if "suite=official" not in typed:
        command += [f"data_dir={workplace.data}", "suite.prepare.images=8"]
    done = subprocess.run(command, cwd=workplace.folder, env=environment(), text=True, capture_output=True)
    assert done.returncode != 0
    for word in told:
        assert word in done.stderr + done.stdout
    assert "Traceback" not in done.stderr


def test_a_sweep_without_a_cell_is_refused_and_leaves_no_run(workplace: Workplace) -> None:
    done = workplace.run("-m", "model=clip", "dataset=clevr", "task=captioning")
    assert done.returncode == 2
    assert "the dataset offers reasoning" in done.stdout
    assert "no cell is left" in done.stderr
    assert tracking.find(workplace.store, "argus", "") == ()


def test_a_single_cell_that_makes_no_sense_is_refused_and_leaves_no_run(workplace: Workplace) -> None:
    done = workplace.run("model=clip", "dataset=clevr", "task=captioning")
    assert done.returncode == 1
    assert "the dataset offers reasoning" in done.stderr
    assert tracking.find(workplace.store, "argus", "") == ()


@pytest.mark.parametrize(
    ("module", "typed", "told"),
    [
        ("argus.aggregate", ["output=."], "is a folder"),
        ("argus.aggregate", ["-m", "score=equal,edge", "output=scores.json"], "each job needs a file"),
        ("argus.aggregate", ["report=/nowhere/at/all.html"], "there is no folder '/nowhere/at'"),
        ("argus.aggregate", ["report=5"], "name a file, for example report=report.html"),
        ("argus.aggregate", ["-m", "score=equal,edge", "report=r.html"], "report='report-${score.name}.html'"),
        ("argus.aggregate", ["sweep=0000,1111", "report=r.html"], "report=… is about one sweep"),
        ("argus.aggregate", ["sweep=0000"], "'0000'"),
        ("argus.aggregate", ["sweep=1e05"], "quote the run id"),
        ("argus.aggregate", ["tracking.root=/nowhere/at/all"], "no tracking store"),
        ("argus.aggregate", ["score.weights.P=abc"], "score.weights.P=abc"),
        ("argus.ui", ["port=99999"], "port=99999"),
        ("argus.ui", ["prot=5001"], "Did you mean 'port'"),
        ("argus.doctor", ["sede=1"], "Did you mean 'seed'"),
        ("argus.caption_eval", ["outptu=x.json"], "Did you mean 'output'"),
    ],
)
def test_every_command_tells_what_was_wrong(workplace: Workplace, module: str, typed: list[str], told: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", module, *typed], cwd=workplace.folder, env=environment(), text=True, capture_output=True
    )
    assert done.returncode != 0
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_a_port_in_use_is_told_before_an_address_is_shown(workplace: Workplace) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        done = workplace.run(f"port={port}", module="argus.ui")
    assert done.returncode == 1
    assert f"cannot listen on 127.0.0.1:{port}" in done.stderr
    assert "http" not in done.stdout


def test_help_names_the_groups(workplace: Workplace) -> None:
    done = workplace.run("--help")
    assert done.returncode == 0
    for group in ("model", "perturbation", "score"):
        members = sorted(path.stem for path in (conf_dir() / group).glob("*.yaml"))
        assert f"{group}: {', '.join(members)}" in done.stdout
