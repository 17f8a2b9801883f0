"""Clean scores that a rule without pictures gets too."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from argus.scoring.baselines import little_to_lose
from argus.scoring.drawn import with_draws
from argus.scoring.records import Slot

SLOT = Slot("clevr", "reasoning", "", "", 0).baseline


@pytest.fixture
def cell(make_cell):
    metrics = {"commonest_answer_accuracy": 0.45, "chance": 0.2}
    return replace(make_cell("clip", "clevr", "reasoning", 0.5), metrics=metrics)


def test_a_score_at_or_below_the_commonest_answer_is_told_with_both_numbers(cell):
    (told,) = little_to_lose({SLOT: 0.45}, {SLOT: cell})
    assert str(told).startswith(
        "clevr/reasoning/clean: 0.450 is not surely above the 0.450 of always giving the commonest"
    )


def test_a_score_above_it_by_no_more_than_noise_is_told_too(cell):
    rng = np.random.default_rng(0)
    near, far = (with_draws(score, rng.normal(score, 0.02, 500), 500) for score in (0.47, 0.60))
    assert little_to_lose({SLOT: near}, {SLOT: cell})
    assert not little_to_lose({SLOT: far}, {SLOT: cell})


def test_a_task_without_such_a_rule_is_never_told(make_cell):
    slot = Slot("coco", "retrieval", "", "", 0).baseline
    assert not little_to_lose({slot: 0.0}, {slot: make_cell("clip", "coco", "retrieval", 0.0)})


def test_a_score_without_an_interval_is_surely_above_nothing_where_there_are_resamples(cell):
    undefined = np.full(501, np.nan)
    undefined[0] = 0.9
    assert little_to_lose({SLOT: undefined}, {SLOT: cell})
    assert not little_to_lose({SLOT: 0.9}, {SLOT: cell})
