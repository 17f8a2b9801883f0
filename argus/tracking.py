"""The tracking store. The only file that imports mlflow.

Clients name their run in every call: no active run, so that neither threads nor the environment variables of a
surrounding run (MLFLOW_RUN_ID, MLFLOW_TRACKING_URI) leak in.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from platform import node
from tempfile import TemporaryDirectory
from urllib.error import HTTPError
from urllib.request import urlopen
from uuid import uuid4

from filelock import FileLock, Timeout
from mlflow import MlflowClient
from mlflow.entities import Dataset, DatasetInput, Experiment, InputTag, Metric, Param, Run, RunTag, ViewType
from mlflow.exceptions import MlflowException
from mlflow.store.db.utils import _initialize_tables, create_sqlalchemy_engine
from mlflow.utils.mlflow_tags import MLFLOW_LOGGED_ARTIFACTS, MLFLOW_PARENT_RUN_ID, MLFLOW_RUN_NOTE
from sqlalchemy.exc import SQLAlchemyError

from argus.errors import ConfigError, DataError

LOCK_TAG = "argus.lock"
SQLITE = "sqlite:///"
SECONDS_TO_ANSWER = 10
SECONDS_TO_LOCK = 120
PARAMS_A_BATCH, METRICS_A_BATCH, LONGEST_PARAM, RUNS_A_PAGE = 100, 1000, 6000, 1000


@dataclass(frozen=True)
class Store:
    """Where runs are kept. `root` holds locks and, for the local store, the database and the artifacts."""

    root: Path
    uri: str
    artifacts: str | None
    experiment: str
    scores_experiment: str


@dataclass(frozen=True)
class StoredRun:
    """One run as read back: MLflow's own types stay in this file."""

    id: str
    name: str
    status: str
    started: int  # milliseconds since 1970
    seconds: float  # from start to end; 0 while it runs
    params: Mapping[str, str]
    tags: Mapping[str, str]
    metrics: Mapping[str, float]
    artifacts: str


@lru_cache(maxsize=8)
def client(uri: str) -> MlflowClient:
    os.environ["MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR"] = "false"  # read at each transfer; it would tear our own bar
    _quiet()
    return MlflowClient(tracking_uri=_patient(uri))


def _quiet() -> None:
    logging.getLogger("mlflow").setLevel(logging.WARNING)
    logging.getLogger("alembic").setLevel(logging.WARNING)


def _patient(uri: str) -> str:
    """Let SQLite wait for other writers instead of failing after five seconds."""
    return f"{uri}?timeout={SECONDS_TO_LOCK}" if uri.startswith("sqlite:") and "?" not in uri else uri


def prepare(store: Store) -> None:
    """Create the store and its two experiments, once, whoever else is doing the same at this moment.

    Raises ConfigError when an experiment of that name was deleted, or the store cannot be opened.
    """
    try:
        for folder in ("locks", "sweeps"):
            (store.root / folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"tracking.root={store.root} cannot be written to: {error.strerror}; name a folder"
        ) from error
    _require_answer(store.uri)
    try:
        with FileLock(store.root / "locks" / "store.lock"):
            _make_database(store.uri)
            for name in (store.experiment, store.scores_experiment):
                _ensure_experiment(store, name)
            _write_ahead(store.uri)
    except OSError as error:
        raise ConfigError(f"the store in '{store.root}' cannot be written to: {error}; name another folder") from error


def _make_database(uri: str) -> None:
    """Make a new SQLite file beside its place and move it there whole: one that was interrupted could never be used."""
    path = Path(uri.removeprefix(SQLITE).partition("?")[0])
    if not uri.startswith(SQLITE) or path.exists():
        return
    _quiet()
    part = path.with_name(f"{path.name}.{uuid4().hex}")
    engine = create_sqlalchemy_engine(f"{SQLITE}{part}")
    try:
        _initialize_tables(engine)
        engine.dispose()
        part.replace(path)
    finally:
        engine.dispose()
        part.unlink(missing_ok=True)


def _write_ahead(uri: str) -> None:
    """Let a SQLite file keep a write-ahead log: a write then waits for the disk once instead of thrice."""
    if uri.startswith(SQLITE):
        path = uri.removeprefix(SQLITE).partition("?")[0]
        with closing(sqlite3.connect(path, timeout=SECONDS_TO_LOCK)) as database:
            database.execute("PRAGMA journal_mode=WAL")


def _require_answer(uri: str) -> None:
    """Raise ConfigError when a server does not answer: MLflow's own client would try for minutes."""
    if not uri.startswith("http"):
        return
    try:
        urlopen(uri, timeout=SECONDS_TO_ANSWER).close()
    except HTTPError:
        return  # an answer, if not a welcome
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"the tracking server '{uri}' does not answer ({error}): start it, or set tracking.uri"
        ) from error


