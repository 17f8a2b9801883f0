from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.errors import ConfigError
from argus.scoring.overall import overall
from argus.scoring.records import Value
from argus.scoring.scheme import Formulas, Weights

shares = st.floats(0, 1)
weights = st.lists(st.floats(0, 100), min_size=4, max_size=4).filter(lambda w: sum(w) > 1e-6)


def parts(p: float, cdc: float, rr: float, e: float) -> dict[str, Value]:
    return {name: Value(value, "") for name, value in zip(("P", "CDC", "RR", "E"), (p, cdc, rr, e), strict=True)}


def test_arithmetic_is_the_weighted_mean():
    # (3 * 0.6 + 0.8 + 0.9 + 0.5) / 6
    assert overall(parts(0.6, 0.8, 0.9, 0.5), Weights(3, 1, 1, 1), "arithmetic").value == pytest.approx(4.0 / 6)


def test_geometric_is_the_weighted_geometric_mean_and_zero_where_a_part_is():
    assert overall(parts(0.25, 1, 1, 1), Weights(1, 1, 0, 0), "geometric").value == pytest.approx(0.5)
    assert overall(parts(0.0, 1, 1, 1), Weights(1, 1, 1, 1), "geometric").value == 0.0


def test_ratio_above_one_counts_as_one():
    assert overall(parts(0.5, 0.5, 1.5, 0.5), Weights(0, 0, 1, 0), "arithmetic").value == 1.0


def test_a_gap_in_a_weighted_part_is_a_gap_of_the_overall_with_its_reason():
    holed = parts(0.5, 0.5, 0.5, 0.5) | {"CDC": Value(None, "", "needs two datasets")}
    assert overall(holed, Weights(1, 1, 1, 1), "arithmetic").gap == "CDC is missing: needs two datasets"
    assert overall(holed, Weights(1, 0, 1, 1), "arithmetic").value == 0.5


@pytest.mark.parametrize("form", ["arithmetic", "geometric"])
@given(values=st.lists(shares, min_size=4, max_size=4), given_weights=weights)
def test_overall_lies_between_its_lowest_and_highest_part(form, values, given_weights):
    value = overall(parts(*values), Weights(*given_weights), form).value
    weighed = [v for v, w in zip(values, given_weights, strict=True) if w > 0]
    assert value is not None
    assert min(weighed) - 1e-9 <= value <= max(weighed) + 1e-9


@given(values=st.lists(shares, min_size=4, max_size=4), given_weights=weights, factor=st.floats(0.01, 100))
def test_only_the_proportions_of_weights_matter(values, given_weights, factor):
    once = overall(parts(*values), Weights(*given_weights), "arithmetic").value
    scaled = overall(parts(*values), Weights(*(factor * w for w in given_weights)), "arithmetic").value
    assert once == pytest.approx(scaled)


@pytest.mark.parametrize("bad", [-1.0, float("nan"), float("inf")])
def test_a_weight_that_is_negative_or_not_finite_is_refused_by_name(bad):
    with pytest.raises(ConfigError, match=r"score\.weights\.CDC"):
        Weights(1, bad, 1, 1)


def test_weights_that_sum_to_zero_are_refused():
    with pytest.raises(ConfigError, match="all 0"):
        Weights(0, 0, 0, 0)


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"cdc": "ginny"}, "cdc=ginny"),
        ({"efficiency": "absolute"}, "efficiency=absolute"),
        ({"overall": "harmonic"}, "overall=harmonic"),
        ({"costs": ["latency"]}, "latency"),
        ({"costs": []}, "costs"),
        ({"costs": ["parameters", "parameters"]}, "each once"),
    ],
)
def test_an_unknown_formula_is_refused_with_what_there_is(changed, named):
    good = {"cdc": "gini", "efficiency": "reference", "costs": ["parameters"], "overall": "geometric"}
    assert Formulas(**good).costs == ("parameters",)
    with pytest.raises(ConfigError, match=named):
        Formulas(**(good | changed))


def test_a_value_has_a_number_or_a_reason():
    for number, gap in ((None, ""), (0.5, "why"), (float("nan"), "")):
        with pytest.raises(ValueError, match="figure"):
            Value(number, "", gap)
