"""Visual reasoning: questions with choices, answered by scoring every choice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from argus.errors import DataError
from argus.metrics.accuracy import (
    accuracy_by_kind,
    chance,
    chance_adjusted_accuracy,
    chance_by_kind,
    joint_accuracy,
    joint_chance,
    metric_name,
    predicted_choice,
)
from argus.metrics.score import reasoning_score
from argus.models.base import Choice, Chooser, Embedder, Model
from argus.records import ChoicePrediction, Prediction, Question, Sample
from argus.tasks.base import Step, Task, Work
from argus.tasks.checks import require_ability, require_finite
from argus.tasks.embedding import Embedding

Scores = dict[str, np.ndarray]
"""For each question of an image, by id, the score of each choice."""


COMMONEST = "commonest_answer_accuracy"


class Reasoning(Task):
    """Picks the choice of highest score: a Chooser's own, or an Embedder's cosine of image and "question choice"."""

    name = "reasoning"
    abilities = (Chooser, Embedder)

    def prepare(self, model: Model, work: Work) -> Step:
        require_ability(self, model)
        questions = {entry.id: entry.questions for entry in work.entries}
        if not any(questions.values()):
            raise DataError(f"none of the {len(questions)} entries has a question; choose another dataset=… or task=…")
        for question in (question for asked in questions.values() for question in asked):
            if len(question.choices) < 2 or not 0 <= question.target < len(question.choices):
                raise DataError(
                    f"question '{question.id}' has {len(question.choices)} choices and the target {question.target}: "
                    "give two choices or more, the right one among them"
                )
        if isinstance(model, Chooser):
            return _choose(model, questions)
        assert isinstance(model, Embedder)  # by require_ability
        return _compare(model, questions, work.embedding)

    def collect(self, outputs: Sequence[tuple[str, Scores]], work: Work) -> tuple[Prediction, ...]:
        questions = {entry.id: entry.questions for entry in work.entries}
        return tuple(
            _prediction(image, question, scores[question.id])
            for image, scores in outputs
            for question in questions[image]
        )

    def measure(self, predictions: Sequence[Prediction]) -> Mapping[str, float]:
        """Return the accuracy over all questions, by kind and over joint questions, and two baselines.

        `commonest_answer_accuracy` is what always giving the commonest answer of a question's kind gets (for multiple
        choice: the commonest place), `chance` what guessing gets: over all questions and by kind, `chance` over joint
        questions as well.
        `accuracy_chance_adjusted` is (accuracy - chance) / (1 - chance): 0 for guessing, below 0 for worse.
        """
        answers = [p for p in predictions if isinstance(p, ChoicePrediction)]
        right = reasoning_score(answers)
        choices = [len(answer.scores) for answer in answers]
        guessing = chance(choices)
        predicted, targets = [answer.predicted for answer in answers], [answer.target for answer in answers]
        # By the metric's name, not the kind: two kinds of one name are then one figure, never one that hides the other.
        kinds, groups = [metric_name(answer.kind) for answer in answers], [answer.group for answer in answers]
        commonest = _commonest(kinds, targets)
        metrics = {
            "score": right,
            "accuracy": right,
            COMMONEST: sum(commonest.values()) / len(answers),
            "chance": guessing,
            "accuracy_chance_adjusted": chance_adjusted_accuracy(right, guessing),
        }
        by_kind = accuracy_by_kind(predicted, targets, kinds)
        metrics |= {f"accuracy_{kind}": value for kind, value in by_kind.items()}
        metrics |= {f"chance_{kind}": value for kind, value in chance_by_kind(choices, kinds).items()}
        metrics |= {f"{COMMONEST}_{kind}": hits / kinds.count(kind) for kind, hits in commonest.items()}
        if any(groups):
            metrics["accuracy_q_to_ar"] = joint_accuracy(predicted, targets, groups)
            metrics["chance_q_to_ar"] = joint_chance(choices, groups)
        return metrics

    def facts(self, model: Model, work: Work) -> Mapping[str, float]:
        """Return the number of questions, and how many texts an embedder had to cut."""
        questions = [question for entry in work.entries for question in entry.questions]
        numbers = {"questions": len(questions)}
        if isinstance(model, Embedder):
            numbers["truncated_texts"] = model.truncated([text for question in questions for text in _texts(question)])
        return numbers


def _commonest(kinds: Sequence[str], targets: Sequence[int]) -> dict[str, int]:
    """Return how many questions of each kind have its commonest answer."""
    found: dict[str, Counter[int]] = {}
    for kind, target in zip(kinds, targets, strict=True):
        found.setdefault(kind, Counter())[target] += 1
    return {kind: max(counter.values()) for kind, counter in found.items()}


def _prediction(image_id: str, question: Question, scores: np.ndarray) -> ChoicePrediction:
    return ChoicePrediction(
        id=question.id,
        image_id=image_id,
        kind=question.kind,
        group=question.group,
        scores=tuple(float(score) for score in scores),
        predicted=predicted_choice(scores, question.target),
        target=question.target,
    )


def _texts(question: Question) -> list[str]:
    return [f"{question.text} {choice}" for choice in question.choices]


def _choose(model: Chooser, questions: Mapping[str, tuple[Question, ...]]) -> Step:
    def step(batch: Sequence[Sample]) -> list[tuple[str, Scores]]:
        asked = [[Choice(question.text, question.choices) for question in questions[sample.id]] for sample in batch]
        answers = model.choose([sample.image for sample in batch], asked)
        return [
            (sample.id, _by_question(questions[sample.id], [tensor.numpy() for tensor in tensors]))
            for sample, tensors in zip(batch, answers, strict=True)
        ]

    return step


def _compare(model: Embedder, questions: Mapping[str, tuple[Question, ...]], embedding: Embedding) -> Step:
    def step(batch: Sequence[Sample]) -> list[tuple[str, Scores]]:
        # In the step, not ahead of it: a question belongs to the query, so its cost belongs to the sample.
        vectors = embedding.distinct(model, (t for sample in batch for q in questions[sample.id] for t in _texts(q)))
        images = embedding.images(model, [sample.image for sample in batch])
        answers = []
        for sample, image in zip(batch, images, strict=True):
            rows = [np.stack([vectors[text] for text in _texts(q)]) @ image for q in questions[sample.id]]
            answers.append((sample.id, _by_question(questions[sample.id], rows)))
        return answers

    return step


def _by_question(questions: Sequence[Question], rows: Sequence[np.ndarray]) -> Scores:
    return {q.id: require_finite(row, q.id) for q, row in zip(questions, rows, strict=True)}
