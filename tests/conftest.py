"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def sample_data() -> Path:
    """The folder with small excerpts of the official datasets, or a skip that says where it was looked for."""
    folder = Path(os.environ.get("ARGUS_SAMPLE_DATA", REPOSITORY.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no sample data at {folder}; set ARGUS_SAMPLE_DATA to a folder of official excerpts")
    return folder
