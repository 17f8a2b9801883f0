"""Word lists, one row a line: a word and what belongs to it. Lines that begin with # say where a list comes from."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

TABLES = Path(__file__).with_name("tables")


@lru_cache(maxsize=8)
def table(name: str) -> dict[str, tuple[str, ...]]:
    """Return a list's rows by their first column."""
    lines = (TABLES / f"{name}.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
    return {first: tuple(others) for first, *others in rows}
