"""Promises of perturbing whole entries."""

from __future__ import annotations

from pathlib import Path

import pytest

from argus.errors import DataError
from argus.perturbations.apply import Prompts, TextChange, perturb_texts, text_change, text_pairs
from argus.perturbations.blur import Blur
from argus.perturbations.clean import Clean
from argus.perturbations.typo import Typo
from argus.records import Caption, Entry, ImageSource, Question


def entry(key: str, *captions: str) -> Entry:
    question = Question(f"{key}/q", f"What is in {key}?", ("a red cube", "a blue ball"), 1, "query", "pair")
    texts = tuple(Caption(f"{key}/{place}", text) for place, text in enumerate(captions))
    return Entry(key, ImageSource(Path(f"{key}.jpg")), texts, (question,))


ENTRIES = (entry("one", "a man on a horse", "a man on a horse"), entry("two", "a dog"), entry("three"))


def test_only_captions_and_question_texts_change():
    after = perturb_texts(ENTRIES, Typo(3), 0)
    for old, new in zip(ENTRIES, after, strict=True):
        assert (new.id, new.source) == (old.id, old.source)
        assert [caption.id for caption in new.captions] == [caption.id for caption in old.captions]
        assert all(a.text != b.text for a, b in zip(old.captions, new.captions, strict=True))
        before, question = old.questions[0], new.questions[0]
        assert question.text != before.text
        assert (question.id, question.choices, question.target, question.kind, question.group) == (
            (before.id, before.choices, before.target, before.kind, before.group)
        )


def test_each_text_has_its_own_typo_whatever_stands_beside_it():
    same = [
        perturb_texts([entry("one", "a man on a horse", "a man on a horse")], Typo(3), seed)[0] for seed in range(5)
    ]
    assert any(each.captions[0].text != each.captions[1].text for each in same)
    assert perturb_texts(ENTRIES[::-1], Typo(3), 0)[::-1] == perturb_texts(ENTRIES, Typo(3), 0)
    assert perturb_texts(ENTRIES[1:2], Typo(3), 0) == perturb_texts(ENTRIES, Typo(3), 0)[1:2]


@pytest.mark.parametrize("perturbation", [Clean(0), Blur(5)], ids=["clean", "blur"])
def test_perturbations_of_no_text_return_equal_entries(perturbation):
    assert perturb_texts(ENTRIES, perturbation, 0) == ENTRIES


def test_change_is_counted_over_captions_and_questions():
    before = (entry("picture", "a dog", "一只猫", "12"),)
    after = perturb_texts(before, Typo(1), 0)
    assert text_change(text_pairs(before, before)) == TextChange(0.0, 4, 0)
    # The first caption and the question of four texts.
    assert text_change(text_pairs(before, after)) == TextChange(0.5, 2, 0)


def test_a_text_whose_meaning_may_have_changed_is_counted_once():
    pairs = [("two red cubes", "twp rde cubes"), ("a red cube", "a red cuve"), ("a red cube", "a red cube")]
    assert text_change(pairs) == TextChange(2 / 3, 1, 1)


def test_other_texts_and_no_texts_are_refused():
    with pytest.raises(DataError, match="different ids"):
        text_pairs(ENTRIES, ENTRIES[:2])
    with pytest.raises(DataError, match="no captions and no questions"):
        text_change([])


def test_prompts_are_perturbed_for_each_sample_and_counted_once_each():
    prompts = Prompts(Typo(3), 0)
    typed = {key: prompts("Describe this image.", key) for key in ("one", "two", "three", "one")}
    assert len(set(typed.values())) == 3
    assert list(prompts.pairs.values()) == [("Describe this image.", text) for text in typed.values()]
    assert typed["one"] == Typo(3).text("Describe this image.", 0, "prompt one")
