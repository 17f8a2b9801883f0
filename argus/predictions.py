"""A cell's results on disk, as parquet tables: one row a prediction, and one row an image with what it adds up to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from argus.errors import DataError
from argus.metrics.image_sums import ImageSums
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
    table = read_table(path)
    kind = (table.schema.metadata or {}).get(b"argus.prediction", b"").decode()
    if kind not in KINDS:
        raise DataError(f"'{path}' holds no predictions of Argus (kind {kind!r}; known: {', '.join(KINDS)})")
    return tuple(KINDS[kind](**{name: _frozen(value) for name, value in row.items()}) for row in table.to_pylist())


def read_table(path: Path) -> pa.Table:
    """Read a parquet table. Raises DataError for a damaged one."""
    try:
        return pq.read_table(path)
    except (pa.ArrowInvalid, OSError) as error:
        raise DataError(f"'{path}' cannot be read ({error}): run its cell again, argus.rerun=true") from error


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def write_image_sums(path: Path, sums: ImageSums) -> None:
    """Write one row for each image: its id and a number for each column."""
    pq.write_table(pa.table({"image_id": pa.array(sums.image_ids, pa.string()), **sums.columns}), path)


def read_image_sums(path: Path) -> ImageSums:
    """Read what `write_image_sums` wrote. Raises DataError for another table."""
    table = read_table(path)
    if table.column_names[:1] != ["image_id"]:
        raise DataError(f"'{path}' holds no image sums of Argus (columns: {', '.join(table.column_names)})")
    columns = {name: table[name].to_numpy() for name in table.column_names[1:]}
    return ImageSums(tuple(table["image_id"].to_pylist()), columns)
