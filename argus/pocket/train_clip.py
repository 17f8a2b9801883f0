"""The pocket CLIP: trained to tell which text belongs to which picture, and which answer to which question."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from tokenizers import Tokenizer, trainers
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel
from torch import Tensor
from torch.nn.functional import cross_entropy, normalize
from transformers import CLIPConfig, CLIPImageProcessor, CLIPModel, CLIPProcessor, CLIPTokenizer

from argus.pocket.corpus import GRID, PIXELS, Corpus, corpus, descriptions
from argus.pocket.language import questions
from argus.pocket.learning import NOTHING, PatchTask, Recipe, fit, matrices, pixel_values, save, see
from argus.pocket.reading import sample_texts, some_choices
from argus.pocket.scenes import Scene
from argus.pocket.typos import some_mistyped
from argus.pocket.words import pick
from argus.seeding import rng_for

if TYPE_CHECKING:
    from numpy.random import Generator


SCENES = 4000  # training scenes of each style
SEEING = Recipe(scenes=SCENES, steps=700, batch=32, rate=1.5e-3)
TELLING = Recipe(scenes=SCENES, steps=1200, batch=48, rate=1.5e-3)
TURNS = ("coco", "flickr30k", "visual_genome", "clevr", "coco", "flickr30k", "visual_genome", "vcr")
"""Styles, in turn: a step sees one style, so that its wrong pictures are as alike as those of a gallery."""
WIDTH, HEADS, PROJECTION = 128, 4, 128
PIECES = 150  # learnt pieces of the tokenizer, beside its 512 bytes
CAPTIONS = {"coco": 2, "flickr30k": 2, "visual_genome": 2, "clevr": 1, "vcr": 1}
"""Sentences a picture and step."""
ASKED = 24  # pictures a step that are asked about
CHOICES = {"clevr": 8, "vcr": 4}
"""Answers that a question is trained with."""
WARMEST = float(np.log(100))  # CLIP's own bound of the logit scale
START, END = "<|startoftext|>", "<|endoftext|>"


def train(output: Path, seed: int, seeing: Recipe = SEEING, telling: Recipe = TELLING) -> None:
    """Train the model from random weights and write it to a folder."""
    torch.manual_seed(seed)
    data = corpus(seed, telling.scenes)
    processor = build_processor(sample_texts(data, rng_for(seed, "clip tokenizer")))
    model = build_model(processor.tokenizer)
    patches = PatchTask(WIDTH, NOTHING)
    model.train()
    rng = rng_for(seed, "clip batches")
    see(model.vision_model, patches, data, seeing, rng, "clip sees")

    def loss_at(step: int) -> Tensor:
        return batch_loss(model, processor.tokenizer, patches, data, step, telling, rng)

    inner = matrices(model)
    outer = [weight for name, weight in model.named_parameters() if name not in inner]
    fit([*outer, *patches.parameters()], loss_at, telling, "clip tells", inner.values())
    save(model, processor, output)


def build_processor(texts: Sequence[str]) -> CLIPProcessor:
    """Return CLIP's processor for PIXELS x PIXELS pictures, its tokenizer learnt from the texts."""
    images = CLIPImageProcessor(size={"shortest_edge": PIXELS}, crop_size={"height": PIXELS, "width": PIXELS})
    return CLIPProcessor(images, build_tokenizer(texts))


