from __future__ import annotations

import base64
from pathlib import Path

import numpy as np
import pytest

from argus.errors import DataError
from argus.models.regions.precomputed import read_tsv

BOXES = np.array([[0, 0, 20, 10], [10, 5, 40, 30]], np.float32)
FEATURES = np.arange(6, dtype=np.float32).reshape(2, 3)


def packed(values: np.ndarray) -> str:
    return base64.b64encode(values.tobytes()).decode()


def write(path: Path, *rows: tuple[str, ...]) -> Path:
    path.write_text("".join("\t".join(row) + "\n" for row in rows))
    return path


def test_both_published_layouts_are_read_with_boxes_as_shares(tmp_path):
    plain = ("0042", "40", "30", "2", packed(BOXES), packed(FEATURES))
    named = ("COCO_7", "30", "40", "x", "x", "x", "x", "2", packed(BOXES), packed(FEATURES))
    read = list(read_tsv(write(tmp_path / "a.tsv", plain, named)))
    assert [one.image_id for one in read] == ["0042", "COCO_7"]
    for one in read:
        np.testing.assert_allclose(one.boxes, [[0, 0, 0.5, 1 / 3], [0.25, 1 / 6, 1, 1]], rtol=1e-6)
        assert np.array_equal(one.features, FEATURES)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (("7", "40", "30"), "line 2 .* has 3 columns; expected img_id"),
        (("7", "40", "30", "3", packed(BOXES), packed(FEATURES)), "line 2 .* does not hold"),
        (("7", "40", "30", "2", "no base64!", packed(FEATURES)), "line 2 .* does not hold"),
        (("7", "4", "3", "2", packed(BOXES), packed(FEATURES)), "2 boxes in 4 x 3 pixels"),
    ],
)
def test_a_line_that_does_not_fit_is_named(tmp_path, row, message):
    good = ("1", "40", "30", "2", packed(BOXES), packed(FEATURES))
    rows = read_tsv(write(tmp_path / "a.tsv", good, row))
    assert next(rows).image_id == "1"
    with pytest.raises(DataError, match=message):
        next(rows)


def test_a_missing_file_is_an_error(tmp_path):
    with pytest.raises(DataError, match=r"nowhere\.tsv"):
        next(read_tsv(tmp_path / "nowhere.tsv"))
