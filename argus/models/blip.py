"""BLIP: one architecture in three checkpoints, for retrieval, captions and questions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from PIL.Image import Image
from torch import Tensor
from torch.nn import Module
from torch.nn.functional import normalize
from transformers import BlipForConditionalGeneration, BlipForImageTextRetrieval, BlipForQuestionAnswering

from argus.models.base import Choice, Chooser, Embedder, Generator, Matcher, Runtime
from argus.models.decoding import choice_score, choice_tokens, finite_logits, greedy, log_probabilities, right_padded
from argus.models.loading import Sources, finite, load_model, load_processor

HEADS = {
    "retrieval": BlipForImageTextRetrieval,
    "captioning": BlipForConditionalGeneration,
    "vqa": BlipForQuestionAnswering,
}
TASK_HEADS = {"retrieval": "retrieval", "captioning": "captioning", "reasoning": "vqa"}


@dataclass(frozen=True)
class Head:
    """One loaded checkpoint."""

    model: Any
    processor: Any

    @property
    def tokens(self) -> Any:
        return self.model.config.text_config


class Blip(Embedder, Matcher, Generator, Chooser):
    """`checkpoint` and `revision` name the weights of each head; a head is loaded when it is first used.

    `fusion_token` is the id that stands in place of [CLS] where the text encoder looks at the image: BLIP's own code
    puts [ENC] there (30523 in the published checkpoints), transformers leaves [CLS] (None). `pairs_at_once` bounds the
    texts or choices of one forward pass. BLIP has one attention kernel; the runtime's choice does not matter.
    """

    def __init__(
        self,
        checkpoint: Mapping[str, str],
        revision: Mapping[str, str | None],
        caption_prompt: str,
        num_beams: int,
        max_new_tokens: int,
        fusion_token: int | None,
        pairs_at_once: int,
        runtime: Runtime,
    ) -> None:
        self.sources = Sources("BLIP", HEADS, checkpoint, revision)
        self.caption_prompt = caption_prompt
        self.num_beams = num_beams
        self.max_new_tokens = max_new_tokens
        self.fusion_token = fusion_token
        self.pairs_at_once = pairs_at_once
        self.runtime = runtime
        self._heads: dict[str, Head] = {}

    def modules(self, task: str) -> tuple[Module, ...]:
        return (self._head(TASK_HEADS[task]).model,)

    def parts(self, task: str) -> Mapping[str, tuple[Module, ...]]:
        """Return the head of the task: the three share nothing."""
        return {TASK_HEADS[task]: self.modules(task)}

    @property
    def revision(self) -> str:
        """Return the revision of every head, loaded or not; "missing" for one whose weights are not there."""
        return ",".join(f"{name}={revision}" for name, revision in self.sources.revisions().items())

    @torch.inference_mode()
    def embed_images(self, images: Sequence[Image]) -> Tensor:
        """Return (len(images), d) unit-length rows of the contrastive (ITC) space."""
        head = self._head("retrieval")
        return self._unit(head.model.vision_proj(self._look(head, images)[:, 0]))

    @torch.inference_mode()
    def embed_texts(self, texts: Sequence[str]) -> Tensor:
        """Return (len(texts), d) unit-length rows of the contrastive (ITC) space."""
        head = self._head("retrieval")
        ids, mask = right_padded(self._tokens(head, texts), head.tokens.pad_token_id, self.runtime.device)
        states = head.model.text_encoder(input_ids=ids, attention_mask=mask).last_hidden_state
        return self._unit(head.model.text_proj(states[:, 0]))

    def truncated(self, texts: Sequence[str]) -> int:
        """Return how many of the texts have more tokens than positions: of the head in use, else of retrieval's."""
        head = next(iter(self._heads.values())) if self._heads else self._head("retrieval")
        lengths = [len(ids) for ids in head.processor.tokenizer(list(texts), verbose=False)["input_ids"]]
        return sum(length > head.tokens.max_position_embeddings for length in lengths)

    @torch.inference_mode()
    def match(self, images: Sequence[Image], texts: Sequence[Sequence[str]]) -> list[Tensor]:
        """Return for each image the matching (ITM) logit of each of its texts: the head's output for "match".

        BLIP's own evaluation re-ranks the best k of `embed_images @ embed_texts.T` by that similarity plus this logit.
        """
        head = self._head("retrieval")
        scores = []
        for seen, own in zip(self._look(head, images).split(1), texts, strict=True):
            first = [state[0] for state in self._read(head, seen, own)]
            logits = head.model.itm_head(torch.stack(first))[:, 1] if own else torch.empty(0)
            scores.append(finite(logits, "BLIP", self.runtime))
        return scores

    @torch.inference_mode()
    def generate(self, images: Sequence[Image], prompts: Sequence[str]) -> list[str]:
        """Return one caption for each image, continuing its prompt; the prompt is cut off."""
        head = self._head("captioning")
        starts = [
            [head.tokens.bos_token_id, *head.processor.tokenizer(prompt, add_special_tokens=False)["input_ids"]]
            for prompt in prompts
        ]
        # BLIP counts positions from the left end of a row, so that only prompts of one length can share a batch.
        alike: dict[int, list[int]] = defaultdict(list)
        for index, start in enumerate(starts):
            alike[len(start)].append(index)
        decoder = head.model.text_decoder
        decoder.generation_config = greedy(decoder, self.num_beams, self.max_new_tokens)
        captions = [""] * len(images)
        for length, indices in alike.items():
            ids = torch.tensor([[*starts[index], head.tokens.sep_token_id] for index in indices])
            written = head.model.generate(
                pixel_values=self._pixels(head, [images[index] for index in indices]),
                input_ids=ids.to(self.runtime.device),  # its last token is dropped by `generate`
                attention_mask=torch.ones_like(ids).to(self.runtime.device),
                logits_processor=finite_logits("BLIP", self.runtime),
            )
            # The prompt is cut off the text, not the tokens: what goes on with its last word would begin with "##".
            whole, begun = (
                head.processor.batch_decode(rows, skip_special_tokens=True) for rows in (written, written[:, :length])
            )
            for index, text, start in zip(indices, whole, begun, strict=True):
                captions[index] = text[len(start) :].strip()
        return captions

    @torch.inference_mode()
    def choose(self, images: Sequence[Image], questions: Sequence[Sequence[Choice]]) -> list[list[Tensor]]:
        """Return for each question the mean log P of each choice's tokens in the answer decoder (`choice_score`)."""
        head = self._head("vqa")
        scores = []
        for seen, own in zip(self._look(head, images).split(1), questions, strict=True):
            states = self._read(head, seen, [choice.question for choice in own])
            scores.append(
                [self._likelihoods(head, state, choice.choices) for state, choice in zip(states, own, strict=True)]
            )
        return scores

    def _likelihoods(self, head: Head, state: Tensor, choices: Sequence[str]) -> Tensor:
        """Score choices as answers to one question: state (length, d) -> (len(choices),)."""
        answers = choice_tokens(head.processor.tokenizer, choices)
        scores = []
        for start in range(0, len(answers), self.pairs_at_once):
            part = answers[start : start + self.pairs_at_once]
            ids, _ = right_padded(
                [[head.tokens.bos_token_id, *answer] for answer in part], head.tokens.pad_token_id, self.runtime.device
            )
            logits = head.model.text_decoder(
                input_ids=ids[:, :-1], encoder_hidden_states=state[None], use_cache=False
            ).logits
            found = log_probabilities(logits, ids[:, 1:])
            scores += [choice_score(row[: len(answer)]) for row, answer in zip(found, part, strict=True)]
        return finite(torch.stack(scores), "BLIP", self.runtime)

    def _look(self, head: Head, images: Sequence[Image]) -> Tensor:
        """Encode pictures: (len(images), patches + 1, d)."""
        return head.model.vision_model(pixel_values=self._pixels(head, images)).last_hidden_state

    def _pixels(self, head: Head, images: Sequence[Image]) -> Tensor:
        return head.processor(images=list(images), return_tensors="pt")["pixel_values"].to(self.runtime.device)

    def _read(self, head: Head, seen: Tensor, texts: Sequence[str]) -> list[Tensor]:
        """Encode texts in sight of one picture: seen (1, patches + 1, d) -> for each text (its length, d).

        The picture is not repeated for each text: its keys and values, most of the work, are computed once.
        """
        rows = self._tokens(head, texts) if texts else []
        if self.fusion_token is not None:
            rows = [[self.fusion_token, *row[1:]] for row in rows]
        order = sorted(range(len(rows)), key=lambda index: len(rows[index]))
        states: list[Tensor] = [seen] * len(rows)
        for start in range(0, len(order), self.pairs_at_once):
            part = order[start : start + self.pairs_at_once]
            ids, mask = right_padded([rows[index] for index in part], head.tokens.pad_token_id, self.runtime.device)
            encoded = head.model.text_encoder(
                input_ids=ids, attention_mask=mask, encoder_hidden_states=seen
            ).last_hidden_state
            for index, row in zip(part, encoded, strict=True):
                states[index] = row[: len(rows[index])]
        return states

    def _tokens(self, head: Head, texts: Sequence[str]) -> list[list[int]]:
        """Return the token ids of each text with [CLS] and [SEP], cut at the last position."""
        limit = head.tokens.max_position_embeddings
        return head.processor.tokenizer(list(texts), truncation=True, max_length=limit)["input_ids"]

    def _head(self, name: str) -> Head:
        if name not in self._heads:
            source = self.sources[name]
            model = load_model(HEADS[name], source, self.runtime, attention="eager")
            self._heads[name] = Head(model=model, processor=load_processor(source))
        return self._heads[name]

    def _unit(self, features: Tensor) -> Tensor:
        return finite(normalize(features.float(), dim=-1), "BLIP", self.runtime)
