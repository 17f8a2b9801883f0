"""Fixtures of the pocket suite's tests: written data sets, and small training runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from argus.pocket.layouts import write_pocket

IMAGES = 12


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Iterator[None]:
    """Networks this small are slower on several threads."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="session")
def pocket(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The five data sets, IMAGES pictures each."""
    root = tmp_path_factory.mktemp("suite") / "pocket"
    write_pocket(root, IMAGES)
    return root
