from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from argus.errors import ConfigError
from argus.metrics.image_sums import image_sums, metrics_of
from argus.records import ChoicePrediction
from argus.scoring.drawn import interval, value_of, with_draws
from argus.scoring.resampling import Bootstrap, Counts, totals

IDS = [f"image {number}" for number in range(80)]


def test_an_image_is_drawn_as_often_whatever_other_images_there_are_and_in_whatever_order():
    counts = Counts(Bootstrap(200, 0))
    all_of_them = counts.of("coco", IDS)
    some = Counts(Bootstrap(200, 0)).of("coco", [IDS[40], IDS[3]])
    assert (some == all_of_them[[40, 3]]).all()


def test_datasets_and_seeds_have_resamples_of_their_own():
    drawn = Counts(Bootstrap(200, 0)).of("coco", IDS)
    assert (drawn != Counts(Bootstrap(200, 0)).of("clevr", IDS)).any()
    assert (drawn != Counts(Bootstrap(200, 1)).of("coco", IDS)).any()


def test_an_image_is_drawn_once_on_average_with_the_variance_of_one():
    drawn = Counts(Bootstrap(1000, 0)).of("coco", IDS)
    assert drawn.mean() == pytest.approx(1.0, abs=0.02)
    assert drawn.var() == pytest.approx(1.0, abs=0.03)


def test_totals_are_sums_of_each_image_as_often_as_it_is_drawn():
    counts = np.array([[1, 0, 2], [1, 3, 0]], dtype=np.uint8)
    found = totals(counts, {"right": np.array([0.5, 1.0]), "asked": np.array([2.0, 4.0])})
    assert found["right"].tolist() == [1.5, 3.0, 1.0]
    assert found["asked"].tolist() == [6.0, 12.0, 4.0]


def test_many_images_are_summed_in_steps_without_a_difference(monkeypatch):
    counts = np.random.default_rng(0).poisson(1.0, (50, 120)).astype(np.uint8)
    columns = {"a": np.arange(50.0), "b": np.ones(50)}
    whole = totals(counts, columns)
    monkeypatch.setattr("argus.scoring.resampling.AT_ONCE", 700)
    for name, found in totals(counts, columns).items():
        np.testing.assert_allclose(found, whole[name])


def clustered(images: int, seed: int) -> list[ChoicePrediction]:
    """One to six questions of each image, whose answers agree more within an image than between."""
    rng = np.random.default_rng(seed)
    return [
        ChoicePrediction(f"{image}-{n}", f"{image}", "", "", (0.0, 0.0), int(rng.random() < ability), 1)
        for image, ability in enumerate(rng.beta(1.5, 0.8, images))
        for n in range(rng.integers(1, 7))
    ]


def test_the_interval_of_a_clustered_score_is_that_of_scipys_bootstrap_over_images():
    sums = image_sums("reasoning", clustered(150, 0))
    drawn = metrics_of("reasoning", totals(Counts(Bootstrap(6000, 0)).of("clevr", sums.image_ids), sums.columns))
    point = float(metrics_of("reasoning", sums.totals())["score"])
    low, high = interval(with_draws(point, drawn["score"], 6000))

    def ratio(right, asked, axis=-1):
        return right.sum(axis=axis) / asked.sum(axis=axis)

    data = (sums.columns["right"], sums.columns["questions"])
    reference = stats.bootstrap(
        data, ratio, paired=True, n_resamples=6000, method="percentile", rng=np.random.default_rng(0)
    )
    error = 0.06 * (high - low)  # of two ends of 6,000 resamples each, twice their standard error
    assert (low, high) == pytest.approx(tuple(reference.confidence_interval), abs=error)
    assert drawn["score"].std() == pytest.approx(reference.standard_error, rel=0.04)
    independent = np.sqrt(point * (1 - point) / sums.columns["questions"].sum())
    assert drawn["score"].std() > 1.2 * independent  # what treating questions as independent would claim


def test_a_figure_without_resamples_has_no_interval():
    assert value_of(0.5, "1 cell").interval is None
    assert interval(np.array([0.5])) is None


def test_an_interval_leaves_out_a_fortieth_on_either_side_and_holds_the_figure():
    assert interval(np.concatenate([[0.5], np.linspace(0, 1, 1001)])) == pytest.approx((0.025, 0.975))
    assert interval(np.concatenate([[2.0], np.linspace(0, 1, 1001)])) == pytest.approx((0.025, 2.0))


def test_few_resamples_without_the_figure_are_left_out_and_many_make_the_interval_unknown():
    draws = np.linspace(0, 1, 1001)
    few, many = draws.copy(), draws.copy()
    few[::50], many[::10] = np.nan, np.nan
    assert interval(np.concatenate([[0.5], few])) == pytest.approx((0.025, 0.975), abs=2e-3)
    assert interval(np.concatenate([[0.5], many])) is None


def test_a_score_without_known_resamples_makes_no_interval_of_width_zero():
    assert value_of(with_draws(0.5, None, 1000), "1 cell").interval is None


@pytest.mark.parametrize("bad", [-1, 1, 99, 100.0, True])
def test_too_few_resamples_are_refused_by_name(bad):
    with pytest.raises(ConfigError, match=f"score.bootstrap.resamples={bad}"):
        Bootstrap(bad, 0)


def test_a_seed_below_zero_is_refused_by_name():
    with pytest.raises(ConfigError, match=r"score\.bootstrap\.seed=-1"):
        Bootstrap(1000, -1)


def test_intervals_hold_the_truth_as_often_as_they_say():
    simulation = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "coverage.py"))
    found = simulation["coverage"](simulation["WORLDS"]["uneven"], 1200, Bootstrap(600, 0))
    for figure in ("cell", "perturbed cell", "P", "RR", "overall"):
        assert 0.93 <= found[figure] <= 0.97, found
    even = simulation["coverage"](simulation["WORLDS"]["even"], 300, Bootstrap(600, 0))
    assert found["CDC"] >= 0.93
    assert even["CDC"] >= 0.93  # a plain percentile interval holds it in under half of these
