from __future__ import annotations

import numpy as np

from argus.tasks.ranking import first, reranked, shortlist


def test_shortlist_holds_the_k_best_of_each_query():
    similarity = np.array([[0.1, 0.3, 0.2], [0.9, 0.8, 0.7]])
    right = np.zeros((2, 3), dtype=bool)
    assert shortlist(similarity, right, 2).tolist() == [[False, True, True], [True, True, False]]
    assert shortlist(similarity, right, 5).all()


def test_shortlist_prefers_the_wrong_one_among_equals_wherever_it_stands():
    similarity = np.full((2, 3), 0.5)
    right = np.array([[True, False, False], [False, False, True]])
    assert not (shortlist(similarity, right, 2) & right).any()


def test_reranked_puts_the_shortlist_first_and_keeps_the_order_of_the_rest():
    similarity = np.array([[0.9, 0.8, 0.7, 0.6]])
    match = np.array([[-50.0, -10.0, np.nan, np.nan]])
    scores = reranked(similarity, match, np.array([[True, True, False, False]]))
    assert np.argsort(-scores[0]).tolist() == [1, 0, 2, 3]


def test_reranked_keeps_differences_that_float32_would_round_away():
    similarity = np.array([[0.9, 0.5000001, 0.5]], dtype=np.float32)
    scores = reranked(similarity, np.array([[5000.0, np.nan, np.nan]]), np.array([[True, False, False]]))
    assert scores[0, 1] > scores[0, 2]


def test_reranked_without_rest_is_match_plus_similarity():
    similarity, match = np.array([[0.5, 0.25]]), np.array([[1.0, 2.0]])
    assert reranked(similarity, match, np.ones((1, 2), dtype=bool)).tolist() == [[1.5, 2.25]]


def test_first_is_the_best_and_a_wrong_one_where_it_ties():
    scores = np.array([[0.1, 0.9, 0.2], [0.5, 0.5, 0.1], [0.5, 0.1, 0.5]])
    right = np.array([[False, True, False], [True, False, False], [False, False, True]])
    assert first(scores, right).tolist() == [1, 1, 0]
