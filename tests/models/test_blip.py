from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from transformers import (
    BlipForConditionalGeneration,
    BlipForImageTextRetrieval,
    BlipForQuestionAnswering,
)

from argus.efficiency.weights import parameters_by_part
from argus.errors import ArgusError, ConfigError, DataError
from argus.models.base import Choice
from argus.models.blip import Blip
from argus.models.loading import digest
from tests.models.plain import PlainBlip

TEXTS = ["a", "a red cube on the left", "seven blue balls, seven!", "no"]
QUESTIONS = [
    Choice("What is red?", ("cube", "yes", "a blue ball")),
    Choice("no", ("yes", "no")),
    Choice("What is this small thing in the image on the left?", ("red", "no", "x" * 12, "blue cube")),
]
REVISIONS = {"retrieval": None, "captioning": None, "vqa": None}


def make(folders, runtime, **changes) -> Blip:
    settings = {
        "checkpoint": folders,
        "revision": REVISIONS,
        "caption_prompt": "",
        "num_beams": 1,
        "max_new_tokens": 8,
        "fusion_token": None,
        "pairs_at_once": 3,
    }
    return Blip(**{**settings, **changes}, runtime=runtime)


@pytest.fixture(scope="module")
def blip(blip_folders, runtime) -> Blip:
    return make(blip_folders, runtime)


@pytest.fixture(scope="module")
def plain(blip_folders) -> PlainBlip:
    return PlainBlip(blip_folders)


def test_similarities_and_matching_logits_equal_those_of_the_plain_model(blip, plain, images):
    matched = blip.match(images, [TEXTS] * len(images))
    similar = blip.embed_images(images) @ blip.embed_texts(TEXTS).T
    for row, image in enumerate(images):
        for column, text in enumerate(TEXTS):
            assert matched[row][column] == pytest.approx(plain.match(image, text), abs=1e-4)
            assert similar[row, column] == pytest.approx(plain.similarity(image, text), abs=1e-4)
    assert torch.stack(matched).std(dim=0).min() > 1e-3  # the picture matters
    assert torch.stack(matched).std(dim=1).min() > 1e-3  # the text matters


def test_another_number_of_texts_for_each_image_keeps_their_order(blip, images):
    texts = [TEXTS, [], TEXTS[::-1], TEXTS[:1]]
    scores = blip.match(images[:4], texts)
    assert [len(row) for row in scores] == [4, 0, 4, 1]
    assert blip.choose(images[:2], [[], QUESTIONS])[0] == []
    for image, own, row in zip(images, texts, scores, strict=False):
        for text, score in zip(own, row, strict=True):
            assert score == pytest.approx(blip.match([image], [[text]])[0].item(), abs=1e-5)


@torch.no_grad()
def test_the_fusion_token_takes_the_place_of_the_first_token(blip_folders, plain, runtime, images):
    model, processor = plain.retrieval, plain.processor
    token = processor.tokenizer.convert_tokens_to_ids("[ENC]")
    inputs = processor(images=images[0], text=TEXTS[1], return_tensors="pt")
    inputs["input_ids"][:, 0] = token
    blip = make(blip_folders, runtime, fusion_token=token)
    assert blip.match(images[:1], [TEXTS[1:2]])[0].item() == pytest.approx(
        model(**inputs).itm_score[0, 1].item(), abs=1e-4
    )
    torch.testing.assert_close(blip.embed_texts(TEXTS), make(blip_folders, runtime).embed_texts(TEXTS))


def test_choice_scores_are_the_mean_log_likelihood_of_the_answer_tokens(blip, plain, images):
    for image, scores in zip(images, blip.choose(images, [QUESTIONS] * len(images)), strict=True):
        for question, found in zip(QUESTIONS, scores, strict=True):
            assert found.tolist() == pytest.approx(plain.choose(image, question), abs=1e-4)


