"""Plasma fractals: smooth random clouds by midpoint displacement (diamond-square, Fournier et al., 1982)."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

import cv2
import numpy as np

if TYPE_CHECKING:
    from numpy.random import Generator

# Displacements below this share of the first one are left out: on no picture a quarter of a grey level.
FINEST = 5e-4


def plasma(rng: Generator, size: tuple[int, int], decay: float) -> np.ndarray:
    """Return (height, width) float32 clouds: a part, at one corner, of a square map whose values run from 0 to 1.

    The map's side is the power of two that covers (width, height). From one halving of its cells to the next, random
    displacements fall by decay squared; where they no longer matter, the map is enlarged.
    """
    side = 1 << (max(size) - 1).bit_length()
    grid = np.zeros((1, 1), dtype=np.float32)
    displacement = 1.0
    while len(grid) < side and displacement > FINEST:
        grid = halved(rng, grid, displacement)
        displacement /= decay**2
    grid -= grid.min()
    if grid.any():
        grid /= grid.max()
    return corner(grid, side // len(grid), size)


def halved(rng: Generator, grid: np.ndarray, displacement: float) -> np.ndarray:
    """Return the map, which goes on at its opposite border, with cells of half the side."""
    draws = rng.random((3, *grid.shape), dtype=np.float32)
    draws *= np.float32(2 * displacement)
    draws -= np.float32(displacement)
    middles, beside, below = draws
    pairs = grid + np.roll(grid, -1, axis=0)
    middles += (pairs + np.roll(pairs, -1, axis=1)) / 4
    # The mean of the two neighbours in the grid and of the middles on either side.
    beside += (grid + np.roll(grid, -1, axis=1) + middles + np.roll(middles, 1, axis=0)) / 4
    below += (pairs + middles + np.roll(middles, 1, axis=1)) / 4
    finer = np.empty((2 * len(grid), 2 * len(grid)), dtype=np.float32)
    finer[::2, ::2], finer[1::2, 1::2], finer[::2, 1::2], finer[1::2, ::2] = grid, middles, beside, below
    return finer


def corner(grid: np.ndarray, cell: int, size: tuple[int, int]) -> np.ndarray:
    """Return the (height, width) at the map's corner, each of its values a cell apart."""
    width, height = size
    if cell == 1:
        return grid[:height, :width]
    rows, columns = (min(len(grid), ceil(length / cell) + 1) for length in (height, width))
    return cv2.resize(grid[:rows, :columns], (columns * cell, rows * cell))[:height, :width]
