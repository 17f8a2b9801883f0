from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from argus.scoring.simplex import changes, weight_analysis, weightings

PARTS = ("P", "CDC", "RR", "E")
EQUAL = (1.0, 1.0, 1.0, 1.0)
rows = st.lists(st.lists(st.floats(0.01, 1), min_size=4, max_size=4), min_size=2, max_size=5)


def analysis(models: dict[str, tuple[float, ...]], weights=EQUAL, geometric=False):
    return weight_analysis(models, PARTS, weights, geometric)


def test_weightings_are_even_over_the_simplex():
    points = weightings(4)
    assert points.sum(axis=1) == pytest.approx(1)
    assert points.min() > 0
    assert [weightings(parts).shape[1] for parts in (1, 2, 3)] == [1, 2, 3]
    assert points.mean(axis=0) == pytest.approx([0.25] * 4, abs=1e-3)
    assert np.var(points, axis=0) == pytest.approx([3 / 80] * 4, rel=0.01)  # of the uniform (Dirichlet) distribution


def test_two_models_that_mirror_each_other_win_half_of_all_weightings():
    found = analysis({"a": (1, 0, 0.5, 0.5), "b": (0, 1, 0.5, 0.5)})
    assert found.won == pytest.approx({"a": 0.5, "b": 0.5}, abs=1e-3)


def test_the_share_won_is_the_volume_of_that_part_of_the_simplex():
    # a is 1 ahead in P and behind by 1, 2 and 3 elsewhere: the half-space cuts off 1/2 x 1/3 x 1/4 of the simplex
    found = analysis({"a": (1, 0, 0, 0), "b": (0, 1, 2, 3)})
    assert found.won["a"] == pytest.approx(1 / 24, rel=0.01)


def test_a_model_that_is_behind_everywhere_wins_nowhere_and_no_weights_help_it():
    found = analysis({"a": (0.9, 0.8, 0.7, 0.6), "b": (0.8, 0.7, 0.6, 0.5)})
    assert found.won == {"a": 1.0, "b": 0.0}
    assert (found.winner, found.change) == ("a", None)
    assert (found.tau, found.same_order) == (1.0, 1.0)


def test_equal_models_share_every_weighting():
    assert analysis({"a": (0.5,) * 4, "b": (0.5,) * 4, "c": (0.1,) * 4}).won == {"a": 0.5, "b": 0.5, "c": 0.0}


def test_the_smallest_change_by_hand():
    # At equal weights a leads by (0.4 + 0 + 0 - 0.2) / 4 = 0.05. Each share moved from P to E brings b 0.6: 1/12 does.
    found = analysis({"a": (0.8, 0.5, 0.5, 0.3), "b": (0.4, 0.5, 0.5, 0.5)})
    assert found.winner == "a"
    assert found.change.challenger == "b"
    assert found.change.moved == pytest.approx(1 / 12)
    assert found.change.weights == pytest.approx((1 / 4 - 1 / 12, 1 / 4, 1 / 4, 1 / 4 + 1 / 12))


def test_weight_is_taken_from_a_second_part_when_the_first_has_none_left():
    # b is ahead in E alone. P holds 0.1 of the weight; all of it, and some of CDC's, has to move.
    found = analysis({"a": (1, 0.8, 0.5, 0.1), "b": (0, 0.2, 0.5, 0.6)}, weights=(0.1, 0.6, 0.2, 0.1))
    lead = 0.1 * 1 + 0.6 * 0.6 - 0.1 * 0.5
    assert found.change.moved == pytest.approx(0.1 + (lead - 0.1 * 1.5) / 1.1)
    assert found.change.weights[0] == 0


@settings(max_examples=60, deadline=None)
@given(matrix=rows, weights=st.lists(st.floats(0.01, 1), min_size=4, max_size=4))
def test_the_smallest_change_is_that_of_a_linear_program(matrix, weights):
    own = np.array(weights) / math.fsum(weights)
    named = {str(number): np.array(row) for number, row in enumerate(matrix)}
    found = {change.challenger: change.moved for change in changes(named, own)}
    assert list(found.values()) == sorted(found.values())
    winner = max(named, key=lambda name: float(named[name] @ own))
    for name, row in named.items():
        if name == winner:
            assert name not in found
            continue
        ahead = row - named[winner]
        can = ahead.max() > 1e-12 or abs(ahead @ own) <= 1e-12  # who is ahead in no part may draw level, but never wins
        least = least_moved(ahead, own) if can else math.inf
        assert found.get(name, math.inf) == pytest.approx(least, abs=1e-6)


def least_moved(ahead: np.ndarray, own: np.ndarray) -> float:
    """Weights own + up - down that make `ahead` at least 0, with the least sum of up and down, halved."""
    solved = linprog(
        np.full(8, 0.5),
        A_ub=[np.concatenate([-ahead, ahead])],
        b_ub=[float(ahead @ own) - 1e-12],
        A_eq=[[1] * 4 + [-1] * 4],
        b_eq=[0],
        bounds=[(0, None)] * 4 + [(0, share) for share in own],
    )
    return float(solved.fun) if solved.status == 0 else math.inf


@settings(max_examples=20, deadline=None)
@given(matrix=rows)
def test_all_weightings_are_won_by_somebody_and_taus_lie_in_range(matrix):
    found = analysis({str(number): tuple(row) for number, row in enumerate(matrix)})
    assert math.fsum(found.won.values()) == pytest.approx(1)
    assert -1 <= found.tau <= 1
    assert 0 <= found.same_order <= 1


def test_tau_is_the_mean_over_weightings_by_hand():
    # a and b swap in half of all weightings, c is always last: tau is 1 or 1/3
    found = analysis({"a": (1, 0.5, 0.5, 0.5), "b": (0.5, 1, 0.5, 0.5), "c": (0.1,) * 4}, weights=(2, 1, 1, 1))
    assert found.tau == pytest.approx(2 / 3, abs=1e-3)
    assert found.same_order == pytest.approx(0.5, abs=1e-3)


def test_the_geometric_form_is_judged_by_logarithms():
    models = {"even": (0.5, 0.5, 0.5, 0.5), "uneven": (1.0, 1.0, 1.0, 0.01)}
    assert analysis(models).winner == "uneven"
    geometric = analysis(models, geometric=True)
    # 3/4 ln 1 + 1/4 ln 0.01 = -1.15 against ln 0.5 = -0.69
    assert geometric.winner == "even"
    assert geometric.won["even"] > analysis(models).won["even"]
    assert analysis({"a": (0.0, 1, 1, 1), "b": (0.1,) * 4}, geometric=True).winner == "b"


def test_one_model_has_no_rival():
    found = analysis({"a": (0.5,) * 4})
    assert (found.won, found.tau, found.change) == ({"a": 1.0}, None, None)
