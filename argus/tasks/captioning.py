"""Captioning: a model writes a caption, or picks the one of a bank that it finds most similar."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from argus.errors import ArgusError, ConfigError, DataError
from argus.metrics.score import capped, caption_scores
from argus.models.base import Embedder, Generator, Model
from argus.records import CaptionPrediction, Entry, Prediction, Sample
from argus.tasks.base import Step, Task, Work
from argus.tasks.checks import OVERFLOW_ADVICE, require_ability, require_finite
from argus.tasks.embedding import Embedding

if TYPE_CHECKING:
    from collections.abc import Iterable

GENERATED, BANK = "generated", "bank"


def source(model: Model | type[Model]) -> str:
    """Return where the model's captions come from: "generated", or "bank" for an embedder that cannot write."""
    kind = model if isinstance(model, type) else type(model)
    return GENERATED if issubclass(kind, Generator) else BANK


class Captioning(Task):
    """Compares one caption for each image with its references, which are never perturbed.

    A Generator writes; an Embedder picks from the captions of all other images. `ceiling` is the CIDEr-D (1.5 is what
    papers print as 150) that scores 1.
    """

    name = "captioning"
    abilities = (Generator, Embedder)

    def __init__(self, ceiling: float) -> None:
        if not ceiling > 0:
            raise ConfigError(f"ceiling is {ceiling}: give the CIDEr-D that scores 1, for example 1.5")
        self.ceiling = ceiling

    def prepare(self, model: Model, work: Work) -> Step:
        """Return the step that captions a batch; the bank of an embedder is embedded here, once."""
        require_ability(self, model)
        _require_references(work.clean)
        if isinstance(model, Generator):
            return _write(model, work)
        assert isinstance(model, Embedder)  # by require_ability
        return _pick(model, work.clean, work.embedding)

    def collect(self, outputs: Sequence[tuple[str, str]], work: Work) -> tuple[Prediction, ...]:
        """Put each caption beside its clean references.

        Raises ArgusError where every single caption is empty, which is what an overflow in a decoder looks like.
        """
        if outputs and not any(text.strip() for _, text in outputs):
            raise ArgusError(f"all {len(outputs)} captions are empty. {OVERFLOW_ADVICE}")
        references = {entry.id: tuple(caption.text for caption in entry.captions) for entry in work.clean}
        return tuple(CaptionPrediction(image, image, text, references[image]) for image, text in outputs)

    def measure(self, predictions: Sequence[Prediction]) -> Mapping[str, float]:
        """Return CIDEr-D (not x100), BLEU-1 to 4, ROUGE-L, the mean length in words and the share of distinct captions.

        Raises DataError for a single image: CIDEr-D weighs words by how few images have them.
        """
        captions = [p for p in predictions if isinstance(p, CaptionPrediction)]
        corpus = caption_scores(captions).corpus
        texts = [caption.text for caption in captions]
        return {
            "score": capped(corpus["cider_d"], self.ceiling),
            **corpus,
            "caption_words": float(np.mean([len(text.split()) for text in texts])),
            "distinct_captions": len({text.strip() for text in texts}) / len(texts),
        }

    def facts(self, model: Model, work: Work) -> Mapping[str, float]:
        """Return whether the captions were picked from a bank (1) or written (0): the two do not compare."""
        return {"captions_from_bank": float(source(model) == BANK)}


def _require_references(entries: Iterable[Entry]) -> None:
    bare = [entry.id for entry in entries if not entry.captions]
    if bare:
        raise DataError(f"{len(bare)} entries without a reference caption, first '{bare[0]}'; leave them out")


def _write(model: Generator, work: Work) -> Step:
    def prompt(sample_id: str) -> str:
        return work.perturb_prompt(model.caption_prompt, sample_id) if model.caption_prompt else ""

    def step(batch: Sequence[Sample]) -> list[tuple[str, str]]:
        texts = model.generate([sample.image for sample in batch], [prompt(sample.id) for sample in batch])
        return [(sample.id, text) for sample, text in zip(batch, texts, strict=True)]

    return step


def _pick(model: Embedder, entries: Sequence[Entry], embedding: Embedding) -> Step:
    own = {entry.id: {caption.text.strip() for caption in entry.captions} for entry in entries}
    bank = sorted({text for texts in own.values() for text in texts})  # sorted: ties fall to the alphabet, not to order
    vectors = embedding.distinct(model, bank)
    matrix = np.stack([vectors[text] for text in bank])
    allowed = {image: np.array([text not in texts for text in bank]) for image, texts in own.items()}
    empty = [image for image, mask in allowed.items() if not mask.any()]
    if empty:
        raise DataError(f"no caption of another image is left to pick for '{empty[0]}'; give more images")

    def step(batch: Sequence[Sample]) -> list[tuple[str, str]]:
        images = embedding.images(model, [sample.image for sample in batch])
        picked = []
        for sample, image in zip(batch, images, strict=True):
            scores = np.where(allowed[sample.id], require_finite(matrix @ image, sample.id), -np.inf)
            picked.append((sample.id, bank[int(scores.argmax())]))
        return picked

    return step
