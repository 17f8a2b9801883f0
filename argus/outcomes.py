"""Stored predictions as outcomes, column by column: without a record for each of a million samples."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from argus.errors import DataError
from argus.metrics.image_sums import ImageSums
from argus.predictions import read_table
from argus.scoring.breakage import Outcomes


def read_outcomes(path: Path, sums: ImageSums | None = None) -> Outcomes:
    """Read what `write_predictions` wrote; captions need the cell's sums, which know each image's CIDEr-D.

    Raises DataError for another table.
    """
    table = read_table(path)
    kind = (table.schema.metadata or {}).get(b"argus.prediction", b"").decode()
    if kind == "RankPrediction":
        rank = table["rank"].to_numpy()
        return Outcomes(*_names(table), _text(table, "direction"), _text(table, "top"), right=rank == 1, rank=rank)
    if kind == "ChoicePrediction":
        return _choices(table)
    if kind != "CaptionPrediction" or sums is None:
        raise DataError(f"'{path}' holds no predictions of Argus (kind {kind!r})")
    ids, image_ids = _names(table)
    scores = dict(zip(sums.image_ids, sums.columns["cider_d"] / sums.columns["captions"], strict=True))
    quality = np.array([scores[image] for image in image_ids])
    return Outcomes(ids, image_ids, np.zeros(len(ids)), _text(table, "text"), quality=quality)


def _names(table: pa.Table) -> tuple[np.ndarray, np.ndarray]:
    return _text(table, "id"), _text(table, "image_id")


def _text(table: pa.Table, column: str) -> np.ndarray:
    found: np.ndarray = np.array(table[column].to_pylist(), dtype=np.str_)
    return found


def _choices(table: pa.Table) -> Outcomes:
    """Return the outcomes of questions with the softmax of their choices' scores, whatever number each has."""
    scores = table["scores"].combine_chunks()
    values, ends = scores.values.to_numpy(), scores.offsets.to_numpy()
    starts, sizes = ends[:-1], np.diff(ends)
    shifted = np.exp(values - np.repeat(np.maximum.reduceat(values, starts), sizes))
    shares = shifted / np.repeat(np.add.reduceat(shifted, starts), sizes)
    terms = -shares * np.log(np.where(shares > 0, shares, 1.0))
    predicted = table["predicted"].to_numpy()
    ids, image_ids = _names(table)
    return Outcomes(
        ids,
        image_ids,
        np.zeros(len(ids)),
        predicted,
        right=predicted == table["target"].to_numpy(),
        confidence=np.maximum.reduceat(shares, starts),
        entropy=np.add.reduceat(terms, starts) / np.log(sizes),
    )
