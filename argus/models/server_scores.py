"""From a server's log-probabilities to scores. Answers are JSON as vLLM, SGLang and llama.cpp write it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from argus.errors import DataError

YES, NO = "yes", "no"
NEEDS_TOP = (
    "matching needs top_logprobs in chat completions: serve the model with vLLM, SGLang or llama.cpp, or ask it for "
    "captions only (task=captioning)"
)
NEEDS_PROMPT = (
    "choosing among answers needs prompt_logprobs in chat completions: serve the model with vLLM, or leave reasoning "
    "out (task=retrieval,captioning)"
)
THINKS = "A model that thinks before it answers must be told not to (model.extra_body)"
SEAM = "the server's chat template does not put a choice right after the prompt"


class Token(NamedTuple):
    """A token of a prompt, and log P of it after those before it."""

    id: str
    text: str
    logprob: float


def caption(answer: Mapping[str, Any]) -> str:
    """Return the text that the model wrote. Raises DataError where it wrote none that counts as an answer."""
    choice = _choice(answer)
    text, reason = (choice.get("message") or {}).get("content"), choice.get("finish_reason")
    if not isinstance(text, str) or reason == "content_filter":
        raise DataError(
            f"the server gave no text (finish_reason {reason!r}): raise model.adapter.max_new_tokens. {THINKS}"
        )
    return text.strip()


def yes_odds(answer: Mapping[str, Any]) -> float:
    """Return log P(yes) - log P(no) of the first token of an answer, from the most likely tokens, which alone are told.

    A token is a yes or a no by its text, whatever its capitals and the spaces around it; their probabilities are added.
    Where one side is not among the tokens told, the lowest of these stands for it: no spelling of it is likelier, so
    the score errs towards even odds. Raises DataError where neither is told.
    """
    told = _first_tokens(answer)
    sides = [[logprob for text, logprob in told if text.strip().lower() == side] for side in (YES, NO)]
    if not any(sides):
        likeliest = ", ".join(repr(text) for text, _ in told[:5])
        raise DataError(
            f"neither yes nor no is among the {len(told)} first tokens that the server told ({likeliest}, …): raise "
            f"model.adapter.top_logprobs (vLLM: also --max-logprobs). {THINKS}"
        )
    floor = min(logprob for _, logprob in told)
    yes, no = (_log_sum(side or [floor]) for side in sides)
    return yes - no


def prompt_tokens(answer: Mapping[str, Any]) -> list[Token]:
    """Return the tokens of the prompt that was sent, less the very first one, which follows nothing."""
    told = answer.get("prompt_logprobs")
    if not isinstance(told, list) or len(told) < 2:
        raise DataError(f"the server gave no prompt_logprobs; {NEEDS_PROMPT}")
    return [_token(entry) for entry in told[1:]]


def continuation(prompt: Sequence[str], whole: Sequence[Token], choice: str) -> list[float]:
    """Return log P of each token of a choice: those of `whole` (prompt and choice) after `prompt` (ids).

    Raises DataError where these are not the choice's: the chat template or the tokenizer changed something at the seam.
    """
    tokens = whole[len(prompt) :]
    text = "".join(token.text for token in tokens)
    undecoded = "\N{REPLACEMENT CHARACTER}" in text  # a letter in several tokens: no one of them shows it
    if [token.id for token in whole[: len(prompt)]] != list(prompt) or not tokens:
        raise DataError(f"{SEAM}: before {choice!r} stands another prompt. {THINKS}")
    if not undecoded and _letters(text) != _letters(choice):
        raise DataError(f"{SEAM}: {choice!r} came back as {text!r}. {THINKS}")
    return [token.logprob for token in tokens]


def _choice(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    choices = answer.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise DataError(f"the server's answer holds no choice, but {sorted(answer)}")
    return choices[0]


def _first_tokens(answer: Mapping[str, Any]) -> list[tuple[str, float]]:
    content = (_choice(answer).get("logprobs") or {}).get("content") or [{}]
    told = content[0].get("top_logprobs")
    if not told:
        raise DataError(f"the server gave no top_logprobs; {NEEDS_TOP}")
    return [(str(entry["token"]), float(entry["logprob"])) for entry in told]


def _token(entry: object) -> Token:
    """Read one position, {id: {"logprob": …, "decoded_token": …}}: the prompt's own token and no other."""
    if not isinstance(entry, dict) or len(entry) != 1:
        raise DataError(f"a position of prompt_logprobs is {str(entry)[:100]}, not one token; {NEEDS_PROMPT}")
    (name, value), *_ = entry.items()
    return Token(name, str(value.get("decoded_token") or ""), float(value["logprob"]))


def _log_sum(logprobs: Sequence[float]) -> float:
    """Return the logarithm of the sum of the probabilities."""
    highest = max(logprobs)
    return highest + math.log(math.fsum(math.exp(logprob - highest) for logprob in logprobs))


def _letters(text: str) -> str:
    return "".join(text.split())
