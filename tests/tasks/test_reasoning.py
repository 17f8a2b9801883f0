from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch
from PIL.Image import Image
from torch import Tensor

from argus.errors import ArgusError, ConfigError, DataError
from argus.metrics.accuracy import metric_name
from argus.models.base import Choice, Chooser, Embedder, Matcher
from argus.records import ChoicePrediction, Question
from argus.tasks.reasoning import Reasoning


class Bare:
    def modules(self, task: str) -> tuple[torch.nn.Module, ...]:
        return ()

    @property
    def revision(self) -> str:
        return "by hand"


class Answerer(Bare, Chooser):
    """Scores a choice by its table, `likes[choice]`."""

    def __init__(self, likes: dict[str, float]) -> None:
        self.likes = likes

    def choose(self, images: Sequence[Image], questions: Sequence[Sequence[Choice]]) -> list[list[Tensor]]:
        return [[torch.tensor([self.likes[c] for c in q.choices]) for q in asked] for asked in questions]


class Comparer(Bare, Embedder):
    """Cosine of any image with a text is `likes[text]`; keeps the texts it embedded."""

    def __init__(self, likes: dict[str, float]) -> None:
        self.likes = likes
        self.embedded: list[str] = []

    def embed_images(self, images: Sequence[Image]) -> Tensor:
        return torch.ones(len(images), 1)

    def embed_texts(self, texts: Sequence[str]) -> Tensor:
        self.embedded += texts
        return torch.tensor([[self.likes[text]] for text in texts])

    def truncated(self, texts: Sequence[str]) -> int:
        return sum(len(text) > 10 for text in texts)


class Judge(Bare, Matcher):
    def match(self, images: Sequence[Image], texts: Sequence[Sequence[str]]) -> list[Tensor]:
        return []


def ask(name: str, choices: str, target: int, kind: str = "count", group: str = "") -> Question:
    return Question(name, f"{name}?", tuple(choices), target, kind, group)


QUESTIONS = {
    "x": [ask("x1", "abc", 0), ask("x2", "abc", 1, kind="Q->A")],
    "y": [],
    "z": [ask("z1", "ab", 0, kind="Q->A")],
}


def test_the_choice_of_highest_score_is_the_answer(make_work):
    predictions = Reasoning().predict(Answerer({"a": 0.9, "b": 0.5, "c": 0.1}), make_work(questions=QUESTIONS))
    assert [(p.id, p.image_id, p.predicted, p.target) for p in predictions] == [
        ("x1", "x", 0, 0),
        ("x2", "x", 0, 1),
        ("z1", "z", 0, 0),
    ]
    assert predictions[0].scores == pytest.approx((0.9, 0.5, 0.1))


def test_accuracy_is_counted_over_all_questions_and_by_kind(make_work):
    predictions = Reasoning().predict(Answerer({"a": 0.9, "b": 0.5, "c": 0.1}), make_work(questions=QUESTIONS))
    metrics = Reasoning().measure(predictions)
    assert metrics["score"] == metrics["accuracy"] == pytest.approx(2 / 3)
    assert metrics["accuracy_count"] == 1
    assert metrics["accuracy_q_to_a"] == 0.5
    assert metrics["chance"] == pytest.approx((1 / 3 + 1 / 3 + 1 / 2) / 3)
    assert metrics["accuracy_chance_adjusted"] == pytest.approx((2 / 3 - 7 / 18) / (1 - 7 / 18))
    assert "accuracy_q_to_ar" not in metrics


def test_embedder_compares_the_image_with_question_and_choice(make_work):
    likes = {"x1? a": 0.1, "x1? b": 0.9, "x1? c": 0.2, "x2? a": 0.1, "x2? b": 0.3, "x2? c": 0.2}
    likes |= {"z1? a": 0.5, "z1? b": 0.4}
    predictions = Reasoning().predict(Comparer(likes), make_work(questions=QUESTIONS))
    assert [p.predicted for p in predictions] == [1, 1, 0]


def test_equal_texts_of_a_batch_are_embedded_once(make_work):
    same = ask("same", "ab", 0)
    model = Comparer({"same? a": 0.9, "same? b": 0.1})
    Reasoning().predict(model, make_work(questions={"x": [same], "y": [same]}, batch_size=2))
    assert sorted(model.embedded) == ["same? a", "same? b"]


def test_constant_model_is_never_right(make_work):
    predictions = Reasoning().predict(Answerer(dict.fromkeys("abc", 0.5)), make_work(questions=QUESTIONS))
    assert Reasoning().measure(predictions)["accuracy"] == 0


def test_predictions_do_not_depend_on_the_batch_size(make_work):
    questions = {f"i{n}": [ask(f"q{n}.{m}", "abc", (n + m) % 3) for m in range(n % 4)] for n in range(33)}
    texts = [f"{q.text} {choice}" for asked in questions.values() for q in asked for choice in q.choices]
    for model in (Answerer({"a": 0.1, "b": 0.3, "c": 0.2}), Comparer({t: n % 7 / 7 for n, t in enumerate(texts)})):
        one, many = (Reasoning().predict(model, make_work(questions=questions, batch_size=n)) for n in (1, 32))
        assert one == many
        assert len(one) == 48


