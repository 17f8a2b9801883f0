"""Resamples of images: how often each image is drawn, the same for every cell of a dataset.

J. Hanley, B. MacGibbon, Creating non-parametric bootstrap samples using Poisson frequencies, 2006; N. Chamandy et al.,
Estimating uncertainty for massive data streams, 2012. Each image is drawn a Poisson(1) number of times, which follows
from the seed, the dataset and the image's own id. So clean and perturbed cells, tasks and models share their resamples
(differences are paired), and neither the order of images nor those that another model could not read move an interval.
Captions and questions of an image are drawn with it (clustered; E. Miller, Adding Error Bars to Evals, 2024).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from argus.errors import ConfigError
from argus.records import CellResult
from argus.scoring.drawn import with_draws
from argus.seeding import rng_for

FEWEST = 100  # resamples; below, the ends of a 95 % interval are two or three numbers
AT_ONCE = 2**22  # numbers that a product of resamples and images takes in one step


@dataclass(frozen=True)
class Bootstrap:
    """How intervals are made. No resamples: no intervals."""

    resamples: int
    seed: int

    def __post_init__(self) -> None:
        if type(self.resamples) is not int or not (self.resamples == 0 or self.resamples >= FEWEST):
            raise ConfigError(
                f"score.bootstrap.resamples={self.resamples}: give {FEWEST} or more, or 0 for no intervals"
            )
        if type(self.seed) is not int or self.seed < 0:
            raise ConfigError(f"score.bootstrap.seed={self.seed}: give a whole number, 0 or more")


class Counts:
    """How often each image of a dataset is drawn in each resample."""

    def __init__(self, bootstrap: Bootstrap) -> None:
        self.bootstrap = bootstrap
        self._known: dict[tuple[str, str], np.ndarray] = {}
        # Nearly all cells of a dataset have the same images.
        self._last: dict[str, tuple[tuple[str, ...], np.ndarray]] = {}

    def of(self, dataset: str, image_ids: Sequence[str]) -> np.ndarray:
        """Return (images, resamples) uint8, for one image or more."""
        ids = tuple(image_ids)
        if dataset not in self._last or self._last[dataset][0] != ids:
            self._last[dataset] = (ids, np.stack([self._of(dataset, image) for image in ids]))
        return self._last[dataset][1]

    def _of(self, dataset: str, image: str) -> np.ndarray:
        key = (dataset, image)
        if key not in self._known:
            drawn = rng_for(self.bootstrap.seed, dataset, image).poisson(1.0, self.bootstrap.resamples)
            self._known[key] = drawn.astype(np.uint8)  # 255 draws of one image will never be seen
        return self._known[key]


def totals(counts: np.ndarray, columns: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return each column's total in each resample, (resamples,).

    `counts` are (images, resamples) as from Counts, the columns (images,).
    """
    matrix = np.stack(list(columns.values()))
    found = np.zeros((len(matrix), counts.shape[1]))
    step = max(1, AT_ONCE // max(1, counts.shape[1]))
    for start in range(0, len(counts), step):
        part = slice(start, start + step)
        found += matrix[:, part] @ counts[part].astype(np.float64)
    return dict(zip(columns, found, strict=True))


@dataclass(frozen=True)
class Resamples:
    """What a sweep's cells would have scored and cost in each resample, (resamples,) each, by run id."""

    count: int = 0
    scores: Mapping[str, np.ndarray] = field(default_factory=dict)
    costs: Mapping[str, Mapping[str, np.ndarray]] = field(default_factory=dict)  # by run id, then by name of cost
    missing: Mapping[str, str] = field(default_factory=dict)  # why a finished cell has none, by run id

    def score(self, cell: CellResult) -> np.ndarray:
        """Return a finished cell's score with its resamples; NaN where it has none."""
        assert cell.score is not None
        return with_draws(cell.score, self.scores.get(cell.run_id), self.count)

    def cost(self, cell: CellResult, name: str) -> np.ndarray:
        """Return one cost of a cell with its resamples; NaN where it has none."""
        return with_draws(cell.costs[name], self.costs.get(cell.run_id, {}).get(name), self.count)


NONE = Resamples()
