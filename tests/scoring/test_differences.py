from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from argus.scoring.differences import detectable, difference, differences, holm, p_value
from argus.scoring.drawn import value_of
from argus.scoring.rank_probability import rank_probabilities
from argus.scoring.records import Value


def drawn(point: float, *draws: float) -> Value:
    return value_of(np.array([point, *draws]), "")


def test_holm_multiplies_by_the_number_of_hypotheses_left_and_never_falls():
    # sorted 0.01, 0.02, 0.03, 0.04: 4 x 0.01, 3 x 0.02, then 2 x 0.03 = 0.06, 1 x 0.04 raised to 0.06
    assert holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm([0.9, 0.6]) == pytest.approx([1.0, 1.0])
    assert holm([]) == []


def test_p_value_counts_resamples_as_far_from_their_mean_as_the_difference_from_zero():
    draws = np.repeat([0.1, 0.2, 0.3, 0.4], 10)  # mean 0.25: distances 0.15, 0.05, 0.05, 0.15
    assert p_value(0.15, draws) == pytest.approx((20 + 1) / 41)
    assert p_value(0.0, draws) == 1.0


def test_a_difference_beyond_all_resamples_has_the_p_value_of_a_z_test_and_survives_many_pairs():
    draws = np.random.default_rng(0).normal(0.5, 0.1, 1000)
    p = p_value(0.5, draws)
    assert p == pytest.approx(2 * stats.norm.sf(0.5 / np.std(draws)))
    assert holm([p, *[0.5] * 200])[0] < 0.01
    assert p_value(0.1, np.full(1000, 0.1)) == 0.0  # what does not vary is no noise
    assert p_value(0.0, np.full(1000, 0.0)) == 1.0


def test_a_model_does_not_differ_from_itself():
    mine = drawn(0.5, *np.random.default_rng(0).random(200))
    (one,) = differences("P", {"a": mine, "b": mine})
    assert (one.value, one.interval, one.p, one.p_holm) == (0.0, (0.0, 0.0), 1.0, 1.0)
    assert not one.beyond_noise


def test_pairing_finds_a_small_difference_between_figures_that_vary_much_together():
    rng = np.random.default_rng(0)
    shared = rng.normal(0, 0.05, 1000)
    one = drawn(0.52, *(0.52 + shared + rng.normal(0, 0.004, 1000)))
    other = drawn(0.50, *(0.50 + shared))
    (paired,) = differences("P", {"a": one, "b": other})
    assert paired.beyond_noise
    assert paired.interval == pytest.approx((0.02 - 1.96 * 0.004, 0.02 + 1.96 * 0.004), abs=1e-3)
    assert one.interval[0] < other.interval[1]  # the intervals themselves overlap


def test_the_p_value_of_no_difference_is_uniform():
    rng = np.random.default_rng(1)
    observed = rng.normal(0, 1, 800)  # of a true difference of 0
    found = np.array([p_value(value, value + rng.normal(0, 1, 400)) for value in observed])
    for level in (0.05, 0.2, 0.5):
        assert (found < level).mean() == pytest.approx(level, abs=3 * np.sqrt(level * (1 - level) / 800))


def test_the_detectable_effect_is_found_in_four_of_five_data_sets():
    rng = np.random.default_rng(2)
    noise = rng.normal(0, 0.1, 2000)
    effect = detectable(noise)
    assert effect == pytest.approx(2.8 * 0.1, rel=0.05)
    found = [p_value(value, value + rng.normal(0, 0.1, 400)) < 0.05 for value in effect + rng.normal(0, 0.1, 600)]
    assert np.mean(found) == pytest.approx(0.8, abs=0.05)


def test_correction_counts_the_pairs_of_one_figure():
    rng = np.random.default_rng(3)
    values = {name: drawn(mean, *rng.normal(mean, 0.01, 500)) for name, mean in (("a", 0.5), ("b", 0.51), ("c", 0.7))}
    found = differences("P", values)
    assert [(one.first, one.second) for one in found] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert [one.p_holm for one in found] == pytest.approx(holm([one.p for one in found]))
    assert [one.beyond_noise for one in found] == [False, True, True]


def test_the_order_of_models_changes_only_the_sign():
    rng = np.random.default_rng(4)
    one, other = drawn(0.5, *rng.random(100)), drawn(0.6, *rng.random(100))
    forth, back = difference("P", "a", "b", one, other), difference("P", "b", "a", other, one)
    assert forth.value == -back.value
    assert forth.interval == pytest.approx((-back.interval[1], -back.interval[0]))
    assert forth.p == back.p


def test_gaps_and_lacking_resamples_are_told_apart():
    gap = difference("CDC", "a", "b", Value(None, "", "needs two datasets"), drawn(0.5, 0.4))
    assert (gap.value, gap.gap) == (None, "a: needs two datasets")
    bare = difference("P", "a", "b", Value(0.7, ""), drawn(0.5, 0.4))
    assert bare.value == pytest.approx(0.2)
    assert (bare.p, bare.interval, bare.beyond_noise) == (None, None, False)


def test_rank_probabilities_are_shares_of_resamples_and_equals_share_their_ranks():
    # resamples: a > b > c; b > a > c; a = b > c; a > b = c
    values = {
        "a": drawn(0.9, 3, 2, 2, 3),
        "b": drawn(0.8, 2, 3, 2, 1),
        "c": drawn(0.7, 1, 1, 1, 1),
    }
    by_name = {one.name: one for one in rank_probabilities("P", values, ())}
    assert by_name["a"].probabilities == pytest.approx((2.5 / 4, 1.5 / 4, 0))
    assert by_name["b"].probabilities == pytest.approx((1.5 / 4, 2 / 4, 0.5 / 4))
    assert by_name["c"].probabilities == pytest.approx((0, 0.5 / 4, 3.5 / 4))


def test_ranges_of_ranks_count_differences_beyond_noise_alone():
    rng = np.random.default_rng(5)
    values = {name: drawn(mean, *rng.normal(mean, 0.01, 500)) for name, mean in (("a", 0.5), ("b", 0.51), ("c", 0.7))}
    ranks = rank_probabilities("P", values, differences("P", values))
    assert {one.name: (one.best, one.worst) for one in ranks} == {"a": (2, 3), "b": (2, 3), "c": (1, 1)}


def test_ranks_without_resamples_have_no_probability_and_a_gap_has_no_rank():
    values = {"a": Value(0.5, ""), "b": Value(0.4, ""), "c": Value(None, "", "no cell")}
    ranks = rank_probabilities("P", values, differences("P", values))
    assert [(one.name, one.probabilities, one.best, one.worst) for one in ranks] == [("a", (), 1, 2), ("b", (), 1, 2)]
