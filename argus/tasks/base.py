"""What a task is: it turns a model and samples into predictions, and predictions into metrics."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from argus.records import Entry, Prediction, Sample
from argus.tasks.embedding import Embedding

if TYPE_CHECKING:
    from argus.models.base import Model

Step = Callable[[Sequence[Sample]], list[Any]]
"""Takes a batch of samples and returns one output for each, in order."""


class Loop(Protocol):
    def __call__(self, step: Step) -> list[Any]:
        """Run `step` over every readable sample, perturbed, in order; return its outputs joined.

        May be called several times; unreadable samples are left out each time.
        """


@dataclass(frozen=True)
class Work:
    """What a task is given: texts as the model will see them, pictures by way of the loop."""

    clean: tuple[Entry, ...]  # texts as in the dataset: references, caption bank
    entries: tuple[Entry, ...]  # the same entries, texts perturbed: gallery captions, questions
    loop: Loop
    perturb_prompt: Callable[[str, str], str]  # (prompt, sample id) -> prompt as a user might have typed it
    embedding: Embedding = field(default_factory=Embedding)


class Task(ABC):
    """Subclasses set `abilities` and fill `prepare`, `collect` and `measure`."""

    name: str
    abilities: tuple[type[Model], ...]  # a model needs one of them

    def predict(self, model: Model, work: Work) -> tuple[Prediction, ...]:
        """Return the predictions for every readable sample."""
        outputs = work.loop(self.prepare(model, work))
        return self.collect(outputs, work)

    @abstractmethod
    def prepare(self, model: Model, work: Work) -> Step:
        """Do once what serves all samples (embed the gallery's texts, …) and return the step for a batch.

        The step is also what the efficiency probe times, so it must work for any batch of the entries' samples.
        """

    @abstractmethod
    def collect(self, outputs: Sequence[Any], work: Work) -> tuple[Prediction, ...]:
        """Turn the outputs of the steps into predictions."""

    @abstractmethod
    def measure(self, predictions: Sequence[Prediction]) -> Mapping[str, float]:
        """Return the metrics by name; `score`, in [0, 1], is the main one."""

    def facts(self, model: Model, work: Work) -> Mapping[str, float]:
        """Return numbers about the protocol that predictions do not tell (sizes of galleries, texts cut off, …)."""
        return {}
