"""Promises of the pocket Qwen2.5-VL's recipe: it is trained on just what the chat adapter asks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from omegaconf import OmegaConf
from PIL.Image import Image
from torch import Tensor
from torch.nn.functional import cross_entropy
from transformers import (
    AutoModelForImageTextToText,
    AutoProcessor,
    Qwen2_5_VLForConditionalGeneration,
    Qwen2_5_VLProcessor,
)

from argus.pocket.corpus import Corpus, corpus, picture
from argus.pocket.evaluate import QWEN
from argus.pocket.learning import Recipe
from argus.pocket.packing import Packer
from argus.pocket.qwen_model import PIXELS
from argus.pocket.qwen_tower import look, patched
from argus.pocket.scenes import STYLES
from argus.pocket.talking import WEIGHTS, answer_loss
from argus.pocket.train_qwen import FRAME, Reader, train
from argus.pocket.turns import CAPTION_TEXT, CHOICE_TEXT, MATCH_TEXT, Turn, turns
from argus.seeding import rng_for

YAML = Path(__file__).resolve().parents[2] / "conf" / "model" / "qwen.yaml"
SEED = 5
SCENES = 6  # of each style, to train on


@pytest.fixture(scope="module")
def data() -> Corpus:
    return corpus(SEED, SCENES, PIXELS)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint of a few steps: it knows little, and shows all the mechanics."""
    folder = tmp_path_factory.mktemp("qwen")
    few = Recipe(SCENES, 2, 5, 1e-3)
    train(folder, SEED, few, few)
    return folder


@pytest.fixture(scope="module")
def model(trained: Path) -> Qwen2_5_VLForConditionalGeneration:
    return AutoModelForImageTextToText.from_pretrained(trained, dtype=torch.float32).eval()


@pytest.fixture(scope="module")
def processor(trained: Path) -> Qwen2_5_VLProcessor:
    return AutoProcessor.from_pretrained(trained)


def test_it_is_trained_on_the_words_that_the_adapter_says() -> None:
    conf = OmegaConf.create({"suite": {"checkpoints": "pocket"}, "model": OmegaConf.load(YAML)})
    adapter = OmegaConf.to_container(conf.model.adapter, resolve=True)
    assert {name: adapter[name] for name in QWEN} == QWEN
    assert QWEN["caption_prompt"] == CAPTION_TEXT
    assert QWEN["match_prompt"].replace("{caption}", "{}") == MATCH_TEXT
    assert QWEN["question_prompt"].replace("{question}", "{}") == CHOICE_TEXT


def test_a_few_steps_write_a_checkpoint_that_the_auto_classes_load(
    model: Qwen2_5_VLForConditionalGeneration, processor: Qwen2_5_VLProcessor
) -> None:
    tokenizer = processor.tokenizer
    ends = [tokenizer.convert_tokens_to_ids(word) for word in ("<|im_end|>", "<|endoftext|>")]
    assert model.generation_config.eos_token_id == ends
    assert [len(tokenizer(word, add_special_tokens=False)["input_ids"]) for word in ("yes", "no")] == [1, 1]


def test_the_chat_template_writes_what_the_official_one_does(processor: Qwen2_5_VLProcessor) -> None:
    user = {"role": "user", "content": [{"type": "image"}, {"type": "text", "text": " What? "}]}
    turns = [user, {"role": "assistant", "content": "A star."}]
    assert processor.apply_chat_template(turns, add_generation_prompt=True, tokenize=False) == (
        "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n"
        "<|im_start|>user\n<|vision_start|><|image_pad|><|vision_end|> What? <|im_end|>\n"
        "<|im_start|>assistant\nA star.<|im_end|>\n"
        "<|im_start|>assistant\n"
    )
    own = [{"role": "system", "content": "Be brief."}, user]
    assert processor.apply_chat_template(own, tokenize=False).startswith("<|im_start|>system\nBe brief.<|im_end|>\n")


