"""CLEVR v1.0 (Johnson et al. 2017): questions about rendered scenes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from argus.data.base import Dataset
from argus.data.files import expected_shape, read_json, text
from argus.errors import ConfigError, DataError
from argus.records import Entry, ImageSource, Question

UNKNOWN_KIND = "open"


class Clevr(Dataset):
    """Each image with its questions; the choices of every question are the whole answer set.

    A question's kind is the last function of its program ("count", "exist", "query_color", …), and "open" where there
    is no program, as in CLEVR-Humans.
    """

    layout = """\
  questions/CLEVR_val_questions.json
  images/val/CLEVR_val_000000.png …"""

    def __init__(self, root: Path | str, *, split: str, answers: Sequence[str]) -> None:
        """`answers` is the answer set, every one a string: a yaml needs quotes around "yes", "no" and numbers."""
        super().__init__(root)
        self.split = split
        self.answers = tuple(answers)
        if wrong := [answer for answer in self.answers if not isinstance(answer, str)]:
            raise ConfigError(f"answers {wrong} are not texts: put quotes around them in the yaml")
        if len(set(self.answers)) < len(self.answers):
            raise ConfigError(f"answers {list(self.answers)} name one twice")

    def annotation_files(self) -> tuple[Path, ...]:
        return (self.file("questions", f"CLEVR_{self.split}_questions.json"),)

    def read(self) -> tuple[Entry, ...]:
        (path,) = self.annotation_files()
        folder = self.folder("images", self.split)
        questions: dict[str, list[Question]] = {}
        with expected_shape(f"'{path}'", self.layout):
            for line in read_json(path)["questions"]:
                questions.setdefault(str(line["image_filename"]), []).append(self.question(line, path))
        return tuple(
            Entry(Path(name).stem, ImageSource(folder / name), questions=tuple(asked))
            for name, asked in questions.items()
        )

    def question(self, line: dict[str, Any], path: Path) -> Question:
        """Return one question of the file, or raise DataError for an answer outside the answer set."""
        name = f"{self.split}-{line['question_index']}"
        if "answer" not in line:
            raise DataError(f"'{path}': question {name} has no answer, as in the test split; use split=val")
        if line["answer"] not in self.answers:
            raise DataError(
                f"'{path}': the answer {line['answer']!r} of question {name} is not one of the {len(self.answers)} "
                f"answers {list(self.answers)}; correct the file or the dataset's `answers`"
            )
        target = self.answers.index(line["answer"])
        return Question(name, text(line["question"]), self.answers, target, kind_of(line.get("program")))


def kind_of(program: Sequence[dict[str, Any]] | None) -> str:
    """Return the last function of a program; the question generator's own files call it "type"."""
    if not program:
        return UNKNOWN_KIND
    last = program[-1]
    return str(last["function"] if "function" in last else last["type"])
