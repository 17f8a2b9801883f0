from __future__ import annotations

import pytest

from argus.scoring.consistency import consistency, medians
from argus.scoring.records import Slot


def scores(**by_cell: float) -> dict[Slot, float]:
    """`coco_retrieval=0.5` -> the clean cell of task retrieval on coco."""
    return {Slot(*name.split("_"), "clean", "none", 0): score for name, score in by_cell.items()}


def cdc(form: str, mine: dict[Slot, float], others: tuple[dict[Slot, float], ...] = ()) -> float | None:
    return consistency(mine, form, medians([mine, *others]), 3).value


def test_population_is_one_minus_sigma_over_mu_of_dataset_means():
    # datasets: coco (0.8 + 0.4) / 2 = 0.6, clevr 0.2: mu 0.4, population sigma 0.2
    mine = scores(coco_retrieval=0.8, coco_captioning=0.4, clevr_reasoning=0.2)
    assert cdc("population", mine) == pytest.approx(0.5)


def test_population_is_floored_at_zero():
    # 1, 0, 0, 0: mu 0.25, sigma sqrt(0.1875) = 0.433 > mu
    assert cdc("population", scores(a_t=1.0, b_t=0.0, c_t=0.0, d_t=0.0)) == 0.0


def test_equal_datasets_are_fully_consistent_in_every_form():
    mine = scores(a_t=0.3, b_t=0.3)
    for form in ("population", "within_task", "min_max", "gini"):
        assert cdc(form, mine) == pytest.approx(1.0), form
    assert cdc("difficulty_adjusted", mine, (scores(a_t=0.1, b_t=0.1),)) == pytest.approx(1.0)


def test_within_task_compares_datasets_on_the_same_task_and_names_what_it_leaves_out():
    # retrieval: 0.6 and 0.2 -> mu 0.4, sigma 0.2 -> 0.5; reasoning: 0.9 and 0.9 -> 1; captioning has one dataset
    mine = scores(a_retrieval=0.6, b_retrieval=0.2, a_reasoning=0.9, c_reasoning=0.9, a_captioning=0.1)
    value = consistency(mine, "within_task", {}, 3)
    assert value.value == pytest.approx(0.75)
    assert value.notes == ("captioning is left out of CDC: needs two datasets, has a",)


def test_min_max_is_lowest_over_highest():
    assert cdc("min_max", scores(a_t=0.2, b_t=0.8, c_t=0.5)) == pytest.approx(0.25)


def test_gini_of_one_winner_among_four_is_three_quarters():
    assert cdc("gini", scores(a_t=1.0, b_t=0.0, c_t=0.0, d_t=0.0)) == pytest.approx(0.25)


def test_difficulty_adjusted_forgives_a_dataset_that_is_hard_for_everybody():
    mine, other = scores(a_t=0.8, b_t=0.4), scores(a_t=0.6, b_t=0.2)
    # medians 0.7 and 0.3: the model is 0.1 above both, so nothing sets the datasets apart
    assert cdc("difficulty_adjusted", mine, (other,)) == pytest.approx(1.0)
    assert cdc("population", mine) == pytest.approx(1 - 0.2 / 0.6)


def test_difficulty_adjusted_by_hand_where_the_models_disagree():
    mine, other = scores(a_t=0.8, b_t=0.4), scores(a_t=0.4, b_t=0.4)
    # medians 0.6 and 0.4: residuals 0.2 and 0 -> sigma 0.1; mu 0.6
    assert cdc("difficulty_adjusted", mine, (other,)) == pytest.approx(1 - 0.1 / 0.6)


def test_difficulty_adjusted_leaves_out_cells_that_no_other_model_has():
    mine, other = scores(a_t=0.8, b_t=0.4, c_t=0.1), scores(a_t=0.6, b_t=0.2)
    value = consistency(mine, "difficulty_adjusted", medians([mine, other]), 3)
    assert value.value == pytest.approx(1.0)
    assert value.notes == ("c/t/clean is left out of CDC: no other model has it",)


@pytest.mark.parametrize("form", ["population", "within_task", "min_max", "gini", "difficulty_adjusted"])
def test_one_dataset_is_a_gap_and_never_full_consistency(form: str):
    mine = scores(coco_retrieval=0.5, coco_captioning=0.5)
    value = consistency(mine, form, medians([mine, mine]), 3)
    assert value.value is None
    assert "needs two datasets, has coco" in value.gap


@pytest.mark.parametrize("form", ["population", "within_task", "min_max", "gini", "difficulty_adjusted"])
@pytest.mark.parametrize("tiny", [0.0, 5e-324])  # halving the smallest float gives 0
def test_all_zero_is_a_gap(form: str, tiny: float):
    mine = scores(a_t=0.0, b_t=tiny)
    value = consistency(mine, form, medians([mine, mine]), 2)
    assert value.value is None
    assert "every dataset scores 0" in value.gap


def test_difficulty_adjusted_of_a_lone_model_is_a_gap():
    mine = scores(a_t=0.5, b_t=0.4)
    value = consistency(mine, "difficulty_adjusted", medians([mine]), 2)
    assert value.value is None
    assert "another model" in value.gap
