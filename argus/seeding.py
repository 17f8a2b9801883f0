"""Randomness belongs to the sample: no global state, so order, batch size and worker do not matter."""

from __future__ import annotations

from zlib import crc32

import numpy as np


def rng_for(seed: int, *names: str) -> np.random.Generator:
    """Return a generator that depends on the seed and the names (sample id, perturbation, …) alone."""
    return np.random.default_rng([seed, *(crc32(name.encode()) for name in names)])
