"""How often 95 % intervals hold the truth, where it is known: python benchmarks/coverage.py [--sweeps 4000].

Each simulated sweep draws new images. An image has a difficulty, shared by all that is asked of it and by its clean and
perturbed forms: a model answers right with probability Phi(level + spread x difficulty), so a cell's true score is
Phi(level / sqrt(1 + spread^2)). Intervals come from the same functions as those of an aggregation.

--captions captions_val2017.json (COCO) asks the same of CIDEr-D, on corpora of 100 pictures: the first person's caption
against the others'.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist

import numpy as np
from scipy.special import ndtr

from argus.metrics.image_sums import image_sums
from argus.records import CaptionPrediction
from argus.scoring.cells import Ledger, Pair
from argus.scoring.consistency import evenness
from argus.scoring.drawn import Drawn, interval, with_draws
from argus.scoring.records import CLEAN, Slot
from argus.scoring.resampling import Bootstrap, Counts, totals
from argus.scoring.scheme import Formulas, Scheme, Weights
from argus.scoring.vector import OWN_EMPTY, Evidence, Field, vector_of

SPREAD = 0.7  # of an image's difficulty: answers of one image agree
EFFICIENCY = 0.6  # not sampled here
FORMULAS = Formulas("population", "reference", ["parameters"], "arithmetic")
SCHEME = Scheme("equal", Weights(1, 1, 1, 1), FORMULAS, Bootstrap(1000, 0))
TYPO = Slot("", "reasoning", "typo", "text", 3)
BLUR = Slot("", "reasoning", "blur", "image", 3)


@dataclass(frozen=True)
class World:
    """True clean scores by dataset; what blur and typo leave of each; and how many images a dataset has."""

    clean: tuple[float, ...]
    blur: float
    typo: float
    images: int


WORLDS = {
    "uneven": World((0.59, 0.80, 0.82, 0.55, 0.81), 0.9, 0.8, 100),
    "even": World((0.70, 0.75, 0.72, 0.68, 0.71), 0.9, 0.8, 100),
    "high": World((0.95, 0.90, 0.97), 0.98, 0.95, 100),
    "low": World((0.30, 0.05, 0.20), 0.7, 0.5, 200),
    "small": World((0.60, 0.40), 0.8, 0.8, 30),
    "large": World((0.85, 0.45, 0.60), 0.9, 0.8, 1000),
}


def coverage(world: World, sweeps: int, bootstrap: Bootstrap, seed: int = 0) -> dict[str, float]:
    """Return for each figure the share of simulated sweeps whose interval holds the true value."""
    rng = np.random.default_rng(seed)
    drawn = [_dataset(world, number, sweeps, bootstrap, rng) for number in range(len(world.clean))]
    held: dict[str, list[bool]] = {}
    for sweep in range(sweeps):
        cells = {slot: values[sweep] for part in drawn for slot, values in part.items()}
        for name, (truth, ends) in _figures(world, cells).items():
            held.setdefault(name, []).append(ends[0] - 1e-12 <= truth <= ends[1] + 1e-12)
    return {name: float(np.mean(found)) for name, found in held.items()}


def _dataset(
    world: World, number: int, sweeps: int, bootstrap: Bootstrap, rng: np.random.Generator
) -> dict[Slot, np.ndarray]:
    """Return the scores of a dataset's cells with their resamples, (sweeps, 1 + resamples) each."""
    name, clean = f"data{number}", world.clean[number]
    counts = Counts(bootstrap).of(name, [str(image) for image in range(world.images)])
    counts = np.concatenate([np.ones((world.images, 1), np.uint8), counts], axis=1)
    difficulty = rng.standard_normal((sweeps, world.images))
    questions = rng.integers(1, 6, (sweeps, world.images))
    cells = {BLUR.baseline: clean, BLUR: clean * world.blur, TYPO: clean * world.typo}
    found = {}
    for slot, truth in cells.items():
        level = NormalDist().inv_cdf(truth) * math.sqrt(1 + SPREAD**2)
        right = rng.binomial(questions, ndtr(level + SPREAD * difficulty))
        found[slot._replace(dataset=name)] = _ratios(counts, right, questions)
    return found


