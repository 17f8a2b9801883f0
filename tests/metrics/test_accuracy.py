"""Accuracy of choices, by hand."""

from __future__ import annotations

import pytest

from argus.errors import DataError
from argus.metrics.accuracy import (
    accuracy,
    accuracy_by_kind,
    chance,
    chance_adjusted_accuracy,
    joint_accuracy,
    predicted_choice,
)


def test_accuracy_counts_exact_matches():
    assert accuracy([1, 2, 3, 4], [1, 2, 0, 0]) == 0.5


def test_accuracy_is_told_by_kind():
    by_kind = accuracy_by_kind([0, 1, 1, 1], [0, 0, 1, 1], ["count", "colour", "colour", "colour"])
    assert by_kind == {"colour": pytest.approx(2 / 3), "count": 1.0}


def test_a_joint_question_is_right_only_when_all_of_its_questions_are():
    # a: both right; b: one of two; c: the one it has; "" stands alone and does not count.
    assert joint_accuracy([0, 1, 2, 0, 3, 0], [0, 1, 2, 1, 3, 9], ["a", "a", "b", "b", "c", ""]) == pytest.approx(2 / 3)


def test_no_joint_question_is_an_error():
    with pytest.raises(DataError, match="none of 2 questions has a group"):
        joint_accuracy([0, 1], [0, 1], ["", ""])


def test_chance_is_the_mean_over_questions_and_adjusting_puts_it_at_zero():
    assert chance([2, 4]) == 0.375
    assert chance_adjusted_accuracy(0.375, 0.375) == 0
    assert chance_adjusted_accuracy(1.0, 0.375) == 1
    assert chance_adjusted_accuracy(0.0, 0.5) == -1


@pytest.mark.parametrize("choices", [[], [2, 1]])
def test_chance_needs_two_choices(choices):
    with pytest.raises(DataError, match="two or more"):
        chance(choices)


def test_chance_of_one_cannot_be_adjusted_for():
    with pytest.raises(DataError, match="chance is 1"):
        chance_adjusted_accuracy(1.0, 1.0)


@pytest.mark.parametrize("target", range(4))
def test_a_model_that_scores_all_choices_the_same_is_wrong_whatever_the_target(target):
    assert predicted_choice([0.5] * 4, target) != target


def test_only_a_choice_that_ties_with_the_highest_score_counts_against_the_right_one():
    assert predicted_choice([0.1, 0.9, 0.1], target=1) == 1
    assert predicted_choice([0.1, 0.9, 0.9], target=1) == 2
    assert predicted_choice([0.9, 0.9, 0.1], target=2) == 0
    assert predicted_choice([0.9, 0.1, 0.1], target=1) == 0


@pytest.mark.parametrize("scores", [[float("nan"), 1.0], [float("inf"), 1.0], []])
def test_scores_that_are_not_finite_are_an_error(scores):
    with pytest.raises(DataError, match="must be finite"):
        predicted_choice(scores, 0)


@pytest.mark.parametrize("target", [-1, 2])
def test_a_target_that_is_not_among_the_choices_is_an_error(target):
    with pytest.raises(DataError, match=f"target is {target}, but there are 2 choices"):
        predicted_choice([0.1, 0.2], target)


def test_no_question_is_an_error_and_not_a_division_by_zero():
    with pytest.raises(DataError, match="no question"):
        accuracy([], [])
