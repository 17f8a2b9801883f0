"""Promises of embedding: nothing changes for being remembered."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest
import torch
from PIL import Image
from torch import Tensor
from torch.nn import Module

from argus.cache import Cache
from argus.errors import ArgusError
from argus.models.base import Embedder
from argus.tasks.embedding import TEXTS_AT_ONCE, Embedding, array_bytes

RED, BLUE = (Image.new("RGB", (4, 3), colour) for colour in ("red", "blue"))
TEXTS = ["a red cube", "a ball", "a red cube", "left"]


class Counting(Embedder):
    """Embeds by plain arithmetic, and notes every batch that it is asked for."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, int]] = []

    def modules(self, task: str) -> tuple[Module, ...]:
        return ()

    @property
    def revision(self) -> str:
        return "none"

    def truncated(self, texts: Sequence[str]) -> int:
        return 0

    def embed_images(self, images: Sequence[Image.Image]) -> Tensor:
        self.asked.append(("images", len(images)))
        return torch.tensor([[float(np.asarray(image).sum()), image.width, image.height] for image in images])

    def embed_texts(self, texts: Sequence[str]) -> Tensor:
        self.asked.append(("texts", len(texts)))
        return torch.tensor([[float(sum(map(ord, text))), len(text), 1.0] for text in texts])


@pytest.fixture
def model() -> Counting:
    return Counting()


def caching(limit: int = 2**20, anew: bool = False) -> Embedding:
    return Embedding(Cache(limit, array_bytes), anew)


def everything(embedding: Embedding, model: Embedder) -> tuple[list[list[float]], Mapping[str, list[float]]]:
    texts = embedding.distinct(model, TEXTS)
    return embedding.images(model, [RED, BLUE]).tolist(), {text: row.tolist() for text, row in texts.items()}


@pytest.mark.parametrize("make", [Embedding, caching, lambda: caching(limit=30), lambda: caching(anew=True)])
def test_results_are_the_models_own_however_often_they_are_asked_for(
    model: Counting, make: Callable[[], Embedding]
) -> None:
    embedding = make()
    expected = (
        model.embed_images([RED, BLUE]).tolist(),
        {text: row.tolist() for text, row in zip(TEXTS, model.embed_texts(TEXTS), strict=True)},
    )
    assert [everything(embedding, model) for _ in range(3)] == [expected] * 3


def test_a_batch_is_computed_once(model: Counting) -> None:
    embedding = caching()
    for _ in range(3):
        everything(embedding, model)
    assert model.asked == [("texts", 3), ("images", 2)]


def test_what_is_measured_is_computed_each_time_and_serves_the_next_cell(model: Counting) -> None:
    cache = Cache(2**20, array_bytes)
    for _ in range(2):
        everything(Embedding(cache, anew=True), model)
    assert len(model.asked) == 4
    everything(Embedding(cache), model)
    assert len(model.asked) == 4


def test_pictures_of_the_same_bytes_in_another_shape_or_order_are_others(model: Counting) -> None:
    embedding = caching()
    turned = Image.frombytes("RGB", (3, 4), RED.tobytes())
    for batch in ([RED], [turned], [RED, BLUE], [BLUE, RED]):
        assert embedding.images(model, batch).tolist() == model.embed_images(batch).tolist()


def test_texts_that_join_to_the_same_string_are_others(model: Counting) -> None:
    embedding = caching()
    for texts in (["ab", "c"], ["a", "bc"], ["abc"]):
        assert set(embedding.distinct(model, texts)) == set(texts)


def test_texts_go_in_bounded_batches_once_each(model: Counting) -> None:
    texts = [str(number) for number in range(TEXTS_AT_ONCE + 5)]
    assert len(caching().distinct(model, texts + texts)) == len(texts)
    assert model.asked == [("texts", TEXTS_AT_ONCE), ("texts", 5)]


def test_text_that_is_no_valid_unicode_is_embedded_too(model: Counting) -> None:
    assert "\ud83d" in caching().distinct(model, ["\ud83d"])


def test_a_text_without_a_finite_embedding_is_named(model: Counting, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model, "embed_texts", lambda texts: torch.full((len(texts), 3), torch.nan))
    with pytest.raises(ArgusError, match="a ball"):
        caching().distinct(model, ["a ball"])
