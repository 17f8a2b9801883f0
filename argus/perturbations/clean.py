"""No perturbation: the baseline that the perturbed scores are compared with."""

from __future__ import annotations

from argus.perturbations.base import Perturbation


class Clean(Perturbation):
    """Returns images and texts as they are. Its only severity is 0."""

    def severities(self) -> tuple[int, ...]:
        return (0,)
