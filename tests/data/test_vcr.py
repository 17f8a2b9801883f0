from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from argus.data.vcr import Vcr
from argus.data.vcr_text import object_names, render
from argus.errors import ConfigError, DataError
from argus.records import Mark

OBJECTS = ["person", "car", "person", "dog"]
LINE: dict[str, Any] = {
    "img_id": "val-0",
    "img_fn": "film/frame.jpg",
    "metadata_fn": "film/frame.json",
    "objects": OBJECTS,
    "annot_id": "val-1",
    "question": ["Why", "is", [2], "near", [1], "?"],
    "answer_choices": [["To", "drive", "."], ["To", "wait", "."], ["No", "idea", "."], [[0], "asked", "."]],
    "answer_label": 1,
    "rationale_choices": [["Because", "."], ["Perhaps", "."], ["So", "."], ["It", "is", "late", "."]],
    "rationale_label": 3,
}
METADATA = {"names": OBJECTS, "boxes": [[n, n, n + 2, n + 3, 0.9] for n in range(4)]}


@pytest.fixture
def vcr(tmp_path: Path, write: Any, picture: Any) -> Any:
    picture("vcr1images/film/frame.jpg")
    write("vcr1images/film/frame.json", METADATA)

    def build(*lines: dict[str, Any], modes: Any = ("q_to_a", "qa_to_r"), marks: str = "mentioned") -> Vcr:
        write("val.jsonl", list(lines))
        return Vcr(tmp_path, split="val", images="vcr1images", modes=modes, marks=marks)

    return build


def test_reasons_are_asked_with_the_question_and_its_right_answer(vcr: Any) -> None:
    answer, reason = vcr(LINE).entries()[0].questions
    assert (answer.kind, answer.text, answer.target) == ("Q->A", "Why is person2 near car1?", 1)
    assert (reason.kind, reason.text, reason.target) == ("QA->R", "Why is person2 near car1? To wait.", 3)
    assert answer.choices[3] == "person1 asked."
    assert answer.id != reason.id


def test_both_questions_of_an_annotation_share_a_group_and_a_lone_mode_has_none(vcr: Any) -> None:
    assert [question.group for question in vcr(LINE).entries()[0].questions] == ["val-1", "val-1"]
    assert [question.group for question in vcr(LINE, modes="qa_to_r").entries()[0].questions] == [""]


def test_lines_of_one_image_are_one_entry(vcr: Any) -> None:
    (entry,) = vcr(LINE, LINE | {"annot_id": "val-2"}).entries()
    assert entry.id == "val-0"
    assert [question.group for question in entry.questions] == ["val-1", "val-1", "val-2", "val-2"]


def test_marks_are_the_objects_that_the_texts_mention_or_all(vcr: Any) -> None:
    person1, car1, person2 = Mark("person1", (0, 0, 2, 3)), Mark("car1", (1, 1, 3, 4)), Mark("person2", (2, 2, 4, 5))
    assert vcr(LINE).entries()[0].source.marks == (person1, car1, person2)
    assert vcr(LINE, marks="all").entries()[0].source.marks == (person1, car1, person2, Mark("dog1", (3, 3, 5, 6)))


def test_the_picture_does_not_depend_on_the_modes(vcr: Any) -> None:
    line = LINE | {"rationale_choices": [[[3], "barks", "."], ["a"], ["b"], ["c"]]}
    sources = {vcr(line, modes=modes).entries()[0].source for modes in ("q_to_a", "qa_to_r")}
    assert len(sources) == 1
    assert "dog1" in [mark.label for mark in sources.pop().marks]


@pytest.mark.parametrize("key", ["answer_label", "rationale_label"])
def test_line_without_labels_is_an_error_with_advice(vcr: Any, key: str) -> None:
    with pytest.raises(DataError, match=rf"line 1 has no {key}: .*use split=val"):
        vcr({name: value for name, value in LINE.items() if name != key}).entries()


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"answer_label": 4}, "answer_label is 4, but there are 4 choices"),
        ({"answer_label": None}, "answer_label is None"),
        ({"question": ["Is", [4], "?"]}, "line 1 speaks of object 4, counted from 0, but the picture has 4"),
        ({"rationale_choices": [[[-1]], ["a"], ["b"], ["c"]]}, "speaks of object -1"),
        ({"question": "Why?"}, "list of tokens"),
        ({"question": ["Is", 0, "?"]}, "not laid out as expected"),
        ({"objects": ["person"] * 4}, "lists other objects"),
        ({"metadata_fn": "film/other.json"}, "metadata files are missing: .*other.json"),
        ({"img_fn": "film/other.jpg"}, r"pictures are missing.*other.jpg"),
    ],
)
def test_faulty_lines_are_named(vcr: Any, changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(DataError, match=reason):
        vcr(LINE | changes).entries()


def test_lines_that_disagree_about_their_image_are_an_error(vcr: Any) -> None:
    with pytest.raises(DataError, match=r"line 2: image val-0 has another img_fn than in .*line 1"):
        vcr(LINE, LINE | {"annot_id": "val-2", "img_fn": "film/other.jpg"}).entries()


def test_annotation_listed_twice_is_an_error(vcr: Any) -> None:
    with pytest.raises(DataError, match=r"question ids .* more than once: val-1:q_to_a, val-1:qa_to_r"):
        vcr(LINE, LINE).entries()


def test_broken_line_is_named(vcr: Any, write: Any) -> None:
    dataset = vcr(LINE)
    write("val.jsonl", '\n{"img_id": ')
    with pytest.raises(DataError, match=r"val.jsonl' line 2 is not valid json"):
        dataset.entries()


@pytest.mark.parametrize(("key", "value"), [("modes", ["q_to_r"]), ("modes", []), ("marks", "some")])
def test_impossible_settings_are_errors(vcr: Any, key: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=key):
        vcr(LINE, **{key: value})


def test_metadata_counts_as_an_annotation_file(vcr: Any) -> None:
    assert [path.name for path in vcr(LINE).annotation_files()] == ["val.jsonl", "frame.json"]


def test_objects_are_numbered_within_their_class() -> None:
    assert object_names(OBJECTS) == ("person1", "car1", "person2", "dog1")


@pytest.mark.parametrize(
    ("tokens", "sentence"),
    [
        (["She", "doesn", "'", "t", "care", "."], "She doesn't care."),
        ([[0], "'", "s", "car", ",", [0], "'s", "dog"], "person1's car, person1's dog"),
        (["The", "boys", "'", "ball"], "The boys' ball"),
        (["They", "'", "re", "co", "-", "workers", "."], "They're co-workers."),
        (["He", "says", '"', "stop", "!", '"', "to", [0, 2], "."], 'He says "stop!" to person1 and person2.'),
        (['"', "Go", '"'], '"Go"'),
        (["Are", [0, 1, 3], "here", "(", "now", ")", "?"], "Are person1, car1 and dog1 here (now)?"),
        (["It", "costs", "$", "5", ";", "or", "5", "%", "."], "It costs $5; or 5%."),
        (["and", "/", "or", "", " ", "so"], "and/or so"),
    ],
)
def test_sentences_have_spaces_where_a_writer_puts_them(tokens: list[Any], sentence: str) -> None:
    assert render(tokens, object_names(OBJECTS), "here") == sentence
