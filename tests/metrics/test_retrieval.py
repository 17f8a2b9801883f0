"""Ranks and what is made of them, on galleries small enough to check by eye."""

from __future__ import annotations

import numpy as np
import pytest

from argus.errors import DataError
from argus.metrics.retrieval import mean_reciprocal_rank, median_rank, ranks, recall_at_k


def _gallery() -> tuple[np.ndarray, np.ndarray]:
    """Three images with 1, 5 and 7 captions; caption 5 belongs to the second and the third."""
    right = np.zeros((3, 12), dtype=bool)
    right[0, 0] = True
    right[1, 1:6] = True
    right[2, 5:12] = True
    scores = np.array(
        [
            #  0    1    2    3    4    5    6    7    8    9   10   11
            [0.5, 0.9, 0.1, 0.2, 0.6, 0.3, 0.0, 0.1, 0.2, 0.3, 0.4, 0.0],  # wrong 1 and 4 are ahead: rank 3
            [0.7, 0.1, 0.2, 0.6, 0.3, 0.4, 0.6, 0.0, 0.1, 0.2, 0.3, 0.5],  # best 0.6; wrong 0 ahead, wrong 6 ties: 3
            [0.1, 0.2, 0.3, 0.4, 0.5, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3],  # the shared caption is first: rank 1
        ]
    )
    return scores, right


def test_the_best_of_an_images_captions_counts_and_other_right_ones_are_not_in_the_way():
    scores, right = _gallery()
    assert ranks(scores, right).tolist() == [3, 3, 1]


def test_a_caption_shared_by_two_images_is_found_with_either():
    scores, right = _gallery()
    by_text = ranks(scores.T, right.T)
    # Caption 5 scores 0.3, 0.4 and 0.9: the third image is right and first. Caption 0 scores 0.5, 0.7, 0.1: rank 2.
    assert by_text[5] == 1
    assert by_text[0] == 2
    assert by_text[3] == 1  # 0.2, 0.6, 0.4
    assert by_text[1] == 3  # 0.9, 0.1, 0.2


def test_a_constant_model_is_last_whatever_the_order():
    right = np.eye(5, dtype=bool)
    for order in (np.arange(5), np.arange(5)[::-1], np.array([2, 0, 4, 1, 3])):
        found = ranks(np.full((5, 5), 0.3), right[:, order])
        assert found.tolist() == [5] * 5
        assert recall_at_k(found, 1) == 0


def test_ranks_follow_their_query_and_ignore_the_order_of_candidates():
    draw = np.random.default_rng(0)
    scores = draw.integers(0, 4, (30, 20)).astype(float)  # many ties
    right = draw.random((30, 20)) < 0.2
    right[:, 0] = True
    columns, rows = draw.permutation(20), draw.permutation(30)
    found = ranks(scores, right)
    assert (ranks(scores[:, columns], right[:, columns]) == found).all()
    assert (ranks(scores[rows], right[rows]) == found[rows]).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_score_that_is_not_finite_is_an_error_that_names_the_query(bad):
    scores, right = _gallery()
    scores[1, 8] = bad
    with pytest.raises(DataError, match=r"1 of 3 queries have a score that is not finite, first query 1"):
        ranks(scores, right)


def test_a_query_without_a_right_answer_is_an_error():
    scores, right = _gallery()
    right[2] = False
    with pytest.raises(DataError, match="first query 2"):
        ranks(scores, right)


@pytest.mark.parametrize("right", [np.zeros((3, 11), dtype=bool), np.zeros((3, 12), dtype=int)])
def test_right_answers_of_another_shape_or_type_are_an_error(right):
    with pytest.raises(DataError, match="must be"):
        ranks(_gallery()[0], right)


def test_recall_median_and_mean_reciprocal_rank_by_hand():
    found = [1, 2, 5, 11]
    assert recall_at_k(found, 1) == 0.25
    assert recall_at_k(found, 5) == 0.75
    assert recall_at_k(found, 10) == 0.75
    assert median_rank(found) == 3.5
    assert mean_reciprocal_rank(found) == pytest.approx((1 + 1 / 2 + 1 / 5 + 1 / 11) / 4)


@pytest.mark.parametrize("average", [lambda found: recall_at_k(found, 1), median_rank, mean_reciprocal_rank])
def test_no_queries_are_an_error_and_not_a_nan(average):
    with pytest.raises(DataError, match="no query"):
        average([])
