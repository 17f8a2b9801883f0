"""What a model can do, as four small abilities. An adapter is a Model with one or more of them.

Every method takes a batch and must give the same result whatever the batch is made of (to float rounding).
Images are upright RGB at their own size: resizing and normalising is the model's business. Scores come back as
float32 tensors on the CPU, higher is better, and are checked for finiteness by the caller.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from PIL.Image import Image
    from torch import Tensor
    from torch.nn import Module


@dataclass(frozen=True)
class Checkpoint:
    """Which weights to load: a folder in the `save_pretrained` layout, or a hub repository at a revision."""

    location: str
    revision: str | None = None


@dataclass(frozen=True)
class Runtime:
    """How a model runs; comes from the hardware profile. `dtype` is a torch dtype's name, `device` a torch device."""

    device: str
    dtype: str
    attention: str  # transformers' attn_implementation: "sdpa", "eager", …


@dataclass(frozen=True)
class Choice:
    """A question with the answers to choose among, none marked as right."""

    question: str
    choices: tuple[str, ...]


class Model(ABC):
    """A checkpoint behind an adapter."""

    lacking: ClassVar[str]  # of each ability: what is said of a model that lacks it

    @abstractmethod
    def modules(self, task: str) -> tuple[Module, ...]:
        """Return the torch modules that `task` ("retrieval", "captioning", "reasoning") runs, for counting weights."""

    def parts(self, task: str) -> Mapping[str, tuple[Module, ...]]:
        """Return the modules that a device needs for `task` by a name of their weights, one that two tasks share once.

        A model of several checkpoints overrides this: what has another name is deployed beside it.
        """
        return {"model": self.modules(task)}

    @property
    @abstractmethod
    def revision(self) -> str:
        """Return what was loaded: the hub commit(s), or a digest of the local weight files."""


class Embedder(Model):
    lacking: ClassVar[str] = "embeds no pictures"

    @abstractmethod
    def embed_images(self, images: Sequence[Image]) -> Tensor:
        """Return (len(images), d) unit-length rows."""

    @abstractmethod
    def embed_texts(self, texts: Sequence[str]) -> Tensor:
        """Return (len(texts), d) unit-length rows."""

    @abstractmethod
    def truncated(self, texts: Sequence[str]) -> int:
        """Return how many of the texts are longer than the model reads."""


class Matcher(Model):
    lacking: ClassVar[str] = "matches no text to a picture"

    @abstractmethod
    def match(self, images: Sequence[Image], texts: Sequence[Sequence[str]]) -> list[Tensor]:
        """Return for each image one score for each of its texts: shape (len(texts[i]),)."""


class Generator(Model):
    lacking: ClassVar[str] = "writes no text"
    caption_prompt: str  # what a user would type to get a caption; "" where the model takes no prompt

    @abstractmethod
    def generate(self, images: Sequence[Image], prompts: Sequence[str]) -> list[str]:
        """Return one caption for each image, greedily decoded, without the prompt."""


class Chooser(Model):
    lacking: ClassVar[str] = "chooses among no answers"

    @abstractmethod
    def choose(self, images: Sequence[Image], questions: Sequence[Sequence[Choice]]) -> list[list[Tensor]]:
        """Return for each image and each of its questions one score for each choice."""
