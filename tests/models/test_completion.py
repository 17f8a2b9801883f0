from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from argus.errors import ArgusError, ConfigError, DataError
from argus.models.base import Choice
from argus.models.chat import Chat
from argus.models.completion import Completion
from argus.models.loading import digest
from tests.models import tiny_completion
from tests.models.plain import MATCH_PROMPT, QUESTION_PROMPT, PlainCompletion

TEXTS = ["a red cube", "no", "a very long caption about a blue ball and some other things on the left", '"?', ""]
QUESTIONS = [
    Choice("What is red?", ("cube", "yes", "a blue ball")),
    Choice("Does it?", ("yes", "no")),
    Choice("What is this small thing in the image on the left?", ("red", "no", "x" * 12, "blue cube")),
]
KINDS = {
    "paligemma": (tiny_completion.save_paligemma, "<image>", ""),
    "paligemma2": (tiny_completion.save_paligemma2, "<image>", ""),
    "blip2": (tiny_completion.save_blip2, "", " "),
}
"""How each is written, what a user writes for the picture, and what stands before an answer."""


def make(folder, runtime, **changes) -> Completion:
    settings = {
        "checkpoint": str(folder),
        "revision": None,
        "caption_prompt": "a photo of",
        "match_prompt": MATCH_PROMPT,
        "question_prompt": QUESTION_PROMPT,
        "before_answer": "",
        "attention": "eager",
        "num_beams": 1,
        "max_new_tokens": 8,
        "pairs_at_once": 3,
    }
    return Completion(**{**settings, **changes}, runtime=runtime)


@pytest.fixture(scope="module", params=KINDS)
def kind(request) -> str:
    return request.param


@pytest.fixture(scope="module")
def folder(kind, tmp_path_factory) -> Path:
    return KINDS[kind][0](tmp_path_factory.mktemp(kind))


@pytest.fixture(scope="module")
def model(kind, folder, runtime) -> Completion:
    return make(folder, runtime, before_answer=KINDS[kind][2])


@pytest.fixture(scope="module")
def plain(kind, folder) -> PlainCompletion:
    return PlainCompletion(folder, *KINDS[kind][1:])


def test_matching_scores_equal_those_of_whole_sequences(model, plain, images, odd_images):
    pictures = [*images[:3], *odd_images]
    scores = model.match(pictures, [TEXTS] * len(pictures))
    for image, row in zip(pictures, scores, strict=True):
        assert row.tolist() == pytest.approx([plain.match(image, text) for text in TEXTS], abs=1e-4)
    assert torch.stack(scores).std(dim=0).min() > 1e-3  # the picture matters
    assert torch.stack(scores).std(dim=1).min() > 1e-3  # the text matters


def test_choice_scores_equal_those_of_whole_sequences(model, plain, images, odd_images):
    pictures = [*images[:2], *odd_images[2:4]]
    for image, scores in zip(pictures, model.choose(pictures, [QUESTIONS] * 4), strict=True):
        for question, row in zip(QUESTIONS, scores, strict=True):
            assert row.tolist() == pytest.approx(plain.choose(image, question), abs=1e-4)


def test_captions_equal_those_of_the_plain_model_whatever_their_company(model, plain, images, odd_images):
    pictures = [*images, *odd_images]
    prompts = ["Describe.", TEXTS[2] * 2, "", "What is it?", "a", "red"] * 2
    captions = model.generate(pictures, prompts)
    assert captions == [plain.generate(*pair) for pair in zip(pictures, prompts, strict=True)]
    assert len(set(captions)) > 3


