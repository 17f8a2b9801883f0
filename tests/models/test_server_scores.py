"""Scores from a server's log-probabilities, by hand."""

from __future__ import annotations

from math import log
from typing import Any

import pytest

from argus.errors import DataError
from argus.models.server_scores import Token, caption, continuation, prompt_tokens, yes_odds


def first(told: dict[str, float]) -> dict[str, Any]:
    """Return an answer whose first token's likeliest alternatives have these probabilities."""
    top = [{"token": token, "logprob": log(probability)} for token, probability in told.items()]
    return {"choices": [{"logprobs": {"content": [{"token": "x", "logprob": 0.0, "top_logprobs": top}]}}]}


def test_all_spellings_of_yes_and_of_no_are_added():
    told = {"Yes": 0.3, " yes": 0.2, "YES": 0.1, "The": 0.2, "no": 0.05, "\nNo": 0.05, "yesterday": 0.1}
    assert yes_odds(first(told)) == pytest.approx(log(0.6 / 0.1))


@pytest.mark.parametrize(("listed", "sign"), [("yes", 1), ("no", -1)])
def test_the_least_likely_token_told_stands_for_the_side_that_is_not(listed, sign):
    assert yes_odds(first({listed: 0.9, "The": 0.08, "A": 0.01})) == pytest.approx(sign * log(0.9 / 0.01))


def test_a_side_at_the_end_of_the_list_gives_even_odds_rather_than_a_guess():
    assert yes_odds(first({"The": 0.9, "yes": 0.01})) == 0.0


def test_neither_yes_nor_no_is_an_error_that_shows_what_came_instead():
    with pytest.raises(DataError, match=r"neither yes nor no is among the 2 first tokens .*'<think>'.*top_logprobs"):
        yes_odds(first({"<think>": 0.99, "The": 0.01}))


@pytest.mark.parametrize(
    "choice", [{}, {"logprobs": None}, {"logprobs": {"content": []}}, {"logprobs": {"content": [{"top_logprobs": []}]}}]
)
def test_an_answer_without_top_logprobs_is_an_error_that_says_which_servers_give_them(choice):
    with pytest.raises(DataError, match=r"gave no top_logprobs; .*vLLM, SGLang or llama\.cpp"):
        yes_odds({"choices": [choice]})


@pytest.mark.parametrize("answer", [{}, {"choices": []}, {"error": {"message": "no"}}])
def test_an_answer_that_is_none_is_an_error(answer):
    with pytest.raises(DataError, match="holds no choice"):
        caption(answer)


def test_a_caption_is_the_text_without_the_space_around_it():
    assert caption({"choices": [{"message": {"content": " a cat\n"}, "finish_reason": "length"}]}) == "a cat"


@pytest.mark.parametrize(
    ("content", "reason"), [(None, "length"), ("I cannot", "content_filter"), ([{"type": "text"}], "stop")]
)
def test_no_text_or_a_censored_one_is_an_error_and_no_caption(content, reason):
    with pytest.raises(DataError, match=f"gave no text .finish_reason '{reason}'"):
        caption({"choices": [{"message": {"content": content}, "finish_reason": reason}]})


def entry(name: int, text: str, logprob: float) -> dict[str, Any]:
    return {str(name): {"logprob": logprob, "rank": 4, "decoded_token": text}}


PROMPT = [None, entry(7, "What", -1.0), entry(8, "\n", -2.0)]


def test_prompt_tokens_are_those_that_follow_something():
    assert prompt_tokens({"prompt_logprobs": PROMPT}) == [Token("7", "What", -1.0), Token("8", "\n", -2.0)]


@pytest.mark.parametrize("told", [None, [], [None]])
def test_an_answer_without_prompt_logprobs_is_an_error_that_says_which_server_gives_them(told):
    with pytest.raises(DataError, match=r"gave no prompt_logprobs; .*vLLM"):
        prompt_tokens({"prompt_logprobs": told})


@pytest.mark.parametrize("position", [None, {}, {**entry(1, "a", -1.0), **entry(2, "b", -0.5)}])
def test_a_position_that_does_not_tell_the_prompts_own_token_is_an_error(position):
    with pytest.raises(DataError, match="not one token"):
        prompt_tokens({"prompt_logprobs": [*PROMPT, position]})


def weighed(*answer: dict[str, Any]) -> list[Token]:
    return prompt_tokens({"prompt_logprobs": [*PROMPT, *answer]})


def test_a_choice_has_the_tokens_after_the_prompt():
    answer = (entry(1, "dark", -0.5), entry(2, " blue", -1.5))
    assert continuation(["7", "8"], weighed(*answer), "dark blue") == [-0.5, -1.5]


def test_a_letter_in_several_tokens_is_no_error():
    answer = (entry(1, "caf", -0.5), entry(2, "\N{REPLACEMENT CHARACTER}", -1.0), entry(3, "", -0.25))
    assert continuation(["7", "8"], weighed(*answer), "café") == [-0.5, -1.0, -0.25]


@pytest.mark.parametrize(
    ("prompt", "answer", "choice"),
    [
        (["7", "9"], [entry(1, "red", -1.0)], "red"),  # the prompt's last token grew into another
        (["7", "8"], [], "red"),  # nothing was added
        (["7", "8"], [entry(1, "red", -1.0), entry(2, "<end>", -9.0)], "red"),  # the turn was closed
        (["7", "8"], [entry(1, "<think>", -1.0), entry(2, "red", -9.0)], "red"),
    ],
)
def test_tokens_that_are_not_the_choices_are_an_error(prompt, answer, choice):
    with pytest.raises(DataError, match="does not put a choice right after the prompt"):
        continuation(prompt, weighed(*answer), choice)
