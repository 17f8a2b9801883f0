"""The pocket Gemma-3: first its eyes learn what lies where, then it learns to tell, to answer and to judge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy, one_hot

from argus.pocket.corpus import FACETS, GRID, Corpus, corpus
from argus.pocket.gemma_model import IMAGE_TOKENS, WIDTH, build_model, build_processor, train_tokenizer
from argus.pocket.gemma_packing import Packed, Packer
from argus.pocket.gemma_turns import CAPTION_TEXT, CHOICE_TEXT, MATCH_TEXT, Kind, turns
from argus.pocket.learning import NOTHING, PatchTask, Recipe, fit, matrices, save
from argus.pocket.reading import sample_texts
from argus.pocket.scenes import STYLES
from argus.seeding import rng_for

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray
    from transformers import Gemma3ForConditionalGeneration, GemmaTokenizer

SCENES = 4000  # training scenes of each style
SEEING = Recipe(scenes=SCENES, steps=700, batch=32, rate=1.5e-3)
TALKING = Recipe(scenes=SCENES, steps=2000, batch=16, rate=1.5e-3)
SIGHT = 0.5  # weight of the seeing losses while it learns to talk
HELD = 10.0  # weight of a value that an image token holds: it holds few of them
WEIGHTS = {Kind.CAPTION: 0.04, Kind.CHOICE: 1.0, Kind.MATCH: 1.5}  # of an answer; a caption has some 25 tokens


def train(output: Path, seed: int, seeing: Recipe = SEEING, talking: Recipe = TALKING) -> None:
    """Train the model from random weights and write it to a folder."""
    torch.manual_seed(seed)
    data = corpus(seed, talking.scenes)
    processor = build_processor(build_tokenizer(data, seed))
    model = build_model(processor.tokenizer)
    sight = Sight(WIDTH)
    model.train()
    see(model, sight, data, seeing, rng_for(seed, "gemma seeing"))
    talk(model, sight, data, Packer(processor), talking, rng_for(seed, "gemma talking"))
    save(model, processor, output)


def build_tokenizer(data: Corpus, seed: int) -> GemmaTokenizer:
    """Return a tokenizer whose pieces are the words of scenes, prompts and chat template."""
    texts = sample_texts(data, rng_for(seed, "gemma tokenizer"))
    phrases = [CAPTION_TEXT, *MATCH_TEXT.split("{}"), *CHOICE_TEXT.split("{}")[1:]]
    frame = [*phrases, "user\n", "model\n", "yes", "no"]
    return train_tokenizer([*texts, *frame * (len(texts) // 10 + 1)], phrases)


class Sight(nn.Module):
    """Reads from each patch what lies over it and from each image token what it holds; thrown away afterwards."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.patches = PatchTask(width, NOTHING)
        self.tokens = nn.Linear(width, sum(FACETS))

    def forward(self, patches: Tensor, tokens: Tensor, labels: NDArray[np.uint8]) -> Tensor:
        """Return the loss for patches (n, GRID², width), image tokens (n, IMAGE_TOKENS, width) and patch labels."""
        few = binary_cross_entropy_with_logits(self.tokens(tokens), held(labels), pos_weight=torch.tensor(HELD))
        return self.patches(patches, labels) + few


def held(labels: NDArray[np.uint8]) -> Tensor:
    """Return (n, IMAGE_TOKENS, sum(FACETS)): 1 where one of the token's patches has the value."""
    side = int(IMAGE_TOKENS**0.5)
    step = GRID // side
    facets = []
    for facet, values in enumerate(FACETS):
        shown = one_hot(torch.from_numpy(labels[:, facet]).long(), values + 1)[..., 1:]
        cells = shown.view(-1, side, step, side, step, values).amax(dim=(2, 4))
        facets.append(cells.flatten(1, 2))
    return torch.cat(facets, dim=-1).float()


def pixel_values(pictures: NDArray[np.uint8]) -> Tensor:
    """Return what the processor makes of (n, h, w, 3) pictures: within [-1, 1], shaped (n, 3, h, w)."""
    return torch.from_numpy(pictures).permute(0, 3, 1, 2).float() / 127.5 - 1


def see(model: Gemma3ForConditionalGeneration, sight: Sight, data: Corpus, recipe: Recipe, rng: Generator) -> None:
    """Train vision tower and projector to show what lies where."""

    def loss_at(step: int) -> Tensor:
        part = data[STYLES[step % len(STYLES)]]
        rows = rng.integers(len(part.scenes), size=recipe.batch)
        seen = model.model.get_image_features(pixel_values(part.pictures[rows]))
        loss: Tensor = sight(seen.last_hidden_state, seen.pooler_output, part.patches[rows])
        return loss

    tower, projector = model.model.vision_tower, model.model.multi_modal_projector
    learn([tower, projector, sight], loss_at, recipe, "gemma sees")


def talk(
    model: Gemma3ForConditionalGeneration,
    sight: Sight,
    data: Corpus,
    packer: Packer,
    recipe: Recipe,
    rng: Generator,
) -> None:
    """Train the whole model to answer, and to go on seeing; every step sees all styles."""

    def loss_at(step: int) -> Tensor:
        parts = [data[STYLES[(step + i) % len(STYLES)]] for i in range(recipe.batch)]
        rows = [int(rng.integers(len(part.scenes))) for part in parts]
        packed = packer.pack([turns(part, row, rng) for part, row in zip(parts, rows, strict=True)])
        pictures = np.stack([part.pictures[row] for part, row in zip(parts, rows, strict=True)])
        labels = np.stack([part.patches[row] for part, row in zip(parts, rows, strict=True)])
        seen = model.model.get_image_features(pixel_values(pictures))
        seeing: Tensor = sight(seen.last_hidden_state, seen.pooler_output, labels)
        return answer_loss(model, seen.pooler_output, packed) + SIGHT * seeing

    learn([model, sight], loss_at, recipe, "gemma talks")


def learn(modules: Sequence[nn.Module], loss_at: Callable[[int], Tensor], recipe: Recipe, name: str) -> None:
    """Fit all weights of the modules: Muon turns the maps between hidden states, AdamW the rest."""
    inner = [weight for module in modules for weight in matrices(module).values()]
    known = {id(weight) for weight in inner}
    rest = [weight for module in modules for weight in module.parameters() if id(weight) not in known]
    fit(rest, loss_at, recipe, name, inner)


def answer_loss(model: Gemma3ForConditionalGeneration, images: Tensor, packed: Packed) -> Tensor:
    """Return the weighted sum over the kinds of the mean loss of an answer, the sum over its tokens."""
    words = model.get_input_embeddings()(packed.tokens)
    image = packed.tokens == model.config.image_token_id
    hidden = model.model.language_model(
        inputs_embeds=words.masked_scatter(image[..., None], images),
        attention_mask={"full_attention": packed.mask, "sliding_attention": packed.mask},
        position_ids=packed.positions,
        use_cache=False,
    ).last_hidden_state
    logits = model.lm_head(hidden.flatten(0, 1)[packed.at])
    losses = cross_entropy(logits, packed.targets, reduction="none") * packed.weights
    sums = [weight * losses[packed.kinds == kind].sum() / packed.turns(kind) for kind, weight in WEIGHTS.items()]
    return torch.stack(sums).sum()
