"""Perturb what a model is given, and say how much of it changed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from argus.errors import DataError
from argus.perturbations.base import Perturbation
from argus.perturbations.writing.meaning import meaning_at_risk
from argus.records import Entry

TextPair = tuple[str, str]
"""A text before and after a perturbation."""


@dataclass(frozen=True)
class TextChange:
    """What a perturbation did to the texts that a model was given."""

    changed_share: float  # 0 to 1
    unchanged: int
    meaning_at_risk: int  # texts in which a number, colour, negation or place was altered, lost, moved or added


def text_change(pairs: Iterable[TextPair]) -> TextChange:
    """Return how many texts changed, and in how many of them what they say may have changed as well.

    Raises DataError when there are no texts.
    """
    texts = list(pairs)
    if not texts:
        raise DataError("no captions and no questions, so no share of changed texts; choose a dataset with texts")
    changed = [(before, after) for before, after in texts if before != after]
    return TextChange(
        changed_share=len(changed) / len(texts),
        unchanged=len(texts) - len(changed),
        meaning_at_risk=sum(meaning_at_risk(before, after) for before, after in changed),
    )


class Prompts:
    """Turns a prompt into what a user might have typed for a sample, and remembers both.

    `pairs` holds them by sample id, so that a prompt that is asked for again counts once.
    """

    def __init__(self, perturbation: Perturbation, seed: int) -> None:
        self.perturbation, self.seed = perturbation, seed
        self.pairs: dict[str, TextPair] = {}

    def __call__(self, prompt: str, sample_id: str) -> str:
        typed = self.perturbation.text(prompt, self.seed, f"prompt {sample_id}")
        self.pairs[sample_id] = (prompt, typed)
        return typed


def perturb_texts(entries: Sequence[Entry], perturbation: Perturbation, seed: int) -> tuple[Entry, ...]:
    """Return the entries with perturbed captions and questions; ids, choices and targets stay."""
    return tuple(_perturb_entry(entry, perturbation, seed) for entry in entries)


def _perturb_entry(entry: Entry, perturbation: Perturbation, seed: int) -> Entry:
    captions = tuple(replace(item, text=perturbation.text(item.text, seed, item.id)) for item in entry.captions)
    questions = tuple(replace(item, text=perturbation.text(item.text, seed, item.id)) for item in entry.questions)
    return replace(entry, captions=captions, questions=questions)


def text_pairs(before: Sequence[Entry], after: Sequence[Entry]) -> list[TextPair]:
    """Return each caption and question before and after.

    Raises DataError when the two do not hold the same texts' ids in the same order.
    """
    old, new = _texts(before), _texts(after)
    if [identity for identity, _ in old] != [identity for identity, _ in new]:
        raise DataError("texts before and after a perturbation have different ids; compare the same entries")
    return [(text, changed) for (_, text), (_, changed) in zip(old, new, strict=True)]


def _texts(entries: Sequence[Entry]) -> list[tuple[tuple[str, str], str]]:
    captions = [((entry.id, caption.id), caption.text) for entry in entries for caption in entry.captions]
    questions = [((entry.id, question.id), question.text) for entry in entries for question in entry.questions]
    return captions + questions
