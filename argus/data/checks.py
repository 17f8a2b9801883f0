"""What must hold of every dataset's entries, whatever their layout: checked once, at the border."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from argus.errors import DataError
from argus.records import Entry

SHOWN = 5


def first_few(names: Collection[object]) -> str:
    """Return the first five names, and how many there are when there are more."""
    shown = ", ".join(str(name) for name in list(names)[:SHOWN])
    return shown if len(names) <= SHOWN else f"{shown}, … ({len(names)} in all)"


def check_entries(entries: Sequence[Entry], root: Path, layout: str) -> None:
    """Raise DataError for ids that occur twice, targets outside their choices, and picture files that are missing."""
    where = f"under '{root}'"
    require_unique((entry.id for entry in entries), f"image ids {where}")
    require_unique((caption.id for entry in entries for caption in entry.captions), f"caption ids {where}")
    require_unique((question.id for entry in entries for question in entry.questions), f"question ids {where}")
    require_targets(entries, where)
    require_pictures(entries, layout)


def require_unique(ids: Iterable[str], what: str) -> None:
    """Raise DataError naming the ids that occur more than once."""
    repeated = [name for name, times in Counter(ids).items() if times > 1]
    if repeated:
        raise DataError(f"{what} must be unique, but these occur more than once: {first_few(repeated)}")


def require_targets(entries: Iterable[Entry], where: str) -> None:
    """Raise DataError naming the questions whose right answer is not one of at least two choices."""
    questions = (question for entry in entries for question in entry.questions)
    wrong = [q.id for q in questions if len(q.choices) < 2 or not 0 <= q.target < len(q.choices)]
    if wrong:
        raise DataError(f"questions {where} whose right answer is not one of two or more choices: {first_few(wrong)}")


def require_pictures(entries: Iterable[Entry], layout: str) -> None:
    """Raise DataError naming the picture files that are missing: all are looked for, the first five are named."""
    paths = dict.fromkeys(entry.source.path for entry in entries)
    absent = [path for path in paths if not path.is_file()]
    if absent:
        raise DataError(
            f"{len(absent)} of {len(paths)} pictures are missing: {first_few(absent)}. Expected layout:\n{layout}"
        )
