"""What an aggregation costs: python benchmarks/aggregate.py [--cells 200 2000] [--samples 1000].

A synthetic store is made through the tracking code, with everything that an aggregation reads; then the aggregation
runs in a process of its own, timed from its start to its end, imports included.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from argus import tracking
from argus.metrics.image_sums import ImageSums, image_sums, metrics_of
from argus.predictions import write_image_sums, write_predictions
from argus.records import CaptionPrediction, CellKey, ChoicePrediction, Prediction, RankPrediction
from argus.seeding import rng_for
from argus.tracking import Store

TASKS = {
    "coco": ("retrieval", "captioning"),
    "flickr30k": ("retrieval", "captioning"),
    "visual_genome": ("retrieval",),
    "clevr": ("reasoning",),
    "vcr": ("reasoning",),
}
CHANGES = (
    ("clean", "none", 0),
    *((name, modality, severity) for name, modality in (("blur", "image"), ("typo", "text")) for severity in (1, 3, 5)),
)
FAMILIES = {"clean": "none", "blur": "blur", "typo": "typing"}
CEILING = 1.5
COSTS = {"latency_p50_ms": 30.0, "throughput_per_s": 60.0, "peak_memory_mb": 20.0, "parameters": 1.5e6}
REFERENCES = {"flops_per_sample": 1e9, **COSTS}


def keys(cells: int) -> list[CellKey]:
    """Return at least as many cells as asked for: whole models, each with every data set, task and perturbation."""
    places = [(dataset, task) for dataset, tasks in TASKS.items() for task in tasks]
    each = len(places) * len(CHANGES)
    return [
        CellKey(f"model{model}", dataset, task, *change, "cpu")
        for model in range(-(-cells // each))
        for (dataset, task), change in product(places, CHANGES)
    ]


def make_sweep(store: Store, planned: Sequence[CellKey], samples: int, hits: float = 0.8) -> str:
    """Write a finished sweep of random cells and return its run id; `hits` is the share of right answers when clean."""
    sweep = tracking.start(store, store.experiment, "sweep", {"argus.kind": "sweep"})
    plan = [{"key": asdict(key), "fingerprint": f"{number} {hits}"} for number, key in enumerate(planned)]
    with tracking.artifacts(store, sweep) as folder:
        (folder / "plan.json").write_text(json.dumps({"run": plan, "skipped": [], "dropped": []}))
    for number, key in enumerate(planned):
        _make_cell(store, sweep, key, f"{number} {hits}", samples, hits)
    tracking.end(store, sweep, "FINISHED")
    return sweep


def _make_cell(store: Store, sweep: str, key: CellKey, fingerprint: str, samples: int, hits: float) -> None:
    rng = rng_for(0, *map(str, asdict(key).values()))  # what is hard stays hard in another sweep
    predictions, sums = _results(key, samples, rng, hits if key.modality == "none" else hits - 0.2)
    score = float(metrics_of(key.task, sums.totals(), CEILING)["score"])
    tags = {"argus.kind": "cell", "argus.fingerprint": fingerprint}
    run = tracking.start(store, store.experiment, str(key), tags, sweep)
    metrics = {"score": score, "samples": samples, "failed_samples": 0}
    if key.modality == "none":
        metrics |= {f"cost.{name}": cost * float(rng.uniform(0.5, 2)) for name, cost in REFERENCES.items()}
    params = {
        "suite": "synthetic",
        "seed": 0,
        "dataset.caption_ceiling": CEILING,
        "perturbation.family": FAMILIES[key.perturbation],
        "data.images": samples,
    }
    params |= {f"reference.{name}": cost for name, cost in REFERENCES.items()}
    tracking.log(store, run, params=params, metrics=metrics)
    with tracking.artifacts(store, run) as folder:
        write_predictions(folder / "predictions.parquet", predictions)
        write_image_sums(folder / "image_sums.parquet", sums)
        timed = {"latencies_s": rng.uniform(0.02, 0.04, 20).tolist(), "batches": [{"samples": 16, "seconds": 0.3}] * 5}
        (folder / "timings.json").write_text(json.dumps(timed))
    tracking.end(store, run, "FINISHED")


def _results(key: CellKey, samples: int, rng: np.random.Generator, hits: float) -> tuple[list[Prediction], ImageSums]:
    if key.task == "captioning":
        return _captions(samples, rng)
    make = {"retrieval": _ranks, "reasoning": _answers}[key.task]
    found = list(make(samples, rng, hits))
    return found, image_sums(key.task, found)


def _ranks(samples: int, rng: np.random.Generator, hits: float) -> Iterator[Prediction]:
    for image, rank in enumerate(1 + (rng.random(samples) > hits) * rng.integers(1, 19, samples)):
        for direction in ("image_to_text", "text_to_image"):
            yield RankPrediction(f"{image}", f"{image}", direction, int(rank), 20, "", 0.5)


def _answers(samples: int, rng: np.random.Generator, hits: float) -> Iterator[Prediction]:
    right, scores = rng.random(samples) < hits, rng.normal(size=(samples, 4))
    for image in range(samples):
        mine = tuple(scores[image].tolist())
        yield ChoicePrediction(f"{image}", f"{image}", "count", "", mine, int(not right[image]), 0)


def _captions(samples: int, rng: np.random.Generator) -> tuple[list[Prediction], ImageSums]:
    """Return captions with made-up sums: CIDEr-D of many captions takes longer than all the rest."""
    names = tuple(f"{image}" for image in range(samples))
    found = [CaptionPrediction(name, name, f"a picture of {rng.integers(9)}", ("a picture",)) for name in names]
    columns = {"captions": np.ones(samples), "cider_d": rng.gamma(2.0, 0.5, samples), "rouge_l": rng.random(samples)}
    counts = {"length": 10, "reference_length": 10}
    counts |= {f"{kind}_{n}": 8 - n for n in (1, 2, 3, 4) for kind in ("written", "found")}
    columns |= {name: rng.integers(1, most + 1, samples).astype(float) for name, most in counts.items()}
    places = np.argsort(names)  # sums are sorted by id
    return found, ImageSums(tuple(names[place] for place in places), {k: v[places] for k, v in columns.items()})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, nargs="+", default=[200])
    parser.add_argument("--samples", type=int, default=1000)
    options = parser.parse_args()
    for cells in options.cells:
        with TemporaryDirectory() as folder:
            root = Path(folder) / "mlruns"
            store = Store(root, f"sqlite:///{root}/mlflow.db", str(root / "artifacts"), "argus", "argus-scores")
            tracking.prepare(store)
            planned, begun = keys(cells), time.perf_counter()
            make_sweep(store, planned, options.samples)
            made = time.perf_counter() - begun
            _measure(root, len(planned), options.samples, made)


def _measure(root: Path, cells: int, samples: int, made: float) -> None:
    for resamples in (0, 1000):
        command = ["argus.aggregate", f"tracking.root={root}", f"score.bootstrap.resamples={resamples}"]
        begun = time.perf_counter()
        subprocess.run([sys.executable, "-m", *command], check=True, stdout=subprocess.DEVNULL)
        took = time.perf_counter() - begun
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**10  # of the largest child so far
        print(
            f"{cells} cells x {samples} samples, {resamples} resamples: {took:.1f} s, at most {peak:.0f} MiB "
            f"(the store was made in {made:.0f} s)",
            flush=True,
        )


if __name__ == "__main__":
    main()
