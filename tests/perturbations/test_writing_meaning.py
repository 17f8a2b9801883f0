"""Promises of what counts as a meaning at risk."""

from __future__ import annotations

import pytest

from argus.perturbations.writing.meaning import is_number, meaning_at_risk, meaning_of


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("A dog on a sofa", []),
        ("Two dogs, one Black", ["2", "1", "black"]),
        ("twenty-five or 25 or 2.5 or 6,789", ["25", "25", "2.5", "6,789"]),
        ("35mm, 35-mm, the 3rd at 9pm", ["35", "35", "3", "9"]),
        ("it isn't, it isn’t, it is not, it cannot", ["not", "not", "not", "not"]),
        ("person1 is left of person2", ["person1", "left", "person2"]),
        ("reddish onet lefty h0us3", []),
        ("left-most red-haired", ["left", "red"]),
    ],
)
def test_numbers_colours_negations_and_places_are_told(text: str, meaning: list[str]) -> None:
    assert meaning_of(text) == meaning


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("two dogs", "twp dogs"),  # altered
        ("two dogs", "too dogs"),
        ("a red cube", "a cube"),  # lost
        ("a red cube", "a réd cube"),
        ("for a walk", "four a walk"),  # came in
        ("it is not red", "it is red"),
        ("a red and a blue cube", "a blue and a red cube"),  # moved past another
        ("35 people", "36 people"),
        ("person1 smiles", "personl smiles"),
        ("left of the dog", "let of the dog"),
    ],
)
def test_meaning_is_at_risk(before: str, after: str) -> None:
    assert meaning_at_risk(before, after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("two dogs", "2 dogs"),
        ("it isn't red", "it is not red"),
        ("a red cube", "A RED CUEB"),
        ("a red cube", "a red red cube"),
        ("a red cube", "a um red cube 😀"),
        ("a red cube", "a cube red"),
        ("many hats", "many hat5 rul3"),  # looks like a numbered name, is none
    ],
)
def test_meaning_is_not_at_risk(before: str, after: str) -> None:
    assert not meaning_at_risk(before, after)


@pytest.mark.parametrize(
    ("word", "number"), [("two", True), ("2", True), ("35-mm", True), ("person1", True), ("twenty-one", True)]
)
def test_a_number_has_a_digit_or_is_a_number_word(word: str, number: bool) -> None:
    assert is_number(word) is number
    assert not is_number("dog")
