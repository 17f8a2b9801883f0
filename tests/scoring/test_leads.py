"""Who comes first by what."""

from __future__ import annotations

import numpy as np
import pytest

from argus.scoring.differences import differences
from argus.scoring.drawn import value_of, with_draws
from argus.scoring.leads import lead, leads
from argus.scoring.records import Value
from argus.scoring.vector import score_models


def never(clean, perturbed):
    raise AssertionError("the samples are the same")


def drawn(figure: float, deviation: float, seed: int) -> Value:
    return value_of(with_draws(figure, np.random.default_rng(seed).normal(figure, deviation, 500), 500), "")


def lead_of(values):
    known = {name: value for name, value in values.items() if not value.gap}
    return lead("P", values, differences("P", known))


def test_a_model_within_noise_of_the_first_is_as_good_and_one_beyond_it_is_not():
    found = lead_of({"a": drawn(0.80, 0.01, 0), "b": drawn(0.79, 0.01, 1), "c": drawn(0.60, 0.01, 2)})
    assert (found.first, found.as_good, found.told_apart) == (("a",), ("b",), True)
    assert found.value.value == 0.80


def test_a_model_without_the_figure_is_named_and_not_ranked():
    found = lead_of({"a": drawn(0.5, 0.01, 0), "b": Value(None, "", "no such cell")})
    assert (found.first, found.as_good, found.lacking) == (("a",), (), ("b",))


def test_equals_share_the_lead():
    found = lead_of({"a": Value(0.5, ""), "b": Value(0.5, ""), "c": Value(0.4, "")})
    assert found.first == ("a", "b")


def test_without_resamples_nobody_is_said_to_be_worse():
    found = lead_of({"a": Value(0.5, ""), "b": Value(0.1, "")})
    assert not found.told_apart


@pytest.fixture
def cards(make_cell, make_scheme):
    cells = []
    for model, scores in {"a": {"retrieval": 0.5, "reasoning": 0.9}, "b": {"retrieval": 0.8}}.items():
        for task, score in scores.items():
            cells.append(make_cell(model, "coco", task, score))
            cells.append(make_cell(model, "coco", task, score * (0.9 if model == "a" else 0.5), "blur", 3, "image"))
            cells.append(make_cell(model, "coco", task, score * 0.7, "typo", 3, "text"))
    return score_models(cells, make_scheme(), never)


def test_each_task_and_each_kind_of_perturbation_has_its_own_lead(cards):
    found = {one.figure: one for one in leads(cards, ())}
    ratios = ["RR task reasoning", "RR task retrieval", "RR image", "RR text"]
    assert list(found) == ["overall", "P", "CDC", "RR", "E", "task reasoning", "task retrieval", *ratios]
    assert (found["CDC"].first, found["CDC"].value.gap) == ((), "needs two datasets, has coco")
    assert found["P"].first == ("b",)  # over the common cell
    assert found["task retrieval"].first == ("b",)
    assert (found["task reasoning"].first, found["task reasoning"].lacking) == (("a",), ("b",))
    assert found["RR image"].first == ("a",)
    assert (found["RR task reasoning"].first, found["RR task reasoning"].lacking) == (("a",), ("b",))
    assert found["RR task retrieval"].value.value == pytest.approx((0.9 + 0.7) / 2)  # a's; b keeps (0.5 + 0.7) / 2
    assert found["RR image"].value.value == pytest.approx(0.9)
