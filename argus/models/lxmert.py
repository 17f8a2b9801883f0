"""LXMERT: reads the regions that a detector finds, never the pixels; it matches and answers, and writes nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from PIL.Image import Image
from torch import Tensor
from torch.nn import Module
from torch.nn.utils.rnn import pad_sequence
from transformers import LxmertForPreTraining, LxmertForQuestionAnswering

from argus.errors import ConfigError, DataError
from argus.models.base import Choice, Chooser, Matcher, Runtime
from argus.models.decoding import right_padded
from argus.models.loading import Sources, finite, load_model, load_tokenizer
from argus.models.lxmert_parts import join, look, read
from argus.models.regions.base import RegionExtractor, Regions

HEADS = {"matching": LxmertForPreTraining, "answers": LxmertForQuestionAnswering}
CHOOSING = ("labels", "known_labels", "matching")
Pair = tuple[int, str]
"""A picture, by its place in the batch, and a text."""


@dataclass(frozen=True)
class Head:
    """One loaded checkpoint."""

    model: Any
    tokenizer: Any


class Lxmert(Matcher, Chooser):
    """`checkpoint` and `revision` name the weights of each head, "matching" and "answers"; loaded when first used.

    `labels` is a JSON file with the answers of the answer head in order (or a table of answer to number); None takes
    the checkpoint's own table. `choose_by` is one of CHOOSING. "labels": a question whose choices are all answers of
    that head goes to it, one without any to the matching head, and a mixture is an error; "known_labels": of a mixture,
    what is no answer of the head is never chosen; "matching": all questions go to the matching head. `pairs_at_once`
    bounds the pairs of picture and text of one forward pass. LXMERT has one attention kernel; the runtime's choice does
    not matter.
    """

    def __init__(
        self,
        checkpoint: Mapping[str, str],
        revision: Mapping[str, str | None],
        labels: str | None,
        regions: RegionExtractor,
        choose_by: str,
        pairs_at_once: int,
        runtime: Runtime,
    ) -> None:
        self.sources = Sources("LXMERT", HEADS, checkpoint, revision)
        if choose_by not in CHOOSING:
            raise ConfigError(f"choose_by of LXMERT is '{choose_by}': give one of {', '.join(CHOOSING)}")
        self.labels = labels
        self.regions = regions
        self.choose_by = choose_by
        self.pairs_at_once = pairs_at_once
        self.runtime = runtime
        self._heads: dict[str, Head] = {}
        self._numbers: dict[str, int] = {}

    def modules(self, task: str) -> tuple[Module, ...]:
        """Return the encoder, the head of the task and the detector; reasoning counts the answer head where it may run.

        Questions that go to the matching head meanwhile run an encoder of the same shape.
        """
        name = self._head_of(task)
        return (self._head(name).model.lxmert, self._top(name), *self.regions.modules())

    def parts(self, task: str) -> Mapping[str, tuple[Module, ...]]:
        """Return encoder, head and detector; both heads once questions have gone to the matching one as well.

        Heads of one checkpoint share their encoder, though each is loaded with its own here.
        """
        names = dict.fromkeys([self._head_of(task), *(self._heads if task == "reasoning" else ())])
        encoders = {f"encoder {self.sources[name].revision}": (self._head(name).model.lxmert,) for name in names}
        tops = {f"head {name}": (self._top(name),) for name in names}
        return encoders | tops | {"detector": self.regions.modules()}

    def _head_of(self, task: str) -> str:
        return "matching" if task == "retrieval" or self.choose_by == "matching" else "answers"

    def _top(self, name: str) -> Module:
        model = self._head(name).model
        top: Module = model.cls.seq_relationship if name == "matching" else model.answer_head
        return top

    @property
    def revision(self) -> str:
        """Return the revision of each head and of the detector; "missing" for one whose weights are not there."""
        found = self.sources.revisions()
        try:
            found["regions"] = self.regions.revision
        except DataError:
            found["regions"] = "missing"
        return ",".join(f"{name}={revision}" for name, revision in found.items())

    @torch.inference_mode()
    def match(self, images: Sequence[Image], texts: Sequence[Sequence[str]]) -> list[Tensor]:
        """Return for each image and text log P(match) - log P(no match): the difference of the head's two logits."""
        pairs = [(row, text) for row, own in enumerate(texts) for text in own]
        scores = self._matching(self._look("matching", self._regions(images)), pairs)
        return list(scores.split([len(own) for own in texts]))

    @torch.inference_mode()
    def choose(self, images: Sequence[Image], questions: Sequence[Sequence[Choice]]) -> list[list[Tensor]]:
        """Return for each choice log P of its label; without labels, how well "question choice" matches.

        Raises DataError when only some choices of a question are labels, and `choose_by` is "labels".
        """
        asked = [(row, one) for row, own in enumerate(questions) for one in own]
        labelled = [self._are_labels(one) for _, one in asked]
        regions = self._regions(images)
        by_label = self._answers(regions, [each for each, yes in zip(asked, labelled, strict=True) if yes])
        by_match = self._sentences(regions, [each for each, yes in zip(asked, labelled, strict=True) if not yes])
        scores = iter([next(by_label if yes else by_match) for yes in labelled])
        return [[next(scores) for _ in own] for own in questions]

    def _are_labels(self, asked: Choice) -> bool:
        if self.choose_by == "matching":
            return False
        known = self._label_numbers()
        unknown = [choice for choice in asked.choices if _plain(choice) not in known]
        if len(unknown) == len(asked.choices):
            return False
        if not unknown or self.choose_by == "known_labels":
            return True
        raise DataError(
            f"of the {len(asked.choices)} choices of '{asked.question}', {len(unknown)} are none of the {len(known)} "
            f"answers that '{self.sources.checkpoint['answers']}' knows: {', '.join(map(repr, unknown[:5]))}. "
            "model.choose_by=known_labels never chooses them, model.choose_by=matching asks the other head; or take "
            "another checkpoint.answers with its model.labels"
        )

    def _answers(self, regions: Regions, asked: Sequence[tuple[int, Choice]]) -> Iterator[Tensor]:
        """Yield for each question, asked of a picture, log P of each choice's label, or less than any label's."""
        if not asked:
            return
        head, numbers = self._head("answers"), self._label_numbers()
        pooled = self._pool("answers", self._look("answers", regions), [(row, one.question) for row, one in asked])
        logs = finite(head.model.answer_head(pooled).float().log_softmax(-1), "LXMERT", self.runtime)
        for (_, one), row in zip(asked, logs, strict=True):
            places = [numbers.get(_plain(choice)) for choice in one.choices]
            yield torch.stack([row.min() - 1 if place is None else row[place] for place in places])

    def _sentences(self, regions: Regions, asked: Sequence[tuple[int, Choice]]) -> Iterator[Tensor]:
        """Yield for each question, asked of a picture, how well each "question choice" matches it."""
        if not asked:
            return
        pairs = [(row, f"{one.question} {choice}") for row, one in asked for choice in one.choices]
        scores = self._matching(self._look("matching", regions), pairs)
        yield from scores.split([len(one.choices) for _, one in asked])

    def _matching(self, seen: Tensor, pairs: Sequence[Pair]) -> Tensor:
        if not pairs:
            return torch.empty(0)
        logits = self._head("matching").model.cls.seq_relationship(self._pool("matching", seen, pairs)).float()
        return finite(logits[:, 1] - logits[:, 0], "LXMERT", self.runtime)

    def _pool(self, name: str, seen: Tensor, pairs: Sequence[Pair]) -> Tensor:
        """Bring pictures, seen (pictures, regions, d), and texts together: (pairs, d). A text is read only once."""
        model = self._head(name).model.lxmert
        words = self._read(name, list(dict.fromkeys(text for _, text in pairs)))
        order = sorted(range(len(pairs)), key=lambda index: len(words[pairs[index][1]]))
        pooled: dict[int, Tensor] = {}
        for start in range(0, len(order), self.pairs_at_once):
            part = order[start : start + self.pairs_at_once]
            own = [words[pairs[index][1]] for index in part]
            lengths = torch.tensor([len(word) for word in own], device=seen.device)
            mask = torch.arange(int(lengths.max()), device=seen.device) < lengths[:, None]
            rows = [pairs[index][0] for index in part]
            found = join(model, pad_sequence(own, batch_first=True), mask, seen[rows])
            pooled.update(zip(part, found, strict=True))
        return torch.stack([pooled[index] for index in range(len(pairs))])

    def _read(self, name: str, texts: Sequence[str]) -> dict[str, Tensor]:
        """Encode texts, cut at the last position: text -> (its length, d)."""
        head = self._head(name)
        limit = head.model.config.max_position_embeddings
        rows = head.tokenizer(list(texts), truncation=True, max_length=limit)["input_ids"]
        order = sorted(range(len(texts)), key=lambda index: len(rows[index]))
        words: dict[str, Tensor] = {}
        for start in range(0, len(order), self.pairs_at_once):
            part = order[start : start + self.pairs_at_once]
            ids, mask = right_padded([rows[index] for index in part], head.tokenizer.pad_token_id, self.runtime.device)
            for index, state in zip(part, read(head.model.lxmert, ids, mask), strict=True):
                words[texts[index]] = state[: len(rows[index])]
        return words

    def _regions(self, images: Sequence[Image]) -> Regions:
        return self.regions.extract(images, self.runtime.device)

    def _look(self, name: str, regions: Regions) -> Tensor:
        model = self._head(name).model
        given = regions.features.shape[-1]
        if given != model.config.visual_feat_dim:
            raise ConfigError(
                f"the detector gives features of {given} numbers and '{self.sources.checkpoint[name]}' reads "
                f"{model.config.visual_feat_dim}: set model.checkpoint.regions to the detector that it was trained with"
            )
        return look(model.lxmert, regions.features.to(model.dtype), regions.boxes.to(model.dtype))

    def _label_numbers(self) -> dict[str, int]:
        if not self._numbers:
            if self.labels is not None:
                self._numbers = read_labels(Path(self.labels).expanduser())
            else:
                own = self._head("answers").model.config.id2label
                self._numbers = {_plain(label): int(number) for number, label in own.items()}
            self._check_labels()
        return self._numbers

    def _check_labels(self) -> None:
        """Refuse a table that does not belong to the answer head, or says nothing."""
        expected = self._head("answers").model.config.num_qa_labels
        named = any(not label.startswith("label_") for label in self._numbers)
        if not named or max(self._numbers.values()) >= expected:
            where = self.labels or self.sources.checkpoint["answers"]
            self._numbers = {}
            raise DataError(
                f"'{where}' does not name the {expected} answers of '{self.sources.checkpoint['answers']}'. Give a "
                "JSON list of them in order with model.labels=FILE (LXMERT's own: github.com/airsplay/lxmert, "
                "data/vqa/trainval_label2ans.json and data/gqa/trainval_ans2label.json), or model.choose_by=matching"
            )

    def _head(self, name: str) -> Head:
        if name not in self._heads:
            source = self.sources[name]
            model = load_model(HEADS[name], source, self.runtime, attention="eager")
            self._heads[name] = Head(model=model, tokenizer=load_tokenizer(source))
        return self._heads[name]


def read_labels(path: Path) -> dict[str, int]:
    """Return answer to number from a JSON file: a list of answers in order, or a table of answer to number.

    Raises DataError when the file is missing or holds neither.
    """
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"cannot read the answers of model.labels='{path}': {error}") from error
    if isinstance(told, list):
        told = {answer: number for number, answer in enumerate(told)}
    if not isinstance(told, dict) or not told or not all(isinstance(number, int) for number in told.values()):
        raise DataError(f"'{path}' holds no answers: give a JSON list of them, or a table of answer to number")
    return {_plain(str(answer)): number for answer, number in told.items()}


def _plain(answer: str) -> str:
    return answer.strip().lower()
