from __future__ import annotations

import subprocess
import sys

import pytest

from argus.efficiency.cost_score import cost_score, cost_scores
from argus.errors import ConfigError, DataError


def test_a_cost_at_its_reference_scores_a_half():
    assert cost_scores({"latency_p50_ms": 5.0}, {"latency_p50_ms": 5.0}) == {"latency_p50_ms": 0.5}


def test_scores_and_their_geometric_mean_are_those_computed_by_hand():
    costs, references = {"latency_p50_ms": 15.0, "parameters": 1e6}, {"latency_p50_ms": 5.0, "parameters": 4e6}
    assert cost_scores(costs, references) == pytest.approx({"latency_p50_ms": 0.25, "parameters": 0.8})
    assert cost_score(costs, references) == pytest.approx((0.25 * 0.8) ** 0.5)


def test_a_cheaper_model_scores_higher_in_whatever_is_cheaper():
    references = {"latency_p50_ms": 5.0, "parameters": 4e6}
    base = cost_score({"latency_p50_ms": 5.0, "parameters": 4e6}, references)
    assert cost_score({"latency_p50_ms": 4.9, "parameters": 4e6}, references) > base
    assert cost_score({"latency_p50_ms": 5.0, "parameters": 4.1e6}, references) < base


@pytest.mark.parametrize("cost", [0.0, -1.0, float("nan"), float("inf")])
def test_a_cost_that_is_not_above_zero_is_an_error_of_the_data(cost):
    with pytest.raises(DataError, match="parameters"):
        cost_score({"parameters": cost}, {"parameters": 1.0})


@pytest.mark.parametrize("reference", [0.0, -1.0, float("nan")])
def test_a_reference_that_is_not_above_zero_is_an_error_of_the_settings(reference):
    with pytest.raises(ConfigError, match="parameters"):
        cost_score({"parameters": 1.0}, {"parameters": reference})


def test_a_cost_without_reference_or_a_reference_without_cost_is_never_left_out_silently():
    with pytest.raises(DataError, match="energy"):
        cost_score({"parameters": 1.0, "energy": 1.0}, {"parameters": 1.0})
    with pytest.raises(DataError, match="energy"):
        cost_score({"parameters": 1.0}, {"parameters": 1.0, "energy": 1.0})
    with pytest.raises(ConfigError, match="reference"):
        cost_score({}, {})


def test_scoring_costs_loads_no_heavy_library():
    code = "import argus.efficiency.cost_score, sys; print('torch' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "False"
