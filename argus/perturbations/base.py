"""What a perturbation is: a seeded change of one modality, at a severity from 1 (light) to 5 (heavy)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from argus.errors import ConfigError
from argus.seeding import rng_for

if TYPE_CHECKING:
    from numpy.random import Generator
    from PIL.Image import Image


class SeverityError(ConfigError):
    """A severity that a perturbation does not have."""


class Perturbation:
    """Changes images or texts; the same (seed, id) gives the same result in any order, process or thread.

    Subclasses derive from ImagePerturbation or TextPerturbation and fill one hole, `perturb`. The severity is no part
    of the seed: two severities draw the same numbers and differ only in what they make of them.
    """

    def __init__(self, severity: int) -> None:
        # `True in (1, 2)` and `2.0 in (1, 2)` hold, but neither is a severity.
        if type(severity) is not int or severity not in self.severities():
            raise SeverityError(f"severity {severity!r} of {type(self).__name__}: choose one of {self.severities()}")
        self.severity = severity

    def severities(self) -> tuple[int, ...]:
        """Return the severities that this perturbation has."""
        return (1, 2, 3, 4, 5)

    def image(self, image: Image, seed: int, sample_id: str) -> Image:
        """Return the image, perturbed where this perturbation is about images; same size, RGB."""
        return image

    def text(self, text: str, seed: int, text_id: str) -> str:
        """Return the text, perturbed where this perturbation is about texts."""
        return text


class ImagePerturbation(Perturbation, ABC):
    """Perturbs pictures at their own size, before any model's preprocessing."""

    def image(self, image: Image, seed: int, sample_id: str) -> Image:
        return self.perturb(image, rng_for(seed, sample_id, type(self).__name__))

    @abstractmethod
    def perturb(self, image: Image, rng: Generator) -> Image:
        """Return a new RGB image of the same size."""


class TextPerturbation(Perturbation, ABC):
    """Perturbs what a user would type or index: captions of a gallery, questions, prompts. Never answers or choices."""

    def text(self, text: str, seed: int, text_id: str) -> str:
        return self.perturb(text, rng_for(seed, text_id, type(self).__name__))

    @abstractmethod
    def perturb(self, text: str, rng: Generator) -> str:
        """Return the changed text."""
