"""Promises of the recipes: a few steps run, repeat from the same seed, and plain transformers loads them."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from transformers import (
    AutoProcessor,
    BlipForConditionalGeneration,
    BlipForImageTextRetrieval,
    BlipForQuestionAnswering,
    CLIPModel,
)

from argus.pocket import train_blip, train_clip
from argus.pocket.corpus import corpus, picture
from argus.pocket.learning import Recipe, pixel_values

GLANCE = Recipe(scenes=6, steps=2, batch=4, rate=1e-3)
SHORT = Recipe(scenes=6, steps=9, batch=4, rate=1e-3)  # nine: each recipe takes all its turns once
SEED = 4


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clip")
    train_clip.train(folder, SEED, GLANCE, SHORT)
    return folder


@pytest.fixture(scope="module")
def blip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("blip")
    train_blip.train(folder, SEED, GLANCE, SHORT)
    return folder


def test_clip_loads_as_any_clip_and_learnt_something(clip: Path):
    model = CLIPModel.from_pretrained(clip, dtype=torch.float32)
    processor = AutoProcessor.from_pretrained(clip)
    images = [picture(scene) for scene in corpus(SEED, SHORT.scenes)["coco"].scenes]
    inputs = processor(text=["a red star", "qwz!"], images=images, padding=True, truncation=True, return_tensors="pt")
    assert model(**inputs).logits_per_image.shape == (6, 2)
    torch.manual_seed(SEED)
    untrained = train_clip.build_model(processor.tokenizer).state_dict()
    rounded = {name: weights.half().float() for name, weights in untrained.items()}
    moved = [(weights - rounded[name]).abs().max() > 1e-4 for name, weights in model.state_dict().items()]
    assert sum(moved) > 100


def test_clip_repeats_to_rounding(clip: Path, tmp_path: Path):
    # Not to the bit: the libraries below torch may add in another order when memory lies elsewhere.
    train_clip.train(tmp_path, SEED, GLANCE, SHORT)
    first, second = (load_file(folder / "model.safetensors") for folder in (clip, tmp_path))
    assert all(torch.allclose(first[name].float(), second[name].float(), atol=1e-3) for name in first)


@pytest.mark.parametrize(
    ("head", "network"),
    [
        ("retrieval", BlipForImageTextRetrieval),
        ("captioning", BlipForConditionalGeneration),
        ("vqa", BlipForQuestionAnswering),
    ],
)
def test_blip_heads_load_as_any_blip_in_half_precision(blip: Path, head: str, network: type):
    model, report = network.from_pretrained(blip / head, dtype=torch.float32, output_loading_info=True)
    assert not report["missing_keys"]
    assert not report["unexpected_keys"]
    processor = AutoProcessor.from_pretrained(blip / head)
    assert processor.tokenizer.bos_token_id == model.config.text_config.bos_token_id
    assert {weights.dtype for weights in load_file(blip / head / "model.safetensors").values()} == {torch.float16}


def test_blip_heads_share_the_image_tower_that_they_learnt_together(blip: Path):
    towers = [
        {k: v for k, v in load_file(blip / head / "model.safetensors").items() if k.startswith("vision_model.")}
        for head in ("retrieval", "captioning", "vqa")
    ]
    assert len(towers[0]) > 50
    assert all(torch.equal(towers[0][name], tower[name]) for tower in towers[1:] for name in towers[0])


def test_blip_writes_and_answers(blip: Path):
    processor = AutoProcessor.from_pretrained(blip / "captioning")
    image = picture(corpus(SEED, SHORT.scenes)["clevr"].scenes[0])
    writer = BlipForConditionalGeneration.from_pretrained(blip / "captioning", dtype=torch.float32)
    written = writer.generate(**processor(images=image, return_tensors="pt"), max_new_tokens=5)
    assert written[0, 0] == processor.tokenizer.bos_token_id
    answerer = BlipForQuestionAnswering.from_pretrained(blip / "vqa", dtype=torch.float32)
    asked = processor(images=image, text="What color is the cube?", return_tensors="pt")
    assert answerer.generate(**asked, max_new_tokens=3).shape[0] == 1


def test_no_typo_is_unknown_to_a_tokenizer(clip: Path, blip: Path):
    text = "Whzt colro iz teh qqjx sp#ere? 7 ~`@^|\\"
    for folder in (clip, blip / "vqa"):
        tokenizer = AutoProcessor.from_pretrained(folder).tokenizer
        tokens = tokenizer(text)["input_ids"][1:-1]
        assert tokenizer.unk_token_id not in tokens
        assert len(tokens) > 15


def test_cached_pictures_equal_what_the_processor_makes(clip: Path, blip: Path):
    data = corpus(SEED, SHORT.scenes)
    for folder in (clip, blip / "retrieval"):
        processor = AutoProcessor.from_pretrained(folder)
        for part in data.values():
            images = [picture(scene) for scene in part.scenes]
            made = processor.image_processor(images, return_tensors="pt")["pixel_values"]
            # One grey level in 255, which two resizing routines may round differently, is 0.015 here.
            assert (made - pixel_values(part.pictures)).abs().max() < 0.02
