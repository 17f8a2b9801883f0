"""Corruption errors against cases by hand."""

from __future__ import annotations

import numpy as np
import pytest

from argus.scoring.cells import Pair
from argus.scoring.corruption_error import CorruptionError, corruption_errors
from argus.scoring.records import Slot

FAMILIES = {"fog": "weather", "snow": "weather", "typo": "typing"}


def slot(perturbation: str, severity: int, modality: str = "image", dataset: str = "coco") -> Slot:
    return Slot(dataset, "retrieval", perturbation, modality, severity)


STRONG = {
    slot("fog", 1): Pair(0.9, 0.8),
    slot("fog", 5): Pair(0.9, 0.6),  # error 0.3, lost 0.2
    slot("snow", 3): Pair(0.9, 0.5),  # error 0.5, lost 0.4
    slot("typo", 3, "text"): Pair(0.9, 0.9),  # error 0.1, lost 0
}
WEAK = {
    slot("fog", 1): Pair(0.5, 0.5),
    slot("fog", 5): Pair(0.5, 0.3),  # error 0.6, lost 0.1
    slot("snow", 3): Pair(0.5, 0.0),  # error 1, lost 0.5
    slot("typo", 3, "text"): Pair(0.5, 0.4),  # error 0.6, lost 0.1
}


def found(reference: str | None = None) -> dict[tuple[str, str], CorruptionError]:
    pairs = {"strong": STRONG, "weak": WEAK}
    return {(one.name, one.family): one for one in corruption_errors(pairs, FAMILIES, reference)}


def test_error_is_the_mean_over_severities_then_perturbations() -> None:
    errors = found()
    assert {key: round(one.error.value or 0, 9) for key, one in errors.items()} == {
        ("strong", "weather"): 0.4,
        ("strong", "typing"): 0.1,
        ("strong", "all"): 0.3,
        ("weak", "weather"): 0.8,
        ("weak", "typing"): 0.6,
        ("weak", "all"): round(2.2 / 3, 9),
    }


def test_mce_is_the_mean_of_quotients_and_1_for_the_reference() -> None:
    errors = found("weak")
    assert errors["strong", "weather"].mce.value == pytest.approx((0.3 / 0.6 + 0.5 / 1) / 2)
    assert errors["strong", "all"].mce.value == pytest.approx((0.3 / 0.6 + 0.5 / 1 + 0.1 / 0.6) / 3)
    assert errors["strong", "all"].relative_mce.value == pytest.approx((0.2 / 0.1 + 0.4 / 0.5 + 0 / 0.1) / 3)
    assert [errors["weak", family].mce.value for family in ("weather", "typing", "all")] == [pytest.approx(1)] * 3


def test_what_does_nothing_to_the_reference_is_left_out_by_name() -> None:
    errors = found("strong")  # loses nothing under typos
    value = errors["weak", "all"].relative_mce
    assert value.value == pytest.approx((0.1 / 0.2 + 0.5 / 0.4) / 2)
    assert (value.over, value.notes) == (
        "2 of 3 perturbations",
        ("without typo: the reference model loses nothing there",),
    )
    assert errors["weak", "typing"].relative_mce.gap == "the reference model loses nothing under typo"
    assert errors["weak", "typing"].mce.value == pytest.approx(6)


def test_no_reference_is_a_gap_with_its_reason() -> None:
    assert {one.mce.gap for one in found().values()} == {"no reference"}
    assert {one.mce.gap for one in found("clip").values()} == {"the reference model 'clip' is not compared"}


def test_another_model_moves_nobody() -> None:
    pairs = {"strong": STRONG, "weak": WEAK}
    alone = corruption_errors({"strong": STRONG}, FAMILIES, "strong")
    assert [one for one in corruption_errors(pairs, FAMILIES, "strong") if one.name == "strong"] == list(alone)


def test_cells_of_a_severity_are_averaged_before_severities() -> None:
    pairs = {
        slot("fog", 1): Pair(1, 0.9),
        slot("fog", 1, dataset="vcr"): Pair(1, 0.7),
        slot("fog", 5): Pair(1, 0.2),
    }
    (fog, everything) = corruption_errors({"m": pairs}, {}, None)
    assert (fog.family, fog.error.value) == ("fog", pytest.approx(0.5))
    assert everything.error.value == pytest.approx(0.5)


def test_resamples_are_drawn_through() -> None:
    clean, draws = np.array([1, 1, 1.0]), np.array([0.5, 0.4, 0.6])
    one = corruption_errors({"m": {slot("fog", 1): Pair(clean, draws)}}, {}, "m")[0]
    assert one.error.draws == pytest.approx([0.6, 0.4])
    assert one.mce.draws == pytest.approx([1, 1])


def test_nothing_perturbed_has_no_errors() -> None:
    assert corruption_errors({"m": {}}, FAMILIES, None) == ()
