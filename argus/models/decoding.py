"""Greedy decoding and choice likelihood, the same for every model that writes or reads text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from transformers import GenerationConfig, LogitsProcessor, LogitsProcessorList

from argus.errors import DataError
from argus.models.base import Runtime
from argus.models.loading import finite


def greedy(model: Any, num_beams: int, max_new_tokens: int) -> GenerationConfig:
    """Return a configuration that takes the most likely tokens, keeping of the model's own only the special tokens.

    A checkpoint's generation_config may turn on sampling or penalties; two runs of an evaluation must agree.
    """
    own = model.generation_config
    return GenerationConfig(
        do_sample=False,
        num_beams=num_beams,
        max_new_tokens=max_new_tokens,
        bos_token_id=own.bos_token_id,
        eos_token_id=own.eos_token_id,
        pad_token_id=own.pad_token_id,
    )


class FiniteLogits(LogitsProcessor):
    """Stops decoding with an error when the model gives NaN: it would go on and write padding."""

    def __init__(self, model: str, runtime: Runtime) -> None:
        self.model = model
        self.runtime = runtime

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        finite(scores.max(), self.model, self.runtime)  # NaN anywhere makes the maximum NaN
        return scores


def finite_logits(model: str, runtime: Runtime) -> LogitsProcessorList:
    return LogitsProcessorList([FiniteLogits(model, runtime)])


def log_probabilities(logits: Tensor, targets: Tensor) -> Tensor:
    """Return log P of each target token: logits (…, vocabulary), targets (…) -> (…), in float32."""
    chosen = logits.gather(-1, targets.unsqueeze(-1)).squeeze(-1).float()
    return chosen - torch.logsumexp(logits.float(), dim=-1)


def choice_tokens(tokenizer: Any, choices: Sequence[str]) -> list[list[int]]:
    """Return the token ids of each choice alone, as the model would write it; DataError when one has none."""
    tokens: list[list[int]] = tokenizer(list(choices), add_special_tokens=False)["input_ids"]
    for choice, own in zip(choices, tokens, strict=True):
        if not own:
            raise DataError(f"the choice {choice!r} (among {list(choices)}) has no tokens: there is nothing to choose")
    return tokens


def choice_score(log_probabilities: Tensor) -> Tensor:
    """Return the score of a choice from the log P of each of its tokens: their mean.

    Dividing by the length keeps short choices from winning by being short. Only the tokens of the choice itself
    count, no end token after it: a choice is an answer's beginning, as it would stand in a running text.
    """
    return log_probabilities.mean()


def right_padded(rows: Sequence[Sequence[int]], filler: int, device: str) -> tuple[Tensor, Tensor]:
    """Return (rows, longest) token ids filled up on the right, and the mask of the real ones."""
    longest = max(map(len, rows))
    ids = torch.tensor([[*row, *[filler] * (longest - len(row))] for row in rows], device=device)
    mask = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in rows], device=device)
    return ids, mask
