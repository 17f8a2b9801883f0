"""Texts that the tokenizers learn their pieces from, and the wrong answers that a question is trained with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from argus.pocket.asking import COUNTS, YES_NO
from argus.pocket.corpus import Corpus
from argus.pocket.language import captions, questions, regions
from argus.pocket.scenes import SIZES, SOLID
from argus.pocket.words import shuffled

if TYPE_CHECKING:
    from numpy.random import Generator

    from argus.records import Question

SAMPLE = 400
"""Scenes of each style whose texts a tokenizer learns from."""
FAMILIES = (SOLID.colors, SOLID.shapes, SOLID.materials, SIZES, YES_NO, COUNTS[:6])
"""Answers that a wrong answer is taken from: those that the question could have."""


def sample_texts(data: Corpus, rng: Generator) -> list[str]:
    """Return captions, phrases, questions and answers of the first scenes of each style."""
    texts: list[str] = []
    for part in data.values():
        for scene in part.scenes[:SAMPLE]:
            texts += captions(scene, rng)
            texts += [region.phrase for region in regions(scene, rng)]
            for question in questions(scene, rng):
                texts += [question.text, *question.choices]
    return texts


def some_choices(question: Question, count: int, rng: Generator) -> list[str]:
    """Return `count` answers, the right one first. About half of the wrong ones could answer the question too."""
    right = question.choices[question.target]
    wrong = shuffled([choice for choice in question.choices if choice != right], rng)
    family = next((family for family in FAMILIES if right in family), question.choices)
    alike = [choice for choice in wrong if choice in family]
    others = [choice for choice in wrong if choice not in family]
    near = alike[: count // 2] if others else alike
    return [right, *near, *others][:count]