@pytest.mark.parametrize("pairs_at_once", [1, 1000])
def test_scores_do_not_depend_on_the_company(kind, folder, model, runtime, images, odd_images, pairs_at_once):
    other = make(folder, runtime, before_answer=KINDS[kind][2], pairs_at_once=pairs_at_once)
    pictures = [images[0], odd_images[3], images[1], images[2]]
    texts = [TEXTS, ["no"], [], TEXTS[::-1]]
    questions = [[QUESTIONS[0]], [], QUESTIONS, [QUESTIONS[2]]]
    matched, chosen = other.match(pictures, texts), other.choose(pictures, questions)
    assert [len(row) for row in matched] == [5, 1, 0, 5]
    assert [len(row) for row in chosen] == [1, 0, 3, 1]
    for image, own, row in zip(pictures, texts, matched, strict=True):
        for text, score in zip(own, row, strict=True):
            torch.testing.assert_close(score, model.match([image], [[text]])[0][0], atol=1e-4, rtol=0)
    for image, asked, row in zip(pictures, questions, chosen, strict=True):
        for question, scores in zip(asked, row, strict=True):
            torch.testing.assert_close(scores, model.choose([image], [[question]])[0][0], atol=1e-4, rtol=0)


def test_a_picture_passes_the_vision_tower_once_for_all_its_texts(model, images):
    seen = []
    (tower,) = (part for name, part in model.model.named_modules() if name.endswith(("vision_tower", "vision_model")))
    hook = tower.register_forward_hook(lambda module, inputs, output: seen.append(1))
    model.match(images, [TEXTS] * len(images))
    hook.remove()
    assert len(seen) == len(images)


def test_what_stands_before_an_answer_is_weighed_with_it(folder, runtime, images):
    without, spaced = (make(folder, runtime, before_answer=before) for before in ("", " "))
    written_out = [Choice("Does it?", (" yes", " no"))]
    expected = without.choose(images[:1], [written_out])[0][0]
    torch.testing.assert_close(spaced.choose(images[:1], [QUESTIONS[1:2]])[0][0], expected)
    assert (without.choose(images[:1], [QUESTIONS[1:2]])[0][0] - expected).abs().max() > 1e-3


@pytest.mark.parametrize("name", ["match_prompt", "question_prompt"])
def test_a_prompt_without_its_place_is_an_error(folder, runtime, name):
    with pytest.raises(ConfigError, match=f"{name} is 'Really.'"):
        make(folder, runtime, **{name: "Really?"})


def test_another_architecture_is_an_error_that_says_where_it_belongs(gemma_folder, runtime):
    with pytest.raises(DataError, match=r"holds a Gemma3ForConditionalGeneration.*argus\.models\.chat\.Chat"):
        make(gemma_folder, runtime)


def test_a_chat_without_a_template_is_an_error_that_says_so(folder, runtime):
    with pytest.raises(ConfigError, match="has no chat template"):
        Chat(
            *(str(folder), None, "Describe.", MATCH_PROMPT, QUESTION_PROMPT, 1, 8, {}, 4),
            replace(runtime, attention="eager"),
        )


def test_values_that_are_not_finite_are_an_error_with_advice(kind, folder, runtime, images):
    model = make(folder, replace(runtime, dtype="float16"))
    if kind == "blip2":
        norm = model.model.language_model.model.decoder.final_layer_norm
    else:
        norm = model.model.model.language_model.norm
    with torch.no_grad():
        norm.weight[0] = torch.nan
    for use in (
        lambda: model.match(images[:1], [TEXTS]),
        lambda: model.generate(images[:1], ["What?"]),
        lambda: model.choose(images[:1], [QUESTIONS]),
    ):
        with pytest.raises(ArgusError, match="use bfloat16 or float32"):
            use()


def test_the_kernel_is_the_hardware_profiles_unless_one_is_named(tmp_path, runtime):
    folder = tiny_completion.save_paligemma(tmp_path)
    kernels = [make(folder, runtime, attention=named).model.config._attn_implementation for named in (None, "eager")]
    assert kernels == ["sdpa", "eager"]


def test_revision_is_the_digest_of_the_folder(model, folder):
    assert model.revision == digest(folder)


def test_use_prints_nothing_and_warns_nothing(folder, runtime, images, capfd, recwarn):
    model = make(folder, runtime)
    model.generate(images, [""] * len(images))
    model.choose(images, [QUESTIONS] * len(images))
    model.match(images, [TEXTS] * len(images))
    assert capfd.readouterr() == ("", "")
    assert not recwarn.list
