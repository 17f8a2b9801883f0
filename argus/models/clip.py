"""CLIP and its relatives: an image tower and a text tower that meet in one space."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from PIL.Image import Image
from torch import Tensor
from torch.nn import Module
from torch.nn.functional import normalize
from transformers import AutoModel

from argus.errors import DataError
from argus.models.base import Embedder, Runtime
from argus.models.loading import finite, load_model, load_processor, resolve
from argus.models.pictures import bounded


class Clip(Embedder):
    """Any checkpoint with `get_image_features` and `get_text_features`: CLIP, SigLIP, …

    `text_padding` is how the texts of a batch are filled up: "longest" for models that ignore padding (CLIP reads
    the position of its end token), "max_length" for those trained on full-length texts (SigLIP).
    """

    def __init__(self, checkpoint: str, revision: str | None, text_padding: str, runtime: Runtime) -> None:
        self.source = resolve(checkpoint, revision)
        self.runtime = runtime
        self.text_padding = text_padding
        self.model = load_model(AutoModel, self.source, runtime, runtime.attention)
        if "get_text_features" not in dir(self.model):
            raise DataError(
                f"'{checkpoint}' holds a {type(self.model).__name__}, which embeds no texts; "
                "give model=clip a checkpoint with an image tower and a text tower (CLIP, SigLIP)"
            )
        self.processor = load_processor(self.source)
        self.positions: int = self.model.config.text_config.max_position_embeddings

    def modules(self, task: str) -> tuple[Module, ...]:
        return (self.model,)

    @property
    def revision(self) -> str:
        return self.source.revision

    @torch.inference_mode()
    def embed_images(self, images: Sequence[Image]) -> Tensor:
        """Return (len(images), d) unit-length rows."""
        inputs = self.processor(images=bounded(images), return_tensors="pt").to(self.runtime.device)
        return self._unit(self.model.get_image_features(**inputs).pooler_output)

    @torch.inference_mode()
    def embed_texts(self, texts: Sequence[str]) -> Tensor:
        """Return (len(texts), d) unit-length rows; a text is cut at the model's last position."""
        # Filled up on the left, a text would stand at other positions in longer company.
        side = {"padding_side": "right"} if self.text_padding == "longest" else {}
        inputs = self.processor(
            text=list(texts),
            padding=self.text_padding,
            truncation=True,
            max_length=self.positions,
            return_tensors="pt",
            **side,
        ).to(self.runtime.device)
        return self._unit(self.model.get_text_features(**inputs).pooler_output)

    def truncated(self, texts: Sequence[str]) -> int:
        """Return how many of the texts have more tokens than the model has positions."""
        lengths = [len(ids) for ids in self.processor.tokenizer(list(texts), verbose=False)["input_ids"]]
        return sum(length > self.positions for length in lengths)

    def _unit(self, features: Tensor) -> Tensor:
        return finite(normalize(features.float(), dim=-1), type(self).__name__, self.runtime)
