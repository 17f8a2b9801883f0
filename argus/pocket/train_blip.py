"""The pocket BLIP: first its eyes learn what lies where, then it learns to match, to tell and to answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, normalize

from argus.pocket.blip_model import WIDTH, Networks, build_networks, build_processor
from argus.pocket.corpus import Part, corpus, descriptions
from argus.pocket.language import questions
from argus.pocket.learning import NOTHING, PatchTask, Recipe, fit, matrices, pixel_values, save, see
from argus.pocket.reading import sample_texts
from argus.pocket.scenes import Scene
from argus.pocket.typos import some_mistyped
from argus.seeding import rng_for

if TYPE_CHECKING:
    from numpy.random import Generator
    from transformers import BertTokenizer

SCENES = 4000  # training scenes of each style
SEEING = Recipe(scenes=SCENES, steps=700, batch=32, rate=1.5e-3)
TELLING = Recipe(scenes=SCENES, steps=2000, batch=24, rate=1.5e-3)
TURNS = ("coco", "clevr", "vcr", "flickr30k", "clevr", "vcr", "visual_genome", "clevr", "vcr")
"""Styles, in turn: a step sees one style, so that its wrong pictures are as alike as those of a gallery."""
QUIZZED = 16  # pictures a step that are asked about
ASKED = 4  # questions a picture
SIGHT = 0.5  # weight of the patch task once the model tells
WARMTH = float(np.log(1 / 0.07))  # start of the learnt logarithmic scale of similarities
WARMEST = float(np.log(100))
IGNORED = -100  # cross_entropy leaves this label out


class Helpers(nn.Module):
    """What is needed to learn alone, and thrown away: the patch task and the scale of similarities."""

    def __init__(self) -> None:
        super().__init__()
        self.patches = PatchTask(WIDTH, NOTHING)
        self.warmth = nn.Parameter(torch.tensor(WARMTH))


@dataclass(frozen=True)
class Class:
    """All that a training step needs: networks, helpers and tokenizer, and the generator that draws its batches."""

    networks: Networks
    helpers: Helpers
    tokenizer: BertTokenizer
    rng: Generator


@dataclass(frozen=True)
class Tokens:
    """Token ids and attention mask, both (texts, length)."""

    ids: Tensor
    mask: Tensor


def train(output: Path, seed: int, seeing: Recipe = SEEING, telling: Recipe = TELLING) -> None:
    """Train the networks from random weights and write each to a folder of its own."""
    torch.manual_seed(seed)
    data = corpus(seed, telling.scenes)
    processor = build_processor(sample_texts(data, rng_for(seed, "blip tokenizer")))
    networks = build_networks(processor.tokenizer)
    room = Class(networks, Helpers(), processor.tokenizer, rng_for(seed, "blip batches"))
    for network in networks.all:
        network.train()
    eyes = networks.retrieval.vision_model
    see(eyes, room.helpers.patches, data, seeing, room.rng, "blip sees")
    # The text towers normalise after each layer, as BERT does, and failed in the one run that moved them by Muon.
    inner = {id(weight): weight for weight in matrices(eyes).values()}
    modules = (*networks.all, room.helpers)
    rest = {id(w): w for module in modules for w in module.parameters() if id(w) not in inner}
    fit(
        rest.values(),
        lambda step: telling_loss(room, data[TURNS[step % len(TURNS)]], telling),
        telling,
        "blip tells",
        inner.values(),
    )
    save(networks.retrieval, processor, output / "retrieval")
    save(networks.captioning, processor, output / "captioning")
    save(networks.vqa, processor, output / "vqa")


def telling_loss(room: Class, part: Part, recipe: Recipe) -> Tensor:
    """Return one step's loss: of questions in the styles that have them, of captions in the others."""
    quiz = part.scenes[0].style in ("clevr", "vcr")
    rows = room.rng.integers(len(part.scenes), size=QUIZZED if quiz else recipe.batch)
    scenes = [part.scenes[row] for row in rows]
    seen = _look(room, part, rows)
    loss = SIGHT * room.helpers.patches(seen[:, 1:], part.patches[rows])
    if quiz:
        return loss + _answer_loss(room, seen, scenes)
    told = [descriptions(scene, 2, room.rng) for scene in scenes]
    loss = loss + _match_loss(room, seen, [texts[0] for texts in told])
    return loss + _caption_loss(room, seen, [texts[1] for texts in told])


