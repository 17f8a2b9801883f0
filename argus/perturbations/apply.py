"""Perturb what a model is given, and say how much of it changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from argus.errors import DataError
from argus.perturbations.base import Perturbation
from argus.records import Entry


def perturb_texts(entries: Sequence[Entry], perturbation: Perturbation, seed: int) -> tuple[Entry, ...]:
    """Return the entries with perturbed captions and questions; ids, choices and targets stay."""
    return tuple(_perturb_entry(entry, perturbation, seed) for entry in entries)


def _perturb_entry(entry: Entry, perturbation: Perturbation, seed: int) -> Entry:
    captions = tuple(replace(item, text=perturbation.text(item.text, seed, item.id)) for item in entry.captions)
    questions = tuple(replace(item, text=perturbation.text(item.text, seed, item.id)) for item in entry.questions)
    return replace(entry, captions=captions, questions=questions)


def changed_share(before: Sequence[Entry], after: Sequence[Entry]) -> float:
    """Return the share, 0 to 1, of captions and questions whose text differs.

    Raises DataError when the two do not hold the same texts' ids in the same order, or hold no texts at all.
    """
    old, new = _texts(before), _texts(after)
    if [identity for identity, _ in old] != [identity for identity, _ in new]:
        raise DataError("texts before and after a perturbation have different ids; compare the same entries")
    if not old:
        raise DataError("no captions and no questions, so no share of changed texts; choose a dataset with texts")
    return sum(text != changed for (_, text), (_, changed) in zip(old, new, strict=True)) / len(old)


def _texts(entries: Sequence[Entry]) -> list[tuple[tuple[str, str], str]]:
    captions = [((entry.id, caption.id), caption.text) for entry in entries for caption in entry.captions]
    questions = [((entry.id, question.id), question.text) for entry in entries for question in entry.questions]
    return captions + questions
