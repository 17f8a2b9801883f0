"""From stored evidence to resamples: what each cell would have scored and cost, had other images been drawn."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from argus.errors import DataError
from argus.metrics.image_sums import ImageSums, image_sums, images_asked, metrics_of
from argus.records import CellResult, Prediction
from argus.scoring.analysis import CellIntervals
from argus.scoring.breakage import Outcomes
from argus.scoring.drawn import Drawn, interval, with_a_doubt, with_draws
from argus.scoring.resampling import Bootstrap, Counts, Resamples, totals
from argus.seeding import rng_for

SAME = 1e-9  # a score that comes again from its sums differs from the stored one by rounding alone
HITS = ("retrieval", "reasoning")  # tasks whose score is a share of hits


@dataclass(frozen=True)
class Evidence:
    """How to read what cells keep; each raises DataError where a run has nothing of the kind."""

    predictions: Callable[[CellResult], Sequence[Prediction]]
    sums: Callable[[CellResult], ImageSums]
    timings: Callable[[CellResult], Mapping[str, list[float]]]  # see read_timings
    ceiling: Callable[[CellResult], float | None]  # the CIDEr-D that scores 1
    outcomes: Callable[[CellResult], Outcomes]


@dataclass(frozen=True)
class Sampled:
    """Resamples of a sweep's cells, and 95 % intervals of each cell's metrics, by run id and metric."""

    resamples: Resamples
    intervals: CellIntervals


def sample(cells: Iterable[CellResult], evidence: Evidence, counts: Counts) -> Sampled:
    """Return the resamples of all finished cells; `missing` names those that have none, with the reason."""
    bootstrap = counts.bootstrap
    scores, costs, intervals, missing = {}, {}, {}, {}
    for cell in cells:
        if cell.score is None or not bootstrap.resamples:
            continue
        try:
            sums = evidence.sums(cell)
            drawn = _resampled(cell, sums, counts, evidence.ceiling(cell))
            scores[cell.run_id], intervals[cell.run_id] = drawn["score"][1:], _intervals(cell, sums, drawn)
            if cell.costs:
                costs[cell.run_id] = resampled_costs(cell, evidence.timings(cell), bootstrap)
        except DataError as error:
            missing[cell.run_id] = str(error)
    return Sampled(Resamples(bootstrap.resamples, scores, costs, missing), intervals)


def _resampled(cell: CellResult, sums: ImageSums, counts: Counts, ceiling: float | None) -> dict[str, np.ndarray]:
    drawn = drawn_metrics(cell, sums, counts, ceiling)
    if cell.score is None or abs(drawn["score"][0] - cell.score) > SAME:
        raise DataError(f"the sums of run {cell.run_id} give the score {drawn['score'][0]}, but {cell.score} is stored")
    return drawn


def drawn_metrics(cell: CellResult, sums: ImageSums, counts: Counts, ceiling: float | None) -> dict[str, np.ndarray]:
    """Return each metric that comes from sums over images, with its resamples, (1 + resamples,)."""
    task, drawn = cell.key.task, counts.of(cell.key.dataset, sums.image_ids)
    draws = metrics_of(task, totals(drawn, sums.columns), ceiling)
    points = metrics_of(task, sums.totals(), ceiling)
    return {name: with_draws(float(point), draws[name], counts.bootstrap.resamples) for name, point in points.items()}


def drawn_score(evidence: Evidence, counts: Counts) -> Callable[[CellResult, Sequence[Prediction]], Drawn]:
    """Return a function that scores some of a cell's predictions, with resamples (for pairing.rescorer)."""

    def score(cell: CellResult, some: Sequence[Prediction]) -> Drawn:
        return drawn_metrics(cell, image_sums(cell.key.task, some), counts, evidence.ceiling(cell))["score"]

    return score


def _intervals(cell: CellResult, sums: ImageSums, drawn: Mapping[str, np.ndarray]) -> dict[str, tuple[float, float]]:
    found = {name: ends for name, numbers in drawn.items() if (ends := interval(numbers)) is not None}
    shares = dict.fromkeys(("score", "accuracy"), cell.samples) | images_asked(sums) if cell.key.task in HITS else {}
    return found | {name: with_a_doubt(found[name], shares[name]) for name in found.keys() & shares.keys()}


def read_timings(path: Path) -> dict[str, list[float]]:
    """Return {"latencies_s": seconds of each call at batch 1, "samples" and "seconds" of each timed batch}."""
    read = json.loads(path.read_text())
    batches = read["batches"]
    parts = {name: [batch[name] for batch in batches] for name in ("samples", "seconds")}
    return {"latencies_s": read["latencies_s"], **parts}


def resampled_costs(
    cell: CellResult, timings: Mapping[str, list[float]], bootstrap: Bootstrap
) -> dict[str, np.ndarray]:
    """Return what each cost would have been, had other calls been timed, (resamples,); what is counted stays as it is.

    It tells how far one run's timing can be trusted, not how much machines or days differ.
    """
    rng = rng_for(bootstrap.seed, "timings", *map(str, (cell.key.model, cell.key.dataset, cell.key.task)))
    costs = {name: np.full(bootstrap.resamples, value) for name, value in cell.costs.items()}
    if latencies := timings["latencies_s"]:
        drawn = 1e3 * np.array(latencies)[rng.integers(0, len(latencies), (bootstrap.resamples, len(latencies)))]
        costs["latency_p50_ms"], costs["latency_p95_ms"] = np.percentile(drawn, [50, 95], axis=1)
    if seconds := timings["seconds"]:
        rows = rng.integers(0, len(seconds), (bootstrap.resamples, len(seconds)))
        samples = np.array(timings["samples"])[rows].sum(axis=1)
        costs["throughput_per_s"] = samples / np.array(seconds)[rows].sum(axis=1)
    return costs
