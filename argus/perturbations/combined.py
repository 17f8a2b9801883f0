"""Several perturbations at once: a blurred picture asked about with typos."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from argus.errors import ConfigError
from argus.perturbations.base import Perturbation

if TYPE_CHECKING:
    from PIL.Image import Image


class Combined(Perturbation):
    """Applies its parts one after the other, each with the randomness that it has on its own.

    So blur and typo together are the very pictures of blur and the very texts of typo. It has the severities that all
    parts have.
    """

    def __init__(self, severity: int, parts: Sequence[Perturbation]) -> None:
        if len(parts) < 2:
            raise ConfigError(f"Combined has {len(parts)} parts: name two perturbations or more under transform.parts")
        self.parts = tuple(parts)
        super().__init__(severity)

    def severities(self) -> tuple[int, ...]:
        first, *others = (part.severities() for part in self.parts)
        return tuple(severity for severity in first if all(severity in each for each in others))

    def image(self, image: Image, seed: int, sample_id: str) -> Image:
        for part in self.parts:
            image = part.image(image, seed, sample_id)
        return image

    def text(self, text: str, seed: int, text_id: str) -> str:
        for part in self.parts:
            text = part.text(text, seed, text_id)
        return text
