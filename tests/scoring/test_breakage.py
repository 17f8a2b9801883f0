from __future__ import annotations

import numpy as np
import pytest

from argus.scoring.breakage import MEASURES, Outcomes, breakage, by_perturbation
from argus.scoring.records import Slot
from argus.scoring.resampling import Bootstrap, Counts

BLUR = Slot("coco", "reasoning", "blur", "image", 3)
COUNTS = Counts(Bootstrap(300, 0))


def outcomes(right, ids=None, images=None, group=None, answer=None, **more) -> Outcomes:
    right = np.array(right, dtype=bool)
    ids = np.array([str(n) for n in range(len(right))] if ids is None else ids)
    return Outcomes(
        ids,
        np.array(ids if images is None else images),
        np.zeros(len(ids)) if group is None else np.array(group),
        np.array(right if answer is None else answer),
        right=right,
        **{name: np.array(numbers) for name, numbers in more.items()},
    )


def values(clean, perturbed, slot=BLUR):
    return {name: value.value for name, value in breakage("clip", slot, clean, perturbed, COUNTS).measures.items()}


def test_lost_and_won_answers_are_told_apart_though_the_score_is_the_same():
    clean = outcomes([1, 1, 0, 0], answer=[3, 3, 1, 2])
    found = values(clean, outcomes([1, 0, 1, 0], answer=[3, 1, 3, 2]))
    assert found == {"destructive": 0.25, "corrective": 0.25, "agreement": 0.5}


def test_the_change_of_the_score_is_what_is_won_less_what_is_lost():
    rng = np.random.default_rng(0)
    group = rng.choice(["image_to_text", "text_to_image"], 60, p=[0.2, 0.8])
    before, after = rng.random(60) < 0.8, rng.random(60) < 0.5
    found = values(outcomes(before, group=group), outcomes(after, group=group))

    def score(right):
        return np.mean([right[group == name].mean() for name in np.unique(group)])

    assert found["corrective"] - found["destructive"] == pytest.approx(score(after) - score(before))


def test_samples_are_matched_by_id_and_those_of_one_side_alone_are_left_out():
    clean = outcomes([1, 1, 0], ids=["a", "b", "c"])
    perturbed = outcomes([0, 0, 1], ids=["c", "b", "d"])
    found = breakage("clip", BLUR, clean, perturbed, COUNTS)
    assert found.samples == 2
    assert found.measures["destructive"].value == 0.5
    none = breakage("clip", BLUR, clean, outcomes([1], ids=["x"]), COUNTS)
    assert (none.samples, none.measures, none.gap) == (0, {}, "no sample was read in both")


def test_the_same_id_in_both_directions_is_two_samples():
    group = ["image_to_text", "text_to_image"]
    clean = outcomes([1, 1], ids=["a", "a"], images=["a", "a"], group=group)
    other = outcomes([0, 1], ids=["a", "a"], images=["a", "a"], group=group[::-1])
    assert values(clean, other)["destructive"] == 0.5


def test_shifts_ranks_and_captions_are_means_of_changes():
    clean = outcomes([1, 1], confidence=[0.9, 0.7], entropy=[0.1, 0.4], rank=[1, 1])
    after = outcomes([1, 0], confidence=[0.6, 0.6], entropy=[0.4, 0.5], rank=[1, 5])
    found = values(clean, after)
    assert found["confidence_shift"] == pytest.approx(-0.2)
    assert found["entropy_shift"] == pytest.approx(0.2)
    assert (found["rank_change"], found["rank_worse"], found["rank_better"]) == (2.0, 0.5, 0.0)
    ids = np.array(["x", "y"])
    before = Outcomes(ids, ids, np.zeros(2), np.array(["a", "b"]), quality=np.array([1.0, 2.0]))
    after = Outcomes(ids, ids, np.zeros(2), np.array(["a", "c"]), quality=np.array([1.0, 0.5]))
    found = values(before, after)
    assert found == {"agreement": 0.5, "cider_change": -0.75, "caption_worse": 0.5, "caption_better": 0.0}


def test_intervals_are_of_resampled_images_and_not_of_samples():
    # Ten images of twenty questions each, all of an image lost or none: the images are what there is to draw.
    lost = np.repeat([True, False] * 5, 20)
    images = np.repeat([f"{n}" for n in range(10)], 20)
    clean = outcomes(np.ones(200), images=images)
    value = breakage("clip", BLUR, clean, outcomes(~lost, images=images), COUNTS).measures["destructive"]
    assert value.value == 0.5
    assert value.interval[1] - value.interval[0] > 0.4  # 200 independent samples would give 0.14


def test_a_perturbation_is_summed_up_over_data_sets_and_severities_with_cells_weighing_the_same():
    cells = [
        breakage("clip", slot, outcomes([1] * n), outcomes(right), COUNTS)
        for slot, n, right in (
            (BLUR, 4, [1, 1, 1, 0]),
            (BLUR._replace(dataset="vcr", severity=5), 2, [0, 1]),
            (BLUR._replace(perturbation="typo", modality="text"), 2, [1, 1]),
        )
    ]
    blur, typo = by_perturbation(cells)
    assert (blur.slot.perturbation, typo.slot.perturbation) == ("blur", "typo")
    assert blur.measures["destructive"].value == pytest.approx((0.25 + 0.5) / 2)
    assert blur.measures["destructive"].over == "2 cells"
    assert blur.samples == 6
    assert typo.measures["destructive"].value == 0


def test_every_measure_is_explained():
    clean = outcomes([1, 0], confidence=[1, 1], entropy=[0, 0], rank=[1, 2], quality=[0.0, 1.0])
    assert list(values(clean, clean)) == list(MEASURES)
