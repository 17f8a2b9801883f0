"""Clean and perturbed scores over the same samples, from stored predictions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from argus.errors import DataError
from argus.records import CellResult, Prediction
from argus.scoring.cells import Pair, Rescore
from argus.scoring.drawn import Drawn


def rescorer(
    predictions: Callable[[CellResult], Sequence[Prediction]],
    score: Callable[[CellResult, Sequence[Prediction]], Drawn],
) -> Rescore:
    """Return a function that scores two cells over the pictures both have predictions for.

    `predictions` reads a cell's stored predictions; `score` turns some of them into the cell's score in [0, 1], with
    its resamples where there are any.
    Raises DataError (when called) where no picture is shared.
    """

    def rescore(clean: CellResult, perturbed: CellResult) -> Pair:
        before, after = predictions(clean), predictions(perturbed)
        shared = {p.image_id for p in before} & {p.image_id for p in after}
        if not shared:
            raise DataError("no sample was read in both")
        return Pair(
            score(clean, [p for p in before if p.image_id in shared]),
            score(perturbed, [p for p in after if p.image_id in shared]),
            rescored=True,
        )

    return rescore