def _ratios(counts: np.ndarray, right: np.ndarray, asked: np.ndarray) -> np.ndarray:
    def of(numbers: np.ndarray) -> np.ndarray:
        return np.stack(list(totals(counts, {str(row): numbers[row] for row in range(len(numbers))}).values()))

    return of(right) / of(asked)


def _figures(world: World, cells: Mapping[Slot, np.ndarray]) -> dict[str, tuple[float, tuple[float, float]]]:
    """Return the true value and the interval of each figure of one sweep."""
    clean = {slot: values for slot, values in cells.items() if slot.perturbation == CLEAN}
    pairs = {slot: Pair(cells[slot.baseline], values) for slot, values in cells.items() if slot not in clean}
    efficiencies: dict[Slot, Drawn | str] = dict.fromkeys(clean, EFFICIENCY)
    vector = vector_of(Evidence(Ledger(clean, pairs, {}), efficiencies, OWN_EMPTY), Field(tuple(cells), {}, 1), SCHEME)
    p, rr = float(np.mean(world.clean)), (world.blur + world.typo) / 2
    cdc = float(evenness(np.array(world.clean)))
    truth = {"P": p, "CDC": cdc, "RR": rr, "overall": (p + cdc + rr + EFFICIENCY) / 4}
    first = BLUR._replace(dataset="data0")
    found = {"cell": (world.clean[0], _known(interval(cells[first.baseline])))}
    found["perturbed cell"] = (world.clean[0] * world.blur, _known(interval(cells[first])))
    figures = vector.figures()
    return found | {name: (value, _known(figures[name].interval)) for name, value in truth.items()}


def _known(ends: tuple[float, float] | None) -> tuple[float, float]:
    assert ends is not None
    return ends


def cider_coverage(annotations: Path, corpora: int, images: int, bootstrap: Bootstrap) -> str:
    """Return what intervals with the corpus's own document frequencies are worth, against new corpora."""
    found: dict[int, list[str]] = {}
    for one in json.loads(annotations.read_text())["annotations"]:
        found.setdefault(one["image_id"], []).append(one["caption"])
    people = [texts for texts in found.values() if len(texts) > 1]
    rng = np.random.default_rng(0)
    drawn = [rng.choice(len(people), images, replace=False) for _ in range(corpora)]
    counts = Counts(bootstrap).of("coco", [str(image) for image in range(images)])
    rows, errors = [], []
    for corpus in drawn:
        sums = _captions([people[number] for number in corpus])
        score = float(sums["cider_d"].sum() / images)
        resampled = totals(counts, sums)
        draws = resampled["cider_d"] / resampled["captions"]
        rows.append((score, *_known(interval(with_draws(score, draws, bootstrap.resamples)))))
        errors.append(float(np.std(draws)))
    scores, low, high = np.array(rows).T
    truth = scores.mean()
    anew = [
        _captions([people[number] for number in rng.choice(drawn[0], images)])["cider_d"].mean() for _ in range(100)
    ]
    return (
        f"CIDEr-D of {images} pictures: deviation of corpora {scores.std():.4f}, of resamples {np.mean(errors):.4f}, "
        f"coverage {np.mean((low <= truth) & (truth <= high)):.3f}; a corpus of {scores[0]:.3f} has resamples of "
        f"{np.mean(anew):.3f} on average where they count document frequencies of their own"
    )


def _captions(corpus: Sequence[Sequence[str]]) -> dict[str, np.ndarray]:
    predictions = [CaptionPrediction("", f"{n:06}", texts[0], tuple(texts[1:])) for n, texts in enumerate(corpus)]
    return dict(image_sums("captioning", predictions).columns)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sweeps", type=int, default=4000)
    parser.add_argument("--captions", type=Path)
    options = parser.parse_args(arguments)
    if options.captions is not None:
        print(cider_coverage(options.captions, 400, 100, SCHEME.bootstrap))
        return
    print(f"{options.sweeps} simulated sweeps each, {SCHEME.bootstrap.resamples} resamples")
    for name, world in WORLDS.items():
        found = coverage(world, options.sweeps, SCHEME.bootstrap)
        print(f"{name:8}", "  ".join(f"{figure} {share:.3f}" for figure, share in found.items()), flush=True)


if __name__ == "__main__":
    main()
