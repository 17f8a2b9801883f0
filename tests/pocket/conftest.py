"""Fixtures of the pocket suite's tests: written data sets, and small training runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from argus.pocket.layouts import write_pocket

IMAGES = 12


@pytest.fixture(scope="session")
def pocket(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The five data sets, IMAGES pictures each."""
    root = tmp_path_factory.mktemp("suite") / "pocket"
    write_pocket(root, IMAGES)
    return root
