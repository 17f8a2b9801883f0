from __future__ import annotations

import random

import pytest

from argus.scoring.scheme import Weights
from argus.scoring.sensitivity import alternatives
from argus.scoring.vector import compare


def never(clean, perturbed):
    raise AssertionError("the samples are the same")


def model(make_cell, name, coco, captions, clevr, left, latency=10.0):
    """Clean scores on three cells of two data sets, and what blur and typo leave of each."""
    costs = {"latency_p50_ms": latency, "throughput_per_s": 50.0}
    cells = []
    for dataset, task, score in (
        ("coco", "retrieval", coco),
        ("coco", "captioning", captions),
        ("clevr", "reasoning", clevr),
    ):
        cells.append(make_cell(name, dataset, task, score, costs=costs))
        for change, modality in (("blur", "image"), ("typo", "text")):
            cells.append(make_cell(name, dataset, task, score * left[change], change, 3, modality))
    return cells


@pytest.fixture
def cells(make_cell):
    """a is capable, b is robust to blur and cheap, c is worst in everything."""
    return [
        *model(make_cell, "a", 0.9, 0.8, 0.8, {"blur": 0.5, "typo": 0.9}, latency=30.0),
        *model(make_cell, "b", 0.7, 0.6, 0.6, {"blur": 1.0, "typo": 0.9}, latency=10.0),
        *model(make_cell, "c", 0.3, 0.2, 0.1, {"blur": 0.4, "typo": 0.4}, latency=90.0),
    ]


def by_option(cells, scheme):
    return {(one.choice, one.option): one for one in alternatives(compare(cells, scheme, never), scheme)}


def test_every_choice_has_its_other_options_and_each_data_set_and_perturbation_is_left_out_once(cells, make_scheme):
    assert list(by_option(cells, make_scheme())) == [
        ("CDC", "within_task"),
        ("CDC", "min_max"),
        ("CDC", "gini"),
        ("CDC", "difficulty_adjusted"),
        ("E", "relative"),
        ("overall", "geometric"),
        ("P", "mean over tasks"),
        ("P", "mean over datasets"),
        ("RR", "mean of ratios"),
        ("RR", "worst perturbation"),
        ("RR", "1 - mean drop"),
        ("normalisation", "worst 0, best 1"),
        ("normalisation", "ranks"),
        ("without data set", "clevr"),
        ("without data set", "coco"),
        ("without perturbation", "blur"),
        ("without perturbation", "typo"),
    ]


def test_leaving_out_what_the_winner_is_good_at_changes_the_winner(cells, make_scheme):
    found = by_option(cells, make_scheme(Weights(1, 0, 1, 0)))
    # b: P 0.633, RR 0.95; a: P 0.833, RR 0.7. Without blur both have RR 0.9.
    assert found["without perturbation", "typo"].winners == ("b",)
    blur = found["without perturbation", "blur"]
    assert (blur.winners, blur.changes_winner) == (("a",), True)
    assert blur.overall == pytest.approx({"a": (0.8333333 + 0.9) / 2, "b": (0.6333333 + 0.9) / 2, "c": (0.2 + 0.4) / 2})
    assert blur.tau == pytest.approx(1 / 3)  # a and b swap, c stays last


def test_each_alternative_is_computed_by_hand(cells, make_scheme):
    capable = by_option(cells, make_scheme(Weights(1, 0, 0, 0)))
    assert capable["P", "mean over datasets"].overall["a"] == pytest.approx((0.85 + 0.8) / 2)
    assert capable["P", "mean over tasks"].overall["a"] == pytest.approx((0.9 + 0.8 + 0.8) / 3)
    assert capable["normalisation", "ranks"].overall == {"a": 1.0, "b": 0.5, "c": 0.0}
    assert capable["normalisation", "worst 0, best 1"].overall["b"] == pytest.approx((1.9 - 0.6) / (2.5 - 0.6))
    assert capable["without data set", "coco"].overall["a"] == pytest.approx(0.8)
    robust = by_option(cells, make_scheme(Weights(0, 0, 1, 0)))
    assert robust["RR", "worst perturbation"].overall["a"] == pytest.approx(0.5)
    assert robust["RR", "mean of ratios"].overall["a"] == pytest.approx(0.7)
    assert robust["RR", "1 - mean drop"].overall["a"] == pytest.approx(1 - (2.5 / 3) * (0.5 + 0.1) / 2)
    even = by_option(cells, make_scheme(Weights(0, 1, 0, 0)))
    assert even["CDC", "min_max"].overall["c"] == pytest.approx(0.1 / 0.25)
    cheap = by_option(cells, make_scheme(Weights(0, 0, 0, 1)))
    assert cheap["E", "relative"].overall["a"] == pytest.approx((1 / 3) ** 0.5)


def test_an_alternative_that_cannot_be_has_a_gap_with_its_reason(cells, make_scheme):
    found = by_option(cells, make_scheme())
    without = found["without data set", "coco"]
    assert (without.overall, without.winners, without.changes_winner) == ({}, (), False)
    assert "needs two datasets, has clevr" in without.gap


def test_without_a_ranking_there_is_nothing_to_compare_with(cells, make_scheme):
    clean = [cell for cell in cells if cell.key.perturbation == "clean"]
    assert alternatives(compare(clean, make_scheme(), never), make_scheme()) == ()


def test_the_order_of_cells_changes_nothing(cells, make_scheme):
    shuffled = list(cells)
    random.Random(0).shuffle(shuffled)
    assert by_option(shuffled, make_scheme()) == by_option(cells, make_scheme())


def test_a_lone_model_wins_everything_and_has_no_tau(cells, make_scheme):
    alone = by_option([cell for cell in cells if cell.key.model == "a"], make_scheme())
    known = [one for one in alone.values() if not one.gap]
    assert known
    assert all(one.winners == ("a",) and one.tau is None for one in known)