def require_store(store: Store) -> None:
    """Raise DataError where no local store has been made yet."""
    if not store.uri.startswith("http") and not store.root.is_dir():
        raise DataError(f"no tracking store in '{store.root}': run a sweep first, or set tracking.root")


def _ensure_experiment(store: Store, name: str) -> None:
    try:
        found = client(store.uri).get_experiment_by_name(name)
        if found is None:
            place = None if store.artifacts is None else str(Path(store.artifacts).resolve() / name)
            client(store.uri).create_experiment(name, artifact_location=place)
    except (MlflowException, SQLAlchemyError) as error:
        raise ConfigError(f"the tracking store '{store.uri}' cannot be opened: {error}") from error
    if found is not None and found.lifecycle_stage == "deleted":
        raise ConfigError(
            f"the experiment '{name}' in '{store.uri}' was deleted: restore it "
            f"(mlflow experiments restore --experiment-id {found.experiment_id}) or set another tracking.experiment"
        )


@lru_cache(maxsize=32)
def _experiment_id(uri: str, name: str) -> str:
    found: Experiment | None = client(uri).get_experiment_by_name(name)
    if found is None:
        raise DataError(
            f"no experiment '{name}' in the tracking store '{uri}': run a sweep first, or correct tracking.…"
        )
    return str(found.experiment_id)


def page_of(store: Store, experiment: str) -> str:
    """Return where the UI lists an experiment's runs, behind the server's address; its own start page is of chats."""
    return f"#/experiments/{_experiment_id(store.uri, experiment)}/runs?workflowType=machine_learning"


def start(store: Store, experiment: str, name: str, tags: Mapping[str, str], parent: str | None = None) -> str:
    """Create a RUNNING run and return its id."""
    all_tags = dict(tags) | ({MLFLOW_PARENT_RUN_ID: parent} if parent else {})
    run = client(store.uri).create_run(_experiment_id(store.uri, experiment), run_name=name, tags=all_tags)
    return str(run.info.run_id)


def end(store: Store, run_id: str, status: str) -> None:
    """Close a run as FINISHED, FAILED or KILLED."""
    client(store.uri).set_terminated(run_id, status=status)


def log(
    store: Store,
    run_id: str,
    params: Mapping[str, object] | None = None,
    metrics: Mapping[str, float] | None = None,
    tags: Mapping[str, str] | None = None,
    step: int = 0,
) -> None:
    """Log in as few calls as the store allows; a parameter too long for it is cut and ends in '…'."""
    now = int(time.time() * 1000)
    all_params = [Param(key, _fit(str(value))) for key, value in (params or {}).items()]
    all_metrics = [Metric(key, float(value), now, step) for key, value in (metrics or {}).items()]
    all_tags = [RunTag(key, value) for key, value in (tags or {}).items()]
    first = True
    for some_params, some_metrics in _batches(all_params, all_metrics):
        batch_tags, first = (all_tags if first else []), False
        client(store.uri).log_batch(run_id, metrics=some_metrics, params=some_params, tags=batch_tags)


def _fit(value: str) -> str:
    return value if len(value) <= LONGEST_PARAM else value[: LONGEST_PARAM - 1] + "…"


