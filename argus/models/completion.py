"""Models that see a picture and complete a plain text, with no chat around it: PaliGemma and BLIP-2."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from itertools import chain
from typing import Any

import torch
from PIL.Image import Image, new
from torch import Tensor
from torch.nn import Module
from transformers import (
    AutoModelForImageTextToText,
    Blip2ForConditionalGeneration,
    PaliGemmaForConditionalGeneration,
)

from argus.errors import DataError
from argus.models.base import Choice, Chooser, Generator, Matcher, Runtime
from argus.models.chat import choice_rows, choice_scores, odds
from argus.models.decoding import choice_tokens, finite_logits, greedy, right_padded
from argus.models.loading import finite, load_model, load_processor, resolve
from argus.models.prefix import Row, asked
from argus.models.prompts import answer_tokens, require_places

KINDS = (PaliGemmaForConditionalGeneration, Blip2ForConditionalGeneration)


@dataclass(frozen=True)
class Text:
    """A row to read, of which the first `prompt` tokens are the picture's and the prompt's, the rest an answer."""

    row: Row
    prompt: int


class Completion(Matcher, Generator, Chooser):
    """PaliGemma (1 and 2) and BLIP-2 with a decoder (OPT).

    The prompts are what a user would type: `match_prompt` holds "{caption}", `question_prompt` "{question}".
    `before_answer` stands between a prompt and an answer that is weighed: a space where an answer goes on with the
    line. `attention` is the kernel, None the runtime's: PaliGemma 2 has "eager" alone. `pairs_at_once` bounds the texts
    of one forward pass.

    A picture passes the vision tower once for all its texts, but every text passes the language model whole: the tokens
    of PaliGemma's pictures see the prompt, so that nothing there can be shared.
    """

    def __init__(
        self,
        checkpoint: str,
        revision: str | None,
        caption_prompt: str,
        match_prompt: str,
        question_prompt: str,
        before_answer: str,
        attention: str | None,
        num_beams: int,
        max_new_tokens: int,
        pairs_at_once: int,
        runtime: Runtime,
    ) -> None:
        require_places(match_prompt, question_prompt)
        self.caption_prompt = caption_prompt
        self.match_prompt = match_prompt
        self.question_prompt = question_prompt
        self.before_answer = before_answer
        self.pairs_at_once = pairs_at_once
        self.runtime = runtime
        self.source = resolve(checkpoint, revision)
        self.model = load_model(AutoModelForImageTextToText, self.source, runtime, attention or runtime.attention)
        self.name = type(self.model).__name__
        if not isinstance(self.model, KINDS) or self.model.config.is_encoder_decoder:
            raise DataError(
                f"'{checkpoint}' holds a {self.name}, which this adapter does not know: it reads PaliGemma, and BLIP-2 "
                "with a decoder (OPT, not T5). A model with a chat template goes with argus.models.chat.Chat"
            )
        self._prefix_sees_itself = isinstance(self.model, PaliGemmaForConditionalGeneration)
        writer = self.model if self._prefix_sees_itself else self.model.language_model  # BLIP-2 hands writing on
        writer.generation_config = greedy(writer, num_beams, max_new_tokens)
        self.processor = load_processor(self.source)
        self.yes, self.no = answer_tokens(self.processor.tokenizer)

    def modules(self, task: str) -> tuple[Module, ...]:
        return (self.model,)

    @property
    def revision(self) -> str:
        return self.source.revision

    @torch.inference_mode()
    def match(self, images: Sequence[Image], texts: Sequence[Sequence[str]]) -> list[Tensor]:
        """Return for each image and each of its texts log P(yes) - log P(no) of the first token of the answer."""
        prompts = self._tokens([[self.match_prompt.replace("{caption}", text) for text in own] for own in texts])
        scores = [
            self._read(image, [self._answer(prompt) for prompt in own])
            for image, own in zip(images, prompts, strict=True)
        ]
        return [self._finite([odds(one, len(self.yes)) for one in own]) for own in scores]

    @torch.inference_mode()
    def generate(self, images: Sequence[Image], prompts: Sequence[str]) -> list[str]:
        """Return one caption for each image, greedily decoded, without the prompt."""
        inputs = self._inputs(images, prompts, "left").to(self.runtime.device)
        written = self.model.generate(**inputs, logits_processor=finite_logits(self.name, self.runtime))
        answers = written[:, inputs["input_ids"].shape[1] :]
        return [text.strip() for text in self.processor.batch_decode(answers, skip_special_tokens=True)]

    @torch.inference_mode()
    def choose(self, images: Sequence[Image], questions: Sequence[Sequence[Choice]]) -> list[list[Tensor]]:
        """Return for each question the mean log P of each choice's tokens as the answer (`choice_score`)."""
        prompts = self._tokens(
            [[self.question_prompt.replace("{question}", one.question) for one in own] for own in questions]
        )
        found = []
        for image, own, begun in zip(images, questions, prompts, strict=True):
            choices = [self._choices(one) for one in own]
            texts = [
                [Text(row, len(prompt)) for row in choice_rows(prompt, answers)]
                for prompt, answers in zip(begun, choices, strict=True)
            ]
            scores = iter(self._read(image, list(chain(*texts))))
            found.append([self._finite(choice_scores(scores, answers)) for answers in choices])
        return found

    def _answer(self, prompt: tuple[int, ...]) -> Text:
        targets = (*self.yes, *self.no)
        return Text(Row(prompt, (len(prompt) - 1,) * len(targets), targets), len(prompt))

    def _choices(self, question: Choice) -> list[list[int]]:
        return choice_tokens(self.processor.tokenizer, [f"{self.before_answer}{choice}" for choice in question.choices])

    def _finite(self, scores: Sequence[Tensor]) -> Tensor:
        return finite(torch.stack(list(scores)) if scores else torch.empty(0), self.name, self.runtime)

    def _tokens(self, texts: Sequence[Sequence[str]]) -> list[list[tuple[int, ...]]]:
        """Tokenise every text beside a picture: how many tokens that takes does not depend on it."""
        different = list(dict.fromkeys(chain(*texts)))
        if not different:
            return [[] for _ in texts]
        inputs = self._inputs([new("RGB", (16, 16))] * len(different), different, "right")
        rows = zip(inputs["input_ids"], inputs["attention_mask"].sum(dim=1), strict=True)
        known = {text: tuple(row[:length].tolist()) for text, (row, length) in zip(different, rows, strict=True)}
        return [[known[text] for text in own] for own in texts]

    def _inputs(self, images: Sequence[Image], texts: Sequence[str], side: str) -> Any:
        """Return the model's inputs, texts filled up on the given side."""
        # PaliGemma's processor wants to be told where the picture goes; BLIP-2's puts it first by itself.
        mark = "<image>" if self._prefix_sees_itself else ""
        told = [f"{mark}{text}" for text in texts]
        inputs = self.processor(images=list(images), text=told, padding=True, padding_side=side)
        inputs.pop("labels", None)  # PaliGemma's processor adds them, for training
        # Asked for tensors, that processor makes its labels of them in a way that numpy warns of.
        return inputs.convert_to_tensors("pt")

    def _read(self, image: Image, texts: Sequence[Text]) -> list[Tensor]:
        """Return for each text log P of its targets."""
        if not texts:
            return []
        pixels = self._inputs([image], [""], "right")["pixel_values"].to(self.runtime.device)
        seen = self.model.get_image_features(pixels)
        order = sorted(range(len(texts)), key=lambda index: len(texts[index].row.tokens))
        found: list[Tensor] = [torch.empty(0)] * len(texts)
        for start in range(0, len(order), self.pairs_at_once):
            part = order[start : start + self.pairs_at_once]
            for index, scores in zip(part, self._forward(seen, [texts[index] for index in part]), strict=True):
                found[index] = scores
        return found

    def _forward(self, seen: Any, texts: Sequence[Text]) -> list[Tensor]:
        device = self.runtime.device
        ids, mask = right_padded([text.row.tokens for text in texts], 0, device)
        picture = copy(seen)
        picture.pooler_output = seen.pooler_output.expand(len(texts), -1, -1)
        kept = sorted({position for text in texts for position in text.row.positions})
        options = {}
        if self._prefix_sees_itself:
            # Tokens of type 0 see each other, as a prompt does; those of an answer see what is before them.
            ends = torch.tensor([[text.prompt] for text in texts], device=device)
            options["token_type_ids"] = (torch.arange(ids.shape[1], device=device) >= ends).long()
        logits = self.model(
            pixel_values=None,
            input_ids=ids,
            attention_mask=mask,
            mm_encoder_outputs={"image": picture},
            logits_to_keep=torch.tensor(kept, device=device),
            use_cache=False,
            **options,
        ).logits
        return asked(logits, [text.row for text in texts], {place: index for index, place in enumerate(kept)})