def _look(room: Class, part: Part, rows: np.ndarray) -> Tensor:
    """Return the image tower's states, (pictures, 1 + patches, WIDTH)."""
    return room.networks.retrieval.vision_model(pixel_values=pixel_values(part.pictures[rows])).last_hidden_state


def _tokens(room: Class, texts: Sequence[str]) -> Tokens:
    """Return what a user would type, some of it mistyped."""
    found = room.tokenizer(some_mistyped(texts, room.rng), padding=True, return_tensors="pt")
    return Tokens(found["input_ids"], found["attention_mask"])


def _targets(room: Class, texts: Sequence[str]) -> Tokens:
    """Return what the decoders should write: start, text, end; never mistyped."""
    found = room.tokenizer(list(texts), padding=True, return_tensors="pt")
    ids = found["input_ids"].clone()
    ids[:, 0] = room.tokenizer.bos_token_id
    return Tokens(ids, found["attention_mask"])


def _labels(tokens: Tokens) -> Tensor:
    return tokens.ids.masked_fill(tokens.mask == 0, IGNORED)


def _match_loss(room: Class, seen: Tensor, texts: Sequence[str]) -> Tensor:
    """Return the contrastive loss plus the loss of telling right from wrong pairs."""
    network, tokens = room.networks.retrieval, _tokens(room, texts)
    read = network.text_encoder(input_ids=tokens.ids, attention_mask=tokens.mask).last_hidden_state
    images = normalize(network.vision_proj(seen[:, 0]), dim=-1)
    sentences = normalize(network.text_proj(read[:, 0]), dim=-1)
    logits = room.helpers.warmth.clamp(max=WARMEST).exp() * images @ sentences.T
    target = torch.arange(len(texts))
    contrast = (cross_entropy(logits, target) + cross_entropy(logits.T, target)) / 2
    return contrast + _pair_loss(room, seen, tokens, logits.detach())


def _pair_loss(room: Class, seen: Tensor, tokens: Tokens, logits: Tensor) -> Tensor:
    """Return the loss over the right pairs and, for each picture, one wrong text that the similarities find likely."""
    network, count = room.networks.retrieval, len(seen)
    chances = (logits.masked_fill(torch.eye(count, dtype=torch.bool), -torch.inf) / 2).softmax(dim=1).numpy()
    wrong = torch.tensor([int(room.rng.choice(count, p=row / row.sum())) for row in chances.astype(np.float64)])
    order = torch.cat([torch.arange(count), wrong])
    states = network.text_encoder(
        input_ids=tokens.ids[order],
        attention_mask=tokens.mask[order],
        encoder_hidden_states=seen.repeat(2, 1, 1),
    ).last_hidden_state
    target = torch.cat([torch.ones(count), torch.zeros(count)]).long()
    return cross_entropy(network.itm_head(states[:, 0]), target)


def _caption_loss(room: Class, seen: Tensor, texts: Sequence[str]) -> Tensor:
    tokens = _targets(room, texts)
    written = room.networks.captioning.text_decoder(
        input_ids=tokens.ids,
        attention_mask=tokens.mask,
        encoder_hidden_states=seen,
        labels=_labels(tokens),
        reduction="mean",
    )
    return written.loss


def _answer_loss(room: Class, seen: Tensor, scenes: Sequence[Scene]) -> Tensor:
    """Return the loss of writing the right answers of ASKED questions a picture."""
    asked = [_asked(scene, room.rng) for scene in scenes]
    rows = torch.tensor([row for row, own in enumerate(asked) for _ in own])
    question = _tokens(room, [text for own in asked for text, _ in own])
    answer = _targets(room, [right for own in asked for _, right in own])
    states = room.networks.vqa.text_encoder(
        input_ids=question.ids, attention_mask=question.mask, encoder_hidden_states=seen[rows]
    ).last_hidden_state
    written = room.networks.vqa.text_decoder(
        input_ids=answer.ids,
        attention_mask=answer.mask,
        encoder_hidden_states=states,
        encoder_attention_mask=question.mask,
        labels=_labels(answer),
        reduction="mean",
    )
    return written.loss


def _asked(scene: Scene, rng: Generator) -> list[tuple[str, str]]:
    """Return ASKED questions about a scene with their right answers."""
    found: list[tuple[str, str]] = []
    while len(found) < ASKED:
        found += [(one.text, one.choices[one.target]) for one in questions(scene, rng)]
    return found[:ASKED]