def _batches(params: list[Param], metrics: list[Metric]) -> Iterator[tuple[list[Param], list[Metric]]]:
    rounds = max(1, -(-len(params) // PARAMS_A_BATCH), -(-len(metrics) // METRICS_A_BATCH))
    for i in range(rounds):
        yield (
            params[i * PARAMS_A_BATCH : (i + 1) * PARAMS_A_BATCH],
            metrics[i * METRICS_A_BATCH : (i + 1) * METRICS_A_BATCH],
        )


def describe(store: Store, run_id: str, markdown: str) -> None:
    """Set the description that the run's page shows."""
    client(store.uri).set_tag(run_id, MLFLOW_RUN_NOTE, markdown)


def table_tags(*names: str) -> dict[str, str]:
    """Return the tags of a run whose artifacts of these names the UI shows as tables."""
    return {MLFLOW_LOGGED_ARTIFACTS: json.dumps([{"path": name, "type": "table"} for name in names])}


def log_dataset(store: Store, run_id: str, name: str, digest: str, source: str, counts: Mapping[str, int]) -> None:
    """Record which data the run used as an MLflow dataset input."""
    dataset = Dataset(
        name=name,
        digest=digest[:8],
        source_type="local",
        source=json.dumps({"uri": source}),
        profile=json.dumps(dict(counts)),
    )
    inputs = DatasetInput(dataset=dataset, tags=[InputTag("mlflow.data.context", "evaluation")])
    client(store.uri).log_inputs(run_id, datasets=[inputs])


@contextmanager
def artifacts(store: Store, run_id: str) -> Iterator[Path]:
    """Give a folder to write into; its files become the run's artifacts."""
    with TemporaryDirectory(prefix="argus-") as folder:
        yield Path(folder)
        client(store.uri).log_artifacts(run_id, folder)


@contextmanager
def fetched(store: Store, run_id: str, name: str) -> Iterator[Path]:
    """Give the local path of an artifact. Raises DataError when the run has none of that name."""
    with TemporaryDirectory(prefix="argus-") as folder:
        try:
            path = client(store.uri).download_artifacts(run_id, name, folder)
        except (MlflowException, OSError) as error:
            raise DataError(
                f"run {run_id} has no readable artifact '{name}' ({error}); if the folder with the store was moved, "
                "move it back: runs name their artifacts by absolute path"
            ) from error
        yield Path(path)


@contextmanager
def opened(store: Store, run_id: str, location: str, name: str) -> Iterator[Path]:
    """Give the local path of an artifact, a file or a folder.

    Without a copy where the run's artifacts (`location`) lie on this machine: MLflow takes 20 ms to copy a small file.
    Raises DataError when the run has none of that name.
    """
    scheme, _, path = location.rpartition("://")
    here = Path(path) / name if scheme in ("", "file") else None
    if here is not None and here.exists():
        yield here
    else:
        with fetched(store, run_id, name) as copy:
            yield copy


def find(store: Store, experiment: str, where: str, newest_first: bool = True) -> tuple[StoredRun, ...]:
    """Return all runs that a filter of MLflow's search language finds (empty: all), page by page."""
    order = [f"attributes.start_time {'DESC' if newest_first else 'ASC'}"]
    ids, token = [_experiment_id(store.uri, experiment)], None
    runs: list[StoredRun] = []
    while True:
        page = client(store.uri).search_runs(ids, where, ViewType.ACTIVE_ONLY, RUNS_A_PAGE, order, token)
        runs.extend(_stored(run) for run in page)
        token = page.token
        if not token:
            return tuple(runs)


def _stored(run: Run) -> StoredRun:
    return StoredRun(
        id=run.info.run_id,
        name=run.info.run_name,
        status=run.info.status,
        started=run.info.start_time,
        seconds=((run.info.end_time or run.info.start_time) - run.info.start_time) / 1000,
        params=dict(run.data.params),
        tags=dict(run.data.tags),
        metrics=dict(run.data.metrics),
        artifacts=run.info.artifact_uri,
    )


def get(store: Store, run_id: str) -> StoredRun:
    """Return one run. Raises DataError when there is none of that id."""
    try:
        return _stored(client(store.uri).get_run(run_id))
    except MlflowException as error:
        raise DataError(f"no run '{run_id}' in the tracking store '{store.uri}'") from error


def delete(store: Store, run_ids: Iterable[str]) -> None:
    """Move runs to the store's bin."""
    for run_id in run_ids:
        client(store.uri).delete_run(run_id)


def new_lock(store: Store) -> str:
    """Return a name for the lock of a process that is about to start runs: 'host:/path'."""
    return f"{node()}:{(store.root / 'locks').resolve() / uuid4().hex}.lock"


@contextmanager
def holding(lock: str) -> Iterator[None]:
    """Hold a lock that the operating system frees however this process ends; `bury` looks for it."""
    path = Path(lock.split(":", 1)[1])
    with FileLock(path):
        yield
    path.unlink(missing_ok=True)


def bury(store: Store) -> tuple[str, ...]:
    """Close as KILLED every run that is RUNNING though the process that held its lock is gone; return their names.

    Runs that another machine started are left alone.
    """
    running = find(store, store.experiment, "attributes.status = 'RUNNING'")
    dead = [run for run in running if _is_dead(run.tags.get(LOCK_TAG, ""))]
    for run in dead:
        end(store, run.id, "KILLED")
    return tuple(run.name for run in dead)


def _is_dead(lock: str) -> bool:
    host, _, path = lock.partition(":")
    if host != node():
        return False
    if not Path(path).exists():
        return True
    try:
        with FileLock(path, timeout=0):
            pass
    except Timeout:
        return False
    Path(path).unlink(missing_ok=True)
    return True


def digest_of(names: Iterable[str]) -> str:
    """Return 16 hexadecimal digits that stand for a set of names, whatever their order."""
    return hashlib.sha256("\n".join(sorted(names)).encode()).hexdigest()[:16]


def children(store: Store, parent: str, statuses: Sequence[str] = ()) -> tuple[StoredRun, ...]:
    """Return a sweep's runs, all or those with one of the statuses."""
    runs = find(store, store.experiment, f"tags.`{MLFLOW_PARENT_RUN_ID}` = '{parent}'")
    return tuple(run for run in runs if not statuses or run.status in statuses)
