"""The pocket Qwen2.5-VL: first its eyes learn what lies where, then it learns to tell, to answer and to judge."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from argus.pocket.corpus import GRID, Corpus, corpus
from argus.pocket.learning import Recipe, save
from argus.pocket.packing import Frame, Packed, Packer
from argus.pocket.qwen_model import (
    BEGIN_OF_IMAGE,
    BEGIN_OF_TURN,
    END_OF_IMAGE,
    END_OF_TURN,
    IMAGE,
    IMAGE_TOKENS,
    PIXELS,
    SYSTEM,
    WIDTH,
    build_model,
    build_processor,
    train_tokenizer,
)
from argus.pocket.qwen_tower import look
from argus.pocket.reading import sample_texts
from argus.pocket.talking import PHRASES, Pupil, Sight, see, talk
from argus.seeding import rng_for

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from transformers import Qwen2_5_VLForConditionalGeneration, Qwen2Tokenizer

SCENES = 3000  # training scenes of each style
SEEING = Recipe(scenes=SCENES, steps=400, batch=32, rate=1.5e-3)
TALKING = Recipe(scenes=SCENES, steps=3600, batch=12, rate=1.5e-3)
FRAME = Frame(
    opening=f"{BEGIN_OF_TURN}system\n{SYSTEM}{END_OF_TURN}\n{BEGIN_OF_TURN}user\n"
    f"{BEGIN_OF_IMAGE}{IMAGE * IMAGE_TOKENS}{END_OF_IMAGE}",
    bridge=f"{END_OF_TURN}\n{BEGIN_OF_TURN}assistant\n",
    end=END_OF_TURN,
    both_ways=None,
)


def train(output: Path, seed: int, seeing: Recipe = SEEING, talking: Recipe = TALKING) -> None:
    """Train the model from random weights and write it to a folder."""
    torch.manual_seed(seed)
    data = corpus(seed, talking.scenes, PIXELS)
    processor = build_processor(build_tokenizer(data, seed))
    model = build_model(processor.tokenizer)
    sight = Sight(WIDTH)
    packer = Packer(processor.tokenizer, FRAME)
    pupil = Reader(model, packer.opening)
    model.train()
    see(pupil, sight, data, seeing, rng_for(seed, "qwen seeing"), "qwen sees")
    talk(pupil, sight, data, packer, talking, rng_for(seed, "qwen talking"), "qwen talks")
    save(model, processor, output)


def build_tokenizer(data: Corpus, seed: int) -> Qwen2Tokenizer:
    """Return a tokenizer whose pieces are the words of scenes, prompts and chat template."""
    texts = sample_texts(data, rng_for(seed, "qwen tokenizer"))
    frame = [*PHRASES, f"system\n{SYSTEM}", "user\n", "assistant\n", "yes", "no"]
    return train_tokenizer([*texts, *frame * (len(texts) // 10 + 1)])


class Reader(Pupil):
    """Looks at pictures of PIXELS x PIXELS.

    Muon moves its image tower alone: in a run where it moved the language model too, which normalises no queries and
    keys, attention scores reached 50, and after 1400 steps no answer depended on the picture.
    """

    def __init__(self, model: Qwen2_5_VLForConditionalGeneration, opening: list[int]) -> None:
        self.model = model
        self.eyes = self.turned = [model.model.visual]
        self.grid = torch.tensor([[1, GRID, GRID]])
        self.opening = self._opening(torch.tensor([opening]))

    def _opening(self, tokens: Tensor) -> Tensor:
        """Return (3, 1, length): the opening's positions in time, height and width."""
        pictured = (tokens == self.model.config.image_token_id).int()
        places: Tensor = self.model.model.get_rope_index(tokens, pictured, image_grid_thw=self.grid)[0]
        return places

    def positions(self, packed: Packed) -> Tensor:
        """Return (3, n, length): in each turn texts count on, on all axes, from the furthest that the opening went."""
        length = self.opening.shape[-1]
        counted = packed.positions + int(self.opening.max()) + 1 - length
        places = counted.expand(3, -1, -1).clone()
        places[:, :, :length] = self.opening
        return places

    def look(self, pictures: NDArray[np.uint8]) -> tuple[Tensor, Tensor]:
        """Return patches (n, GRID², WIDTH) and image tokens (n, IMAGE_TOKENS, WIDTH), row by row."""
        return look(self.model.model.visual, pictures)

    def read(self, images: Tensor, packed: Packed) -> Tensor:
        """Return logits (answer tokens, vocabulary) from image tokens (n, IMAGE_TOKENS, WIDTH) and packed turns."""
        words = self.model.get_input_embeddings()(packed.tokens)
        image = packed.tokens == self.model.config.image_token_id
        hidden = self.model.model.language_model(
            inputs_embeds=words.masked_scatter(image[..., None], images),
            # Added to the scores: torch would otherwise make these numbers of True and False in every layer.
            attention_mask={"full_attention": torch.zeros(packed.mask.shape).masked_fill(~packed.mask, -torch.inf)},
            position_ids=self.positions(packed),
            use_cache=False,
        ).last_hidden_state
        logits: Tensor = self.model.lm_head(hidden.flatten(0, 1)[packed.at])
        return logits