def test_scores_do_not_depend_on_the_company(blip, images, odd_images):
    pictures = [*images[:2], *odd_images]
    together = blip.choose(pictures, [QUESTIONS] * len(pictures))
    for picture, scores in zip(pictures, together, strict=True):
        for question, score in zip(QUESTIONS, scores, strict=True):
            torch.testing.assert_close(score, blip.choose([picture], [[question]])[0][0], atol=1e-5, rtol=0)
    singly = torch.cat([blip.embed_images([picture]) for picture in pictures])
    torch.testing.assert_close(blip.embed_images(pictures), singly, atol=1e-5, rtol=0)
    singly = torch.cat([blip.embed_texts([text]) for text in TEXTS])
    torch.testing.assert_close(blip.embed_texts(TEXTS), singly, atol=1e-5, rtol=0)


@pytest.mark.parametrize("num_beams", [1, 3])
def test_captions_equal_those_of_the_plain_model_without_the_prompt(blip_folders, plain, runtime, images, num_beams):
    prompts = ["", "a red", "this image of a blue cube is", "", "a no", ""]
    captions = make(blip_folders, runtime, num_beams=num_beams).generate(images, prompts)
    assert captions == [plain.caption(*pair, num_beams) for pair in zip(images, prompts, strict=True)]
    assert any(captions)


def test_captions_are_the_same_twice_and_one_by_one(blip, images, odd_images):
    pictures = [*images, *odd_images]
    captions = blip.generate(pictures, [""] * len(pictures))
    assert captions == blip.generate(pictures, [""] * len(pictures))
    assert captions == [blip.generate([picture], [""])[0] for picture in pictures]
    assert len(set(captions)) > 1


def test_long_texts_are_counted_and_cut(blip):
    fits, long = "a " * 62, "a " * 63  # 64 positions, two of them for the start and end tokens
    assert blip.truncated([fits, long, "short"]) == 1
    torch.testing.assert_close(*blip.embed_texts([fits, long]), atol=1e-5, rtol=0)


def test_a_head_is_loaded_when_it_is_used_and_missing_ones_are_named(blip_folders, runtime, images, tmp_path):
    folders = {**blip_folders, "vqa": str(tmp_path / "nowhere")}
    blip = make(folders, runtime)
    assert blip.embed_images(images).shape == (6, 12)
    assert f"retrieval={digest(Path(blip_folders['retrieval']))}," in blip.revision
    assert blip.revision.endswith("vqa=missing")
    with pytest.raises(DataError, match="nowhere"):
        blip.choose(images, [QUESTIONS] * len(images))


def test_each_task_counts_the_weights_of_its_own_head(blip):
    kinds = [type(blip.modules(task)[0]) for task in ("retrieval", "captioning", "reasoning")]
    assert kinds == [BlipForImageTextRetrieval, BlipForConditionalGeneration, BlipForQuestionAnswering]


def test_the_heads_of_two_tasks_are_deployed_beside_each_other(blip):
    parts = [parameters_by_part(blip.parts(task)) for task in ("retrieval", "captioning", "reasoning")]
    assert [list(part) for part in parts] == [["retrieval"], ["captioning"], ["vqa"]]
    assert all(count > 1000 for part in parts for count in part.values())


def test_a_head_that_is_not_named_is_an_error(blip_folders, runtime):
    with pytest.raises(ConfigError, match="retrieval, captioning, vqa"):
        make({"retrieval": blip_folders["retrieval"]}, runtime)


def test_values_that_are_not_finite_are_an_error_for_scores_and_captions(blip_folders, runtime, images):
    blip = make(blip_folders, replace(runtime, dtype="bfloat16"))
    for task in ("retrieval", "captioning", "reasoning"):
        with torch.no_grad():
            blip.modules(task)[0].vision_model.post_layernorm.weight[0] = torch.nan
    for use in (
        lambda: blip.embed_images(images),
        lambda: blip.match(images[:1], [TEXTS]),
        lambda: blip.generate(images[:1], [""]),
        lambda: blip.choose(images[:1], [QUESTIONS]),
    ):
        with pytest.raises(ArgusError, match="BLIP gave NaN"):
            use()


def test_use_prints_nothing_and_warns_nothing(blip_folders, runtime, images, capfd, recwarn):
    blip = make(blip_folders, runtime)
    blip.generate(images, [""] * len(images))
    blip.choose(images, [QUESTIONS] * len(images))
    blip.match(images, [TEXTS] * len(images))
    assert capfd.readouterr() == ("", "")
    assert not recwarn.list
