"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from itertools import count
from pathlib import Path

import pytest

from argus import tracking
from argus.tracking import Store

REPOSITORY = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def sample_data() -> Path:
    """The folder with small excerpts of the official datasets, or a skip that says where it was looked for."""
    folder = Path(os.environ.get("ARGUS_SAMPLE_DATA", REPOSITORY.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no sample data at {folder}; set ARGUS_SAMPLE_DATA to a folder of official excerpts")
    return folder


@pytest.fixture(scope="session")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one tracking database for all tests: making one takes seconds."""
    return tmp_path_factory.mktemp("tracking")


NUMBERS = count()


@pytest.fixture
def store(database: Path) -> Store:
    """A store whose two experiments are this test's own."""
    name = f"argus-{next(NUMBERS)}"
    mine = Store(database, f"sqlite:///{database}/mlflow.db", str(database / "artifacts"), name, f"{name}-scores")
    tracking.prepare(mine)
    return mine


@pytest.fixture(scope="session")
def pocket_data_dir(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder with all five pocket data sets, eight pictures each."""
    from argus.pocket.layouts import ensure_pocket

    root = tmp_path_factory.mktemp("pocket")
    ensure_pocket(root, images=8, progress=lambda done, total: None)
    return str(root)
