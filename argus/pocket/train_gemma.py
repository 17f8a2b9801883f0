"""The pocket Gemma-3: first its eyes learn what lies where, then it learns to tell, to answer and to judge."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from argus.pocket.corpus import Corpus, corpus
from argus.pocket.gemma_model import (
    BEGIN,
    BEGIN_OF_TURN,
    END_OF_TURN,
    IMAGE,
    WIDTH,
    build_model,
    build_processor,
    train_tokenizer,
)
from argus.pocket.learning import Recipe, save
from argus.pocket.packing import Frame, Packed, Packer
from argus.pocket.reading import sample_texts
from argus.pocket.talking import PHRASES, Pupil, Sight, see, talk
from argus.seeding import rng_for

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from transformers import Gemma3ForConditionalGeneration, Gemma3Processor, GemmaTokenizer

SCENES = 4000  # training scenes of each style
SEEING = Recipe(scenes=SCENES, steps=700, batch=32, rate=1.5e-3)
TALKING = Recipe(scenes=SCENES, steps=2000, batch=16, rate=1.5e-3)


def train(output: Path, seed: int, seeing: Recipe = SEEING, talking: Recipe = TALKING) -> None:
    """Train the model from random weights and write it to a folder."""
    torch.manual_seed(seed)
    data = corpus(seed, talking.scenes)
    processor = build_processor(build_tokenizer(data, seed))
    model = build_model(processor.tokenizer)
    sight = Sight(WIDTH)
    packer = Packer(processor.tokenizer, frame(processor))
    pupil = Reader(model)
    model.train()
    see(pupil, sight, data, seeing, rng_for(seed, "gemma seeing"), "gemma sees")
    talk(pupil, sight, data, packer, talking, rng_for(seed, "gemma talking"), "gemma talks")
    save(model, processor, output)


def build_tokenizer(data: Corpus, seed: int) -> GemmaTokenizer:
    """Return a tokenizer whose pieces are the words of scenes, prompts and chat template."""
    texts = sample_texts(data, rng_for(seed, "gemma tokenizer"))
    words = [*PHRASES, "user\n", "model\n", "yes", "no"]
    return train_tokenizer([*texts, *words * (len(texts) // 10 + 1)], PHRASES)


def frame(processor: Gemma3Processor) -> Frame:
    """Return what the chat template writes around a user's text and the answer."""
    return Frame(
        opening=f"{BEGIN}{BEGIN_OF_TURN}user\n{processor.full_image_sequence}",
        bridge=f"{END_OF_TURN}\n{BEGIN_OF_TURN}model\n",
        end=END_OF_TURN,
        both_ways=IMAGE,
    )


class Reader(Pupil):
    """Looks at pictures of PIXELS x PIXELS."""

    def __init__(self, model: Gemma3ForConditionalGeneration) -> None:
        self.model = model
        self.eyes = [model.model.vision_tower, model.model.multi_modal_projector]
        self.turned = [model]

    def look(self, pictures: NDArray[np.uint8]) -> tuple[Tensor, Tensor]:
        """Return patches (n, GRID², WIDTH) and image tokens (n, IMAGE_TOKENS, WIDTH), row by row."""
        seen = self.model.model.get_image_features(pixel_values(pictures))
        return seen.last_hidden_state, seen.pooler_output

    def read(self, images: Tensor, packed: Packed) -> Tensor:
        """Return logits (answer tokens, vocabulary) from image tokens (n, IMAGE_TOKENS, WIDTH) and packed turns."""
        words = self.model.get_input_embeddings()(packed.tokens)
        image = packed.tokens == self.model.config.image_token_id
        hidden = self.model.model.language_model(
            inputs_embeds=words.masked_scatter(image[..., None], images),
            attention_mask={"full_attention": packed.mask, "sliding_attention": packed.mask},
            position_ids=packed.positions,
            use_cache=False,
        ).last_hidden_state
        logits: Tensor = self.model.lm_head(hidden.flatten(0, 1)[packed.at])
        return logits


def pixel_values(pictures: NDArray[np.uint8]) -> Tensor:
    """Return what the processor makes of (n, h, w, 3) pictures: within [-1, 1], shaped (n, 3, h, w)."""
    return torch.from_numpy(pictures).permute(0, 3, 1, 2).float() / 127.5 - 1
