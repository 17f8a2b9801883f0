"""The pocket LXMERT: first a detector finds the things, then LXMERT learns to match and to answer on what it found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy
from transformers import LxmertForPreTraining

from argus.models.lxmert_parts import join, look, read
from argus.models.regions.base import Regions
from argus.models.regions.pocket import save_detector
from argus.pocket.blip_model import build_tokenizer
from argus.pocket.corpus import Part, corpus, descriptions
from argus.pocket.detecting import all_regions, train_detector
from argus.pocket.language import questions
from argus.pocket.learning import Recipe, fit, save
from argus.pocket.lxmert_model import ANSWERED, build_model
from argus.pocket.reading import sample_texts
from argus.pocket.scenes import Scene
from argus.pocket.typos import some_mistyped
from argus.pocket.words import shuffled
from argus.records import Question
from argus.seeding import rng_for

if TYPE_CHECKING:
    from numpy.random import Generator
    from transformers import BertTokenizer

SCENES = 3500  # training scenes of each style
FINDING = Recipe(scenes=SCENES, steps=1000, batch=20, rate=3e-3)
TELLING = Recipe(scenes=SCENES, steps=1900, batch=12, rate=3e-4)
TURNS = ("clevr", "coco", "vcr", "clevr", "flickr30k", "vcr", "clevr", "visual_genome")
"""Styles, in turn: a step sees one style, so that its wrong pictures are as alike as those of a gallery."""
QUIZZED = {"clevr": 16, "vcr": 5}  # pictures a step that are asked about, in the styles without captions
RANKED = 8  # pictures a step whose captions are ranked, in the others
ASKED = 3  # questions a picture
PAIRS = 0.5  # weight of telling right from wrong pairs, beside ranking the right one first


@dataclass(frozen=True)
class Class:
    """All that a training step needs: the network, what its detector found, and what draws the batches."""

    network: LxmertForPreTraining
    tokenizer: BertTokenizer
    found: dict[str, Regions]
    rng: Generator


@dataclass(frozen=True)
class Read:
    """Encoded texts (texts, length, d) and their mask (texts, length)."""

    words: Tensor
    mask: Tensor


def train(output: Path, seed: int, finding: Recipe = FINDING, telling: Recipe = TELLING) -> None:
    """Train detector and network from random weights; write the network to a folder and the detector to `regions`."""
    torch.manual_seed(seed)
    data = corpus(seed, telling.scenes)
    rng = rng_for(seed, "lxmert batches")
    detector = train_detector(data, finding, rng)
    save_detector(detector, output / "regions")
    tokenizer = build_tokenizer(sample_texts(data, rng_for(seed, "lxmert tokenizer")))
    network = build_model(tokenizer).train()
    room = Class(network, tokenizer, all_regions(detector, data), rng)
    inner = turned(network)
    unused = {id(weight) for weight in network.cls.predictions.transform.parameters()} | set(inner)
    weights = [weight for weight in network.parameters() if id(weight) not in unused]
    fit(
        weights,
        lambda step: telling_loss(room, data[TURNS[step % len(TURNS)]], telling),
        telling,
        "lxmert tells",
        inner.values(),
    )
    save(network, tokenizer, output)


def turned(network: LxmertForPreTraining) -> dict[int, torch.nn.Parameter]:
    """Return the maps between hidden states, which Muon moves, by identity."""
    stacks = (network.lxmert.encoder.layer, network.lxmert.encoder.r_layers, network.lxmert.encoder.x_layers)
    return {id(weight): weight for stack in stacks for weight in stack.parameters() if weight.ndim == 2}


def telling_loss(room: Class, part: Part, recipe: Recipe) -> Tensor:
    """Return one step's loss: of questions in all styles, and of captions in those that have them."""
    style = part.scenes[0].style
    rows = room.rng.integers(len(part.scenes), size=QUIZZED.get(style, recipe.batch))
    scenes = [part.scenes[row] for row in rows]
    regions = room.found[style]
    seen = look(room.network.lxmert, regions.features[rows], regions.boxes[rows])
    if style == "clevr":
        return answer_loss(room, seen, scenes)
    if style == "vcr":
        return choice_loss(room, seen, scenes)
    # Their questions are easier, of fewer things: what is learnt on them serves CLEVR's.
    return answer_loss(room, seen, scenes) + match_loss(room, seen[:RANKED], scenes[:RANKED])


def match_loss(room: Class, seen: Tensor, scenes: Sequence[Scene]) -> Tensor:
    """Return the loss of ranking a caption's own picture first, and a picture's caption, among all of the batch."""
    count = len(scenes)
    texts = _read(room, [descriptions(scene, 1, room.rng)[0] for scene in scenes])
    scores = _fit(room, texts, seen, np.repeat(np.arange(count), count), np.tile(np.arange(count), count))
    table = scores.view(count, count)  # texts x pictures
    target = torch.arange(count)
    ranked = (cross_entropy(table, target) + cross_entropy(table.T, target)) / 2
    return ranked + PAIRS * binary_cross_entropy_with_logits(table, torch.eye(count))


def choice_loss(room: Class, seen: Tensor, scenes: Sequence[Scene]) -> Tensor:
    """Return the loss of ranking the right choice first, each read as "question choice"."""
    asked = [_asked(scene, room.rng) for scene in scenes]
    flat = [(row, question) for row, own in enumerate(asked) for question in own]
    texts = _read(room, [f"{one.text} {choice}" for _, one in flat for choice in one.choices])
    owner = [row for row, one in flat for _ in one.choices]
    table = _fit(room, texts, seen, np.arange(len(owner)), np.array(owner)).view(len(flat), -1)
    target = torch.tensor([one.target for _, one in flat])
    right = torch.nn.functional.one_hot(target, table.shape[1]).float()
    return cross_entropy(table, target) + PAIRS * binary_cross_entropy_with_logits(table, right)


def answer_loss(room: Class, seen: Tensor, scenes: Sequence[Scene]) -> Tensor:
    """Return the loss of the answer head."""
    asked = [(row, one) for row, scene in enumerate(scenes) for one in _asked(scene, room.rng)]
    texts = _read(room, [one.text for _, one in asked])
    pooled = join(room.network.lxmert, texts.words, texts.mask, seen[[row for row, _ in asked]])
    target = torch.tensor([ANSWERED.index(one.choices[one.target]) for _, one in asked])
    return cross_entropy(room.network.answer_head(pooled), target)


def _asked(scene: Scene, rng: Generator) -> list[Question]:
    return shuffled(questions(scene, rng), rng)[:ASKED]


def _read(room: Class, texts: Sequence[str]) -> Read:
    """Encode what a user would type, some of it mistyped."""
    told = room.tokenizer(some_mistyped(texts, room.rng), padding=True, return_tensors="pt")
    return Read(read(room.network.lxmert, told["input_ids"], told["attention_mask"]), told["attention_mask"])


def _fit(room: Class, texts: Read, seen: Tensor, which: np.ndarray, pictures: np.ndarray) -> Tensor:
    """Return how well text `which[i]` fits picture `pictures[i]`: log P(match) - log P(no match)."""
    pooled = join(room.network.lxmert, texts.words[which], texts.mask[which], seen[pictures])
    logits = room.network.cls.seq_relationship(pooled)
    return logits[:, 1] - logits[:, 0]
