"""Any chat model that sees: it is shown a picture, told a text, and its answer is read or weighed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import torch
from PIL.Image import Image
from torch import Tensor
from torch.nn import Module
from transformers import AutoModelForImageTextToText

from argus.models.base import Choice, Chooser, Generator, Matcher, Runtime
from argus.models.decoding import choice_score, choice_tokens, finite_logits, greedy
from argus.models.loading import finite, load_model, load_processor, resolve
from argus.models.pictures import bounded
from argus.models.prefix import Row, read
from argus.models.prompts import Prompts, answer_tokens, require_place


class Chat(Matcher, Generator, Chooser):
    """Any checkpoint of transformers' image-text-to-text kind with a chat template.

    The prompts are what a user would type: `match_prompt` holds "{caption}", `question_prompt` "{question}".
    `image_options` go to the image processor (do_pan_and_scan, min_pixels, …). `pairs_at_once` bounds the texts of one
    forward pass, whose keys and values fill the memory.
    """

    def __init__(
        self,
        checkpoint: str,
        revision: str | None,
        caption_prompt: str,
        match_prompt: str,
        question_prompt: str,
        num_beams: int,
        max_new_tokens: int,
        image_options: Mapping[str, Any],
        pairs_at_once: int,
        runtime: Runtime,
    ) -> None:
        require_place("match_prompt", match_prompt, "{caption}")
        require_place("question_prompt", question_prompt, "{question}")
        self.caption_prompt = caption_prompt
        self.match_prompt = match_prompt
        self.question_prompt = question_prompt
        self.pairs_at_once = pairs_at_once
        self.runtime = runtime
        self.source = resolve(checkpoint, revision)
        self.model = load_model(AutoModelForImageTextToText, self.source, runtime, runtime.attention)
        self.name = type(self.model).__name__
        self.model.generation_config = greedy(self.model, num_beams, max_new_tokens)
        self.prompts = Prompts(load_processor(self.source), image_options)
        self.yes, self.no = answer_tokens(self.prompts.processor.tokenizer)

    def modules(self, task: str) -> tuple[Module, ...]:
        return (self.model,)

    @property
    def revision(self) -> str:
        return self.source.revision

    @torch.inference_mode()
    def match(self, images: Sequence[Image], texts: Sequence[Sequence[str]]) -> list[Tensor]:
        """Return for each image and each of its texts log P(yes) - log P(no) of the first token of the answer."""
        images = bounded(images)
        asked = [[self.match_prompt.replace("{caption}", text) for text in own] for own in texts]
        prompts = self._tokens(images, asked)
        scores = self._read(images, asked, [[self._answer(prompt) for prompt in own] for own in prompts])
        return [self._finite([odds(one, len(self.yes)) for one in own]) for own in scores]

    @torch.inference_mode()
    def generate(self, images: Sequence[Image], prompts: Sequence[str]) -> list[str]:
        """Return one caption for each image, greedily decoded, without the prompt."""
        inputs = self.prompts.inputs(bounded(images), prompts).to(self.runtime.device)
        written = self.model.generate(**inputs, logits_processor=finite_logits(self.name, self.runtime))
        answers = written[:, inputs["input_ids"].shape[1] :]
        return [text.strip() for text in self.prompts.processor.batch_decode(answers, skip_special_tokens=True)]

    @torch.inference_mode()
    def choose(self, images: Sequence[Image], questions: Sequence[Sequence[Choice]]) -> list[list[Tensor]]:
        """Return for each question the mean log P of each choice's tokens as the answer (`choice_score`)."""
        images = bounded(images)
        asked = [[self.question_prompt.replace("{question}", one.question) for one in own] for own in questions]
        tokenizer = self.prompts.processor.tokenizer
        choices = [[choice_tokens(tokenizer, one.choices) for one in own] for own in questions]
        rows = [
            [choice_rows(prompt, answers) for prompt, answers in zip(*own, strict=True)]
            for own in zip(self._tokens(images, asked), choices, strict=True)
        ]
        scores = map(iter, self._read(images, asked, [list(chain(*own)) for own in rows]))
        return [
            [self._finite(choice_scores(read_, answers)) for answers in own]
            for own, read_ in zip(choices, scores, strict=True)
        ]

    def _answer(self, prompt: Sequence[int]) -> Row:
        targets = (*self.yes, *self.no)
        return Row(tuple(prompt), (len(prompt) - 1,) * len(targets), targets)

    def _finite(self, scores: Sequence[Tensor]) -> Tensor:
        return finite(torch.stack(list(scores)) if scores else torch.empty(0), self.name, self.runtime)

    def _tokens(self, images: Sequence[Image], texts: Sequence[Sequence[str]]) -> list[list[list[int]]]:
        """Tokenise every text beside its image; a text that stands beside several images of one size, once."""
        known: dict[tuple[int, int], dict[str, list[int]]] = defaultdict(dict)
        for image, own in zip(images, texts, strict=True):
            new = [text for text in dict.fromkeys(own) if text not in known[image.size]]
            if new:
                known[image.size].update(zip(new, self.prompts.tokens(image, new), strict=True))
        return [[known[image.size][text] for text in own] for image, own in zip(images, texts, strict=True)]

    def _read(
        self, images: Sequence[Image], texts: Sequence[Sequence[str]], rows: Sequence[Sequence[Row]]
    ) -> list[list[Tensor]]:
        """Return `read` of every image's rows; images of one size take the same number of tokens and go together."""
        alike: dict[tuple[int, int], list[int]] = defaultdict(list)
        for index, image in enumerate(images):
            if rows[index]:
                alike[image.size].append(index)
        found: list[list[Tensor]] = [[] for _ in images]
        for indices in alike.values():
            opening = texts[indices[0]][0]
            inputs = self.prompts.inputs([images[index] for index in indices], [opening] * len(indices))
            own = read(
                self.model, inputs.to(self.runtime.device), [rows[index] for index in indices], self.pairs_at_once
            )
            for index, scores in zip(indices, own, strict=True):
                found[index] = scores
        return found


def odds(scores: Tensor, yes: int) -> Tensor:
    """Return log P(yes) - log P(no) from the log P of the `yes` tokens that begin a yes, then of those of a no."""
    return torch.logsumexp(scores[:yes], dim=0) - torch.logsumexp(scores[yes:], dim=0)


def choice_rows(prompt: Sequence[int], choices: Sequence[Sequence[int]]) -> list[Row]:
    """Return what to read to score choices: first the first token of each, then the rest of each longer one."""
    last = len(prompt) - 1
    rows = [Row(tuple(prompt), (last,) * len(choices), tuple(choice[0] for choice in choices))]
    for choice in choices:
        if len(choice) > 1:
            positions = tuple(range(last + 1, last + len(choice)))
            rows.append(Row((*prompt, *choice[:-1]), positions, tuple(choice[1:])))
    return rows


def choice_scores(scores: Iterator[Tensor], choices: Sequence[Sequence[int]]) -> list[Tensor]:
    """Return the score of each choice from what was read for `choice_rows`, taken off `scores`."""
    firsts = next(scores).split(1)
    found = [
        torch.cat([first, next(scores)]) if len(choice) > 1 else first
        for first, choice in zip(firsts, choices, strict=True)
    ]
    return [choice_score(log_probabilities) for log_probabilities in found]