def test_looking_at_all_pictures_at_once_equals_the_library(
    model: Qwen2_5_VLForConditionalGeneration, processor: Qwen2_5_VLProcessor, data: Corpus
) -> None:
    for part in data.values():
        made = processor.image_processor([picture(scene) for scene in part.scenes], return_tensors="pt")
        mine = patched(part.pictures)
        # One grey level in 255, which two resizing routines may round differently, is 0.015 here.
        assert (made["pixel_values"] - mine.flatten(0, 1)).abs().max() < 0.02
        with torch.inference_mode():
            patches, tokens = look(model.model.visual, part.pictures)
            seen = model.model.get_image_features(mine.flatten(0, 1), made["image_grid_thw"])
        torch.testing.assert_close(tokens, torch.stack(seen.pooler_output), atol=1e-3, rtol=1e-3)
        # The library keeps the patches of an image token together: the second patch of the second row is the fourth.
        theirs = seen.last_hidden_state.view(*patches.shape)
        torch.testing.assert_close(patches[:, [0, 1, 8, 9, 2]], theirs[:, :5], atol=1e-3, rtol=1e-3)


@pytest.mark.parametrize("style", STYLES)
def test_packed_turns_train_what_each_would_alone(
    style: str, model: Qwen2_5_VLForConditionalGeneration, processor: Qwen2_5_VLProcessor, data: Corpus
) -> None:
    made = turns(data[style], 0, rng_for(SEED, style))
    packer = Packer(processor.tokenizer, FRAME)
    packed = packer.pack([made])
    reader = Reader(model, packer.opening)
    alone = [_alone(model, processor, picture(data[style].scenes[0]), turn) for turn in made]
    with torch.inference_mode():
        logits = reader.read(reader.look(data[style].pictures[:1])[1], packed)
    assert torch.equal(torch.cat([targets for targets, _, _ in alone]), packed.targets)
    length = len(packer.opening)
    places = [places[:, :, length:] for _, _, places in alone]
    assert torch.equal(reader.positions(packed), torch.cat([alone[0][2][:, :, :length], *places], dim=-1))
    losses = torch.cat([losses for _, losses, _ in alone])
    torch.testing.assert_close(cross_entropy(logits, packed.targets, reduction="none"), losses, atol=2e-2, rtol=0)
    kinds = {kind: packed.kinds == kind for kind in WEIGHTS}
    means = [WEIGHTS[kind] * (losses * packed.weights)[own].sum() / packed.turns(kind) for kind, own in kinds.items()]
    assert float(answer_loss(logits, packed)) == pytest.approx(float(sum(means)), abs=1e-2)


def _alone(
    model: Qwen2_5_VLForConditionalGeneration, processor: Qwen2_5_VLProcessor, image: Image, turn: Turn
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the answer's tokens up to the end of the turn, the loss of each, and all positions but the end's.

    The turn is asked by itself, and the library finds the positions.
    """
    user = {"role": "user", "content": [{"type": "image", "image": image}, {"type": "text", "text": turn.text}]}
    said = {"role": "assistant", "content": [{"type": "text", "text": turn.answer}]}
    options: dict[str, Any] = {"tokenize": True, "return_dict": True, "return_tensors": "pt"}
    asked = processor.apply_chat_template([[user]], add_generation_prompt=True, **options)["input_ids"].shape[1]
    whole = processor.apply_chat_template([[user, said]], **options)
    with torch.inference_mode():
        logs = model(**whole).logits[0].log_softmax(-1)
    targets = whole["input_ids"][0, asked:-1]  # a line end follows the end of the turn
    places, _ = model.model.get_rope_index(
        whole["input_ids"], whole["mm_token_type_ids"], image_grid_thw=whole["image_grid_thw"]
    )
    return targets, -logs[asked - 1 : -2].gather(1, targets[:, None])[:, 0], places[:, :, :-2]
