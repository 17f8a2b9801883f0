"""Per-sample predictions on disk: one parquet table a cell, one row a prediction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from argus.errors import DataError
from argus.records import CaptionPrediction, ChoicePrediction, Prediction, RankPrediction

KINDS: dict[str, type[RankPrediction] | type[CaptionPrediction] | type[ChoicePrediction]] = {
    kind.__name__: kind for kind in (RankPrediction, CaptionPrediction, ChoicePrediction)
}


def write_predictions(path: Path, predictions: Sequence[Prediction]) -> None:
    """Write the predictions of one cell, all of one kind; the kind stands in the table's metadata."""
    (kind,) = {type(prediction).__name__ for prediction in predictions}
    table = pa.Table.from_pylist([asdict(prediction) for prediction in predictions])
    pq.write_table(table.replace_schema_metadata({"argus.prediction": kind}), path)


def read_predictions(path: Path) -> tuple[Prediction, ...]:
    """Read what `write_predictions` wrote. Raises DataError for another table."""
    table = pq.read_table(path)
    kind = (table.schema.metadata or {}).get(b"argus.prediction", b"").decode()
    if kind not in KINDS:
        raise DataError(f"'{path}' holds no predictions of Argus (kind {kind!r}; known: {', '.join(KINDS)})")
    return tuple(KINDS[kind](**{name: _frozen(value) for name, value in row.items()}) for row in table.to_pylist())


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