def test_questions_of_an_unreadable_image_are_left_out(make_work):
    work = make_work(questions=QUESTIONS, unreadable=["x"])
    assert [p.id for p in Reasoning().predict(Answerer({"a": 0.9, "b": 0.5, "c": 0.1}), work)] == ["z1"]


def answer(name: str, predicted: int, target: int, kind: str = "count", group: str = "", n: int = 4):
    return ChoicePrediction(name, "x", kind, group, (0.0,) * n, predicted, target)


def test_joint_question_is_right_only_when_all_its_parts_are():
    predictions = [
        answer("1", 0, 0, "Q->A", "one"),
        answer("1r", 2, 2, "QA->R", "one"),
        answer("2", 1, 1, "Q->A", "two"),
        answer("2r", 0, 3, "QA->R", "two"),
        answer("3", 1, 1, "count"),
    ]
    metrics = Reasoning().measure(predictions)
    assert metrics["accuracy_q_to_ar"] == 0.5
    assert metrics["accuracy_q_to_a"] == 1
    assert metrics["accuracy_qa_to_r"] == 0.5
    assert metrics["accuracy"] == 0.8


def test_guessing_is_told_for_each_kind_and_for_joint_questions():
    first = [answer("1", 0, 0, "Q->A", "one"), answer("1r", 2, 2, "QA->R", "one")]
    other = [answer("2", 0, 0, "Q->A", "two", n=2), answer("2r", 1, 1, "QA->R", "two"), answer("3", 0, 0, n=10)]
    metrics = Reasoning().measure([*first, *other])
    assert metrics["chance_q_to_a"] == (1 / 4 + 1 / 2) / 2
    assert metrics["chance_qa_to_r"] == 1 / 4
    assert metrics["chance_count"] == 1 / 10
    assert metrics["chance_q_to_ar"] == (1 / 16 + 1 / 8) / 2
    assert Reasoning().measure(first)["chance_q_to_ar"] == 1 / 16


def test_commonest_answer_is_that_of_each_kind():
    targets = [("colour", 5), ("colour", 5), ("colour", 1), ("exist", 0), ("exist", 2)]
    predictions = [answer(str(n), 0, target, kind, n=28) for n, (kind, target) in enumerate(targets)]
    metrics = Reasoning().measure(predictions)
    assert metrics["commonest_answer_accuracy"] == pytest.approx((2 + 1) / 5)
    assert metrics["commonest_answer_accuracy_colour"] == pytest.approx(2 / 3)
    assert metrics["commonest_answer_accuracy_exist"] == pytest.approx(1 / 2)


@pytest.mark.parametrize(
    ("kind", "name"),
    [("Q->A", "q_to_a"), ("QA->R", "qa_to_r"), ("count", "count"), ("left of?", "left_of"), ("a:b@c=d", "a_b_c_d")],
)
def test_kind_becomes_a_name_that_the_tracking_store_takes(kind, name):
    assert metric_name(kind) == name


def test_kinds_of_one_name_are_one_figure():
    metrics = Reasoning().measure([answer("1", 0, 0, "left of"), answer("2", 0, 1, "left-of")])
    assert metrics["accuracy_left_of"] == 0.5


def test_facts_count_questions_and_cut_texts(make_work):
    work = make_work(questions={"x": [ask("a long question", "ab", 0), ask("q", "abc", 0)]})
    assert Reasoning().facts(Comparer({}), work) == {"questions": 2, "truncated_texts": 2}
    assert Reasoning().facts(Answerer({}), work) == {"questions": 2}


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_score_that_is_not_finite_is_an_error_that_names_the_question(make_work, bad):
    model = Answerer({"a": 0.1, "b": bad, "c": 0.2})
    with pytest.raises(ArgusError, match=r"'x1'.*float32"):
        Reasoning().predict(model, make_work(questions=QUESTIONS))


@pytest.mark.parametrize(("choices", "target"), [("a", 0), ("ab", 2), ("ab", -1)])
def test_question_that_cannot_be_answered_is_an_error_of_the_data(make_work, choices, target):
    with pytest.raises(DataError, match="'odd'"):
        Reasoning().predict(Answerer({}), make_work(questions={"x": [ask("odd", choices, target)]}))


def test_data_without_any_question_is_refused(make_work):
    with pytest.raises(DataError, match="question"):
        Reasoning().predict(Answerer({}), make_work(questions={"x": [], "y": []}))
    with pytest.raises(DataError, match="question"):
        Reasoning().measure([])


def test_model_that_can_neither_choose_nor_embed_is_refused(make_work):
    with pytest.raises(ConfigError, match="embeds no pictures, so it cannot do reasoning"):
        Reasoning().predict(Judge(), make_work(questions=QUESTIONS))
