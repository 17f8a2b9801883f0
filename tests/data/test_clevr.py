from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from argus.data.clevr import Clevr
from argus.errors import ConfigError, DataError

ANSWERS = ["yes", "no", "0", "1", "red"]


def question(index: int, image: str, answer: Any, program: Any = None) -> dict[str, Any]:
    line = {"question_index": index, "image_filename": image, "question": "What colour?", "answer": answer}
    return line if program is None else line | {"program": program}


@pytest.fixture
def clevr(tmp_path: Path, write: Any, picture: Any) -> Any:
    picture("images/val/CLEVR_val_000001.png")
    picture("images/val/CLEVR_val_000002.png")

    def build(*questions: dict[str, Any], answers: list[Any] = ANSWERS) -> Clevr:
        write("questions/CLEVR_val_questions.json", {"questions": questions})
        return Clevr(tmp_path, split="val", answers=answers)

    return build


def test_questions_are_gathered_by_image_in_the_order_of_the_file(clevr: Any) -> None:
    one, two = "CLEVR_val_000001.png", "CLEVR_val_000002.png"
    entries = clevr(question(0, two, "red"), question(1, one, "no"), question(2, two, "1")).entries()
    assert [entry.id for entry in entries] == ["CLEVR_val_000002", "CLEVR_val_000001"]
    assert [asked.id for asked in entries[0].questions] == ["val-0", "val-2"]


def test_choices_are_the_answer_set_and_the_target_the_answer(clevr: Any) -> None:
    (entry,) = clevr(question(0, "CLEVR_val_000001.png", "red")).entries()
    (asked,) = entry.questions
    assert asked.choices == tuple(ANSWERS)
    assert asked.choices[asked.target] == "red"


@pytest.mark.parametrize(
    ("program", "kind"),
    [
        ([{"function": "scene"}, {"function": "count"}], "count"),
        ([{"type": "scene"}, {"type": "query_color"}], "query_color"),
        ([], "open"),
        (None, "open"),
    ],
)
def test_kind_is_the_last_function_of_the_program(clevr: Any, program: Any, kind: str) -> None:
    (entry,) = clevr(question(0, "CLEVR_val_000001.png", "red", program)).entries()
    assert entry.questions[0].kind == kind


@pytest.mark.parametrize("answer", ["crimson", "", "Yes", True, 1, None])
def test_answer_outside_the_answer_set_is_an_error(clevr: Any, answer: Any) -> None:
    with pytest.raises(DataError, match=r"of question val-0 is not one of the 5 answers"):
        clevr(question(0, "CLEVR_val_000001.png", answer)).entries()


def test_split_without_answers_is_an_error_with_advice(clevr: Any) -> None:
    line = question(0, "CLEVR_val_000001.png", "red")
    del line["answer"]
    with pytest.raises(DataError, match="no answer, as in the test split; use split=val"):
        clevr(line).entries()


@pytest.mark.parametrize("answers", [[True, False], ["yes", 0], ["yes", "no", "yes"]])
def test_answer_set_must_be_different_texts(clevr: Any, answers: list[Any]) -> None:
    with pytest.raises(ConfigError, match=r"quotes|twice"):
        clevr(answers=answers)


def test_question_ids_that_repeat_and_pictures_that_are_missing_are_named(clevr: Any) -> None:
    with pytest.raises(DataError, match=r"question ids .* more than once: val-0"):
        clevr(question(0, "CLEVR_val_000001.png", "red"), question(0, "CLEVR_val_000002.png", "red")).entries()
    with pytest.raises(DataError, match=r"1 of 1 pictures are missing.*CLEVR_val_000003.png"):
        clevr(question(0, "CLEVR_val_000003.png", "red")).entries()


def test_faulty_question_is_named(clevr: Any) -> None:
    with pytest.raises(DataError, match=r"CLEVR_val_questions.json' has no key 'image_filename'"):
        clevr({"question_index": 0}).entries()
