"""Promises that all perturbations of writing share: how many words, and which never."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from numpy.random import Generator
from omegaconf import OmegaConf

from argus.errors import ConfigError
from argus.perturbations.writing.case import Uppercase
from argus.perturbations.writing.order import WordDrop, WordSwap
from argus.perturbations.writing.replaced import Homophone
from argus.perturbations.writing.spacing import WordMerge
from argus.perturbations.writing.words import WordByWord, WordPerturbation
from argus.settings import build

SEEDS = range(200)
SENTENCE = 'Two dogs, a "dog" and the dog\'s 2 bowls near the fire hydrant.'


class Starred(WordByWord):
    """Marks what it touches."""

    def rewrite(self, word: str, rng: Generator) -> str:
        return f"*{word}"


def stars(text: str, severity: int, key: str = "id") -> set[int]:
    after = Starred(severity).text(text, 0, key)
    return {place for place, word in enumerate(after.split()) if word.startswith("*")}


@pytest.mark.parametrize("severity", [1, 2, 3, 4, 5])
def test_the_share_of_touched_words_is_ten_percent_times_severity(severity: int) -> None:
    assert len(stars("word " * 100, severity)) == 10 * severity


def test_short_texts_have_the_share_on_average_where_it_exceeds_one_word() -> None:
    counts = [len(stars("a b c d e f", 4, str(number))) for number in range(1000)]
    assert set(counts) == {2, 3}
    assert np.mean(counts) == pytest.approx(2.4, abs=0.05)


def test_words_touched_at_a_severity_are_touched_at_every_higher_one() -> None:
    touched = [stars("word " * 40, severity) for severity in (1, 2, 3, 4, 5)]
    assert all(low < high for low, high in pairwise(touched))


def test_white_space_stays() -> None:
    text = " A  man\ton\n a  horse \u00a0"
    assert Starred(5).text(text, 0, "id").replace("*", "") == text


def ever_changed(perturbation: WordPerturbation, text: str) -> set[str]:
    """Return the words that some of 200 draws replaced."""
    words = text.split()
    changed = set()
    for seed in SEEDS:
        after = perturbation.text(text, seed, "id").split()
        changed |= {old for old, new in zip(words, after, strict=True) if old != new}
    return changed


@pytest.mark.parametrize(
    ("protect", "kept"),
    [
        ([], set()),
        (["dog"], {'"dog"', "dog's"}),
        (["DOG", "dogs"], {'"dog"', "dog's", "dogs,"}),
        (["fire hydrant"], {"fire", "hydrant."}),
    ],
)
def test_protected_words_stay_whatever_their_case_punctuation_and_possessive(
    protect: Sequence[str], kept: set[str]
) -> None:
    assert ever_changed(Uppercase(5, protect=protect), SENTENCE) == set(SENTENCE.split()) - kept - {"2"}


def test_protected_numbers_stay_in_digits_and_in_words() -> None:
    text = "two dogs, 35-mm film, Twenty-one bowls at 3:30 and person2"
    kept = set(text.split()) - ever_changed(Emojiless(5, protect_numbers=True), text)
    assert kept == {"two", "35-mm", "Twenty-one", "3:30", "person2"}
    assert ever_changed(Emojiless(5), text) == set(text.split())


class Emojiless(Starred):
    """Touches digits as well."""

    def fits(self, word: str) -> bool:
        return True


@pytest.mark.parametrize("kind", [WordDrop, WordSwap, WordMerge])
def test_a_protected_word_is_neither_lost_nor_moved_nor_run_into(kind: type[WordPerturbation]) -> None:
    for seed in SEEDS:
        after = kind(5, protect=["dog", "fire"]).text("a dog sat by the fire at night", seed, "id")
        assert [word for word in after.split() if word in ("dog", "fire")] == ["dog", "fire"]
    if kind is WordSwap:
        assert after.split()[1] == "dog"
        assert after.split()[5] == "fire"


@pytest.mark.parametrize(
    "special", ["<image>", "<|im_start|>", "</s>", "[MASK]", "[SEP]", "{caption}", "<start_of_turn>"]
)
def test_what_stands_for_something_else_is_never_touched(special: str) -> None:
    text = f"{special} describe this image {special}"
    assert ever_changed(Starred(5), text) == {"describe", "this", "image"}


@pytest.mark.parametrize("protect", ["dog", [1, 2], [None]])
def test_protection_that_is_no_list_of_words_is_an_error(protect: object) -> None:
    with pytest.raises(ConfigError, match=r"give a list of words, protect=\[dog,cat\]"):
        build(OmegaConf.create({"_target_": "argus.perturbations.typo.Typo", "severity": 3}), protect=protect)


def test_a_table_touches_twenty_percent_times_severity_of_the_words_with_an_entry() -> None:
    text = "the two " * 50
    counts = [
        sum(word != "two" for word in Homophone(severity).text(text, 0, "id").split()[1::2]) for severity in range(1, 6)
    ]
    assert counts == [10, 20, 30, 40, 50]


def test_a_text_without_an_entry_stays_and_one_with_an_entry_may_stay_at_a_low_severity() -> None:
    assert {Homophone(5).text("gravel", seed, "id") for seed in SEEDS} == {"gravel"}
    assert {Homophone(1).text("blue", seed, "id") for seed in SEEDS} == {"blue", "blew"}
    assert {Homophone(5).text("blue", seed, "id") for seed in SEEDS} == {"blew"}


def test_two_perturbations_draw_apart_for_one_text() -> None:
    text = "a small dog next to a large cat by the sea"
    places = [
        {place for place, word in enumerate(text.split()) if f"{mark}{word}" in after.split()}
        for mark, after in (("*", Starred(3).text(text, 0, "id")), ("*", Emojiless(3).text(text, 0, "id")))
    ]
    assert places[0] != places[1]


def test_words_without_a_latin_letter_are_not_counted() -> None:
    assert len(stars("word 一只猫 12 … " * 50, 2)) == 10
