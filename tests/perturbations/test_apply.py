"""Promises of perturbing whole entries."""

from __future__ import annotations

from pathlib import Path

import pytest

from argus.errors import DataError
from argus.perturbations.apply import changed_share, perturb_texts
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


def test_changed_share_counts_captions_and_questions():
    before = (entry("one", "a dog", "一只猫", "12"),)
    after = perturb_texts(before, Typo(1), 0)
    assert changed_share(before, before) == 0.0
    assert changed_share(before, after) == 0.5  # the first caption and the question of four texts


def test_changed_share_refuses_other_texts_and_none():
    with pytest.raises(DataError, match="different ids"):
        changed_share(ENTRIES, ENTRIES[:2])
    with pytest.raises(DataError, match="no captions and no questions"):
        changed_share((Entry("bare", ImageSource(Path("bare.jpg"))),), (Entry("bare", ImageSource(Path("bare.jpg"))),))
