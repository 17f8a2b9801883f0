"""Qwen2.5-VL's image tower over many pictures of one window each, all of them at once.

The library's own forward pass goes through the pictures one by one in each layer, and folds patches by a convolution:
both are slow on a CPU. This one gives the same states (a test compares them).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn.functional import linear, scaled_dot_product_attention
from transformers.models.qwen2_5_vl.modeling_qwen2_5_vl import apply_rotary_pos_emb_vision
from transformers.vision_utils import get_vision_position_ids

from argus.pocket.corpus import GRID
from argus.pocket.learning import pixel_values
from argus.pocket.qwen_model import IMAGE_TOKENS, MERGE, PATCH, TEMPORAL, WIDTH

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from transformers.models.qwen2_5_vl.modeling_qwen2_5_vl import (
        Qwen2_5_VisionTransformerPretrainedModel,
        Qwen2_5_VLVisionAttention,
    )

SIDE = GRID // MERGE


def patched(pictures: NDArray[np.uint8]) -> Tensor:
    """Return what the processor makes of (n, PIXELS, PIXELS, 3) pictures: (n, GRID², values of a patch).

    The patches of one image token follow each other.
    """
    cells = pixel_values(pictures).view(-1, 3, SIDE, MERGE, PATCH, SIDE, MERGE, PATCH).permute(0, 2, 5, 3, 6, 1, 4, 7)
    twice = cells.unsqueeze(6).expand(*cells.shape[:6], TEMPORAL, PATCH, PATCH)
    return twice.reshape(len(pictures), GRID * GRID, -1)


def look(tower: Qwen2_5_VisionTransformerPretrainedModel, pictures: NDArray[np.uint8]) -> tuple[Tensor, Tensor]:
    """Return patches (n, GRID², WIDTH) and image tokens (n, IMAGE_TOKENS, WIDTH), row by row from the top."""
    states = linear(patched(pictures), tower.patch_embed.proj.weight.flatten(1))
    places = get_vision_position_ids(torch.tensor([[1, GRID, GRID]]), MERGE)
    turns = tower.rotary_pos_emb(states, places)
    for block in tower.blocks:
        states = states + _attend(block.attn, block.norm1(states), turns)
        states = states + block.mlp(block.norm2(states))
    tokens = tower.merger(states).view(-1, IMAGE_TOKENS, WIDTH)
    rows = states.view(-1, SIDE, SIDE, MERGE, MERGE, WIDTH).transpose(2, 3)
    return rows.reshape(-1, GRID * GRID, WIDTH), tokens


def _attend(attention: Qwen2_5_VLVisionAttention, states: Tensor, turns: tuple[Tensor, Tensor]) -> Tensor:
    """Return what each patch of a picture takes from the others: (n, GRID², WIDTH), as it came."""
    heads = attention.qkv(states).unflatten(-1, (3, attention.num_heads, attention.head_dim))
    queries, keys, values = heads.unbind(2)
    queries, keys = apply_rotary_pos_emb_vision(queries, keys, *turns)
    queries, keys, values = (part.transpose(1, 2) for part in (queries, keys, values))
    taken: Tensor = scaled_dot_product_attention(queries, keys, values)
    return attention.proj(taken.transpose(1, 2).flatten(2))
