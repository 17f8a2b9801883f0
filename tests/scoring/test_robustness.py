from __future__ import annotations

import pytest

from argus.scoring.cells import Pair
from argus.scoring.records import Slot
from argus.scoring.robustness import family_ratios, ratios, robustness


def slot(dataset: str, perturbation: str, severity: int, modality: str = "image") -> Slot:
    return Slot(dataset, "retrieval", perturbation, modality, severity)


def test_ratio_is_mean_perturbed_over_mean_clean_and_no_mean_of_ratios():
    pairs = {slot("coco", "blur", 3): Pair(0.8, 0.4), slot("clevr", "blur", 3): Pair(0.2, 0.2)}
    assert robustness(pairs, 2, "").value == pytest.approx(0.6)  # 0.3 / 0.5; the mean of ratios would be 0.75


def test_severities_are_averaged_before_perturbations():
    pairs = {
        slot("coco", "blur", 1): Pair(1.0, 0.9),
        slot("coco", "blur", 3): Pair(1.0, 0.6),
        slot("coco", "blur", 5): Pair(1.0, 0.3),  # blur: 0.6
        slot("coco", "noise", 3): Pair(1.0, 0.8),
    }
    assert robustness(pairs, 4, "").value == pytest.approx(0.7)


def test_image_and_text_families_weigh_the_same_however_many_members_they_have():
    pairs = {
        slot("coco", "blur", 3): Pair(1.0, 0.9),
        slot("coco", "noise", 3): Pair(1.0, 0.7),  # image: 0.8
        slot("coco", "typo", 3, "text"): Pair(1.0, 0.4),
    }
    value = robustness(pairs, 3, "")
    assert value.value == pytest.approx(0.6)
    assert value.over == "3 of 3 perturbed cells (image, text)"


def test_a_perturbation_of_both_weighs_as_much_as_all_of_one_modality():
    pairs = {
        slot("coco", "blur", 3): Pair(1.0, 0.9),
        slot("coco", "typo", 3, "text"): Pair(1.0, 0.6),
        slot("coco", "blur_typo", 3, "both"): Pair(1.0, 0.3),
    }
    value = robustness(pairs, 3, "")
    assert value.value == pytest.approx(0.6)
    assert value.over == "3 of 3 perturbed cells (both, image, text)"


def test_a_cell_without_a_perturbation_is_in_neither_numerator_nor_denominator():
    pairs = {
        slot("coco", "blur", 3): Pair(0.8, 0.4),
        slot("clevr", "blur", 3): Pair(0.4, 0.4),
        slot("coco", "typo", 3, "text"): Pair(0.8, 0.6),  # does not apply to clevr: 0.75, not 0.6 / 1.2
    }
    by_name = {one.perturbation: one.ratio.value for one in ratios(pairs)}
    assert by_name == pytest.approx({"blur": 0.8 / 1.2, "typo": 0.75})


def test_a_helpful_perturbation_is_shown_uncapped():
    assert robustness({slot("coco", "blur", 1): Pair(0.5, 0.6)}, 1, "").value == pytest.approx(1.2)


def test_no_clean_score_is_a_gap_and_no_division():
    value = robustness({slot("coco", "blur", 3): Pair(0.0, 0.0)}, 1, "")
    assert value.value is None
    assert "is 0" in value.gap


def test_a_perturbation_without_a_ratio_is_named_beside_those_that_have_one():
    pairs = {slot("coco", "blur", 3): Pair(0.5, 0.4), slot("clevr", "typo", 3, "text"): Pair(0.0, 0.0)}
    value = robustness(pairs, 2, "")
    assert value.value == pytest.approx(0.8)
    assert value.over == "2 of 2 perturbed cells (image)"
    assert len(value.notes) == 1
    assert value.notes[0].startswith("RR stands without typo")


def test_nothing_perturbed_is_a_gap_with_the_given_reason():
    assert robustness({}, 4, "no perturbed cell").gap == "no perturbed cell"


def test_breakdown_keeps_each_severity():
    pairs = {slot("coco", "blur", 1): Pair(1.0, 0.9), slot("coco", "blur", 5): Pair(1.0, 0.3)}
    (blur,) = ratios(pairs)
    assert {severity: value.value for severity, value in blur.by_severity.items()} == {1: 0.9, 5: 0.3}
    assert blur.ratio.value == pytest.approx(0.6)


FAMILIES = {"fog": "weather", "snow": "weather", "mirror": "geometry", "typo": "typing", "own": ""}


def test_a_family_is_the_mean_of_its_perturbations_at_each_severity_and_over_all():
    pairs = {
        slot("coco", "fog", 1): Pair(1.0, 0.8),
        slot("coco", "fog", 5): Pair(1.0, 0.4),  # fog: 0.6
        slot("coco", "snow", 5): Pair(1.0, 0.2),
        slot("coco", "mirror", 1): Pair(1.0, 1.1),
        slot("coco", "typo", 1, "text"): Pair(1.0, 0.7),
        slot("coco", "own", 1): Pair(1.0, 0.5),
    }
    found = family_ratios(ratios(pairs), FAMILIES)
    assert [(one.modality, one.family) for one in found] == [
        ("image", "geometry"),
        ("image", "weather"),
        ("text", "typing"),
    ]
    weather = found[1]
    assert weather.ratio.value == pytest.approx(0.4)  # (0.6 + 0.2) / 2, not (0.8 + 0.4 + 0.2) / 3
    assert {severity: value.value for severity, value in weather.by_severity.items()} == pytest.approx({1: 0.8, 5: 0.3})
    assert weather.by_severity[1].over == "1 of 1 perturbations"
    assert weather.ratio.over == "2 of 2 perturbations"


def test_a_family_stands_without_a_perturbation_that_has_no_ratio_and_names_it():
    pairs = {slot("coco", "fog", 3): Pair(1.0, 0.8), slot("clevr", "snow", 3): Pair(0.0, 0.0)}
    (weather,) = family_ratios(ratios(pairs), FAMILIES)
    assert weather.ratio.value == pytest.approx(0.8)
    assert weather.ratio.over == "1 of 2 perturbations"
    assert weather.ratio.notes[0].startswith("snow: ")
    (gap,) = family_ratios(ratios({slot("clevr", "snow", 3): Pair(0.0, 0.0)}), FAMILIES)
    assert "the clean score of its cells is 0" in gap.ratio.gap
    assert "the clean score of its cells is 0" in gap.by_severity[3].gap
