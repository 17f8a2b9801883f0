"""Reads published region features, tab-separated with base64 fields, to compare the detector's own with them.

It is no RegionExtractor, and cannot be one: an extractor is given pixels, perturbed ones among them, and features that
were computed once know nothing of a perturbation. Robustness measured on them would be a figure about nothing.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from argus.errors import DataError

PLAIN = ("img_id", "img_w", "img_h", "num_boxes", "boxes", "features")
"""Columns of the bottom-up attention release."""
NAMED = (
    *("img_id", "img_h", "img_w", "objects_id", "objects_conf", "attrs_id", "attrs_conf"),
    *("num_boxes", "boxes", "features"),
)
"""Columns of LXMERT's release: height before width, and what the boxes hold."""


@dataclass(frozen=True)
class Precomputed:
    """One picture's regions: features (k, d) and boxes (k, 4), left, top, right, bottom as shares of the picture."""

    image_id: str
    features: NDArray[np.float32]
    boxes: NDArray[np.float32]


def read_tsv(path: Path) -> Iterator[Precomputed]:
    """Yield the regions of each picture, in the file's order, one line in memory at a time.

    Raises DataError that names the line where columns are missing or do not fit each other.
    """
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                yield _regions(line.rstrip("\n").split("\t"), f"line {number} of '{path}'")
    except OSError as error:
        raise DataError(f"cannot read region features from '{path}': {error.strerror}") from error


def _regions(cells: list[str], where: str) -> Precomputed:
    columns = {len(PLAIN): PLAIN, len(NAMED): NAMED}.get(len(cells))
    if columns is None:
        raise DataError(f"{where} has {len(cells)} columns; expected {', '.join(PLAIN)} or {', '.join(NAMED)}")
    row = dict(zip(columns, cells, strict=True))
    try:
        count, width, height = int(row["num_boxes"]), float(row["img_w"]), float(row["img_h"])
        boxes = _floats(row, "boxes").reshape(count, 4)
        features = _floats(row, "features").reshape(count, -1)
    except (ValueError, binascii.Error) as error:
        raise DataError(f"{where} does not hold what its columns say ({error})") from error
    if count < 1 or width <= 0 or height <= 0 or boxes.max() > max(width, height):
        raise DataError(f"{where} tells of {count} boxes in {width:g} x {height:g} pixels, which they do not fit")
    shares = boxes / np.array([width, height, width, height], np.float32)
    return Precomputed(row["img_id"], features.copy(), shares.astype(np.float32))


def _floats(row: Mapping[str, str], name: str) -> NDArray[np.float32]:
    return np.frombuffer(base64.b64decode(row[name], validate=True), dtype=np.float32)
