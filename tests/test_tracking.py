from __future__ import annotations

import multiprocessing
import socket
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from argus import tracking
from argus.errors import ConfigError, DataError
from argus.tracking import LOCK_TAG, Store


def store_in(folder: Path) -> Store:
    root = folder / "mlruns"
    return Store(root, f"sqlite:///{root}/mlflow.db", str(root / "artifacts"), "argus", "argus-scores")


def test_params_beyond_one_batch_and_longer_than_allowed_are_kept(store: Store) -> None:
    run_id = tracking.start(store, store.experiment, "many", {})
    tracking.log(store, run_id, params={f"key.{i}": i for i in range(250)} | {"long": "x" * 10_000})
    params = tracking.get(store, run_id).params
    assert params["key.249"] == "249"
    assert params["long"].endswith("…")
    assert len(params) == 251


def test_metrics_tags_and_artifacts_come_back(store: Store) -> None:
    run_id = tracking.start(store, store.experiment, "one", {"kind": "a"})
    tracking.log(store, run_id, metrics={"score": 0.5}, tags={"more": "b"})
    with tracking.artifacts(store, run_id) as folder:
        (folder / "note.txt").write_text("hello")
    tracking.end(store, run_id, "FINISHED")
    (found,) = tracking.find(store, store.experiment, "tags.kind = 'a'")
    assert (found.metrics["score"], found.tags["more"], found.status) == (0.5, "b", "FINISHED")
    with tracking.fetched(store, run_id, "note.txt") as path:
        assert path.read_text() == "hello"


def test_an_artifact_that_is_not_there_is_named(store: Store) -> None:
    run_id = tracking.start(store, store.experiment, "one", {})
    with pytest.raises(DataError, match=r"plan\.json"), tracking.fetched(store, run_id, "plan.json"):
        pass


def test_search_goes_beyond_one_page(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracking, "RUNS_A_PAGE", 2)
    made = {tracking.start(store, store.experiment, str(i), {}) for i in range(5)}
    assert {run.id for run in tracking.find(store, store.experiment, "")} == made


def test_a_deleted_experiment_is_named(store: Store) -> None:
    client = tracking.client(store.uri)
    client.delete_experiment(client.get_experiment_by_name(store.experiment).experiment_id)
    with pytest.raises(ConfigError, match=f"'{store.experiment}'.*was deleted"):
        tracking.prepare(store)


def test_variables_of_a_surrounding_run_do_not_leak_in(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    outer = tracking.start(store, store.experiment, "outer", {})
    monkeypatch.setenv("MLFLOW_RUN_ID", outer)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "sqlite:////nowhere/mlflow.db")
    monkeypatch.setenv("MLFLOW_EXPERIMENT_NAME", "other")
    inner = tracking.start(store, store.experiment, "inner", {})
    tracking.log(store, inner, metrics={"score": 1.0})
    assert inner != outer
    assert tracking.get(store, outer).metrics == {}


def _prepare(folder: str) -> None:
    tracking.prepare(store_in(Path(folder)))


def test_two_processes_that_create_the_store_at_once_both_succeed(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_prepare, args=(str(tmp_path),)) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0]
    assert tracking.find(store_in(tmp_path), "argus", "") == ()


def test_a_run_whose_process_was_killed_is_closed_and_a_living_one_is_not(store: Store) -> None:
    living = tracking.new_lock(store)
    script = (
        "import os, signal, sys; from argus import tracking\n"
        "with tracking.holding(sys.argv[1]): os.kill(os.getpid(), signal.SIGKILL)"
    )
    dead = tracking.new_lock(store)
    subprocess.run([sys.executable, "-c", script, dead], check=False)
    dead_run = tracking.start(store, store.experiment, "dead", {LOCK_TAG: dead})
    elsewhere = tracking.start(store, store.experiment, "elsewhere", {LOCK_TAG: "another-host:/x.lock"})
    with tracking.holding(living):
        living_run = tracking.start(store, store.experiment, "living", {LOCK_TAG: living})
        assert tracking.bury(store) == ("dead",)
    status = {run.id: run.status for run in tracking.find(store, store.experiment, "")}
    assert status == {dead_run: "KILLED", elsewhere: "RUNNING", living_run: "RUNNING"}


def test_a_root_that_cannot_be_a_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match=r"tracking\.root=.*file"):
        tracking.prepare(Store(tmp_path / "file", "sqlite:///x.db", None, "a", "b"))


def test_a_server_that_does_not_answer_is_told_at_once(tmp_path: Path) -> None:
    with socket.socket() as unheard:
        unheard.bind(("127.0.0.1", 0))  # bound, but nobody listens
        uri = f"http://127.0.0.1:{unheard.getsockname()[1]}"
        with pytest.raises(ConfigError, match=f"{uri}' does not answer"):
            tracking.prepare(Store(tmp_path, uri, None, "a", "b"))


def test_a_store_that_was_never_made_is_named_and_not_made(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no tracking store"):
        tracking.require_store(Store(tmp_path / "none", "sqlite:///x.db", None, "a", "b"))
    assert not (tmp_path / "none").exists()


def test_the_digest_of_a_set_of_cells_ignores_their_order() -> None:
    assert tracking.digest_of(["b", "a"]) == tracking.digest_of(["a", "b"]) != tracking.digest_of(["a"])


def test_a_local_store_keeps_a_write_ahead_log_and_is_read_while_it_is_written(store: Store) -> None:
    with closing(sqlite3.connect(store.root / "mlflow.db")) as database:
        assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        database.execute("BEGIN IMMEDIATE")  # a writer that takes its time
        assert tracking.find(store, store.experiment, "") == ()


def test_the_ui_is_opened_at_an_experiments_runs(store: Store) -> None:
    pages = [tracking.page_of(store, name) for name in (store.experiment, store.scores_experiment)]
    ids = [page.split("/")[2] for page in pages]
    names = [tracking.client(store.uri).get_experiment(found).name for found in ids]
    assert names == [store.experiment, store.scores_experiment]
    assert all(page.startswith("#/experiments/") for page in pages)


def test_a_table_is_named_as_mlflow_names_its_own(store: Store) -> None:
    run_id = tracking.start(store, store.experiment, "table", {})
    tracking.client(store.uri).log_table(run_id, {"a": [1]}, "theirs.json")
    theirs = tracking.get(store, run_id).tags
    assert tracking.table_tags("theirs.json").items() <= theirs.items()


def test_a_new_store_is_there_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(engine: object) -> None:
        with engine.begin() as connection:
            connection.exec_driver_sql("CREATE TABLE latest_metrics (id INTEGER)")
        raise KeyboardInterrupt

    mine = store_in(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(tracking, "_initialize_tables", interrupted)
        with pytest.raises(KeyboardInterrupt):
            tracking.prepare(mine)
    assert not list(mine.root.glob("mlflow.db*"))
    tracking.prepare(mine)
    assert tracking.find(mine, mine.experiment, "") == ()


def test_a_damaged_database_is_told_in_one_sentence(tmp_path: Path) -> None:
    mine = store_in(tmp_path)
    mine.root.mkdir()
    (mine.root / "mlflow.db").write_text("no database " * 500)
    with pytest.raises(ConfigError, match="cannot be opened"):
        tracking.prepare(mine)
