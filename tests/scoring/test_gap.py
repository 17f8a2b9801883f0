from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from argus.scoring.drawn import value_of
from argus.scoring.gap import capability_reliability_gap, kendall, reliability_of, spearman
from argus.scoring.records import Value, Vector

NONE = Value(None, "", "not measured")


def vector(p, cdc, rr) -> Vector:
    """Each a figure, or a list: the figure, then its resamples."""
    return Vector(*(value_of(np.array(x, dtype=float), "") for x in (p, cdc, rr)), E=NONE, overall=NONE)


def test_reliability_is_the_mean_of_consistency_and_robustness_with_the_latter_capped():
    assert reliability_of(vector(0.5, 0.8, 0.6)).value == pytest.approx(0.7)
    assert reliability_of(vector(0.5, 0.8, 1.2)).value == pytest.approx(0.9)
    lacking = Vector(Value(0.5, ""), NONE, Value(0.9, ""), NONE, NONE)
    assert reliability_of(lacking).gap == "CDC is missing: not measured"


def test_the_more_capable_and_less_reliable_of_two_models_is_a_flip_with_its_probability():
    gap = capability_reliability_gap(
        {
            "strong": vector([0.8, 0.8, 0.6, 0.8, 0.9], [0.5] * 5, [0.7, 0.7, 0.7, 0.9, 0.6]),
            "steady": vector([0.7, 0.7, 0.7, 0.7, 0.7], [0.6] * 5, [0.7] * 5),
        }
    )
    assert gap.rank_by_capability == {"strong": 1, "steady": 2}
    assert gap.rank_by_reliability == {"strong": 2, "steady": 1}
    (flip,) = gap.flips
    assert (flip.capable, flip.reliable) == ("strong", "steady")
    assert flip.probability == pytest.approx(2 / 4)  # not in the second resample (P) nor the third (R)
    assert (gap.spearman.value, gap.kendall.value) == (-1, -1)


def test_the_same_order_by_both_is_no_gap():
    gap = capability_reliability_gap({"a": vector(0.8, 0.8, 0.8), "b": vector(0.7, 0.7, 0.7)})
    assert gap.flips == ()
    assert (gap.spearman.value, gap.spearman.interval) == (1, None)


def test_a_flip_without_resamples_has_no_probability():
    (flip,) = capability_reliability_gap({"a": vector(0.8, 0.2, 0.2), "b": vector(0.7, 0.7, 0.7)}).flips
    assert flip.probability is None


def test_a_model_without_reliability_is_left_out_and_one_model_is_a_gap_with_a_reason():
    lacking = Vector(Value(0.9, ""), NONE, NONE, NONE, NONE)
    gap = capability_reliability_gap({"a": lacking, "b": vector(0.5, 0.5, 0.5), "c": vector(0.4, 0.6, 0.6)})
    assert gap.spearman.over == "2 of 3 models"
    assert set(gap.rank_by_capability) == {"b", "c"}
    alone = capability_reliability_gap({"a": lacking, "b": vector(0.5, 0.5, 0.5)})
    assert "needs two models" in alone.spearman.gap
    assert alone.reliability["b"].value == 0.5


def test_equal_models_have_no_correlation_rather_than_a_made_up_one():
    gap = capability_reliability_gap({"a": vector(0.5, 0.5, 0.5), "b": vector(0.5, 0.6, 0.6)})
    assert "same" in gap.kendall.gap
    assert gap.rank_by_capability == {"a": 1, "b": 1}


def test_correlations_are_scipys_with_and_without_equals():
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 4, (6, 40)).astype(float), rng.integers(0, 4, (6, 40)).astype(float)
    for column in range(40):
        one, other = first[:, column], second[:, column]
        if len(set(one)) > 1 and len(set(other)) > 1:
            assert spearman(first, second)[column] == pytest.approx(stats.spearmanr(one, other).statistic)
            assert kendall(first, second)[column] == pytest.approx(stats.kendalltau(one, other).statistic)
