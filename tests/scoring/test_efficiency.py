from __future__ import annotations

import math

import pytest

from argus.scoring.efficiency import efficiencies, efficiency
from argus.scoring.records import Slot

NAMES = ("latency_p50_ms", "throughput_per_s")
REFERENCES = {"latency_p50_ms": 10.0, "throughput_per_s": 50.0}
COCO = Slot("coco", "retrieval", "clean", "none", 0)


def found(make_cell, form: str, *costs: dict[str, float], references: dict[str, float] = REFERENCES):
    cells = [{COCO: make_cell("m", "coco", "retrieval", 0.5, costs=c, references=references)} for c in costs]
    return [mine[COCO] for mine in efficiencies(cells, form, NAMES)]


def test_costs_at_their_references_score_one_half(make_cell):
    assert found(make_cell, "reference", dict(REFERENCES)) == [pytest.approx(0.5)]


def test_reference_form_is_the_geometric_mean_with_throughput_as_seconds_per_sample(make_cell):
    # latency 30: 10 / 40 = 1/4; throughput 200/s: 0.02 / (0.02 + 0.005) = 4/5
    score = found(make_cell, "reference", {"latency_p50_ms": 30.0, "throughput_per_s": 200.0})
    assert score == [pytest.approx(math.sqrt(1 / 4 * 4 / 5))]


def test_relative_form_is_the_geometric_mean_of_the_cheapest_over_the_cost(make_cell):
    # cheapest latency 10, fastest 100/s; the first: 1 and 1/2, the second: 1/4 and 1
    costs = ({"latency_p50_ms": 10.0, "throughput_per_s": 50.0}, {"latency_p50_ms": 40.0, "throughput_per_s": 100.0})
    assert found(make_cell, "relative", *costs) == [pytest.approx(math.sqrt(0.5)), pytest.approx(0.5)]


@pytest.mark.parametrize("form", ["reference", "relative"])
@pytest.mark.parametrize("lacking", [{}, {"throughput_per_s": math.nan}])
def test_an_unmeasured_cost_is_named_with_a_way_out(make_cell, form, lacking):
    (reason,) = found(make_cell, form, {"latency_p50_ms": 10.0} | lacking)
    assert reason.startswith("throughput_per_s not measured; leave out of score.formulas.costs")


@pytest.mark.parametrize("form", ["reference", "relative"])
@pytest.mark.parametrize("cost", [math.inf, 0.0, -1.0])
@pytest.mark.parametrize("name", ["latency_p50_ms", "throughput_per_s"])
def test_a_cost_that_is_no_positive_number_is_named(make_cell, form, cost, name):
    (reason,) = found(make_cell, form, REFERENCES | {name: cost})
    assert reason == f"{name} is {cost:g}"


def test_a_model_without_costs_leaves_the_relative_efficiency_of_others_alone(make_cell):
    first, second = found(make_cell, "relative", dict(REFERENCES), {})
    assert first == pytest.approx(1.0)
    assert isinstance(second, str)


def test_no_reference_is_named_with_its_hardware(make_cell):
    (reason,) = found(make_cell, "reference", dict(REFERENCES), references={"latency_p50_ms": 1.0})
    assert reason == "hardware 'cpu' has no reference for throughput_per_s"


def test_a_reference_of_zero_is_named(make_cell):
    (reason,) = found(make_cell, "reference", dict(REFERENCES), references=REFERENCES | {"latency_p50_ms": 0.0})
    assert reason == "a reference of hardware 'cpu' is not above 0: latency_p50_ms is 0"


def test_efficiency_is_the_arithmetic_mean_over_cells_and_names_those_without():
    flickr, clevr = COCO._replace(dataset="flickr30k"), COCO._replace(dataset="clevr")
    value = efficiency({COCO: 0.2, flickr: 0.6, clevr: "x was not measured"}, 3, "")
    assert value.value == pytest.approx(0.4)
    assert value.over == "2 of 3 clean cells"
    assert value.notes == ("E stands without clevr/retrieval/clean: x was not measured",)


def test_no_measured_cell_is_a_gap_with_its_reason():
    assert efficiency({COCO: "x was not measured"}, 1, "").gap == "x was not measured"
    assert efficiency({}, 1, "nothing there").gap == "nothing there"