def build_tokenizer(texts: Sequence[str]) -> CLIPTokenizer:
    """Return a tokenizer in CLIP's layout: bytes, bytes that end a word, learnt pieces, start and end."""
    pattern = CLIPTokenizer().backend_tokenizer
    learner = Tokenizer(BPE(end_of_word_suffix="</w>"))
    learner.normalizer, learner.pre_tokenizer = pattern.normalizer, pattern.pre_tokenizer
    alphabet = sorted(ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(
        vocab_size=2 * len(alphabet) + PIECES,
        end_of_word_suffix="</w>",
        initial_alphabet=alphabet,
        show_progress=False,
    )
    learner.train_from_iterator(texts, trainer)
    merges = [tuple(pair) for pair in json.loads(learner.to_str())["model"]["merges"]][:PIECES]
    pieces = [*alphabet, *(letter + "</w>" for letter in alphabet), *("".join(pair) for pair in merges), START, END]
    vocabulary = {piece: number for number, piece in enumerate(dict.fromkeys(pieces))}
    return CLIPTokenizer(vocab=vocabulary, merges=merges, model_max_length=77)


def build_model(tokenizer: CLIPTokenizer) -> CLIPModel:
    """Return CLIP with random weights drawn from torch's global generator."""
    shared = {"hidden_size": WIDTH, "intermediate_size": 3 * WIDTH, "num_attention_heads": HEADS}
    ends = {"bos_token_id": tokenizer.bos_token_id, "eos_token_id": tokenizer.eos_token_id}
    text = {"vocab_size": len(tokenizer), "num_hidden_layers": 3, "pad_token_id": tokenizer.pad_token_id}
    vision = {"num_hidden_layers": 4, "image_size": PIXELS, "patch_size": PIXELS // GRID}
    config = CLIPConfig(text_config=shared | ends | text, vision_config=shared | vision, projection_dim=PROJECTION)
    return CLIPModel(config)


def batch_loss(
    model: CLIPModel,
    tokenizer: CLIPTokenizer,
    patches: PatchTask,
    data: Corpus,
    step: int,
    recipe: Recipe,
    rng: Generator,
) -> Tensor:
    """Return one step's loss: pictures against sentences, answers of questions, and what the patches show."""
    part = data[TURNS[step % len(TURNS)]]
    rows = rng.integers(len(part.scenes), size=recipe.batch)
    scenes = [part.scenes[row] for row in rows]
    seen = model.vision_model(pixel_values=pixel_values(part.pictures[rows]))
    images = normalize(model.visual_projection(seen.pooler_output), dim=-1)
    scale = model.logit_scale.clamp(max=WARMEST).exp()
    loss = 0.5 * patches(seen.last_hidden_state[:, 1:], part.patches[rows])
    loss = loss + _contrast(model, tokenizer, images, scenes, scale, rng)
    if scenes[0].style in ("clevr", "vcr"):
        loss = loss + _answers(model, tokenizer, images, scenes, scale, rng)
    return loss


def _embedded(model: CLIPModel, tokenizer: CLIPTokenizer, texts: Sequence[str], rng: Generator) -> Tensor:
    """Return unit rows for the texts, some of them mistyped first. Long and short ones go apart, to pad less."""
    ids = tokenizer(some_mistyped(texts, rng), truncation=True, max_length=77)["input_ids"]
    order = sorted(range(len(ids)), key=lambda number: len(ids[number]))
    rows = []
    for half in (order[: len(order) // 2], order[len(order) // 2 :]):
        tokens = tokenizer.pad({"input_ids": [ids[number] for number in half]}, return_tensors="pt")
        read = model.text_model(input_ids=tokens["input_ids"], attention_mask=tokens["attention_mask"])
        rows.append(model.text_projection(read.pooler_output))
    return normalize(torch.cat(rows)[torch.tensor(order).argsort()], dim=-1)


def _contrast(
    model: CLIPModel,
    tokenizer: CLIPTokenizer,
    images: Tensor,
    scenes: Sequence[Scene],
    scale: Tensor,
    rng: Generator,
) -> Tensor:
    """Return CLIP's loss, averaged over CAPTIONS sentences a picture."""
    told = [descriptions(scene, CAPTIONS[scene.style], rng) for scene in scenes]
    texts = _embedded(model, tokenizer, [text for turn in zip(*told, strict=True) for text in turn], rng)
    target = torch.arange(len(scenes))
    logits = scale * images @ texts.T
    losses = []
    for block in logits.split(len(scenes), dim=1):
        losses += [cross_entropy(block, target), cross_entropy(block.T, target)]
    return torch.stack(losses).mean()


def _answers(
    model: CLIPModel,
    tokenizer: CLIPTokenizer,
    images: Tensor,
    scenes: Sequence[Scene],
    scale: Tensor,
    rng: Generator,
) -> Tensor:
    """Return the loss of choosing the right answer, a text "question answer", among CHOICES."""
    asked = [pick(questions(scene, rng), rng) for scene in scenes[:ASKED]]
    count = CHOICES[scenes[0].style]
    texts = [f"{one.text} {choice}" for one in asked for choice in some_choices(one, count, rng)]
    answers = _embedded(model, tokenizer, texts, rng).view(len(asked), count, -1)
    logits = scale * torch.einsum("nd,ncd->nc", images[: len(asked)], answers)
    return cross_entropy(logits, torch.zeros(len(asked), dtype=torch.long))
