"""What cells keep becomes resamples of their scores and costs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import bootstrap

from argus.errors import DataError
from argus.metrics.image_sums import image_sums
from argus.records import CellKey, CellResult, ChoicePrediction
from argus.scoring.pairing import rescorer
from argus.scoring.resampling import Bootstrap, Counts
from argus.uncertainty import Evidence, drawn_score, read_timings, resampled_costs, sample

BOOTSTRAP = Bootstrap(500, 0)
COSTS = {"latency_p50_ms": 30.0, "latency_p95_ms": 38.0, "throughput_per_s": 40.0, "parameters": 1e6}
TIMINGS = {"latencies_s": [0.02, 0.03, 0.04], "samples": [16, 16], "seconds": [0.3, 0.5]}


def answers(right: list[bool], kind: str = "exist") -> list[ChoicePrediction]:
    return [ChoicePrediction(f"{kind}{n}", f"{n}", kind, "", (0.0, 0.0), int(hit), 1) for n, hit in enumerate(right)]


RIGHT = [True] * 30 + [False] * 20
CELL = CellResult(
    CellKey("clip", "clevr", "reasoning", "clean", "none", 0, "cpu"), "FINISHED", "run", 0.6, 50, (), {}, {}, {}
)


def never(cell: CellResult):
    raise AssertionError("nothing is to be read")


def evidence(predictions, timings=TIMINGS) -> Evidence:
    return Evidence(
        predictions=lambda cell: predictions,
        sums=lambda cell: image_sums("reasoning", predictions),
        timings=lambda cell: timings,
        ceiling=lambda cell: None,
        outcomes=never,
    )


def test_a_cell_gets_resamples_of_its_score_and_intervals_of_its_metrics():
    sampled = sample([CELL], evidence(answers(RIGHT)), Counts(BOOTSTRAP))
    draws = sampled.resamples.scores["run"]
    assert draws.shape == (500,)
    assert draws.std() == pytest.approx(np.sqrt(0.6 * 0.4 / 50), rel=0.15)
    low, high = sampled.intervals["run"]["score"]
    assert (low, high) == pytest.approx(tuple(np.quantile(draws, [0.025, 0.975])))
    assert set(sampled.intervals["run"]) == {"score", "accuracy", "accuracy_chance_adjusted", "accuracy_exist"}


def test_each_kind_of_question_has_the_interval_that_scipy_gives_for_a_resample_of_whole_images():
    rng, found = np.random.default_rng(3), []
    for image in range(150):  # an image is easy or hard, so that its questions go together
        easy = rng.random()
        for kind in ("count", "exist", "exist"):
            for place in range(rng.integers(0, 4)):
                hit = int(rng.random() < easy)
                found.append(ChoicePrediction(f"{image}{kind}{place}", f"{image}", kind, "", (0.0, 0.0), hit, 1))
    cell = replace(CELL, score=float(np.mean([one.predicted for one in found])))
    intervals = sample([cell], evidence(found), Counts(Bootstrap(4000, 0))).intervals["run"]
    for kind in ("count", "exist"):
        images = [[one.predicted for one in found if one.image_id == f"{n}" and one.kind == kind] for n in range(150)]
        counted = ([sum(hits) for hits in images], [len(hits) for hits in images])
        by_scipy = bootstrap(
            counted,
            lambda right, asked, axis: right.sum(axis=axis) / asked.sum(axis=axis),
            paired=True,
            method="percentile",
            n_resamples=4000,
            rng=np.random.default_rng(0),
        ).confidence_interval
        assert intervals[f"accuracy_{kind}"] == pytest.approx((by_scipy.low, by_scipy.high), abs=0.01)
        assert by_scipy.high - by_scipy.low > 0.1


def test_a_kind_that_is_always_right_leaves_a_doubt_of_three_in_the_images_that_it_was_asked_of():
    found = [*answers([True] * 20, "exist"), *answers(RIGHT, "count")]
    cell = replace(CELL, score=50 / 70)
    intervals = sample([cell], evidence(found), Counts(BOOTSTRAP)).intervals["run"]
    assert intervals["accuracy_exist"] == pytest.approx((1 - 3 / 20, 1.0), abs=1e-3)


def test_sums_of_older_runs_know_no_kinds_and_give_the_other_intervals():
    whole = image_sums("reasoning", answers(RIGHT))
    old = replace(whole, columns={name: one for name, one in whole.columns.items() if "." not in name})
    sampled = sample([CELL], replace(evidence([]), sums=lambda cell: old), Counts(BOOTSTRAP))
    assert set(sampled.intervals["run"]) == {"score", "accuracy", "accuracy_chance_adjusted"}


def test_cells_of_one_dataset_share_their_resamples():
    worse = answers([hit and n % 3 > 0 for n, hit in enumerate(RIGHT)])
    other = replace(CELL, run_id="worse", score=0.4)
    counts = Counts(BOOTSTRAP)
    first = sample([CELL], evidence(answers(RIGHT)), counts).resamples.scores["run"]
    second = sample([other], evidence(worse), counts).resamples.scores["worse"]
    assert (first >= second).all()  # it is right wherever the other is: in every resample too


def test_sums_that_do_not_give_the_stored_score_are_told_and_not_used():
    sampled = sample([replace(CELL, score=0.7)], evidence(answers(RIGHT)), Counts(BOOTSTRAP))
    assert sampled.resamples.scores == {}
    assert "give the score 0.6, but 0.7 is stored" in sampled.resamples.missing["run"]


def test_a_cell_that_kept_nothing_is_named_and_the_others_go_on():
    def nothing(cell: CellResult):
        if cell.run_id == "old":
            raise DataError("run old has no readable artifact 'image_sums.parquet'")
        return image_sums("reasoning", answers(RIGHT))

    sampled = sample([replace(CELL, run_id="old"), CELL], replace(evidence([]), sums=nothing), Counts(BOOTSTRAP))
    assert sampled.resamples.missing == {"old": "run old has no readable artifact 'image_sums.parquet'"}
    assert list(sampled.resamples.scores) == ["run"]


def test_unfinished_cells_and_no_resamples_read_nothing():
    unread = replace(evidence([]), sums=never)
    assert sample([replace(CELL, status="FAILED", score=None)], unread, Counts(BOOTSTRAP)).intervals == {}
    assert sample([CELL], unread, Counts(Bootstrap(0, 0))).resamples.count == 0


def test_all_right_answers_leave_a_doubt_of_three_in_the_number_of_images():
    sampled = sample([replace(CELL, score=1.0)], evidence(answers([True] * 50)), Counts(BOOTSTRAP))
    assert sampled.intervals["run"]["score"] == pytest.approx((1 - 3 / 50, 1.0), abs=1e-3)
    sampled = sample([replace(CELL, score=0.0)], evidence(answers([False] * 50)), Counts(BOOTSTRAP))
    assert sampled.intervals["run"]["score"] == pytest.approx((0.0, 3 / 50), abs=1e-3)


def test_costs_that_are_timed_vary_with_the_calls_and_what_is_counted_does_not():
    costs = resampled_costs(replace(CELL, costs=COSTS), TIMINGS, BOOTSTRAP)
    assert set(costs) == set(COSTS)
    assert set(np.unique(costs["latency_p50_ms"]).round(6)) == {20.0, 30.0, 40.0}
    assert set(np.unique(costs["throughput_per_s"]).round(6)) == {32.0, 40.0, round(16 / 0.3, 6)}
    assert (costs["parameters"] == 1e6).all()


def test_timings_are_read_as_a_cell_writes_them(tmp_path: Path):
    batches = [{"samples": 16, "seconds": 0.3}, {"samples": 16, "seconds": 0.5}]
    (tmp_path / "timings.json").write_text(json.dumps({"latencies_s": [0.02, 0.03, 0.04], "batches": batches}))
    assert read_timings(tmp_path / "timings.json") == TIMINGS


def test_cells_with_other_pictures_are_scored_and_resampled_over_those_they_share():
    clean, perturbed = answers(RIGHT), answers(RIGHT)[5:]
    counts = Counts(BOOTSTRAP)
    both = replace(evidence([]), predictions=lambda cell: clean if cell.run_id == "run" else perturbed)
    pair = rescorer(both.predictions, drawn_score(both, counts))(CELL, replace(CELL, run_id="blurred"))
    assert pair.clean[0] == pair.perturbed[0] == pytest.approx(25 / 45)
    assert (pair.clean == pair.perturbed).all()
    assert len(pair.clean) == 501
