"""A chat model behind a server that speaks OpenAI's protocol: the large ones, on whatever machine serves them."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from io import BytesIO
from itertools import islice
from typing import Any

import torch
from PIL.Image import Image
from torch import Tensor
from torch.nn import Module

from argus.errors import DataError
from argus.models.base import Choice, Chooser, Generator, Matcher, Runtime
from argus.models.decoding import choice_score
from argus.models.prompts import require_place
from argus.models.server_client import Answer, Connection
from argus.models.server_scores import NEEDS_PROMPT, NEEDS_TOP, caption, continuation, prompt_tokens, yes_odds

Turns = list[dict[str, Any]]
READS = "it must read pictures in chat completions, and know what model.extra_body holds"


class Server(Matcher, Generator, Chooser):
    """Asks what the chat adapter asks, in the same words; the model's weights, precision and device are the server's.

    `extra_body` joins every request as it stands: what one kind of server knows beyond OpenAI's protocol. `runtime`
    says how models run here, which this one does not.
    """

    def __init__(
        self,
        connection: Connection,
        caption_prompt: str,
        match_prompt: str,
        question_prompt: str,
        max_new_tokens: int,
        top_logprobs: int,
        extra_body: Mapping[str, Any],
        seed: int,
        runtime: Runtime,
    ) -> None:
        require_place("match_prompt", match_prompt, "{caption}")
        require_place("question_prompt", question_prompt, "{question}")
        self.connection = connection
        self.caption_prompt = caption_prompt
        self.match_prompt = match_prompt
        self.question_prompt = question_prompt
        self.max_new_tokens = max_new_tokens
        self.top_logprobs = top_logprobs
        self.extra_body = dict(extra_body)
        self.seed = seed

    def modules(self, task: str) -> tuple[Module, ...]:
        """Return none: what runs, runs elsewhere."""
        return ()

    @property
    def revision(self) -> str:
        return self.connection.served.revision

    def match(self, images: Sequence[Image], texts: Sequence[Sequence[str]]) -> list[Tensor]:
        """Return for each image and each of its texts log P(yes) - log P(no) of the answer (`yes_odds`)."""
        asked = [
            turn(picture, self.match_prompt.replace("{caption}", text))
            for picture, own in zip(map(data_uri, images), texts, strict=True)
            for text in own
        ]
        odds = iter(self.connection.map(self._odds, asked))
        return [torch.tensor(list(islice(odds, len(own)))) for own in texts]

    def generate(self, images: Sequence[Image], prompts: Sequence[str]) -> list[str]:
        """Return one caption for each image, greedily decoded, without the prompt."""
        asked = [turn(picture, prompt) for picture, prompt in zip(map(data_uri, images), prompts, strict=True)]
        return self.connection.map(self._caption, asked)

    def choose(self, images: Sequence[Image], questions: Sequence[Sequence[Choice]]) -> list[list[Tensor]]:
        """Return for each question the mean log P of each choice's tokens as the answer (`choice_score`)."""
        asked = [
            (turn(picture, self.question_prompt.replace("{question}", one.question)), one.choices)
            for picture, own in zip(map(data_uri, images), questions, strict=True)
            for one in own
        ]
        prompts = self.connection.map(self._prompt, [turns for turns, _ in asked])
        answers = [
            (turns, prompt, choice)
            for (turns, choices), prompt in zip(asked, prompts, strict=True)
            for choice in choices
        ]
        scores = iter(self.connection.map(self._likelihood, answers))
        return [[torch.tensor(list(islice(scores, len(one.choices)))) for one in own] for own in questions]

    def _odds(self, turns: Turns) -> float:
        answer = self._ask(turns, {"max_tokens": 1, "logprobs": True, "top_logprobs": self.top_logprobs}, {}, NEEDS_TOP)
        return yes_odds(answer)

    def _caption(self, turns: Turns) -> str:
        return caption(self._ask(turns, {"max_tokens": self.max_new_tokens}, {}, READS))

    def _prompt(self, turns: Turns) -> list[str]:
        """Return the ids of the prompt's tokens, where an answer would begin."""
        return [token.id for token in prompt_tokens(self._weigh(turns, {}))]

    def _likelihood(self, asked: tuple[Turns, Sequence[str], str]) -> float:
        turns, prompt, choice = asked
        if not choice.strip():
            raise DataError(f"the choice {choice!r} has no tokens: there is nothing to choose")
        begun = {"add_generation_prompt": False, "continue_final_message": True}
        answer = self._weigh([*turns, {"role": "assistant", "content": choice}], begun)
        return choice_score(torch.tensor(continuation(prompt, prompt_tokens(answer), choice))).item()

    def _weigh(self, turns: Turns, extra: Mapping[str, Any]) -> Answer:
        # 0 alternatives: each position holds the prompt's own token alone.
        return self._ask(turns, {"max_tokens": 1}, {"prompt_logprobs": 0, **extra}, NEEDS_PROMPT)

    def _ask(self, turns: Turns, settings: Mapping[str, Any], extra: Mapping[str, Any], hint: str) -> Answer:
        """Ask greedily: a checkpoint's own sampling or penalties, which a server may take over, do not count."""
        return self.connection.complete(
            {
                "messages": turns,
                "temperature": 0,
                "top_p": 1,
                "frequency_penalty": 0,
                "presence_penalty": 0,
                "seed": self.seed,
                **settings,
                "extra_body": {**self.extra_body, **extra},
            },
            hint,
        )


def turn(picture: str, text: str) -> Turns:
    """Return a conversation of one user turn: the picture (a data URI), then the text."""
    shown = {"type": "image_url", "image_url": {"url": picture}}
    return [{"role": "user", "content": [shown, {"type": "text", "text": text}]}]


def data_uri(image: Image) -> str:
    """Return the picture as a PNG data URI: no pixel is lost on the way."""
    file = BytesIO()
    image.save(file, "PNG")
    return f"data:image/png;base64,{b64encode(file.getvalue()).decode()}"
