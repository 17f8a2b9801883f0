"""Moving pixels: affine, perspective and curved maps. What comes from outside the picture is black."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from PIL.Image import Image, Resampling, Transform

from argus.perturbations.photo.canvas import BLACK

Curve = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
# Cells a side of the grid on which a curved map is exact; it is bilinear within a cell.
CELLS = 24


def affine(image: Image, matrix: np.ndarray, shift: tuple[float, float] = (0, 0)) -> Image:
    """Return the picture where a point at p from the centre comes from matrix (2, 2) @ p - shift from the centre."""
    centre = np.array(image.size) / 2
    offset = centre - matrix @ centre - np.array(shift)
    rows = np.column_stack([matrix, offset])
    return image.transform(image.size, Transform.AFFINE, rows.ravel().tolist(), Resampling.BILINEAR, fillcolor=BLACK)


def projective(image: Image, corners: np.ndarray) -> Image:
    """Return the picture with its corners (4, 2), clockwise from the upper left, moved to these (x, y) in pixels."""
    width, height = image.size
    sources = [(0, 0), (width, 0), (width, height), (0, height)]
    rows, values = [], []
    for (x, y), (u, v) in zip(corners.tolist(), sources, strict=True):
        rows += [(x, y, 1, 0, 0, 0, -u * x, -u * y), (0, 0, 0, x, y, 1, -v * x, -v * y)]
        values += [u, v]
    map_back = np.linalg.solve(np.array(rows, dtype=float), np.array(values, dtype=float)).tolist()
    return image.transform(image.size, Transform.PERSPECTIVE, map_back, Resampling.BILINEAR, fillcolor=BLACK)


def curved(image: Image, source: Curve) -> Image:
    """Return the picture where the point (x, y) comes from source(x, y), both in pixels, given as equal arrays."""
    columns, rows = _lines(image.width), _lines(image.height)
    x, y = source(*np.meshgrid(columns.astype(float), rows.astype(float)))
    corners = np.stack([x, y], axis=-1)
    # Pillow wants a cell's corners from the upper left against the clock.
    quads = np.concatenate([corners[:-1, :-1], corners[1:, :-1], corners[1:, 1:], corners[:-1, 1:]], axis=-1)
    cells = [
        ((int(columns[j]), int(rows[i]), int(columns[j + 1]), int(rows[i + 1])), tuple(quads[i, j].tolist()))
        for i in range(len(rows) - 1)
        for j in range(len(columns) - 1)
    ]
    return image.transform(image.size, Transform.MESH, cells, Resampling.BILINEAR, fillcolor=BLACK)


def _lines(side: int) -> np.ndarray:
    return np.linspace(0, side, min(CELLS, side) + 1).astype(int)
