"""Promises of several perturbations at once."""

from __future__ import annotations

import pytest

from argus.errors import ConfigError
from argus.perturbations.base import Perturbation
from argus.perturbations.blur import Blur
from argus.perturbations.combined import Combined
from argus.perturbations.noise import Noise
from argus.perturbations.typo import Typo


class Even(Perturbation):
    def severities(self) -> tuple[int, ...]:
        return (2, 4)


def test_each_part_does_what_it_does_alone(photo, sentences):
    both = Combined(3, [Blur(3), Typo(3)])
    assert both.image(photo, 5, "id").tobytes() == Blur(3).image(photo, 5, "id").tobytes()
    assert [both.text(text, 5, "id") for text in sentences] == [Typo(3).text(text, 5, "id") for text in sentences]


def test_parts_of_one_modality_follow_each_other_in_the_order_named(photo):
    blurred = Blur(2).image(photo, 0, "id")
    noisy = Combined(2, [Blur(2), Noise(2)]).image(photo, 0, "id")
    assert noisy.tobytes() == Noise(2).image(blurred, 0, "id").tobytes()
    assert noisy.tobytes() != Combined(2, [Noise(2), Blur(2)]).image(photo, 0, "id").tobytes()


def test_it_has_the_severities_that_all_parts_have():
    assert Combined(2, [Typo(2), Even(2)]).severities() == (2, 4)
    with pytest.raises(ConfigError, match=r"severity 3 of Combined: choose one of \(2, 4\)"):
        Combined(3, [Typo(3), Even(2)])


def test_one_part_is_no_combination():
    with pytest.raises(ConfigError, match="has 1 parts"):
        Combined(3, [Typo(3)])
