"""The adapter, against a server that answers from a table, and against one that runs the pocket Gemma."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf
from PIL import Image

from argus.configuration import conf_dir
from argus.errors import ConfigError, DataError
from argus.models.base import Choice, Runtime
from argus.models.chat import Chat
from argus.models.server import Server
from argus.models.server_client import Connection
from argus.planning import make_plan
from tests.models.plain import MATCH_PROMPT, QUESTION_PROMPT, PlainChat
from tests.models.stub_server import Stub, Table, log_probability, serving, shown

TEXTS = ["a red cube", "no", 'it says "?"', "a very long caption about a blue ball and other things on the left", ""]
QUESTIONS = [
    Choice("What is red?", ("cube", "yes", "a blue ball")),
    Choice("Does it?", ("yes", "no")),
    Choice("Why is [person1] here?", ("Because he is tired .", "He waits for [person2] .")),
]
POCKET_GEMMA = Path(__file__).resolve().parents[2] / "argus" / "pocket" / "checkpoints" / "gemma"


@pytest.fixture
def stub() -> Iterator[Stub]:
    with serving(Table()) as running:
        yield running


def make(stub: Stub, runtime: Runtime, requests_at_once: int = 8, **changes: Any) -> Server:
    settings = {
        "connection": Connection(stub.url, None, "ARGUS_TEST_KEY", requests_at_once, timeout_s=30, max_retries=0),
        "caption_prompt": "Describe this image in one sentence.",
        "match_prompt": MATCH_PROMPT,
        "question_prompt": QUESTION_PROMPT,
        "max_new_tokens": 8,
        "top_logprobs": 20,
        "extra_body": {},
        "seed": 3,
    }
    return Server(**{**settings, **changes}, runtime=runtime)


class Weights:
    """An engine that runs a chat model, one plain forward pass a request."""

    def __init__(self, folder: Path) -> None:
        self.plain = PlainChat(folder)
        self.tokenizer = self.plain.processor.tokenizer

    def caption(self, image: Image.Image, text: str, tokens: int) -> str:
        return self.plain.generate(image, text)

    def first(self, image: Image.Image, text: str, alternatives: int) -> list[tuple[str, float]]:
        top = self.plain.log_probabilities(image, text)[-1].topk(alternatives)
        return [
            (self.tokenizer.decode([name]), log) for name, log in zip(top.indices, top.values.tolist(), strict=True)
        ]

    @torch.no_grad()
    def prompt(self, image: Image.Image, text: str, answer: str | None) -> list[tuple[int, str, float]]:
        parts = [{"type": "image", "image": image}, {"type": "text", "text": text}]
        turns: list[dict[str, Any]] = [{"role": "user", "content": parts}]
        if answer is not None:
            turns.append({"role": "assistant", "content": [{"type": "text", "text": answer}]})
        inputs = self.plain.processor.apply_chat_template(
            turns,
            add_generation_prompt=answer is None,
            continue_final_message=answer is not None,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
        )
        ids = inputs["input_ids"][0].tolist()
        logs = self.plain.model(**inputs).logits[0].log_softmax(-1)
        told = [0.0, *(logs[place, name].item() for place, name in enumerate(ids[1:]))]
        return [(name, self.tokenizer.decode([name]), log) for name, log in zip(ids, told, strict=True)]


@pytest.fixture(scope="module")
def gemma() -> Iterator[Stub]:
    with serving(Weights(POCKET_GEMMA)) as running:
        yield running


@pytest.fixture(scope="module")
def chat(runtime: Runtime) -> Chat:
    return Chat(str(POCKET_GEMMA), None, "Describe.", MATCH_PROMPT, QUESTION_PROMPT, 1, 8, {}, 64, runtime)


def test_yes_no_through_a_server_equals_the_chat_adapter_on_the_same_weights(gemma, chat, runtime, images):
    vocabulary = len(chat.prompts.processor.tokenizer)  # all tokens told: none to put a bound for
    found = make(gemma, runtime, top_logprobs=vocabulary).match(images[:2], [TEXTS, TEXTS[:2]])
    for row, expected in zip(found, chat.match(images[:2], [TEXTS, TEXTS[:2]]), strict=True):
        torch.testing.assert_close(row, expected, atol=1e-4, rtol=0)


def test_choices_through_a_server_equal_the_chat_adapter_on_the_same_weights(gemma, chat, runtime, images):
    found = make(gemma, runtime).choose(images[:2], [QUESTIONS, QUESTIONS[:1]])
    for own, expected in zip(found, chat.choose(images[:2], [QUESTIONS, QUESTIONS[:1]]), strict=True):
        for row, scores in zip(own, expected, strict=True):
            torch.testing.assert_close(row, scores, atol=1e-4, rtol=0)


def test_captions_through_a_server_equal_the_chat_adapter_on_the_same_weights(gemma, chat, runtime, images):
    prompts = [*TEXTS[:4], "Describe this image in one sentence.", "What is it?"]
    assert make(gemma, runtime).generate(images, prompts) == chat.generate(images, prompts)


def test_scores_are_those_of_the_table(stub, runtime, images):
    (matched,), ((chosen,),) = (
        make(stub, runtime).match(images[:1], [["a cube"]]),
        make(stub, runtime).choose(images[:1], [[Choice("Which?", ("red", "dark blue"))]]),
    )
    asked = MATCH_PROMPT.replace("{caption}", "a cube")
    yes, no = (
        torch.tensor([log_probability(images[0], asked, word) for word in words]).logsumexp(0)
        for words in (("Yes", "yes"), ("No", " no"))
    )
    torch.testing.assert_close(matched, (yes - no)[None])
    asked = QUESTION_PROMPT.replace("{question}", "Which?")
    red, dark, blue = (log_probability(images[0], asked, word) for word in ("red", "dark", "blue"))
    torch.testing.assert_close(chosen, torch.tensor([red, (dark + blue) / 2]))


@pytest.mark.parametrize("requests_at_once", [2, 16])
def test_results_do_not_depend_on_how_many_requests_run_at_once(stub, runtime, images, requests_at_once):
    texts, questions = [TEXTS, [], TEXTS[:1], TEXTS[::-1]], [QUESTIONS, QUESTIONS[1:], [], QUESTIONS[:1]]
    prompts = [f"prompt {number}" for number in range(len(images))]

    def results(server: Server) -> tuple[object, ...]:
        matched, chosen = server.match(images[:4], texts), server.choose(images[:4], questions)
        scores = [[row.tolist() for row in own] for own in chosen]
        return [row.tolist() for row in matched], scores, server.generate(images, prompts)

    one_by_one = results(make(stub, runtime, 1))
    stub.slowness = 0.02  # answers overtake each other
    assert results(make(stub, runtime, requests_at_once)) == one_by_one
    assert [len(row) for row in one_by_one[0]] == [5, 0, 1, 5]
    assert [[len(row) for row in own] for own in one_by_one[1]] == [[3, 2, 2], [2, 2], [], [3]]


def test_no_more_requests_run_at_once_than_allowed(stub, runtime, images):
    stub.slowness = 0.05
    make(stub, runtime, 3).match(images, [TEXTS] * len(images))
    assert stub.most_at_once == 3


def test_pictures_arrive_without_losing_a_pixel(stub, runtime, images, odd_images):
    pictures = [*images, *odd_images]
    make(stub, runtime, 1).generate(pictures, [""] * len(pictures))
    arrived = [shown(body)[0] for body in stub.asked]
    assert [(image.mode, image.size, image.tobytes()) for image in arrived] == [
        (image.mode, image.size, image.tobytes()) for image in pictures
    ]


def test_every_request_is_greedy_and_says_what_its_model_is_called(stub, runtime, images):
    server = make(stub, runtime, extra_body={"repetition_penalty": 1.0})
    server.generate(images[:1], ["Describe."])
    server.match(images[:1], [["a cube"]])
    server.choose(images[:1], [QUESTIONS[:1]])
    assert len(stub.asked) == 1 + 1 + (1 + 3)
    told = {"model": "tiny", "temperature": 0, "top_p": 1, "frequency_penalty": 0, "presence_penalty": 0, "seed": 3}
    for body in stub.asked:
        assert body.items() >= (told | {"repetition_penalty": 1.0}).items()
    assert [body["max_tokens"] for body in stub.asked] == [8, 1, 1, 1, 1, 1]
    assert [shown(body)[1] for body in stub.asked[:3]] == [
        "Describe.",
        'Does this image match the caption "a cube"? Answer yes or no.',
        "What is red? Answer with one of the words or sentences that fit.",
    ]
    assert all(body["prompt_logprobs"] == 0 for body in stub.asked[2:])


@pytest.mark.parametrize("lacking", ["logprobs", "prompt_logprobs"])
def test_a_server_without_logprobs_is_told_so_with_what_to_do_and_still_writes(stub, runtime, images, lacking):
    stub.gives.remove(lacking)
    server = make(stub, runtime)
    with pytest.raises(DataError, match=rf"gave no (top|prompt)_logprobs; .*{lacking} in chat completions: .*vLLM"):
        server.match(images[:1], [["a"]]) if lacking == "logprobs" else server.choose(images[:1], [QUESTIONS[:1]])
    assert len(server.generate(images, ["Describe."] * len(images))) == len(images)


def test_a_template_that_writes_something_before_the_answer_is_an_error(stub, runtime, images):
    class Thinking(Table):
        def prompt(self, image, text, answer):
            tokens = super().prompt(image, text, None)
            return [*tokens, (1, "<think></think>", -1.0), (2, f" {answer}", -1.0)] if answer else tokens

    stub.engine = Thinking()
    with pytest.raises(DataError, match="'cube' came back as '<think></think> cube'"):
        make(stub, runtime).choose(images[:1], [QUESTIONS[:1]])


def test_an_empty_choice_is_an_error(stub, runtime, images):
    with pytest.raises(DataError, match="the choice ' ' has no tokens"):
        make(stub, runtime).choose(images[:1], [[Choice("What?", ("red", " "))]])


@pytest.mark.parametrize("name", ["match_prompt", "question_prompt"])
def test_a_prompt_without_its_place_is_an_error(stub, runtime, name):
    with pytest.raises(ConfigError, match=f"{name} is 'Really"):
        make(stub, runtime, **{name: "Really?"})


def test_the_revision_is_what_the_server_says_less_what_differs_from_call_to_call(stub, runtime):
    assert make(stub, runtime).revision == "tiny (owned_by stub, version 0.1)"
    stub.models[0] |= {"created": 2, "root": "org/Tiny-VL", "permission": [{"id": "random"}]}
    stub.version = None
    assert make(stub, runtime).revision == "tiny (root org/Tiny-VL, owned_by stub)"


@pytest.fixture
def composed(pocket_data_dir):
    with initialize_config_dir(str(conf_dir()), version_base=None):
        yield lambda overrides: compose("run", overrides=[*overrides, f"data_dir={pocket_data_dir}"])


def test_a_sweep_over_a_server_is_planned_as_for_any_chat_model(stub, composed):
    def keys(axes):
        plan = make_plan({"dataset": ["coco", "clevr"], "perturbation": ["typo"], **axes}, composed, lambda _: "")
        return [(cell.key.dataset, cell.key.task, cell.key.perturbation) for cell in plan.run], plan.dropped

    assert keys({"model": ["server"], "model.base_url": [stub.url]}) == keys({"model": ["gemma"]})


def test_what_is_served_counts_for_the_fingerprint(stub, composed):
    from argus.fingerprint import _served, fingerprint

    cfg = composed(["model=server", f"model.base_url={stub.url}"])
    before = fingerprint(cfg)
    stub.models[0]["root"] = "other/weights"
    _served.cache_clear()  # as in another process
    assert fingerprint(cfg) != before


def test_no_suite_runs_a_server_unasked():
    suites = [OmegaConf.load(path) for path in (conf_dir() / "suite").glob("*.yaml")]
    assert suites
    assert not any("server" in suite.suite.models for suite in suites)
