"""LXMERT's forward pass in three parts, so that a text and a picture are each encoded once for all their pairs.

Together the parts compute what `LxmertModel` computes for one pair after the other; `model` is that class.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


def read(model: Any, ids: Tensor, mask: Tensor) -> Tensor:
    """Encode texts without a picture: token ids and their mask, both (texts, length) -> (texts, length, d)."""
    words = model.embeddings(ids, torch.zeros_like(ids))
    for layer in model.encoder.layer:
        words = layer(words, _bias(mask, words))[0]
    return words


def look(model: Any, features: Tensor, boxes: Tensor) -> Tensor:
    """Encode regions without a text: features (pictures, regions, f), boxes (pictures, regions, 4) -> (…, …, d)."""
    seen = model.encoder.visn_fc(features, boxes)
    for layer in model.encoder.r_layers:
        seen = layer(seen, None)[0]
    return seen


def join(model: Any, words: Tensor, mask: Tensor, seen: Tensor) -> Tensor:
    """Bring n texts and n pictures together: (n, length, d), (n, length), (n, regions, d) -> pooled (n, d)."""
    bias = _bias(mask, words)
    *inner, last = model.encoder.x_layers
    for layer in inner:
        words, seen = layer(words, bias, seen, None)
    # The pooler reads the text's side only: the last layer's other side, nearly half of its work, is left out.
    words = last.visual_attention(words, seen)[0]
    words = last.lang_self_att(words, bias)[0]
    words = last.lang_output(last.lang_inter(words), words)
    return model.pooler(words)


def _bias(mask: Tensor, states: Tensor) -> Tensor:
    """Return what is added to attention scores, (n, 1, 1, length): the lowest number at the filler."""
    return (1.0 - mask[:, None, None, :].to(states.dtype)) * torch.finfo(states.dtype).min
