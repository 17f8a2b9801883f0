"""Visual Commonsense Reasoning (Zellers et al. 2019): four answers to choose from, then four reasons."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from argus.data.base import Dataset
from argus.data.checks import first_few
from argus.data.files import expected_shape, read_json, read_json_lines, several
from argus.data.vcr_text import Tokens, numbers_in, object_names, render
from argus.errors import ConfigError, DataError
from argus.records import Box, Entry, ImageSource, Mark, Question

KINDS = {"q_to_a": "Q->A", "qa_to_r": "QA->R"}
MARKS = ("mentioned", "all")


@dataclass(frozen=True)
class Annotation:
    """One line of the file: its place, the names of the picture's objects, and the line itself."""

    where: str
    names: tuple[str, ...]
    line: dict[str, Any]


class Vcr(Dataset):
    """Each image with its questions, and the objects that they speak of drawn on it as named boxes.

    Objects are called by class and ordinal ("person1", "person2", "car1"), in the picture as in the texts. QA->R asks
    with the question and its right answer. With both modes, the two questions of one annotation share a group, its
    `annot_id`, so that Q->AR is right only when both are.
    """

    layout = """\
  val.jsonl                        or train.jsonl; the labels of test.jsonl were not published
  vcr1images/<film>/<frame>.jpg    with <frame>.json (boxes, names) beside it"""

    def __init__(self, root: Path | str, *, split: str, images: str, modes: str | Sequence[str], marks: str) -> None:
        """`modes` are q_to_a and qa_to_r; `marks` draws the objects that the image's texts mention, or all."""
        super().__init__(root)
        self.split = split
        self.images = images
        self.modes = several(modes)
        self.marks = marks
        if not self.modes or not set(self.modes) <= set(KINDS):
            raise ConfigError(f"modes={list(self.modes)} of VCR: choose from {list(KINDS)}")
        if marks not in MARKS:
            raise ConfigError(f"marks={marks!r} of VCR: choose one of {MARKS}")

    def annotation_files(self) -> tuple[Path, ...]:
        return (self.file(f"{self.split}.jsonl"), *self.metadata_files(self.by_image()))

    def read(self) -> tuple[Entry, ...]:
        groups = self.by_image()
        self.metadata_files(groups)  # names every missing file at once, before any is opened
        return tuple(self.entry(name, group) for name, group in groups.items())

    def metadata_files(self, groups: dict[str, list[Annotation]]) -> tuple[Path, ...]:
        """Return the file with the boxes of each image, or raise DataError naming those that are missing."""
        folder = self.folder(self.images)
        metadata = dict.fromkeys(folder / group[0].line["metadata_fn"] for group in groups.values())
        if absent := [path for path in metadata if not path.is_file()]:
            raise DataError(f"metadata files are missing: {first_few(absent)}. Expected layout:\n{self.layout}")
        return tuple(metadata)

    def by_image(self) -> dict[str, list[Annotation]]:
        """Return the lines of each image, in the order of the file, by image id."""
        groups: dict[str, list[Annotation]] = {}
        for where, line in read_json_lines(self.file(f"{self.split}.jsonl")):
            with expected_shape(where, self.layout):
                group = groups.setdefault(line["img_id"], [])
                group.append(Annotation(where, object_names(line["objects"]), line))
                for key in ("img_fn", "metadata_fn", "objects"):
                    if line[key] != group[0].line[key]:
                        raise DataError(f"{where}: image {line['img_id']} has another {key} than in {group[0].where}")
        return groups

    def entry(self, name: str, group: Sequence[Annotation]) -> Entry:
        folder = self.root / self.images
        first = group[0]
        boxes = self.boxes(folder / first.line["metadata_fn"], first)
        shown: Iterable[int] = range(len(boxes))
        if self.marks == "mentioned":
            shown = sorted({index for annotation in group for index in mentioned(annotation)})
        return Entry(
            id=name,
            source=ImageSource(
                folder / first.line["img_fn"], marks=tuple(Mark(first.names[index], boxes[index]) for index in shown)
            ),
            questions=tuple(question for annotation in group for question in self.questions(annotation)),
        )

    def boxes(self, path: Path, annotation: Annotation) -> list[Box]:
        """Return the box of each object, or raise DataError when the metadata lists other objects than the line."""
        with expected_shape(f"'{path}'", self.layout):
            metadata = read_json(path)
            boxes = [(float(b[0]), float(b[1]), float(b[2]), float(b[3])) for b in metadata["boxes"]]
            if metadata["names"] != annotation.line["objects"] or len(boxes) != len(annotation.names):
                raise DataError(f"'{path}' lists other objects than {annotation.where}; both must be of one release")
        return boxes

    def questions(self, annotation: Annotation) -> Iterator[Question]:
        """Yield the question of each mode."""
        line, names, where = annotation.line, annotation.names, annotation.where
        with expected_shape(where, self.layout):
            question = render(line["question"], names, where)
            answers = tuple(render(tokens, names, where) for tokens in line["answer_choices"])
            right = label(line, "answer_label", len(answers), where)
            group = str(line["annot_id"]) if len(self.modes) > 1 else ""
            for mode in self.modes:
                text, choices, target = question, answers, right
                if mode == "qa_to_r":
                    text = f"{question} {answers[right]}"
                    choices = tuple(render(tokens, names, where) for tokens in line["rationale_choices"])
                    target = label(line, "rationale_label", len(choices), where)
                yield Question(f"{line['annot_id']}:{mode}", text, choices, target, KINDS[mode], group)


def mentioned(annotation: Annotation) -> list[int]:
    """Return the objects that any text of an annotation speaks of: whatever the modes, the picture is the same."""
    line = annotation.line
    with expected_shape(annotation.where, Vcr.layout):
        texts: list[Tokens] = [line["question"], *line["answer_choices"], *line["rationale_choices"]]
        return [number for tokens in texts for number in numbers_in(tokens, annotation.names, annotation.where)]


def label(line: dict[str, Any], key: str, choices: int, where: str) -> int:
    """Return the index of the right choice, or raise DataError when it is missing or there is no such choice."""
    if key not in line:
        raise DataError(f"{where} has no {key}: the labels of VCR's test split were not published; use split=val")
    if line[key] not in range(choices):
        raise DataError(f"{where}: {key} is {line[key]!r}, but there are {choices} choices")
    return int(line[key])
