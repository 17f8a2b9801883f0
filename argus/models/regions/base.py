"""What a region extractor is: it turns pictures into features of the things in them, with their boxes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image
    from torch import Tensor
    from torch.nn import Module


@dataclass(frozen=True)
class Regions:
    """The regions of n pictures, as many in each: features (n, regions, d) and boxes (n, regions, 4), float32.

    A box is left, top, right and bottom, each a share of the picture's width or height.
    """

    features: Tensor
    boxes: Tensor


class RegionExtractor(ABC):
    """Weights are loaded when they are first needed, so that naming an extractor costs nothing."""

    @abstractmethod
    def extract(self, images: Sequence[Image], device: str) -> Regions:
        """Return the regions of upright RGB pictures of any size, on the device; a picture's do not depend on others.

        Raises DataError when the weights are missing.
        """

    @abstractmethod
    def modules(self) -> tuple[Module, ...]:
        """Return the torch modules that `extract` runs, for counting weights."""

    @property
    @abstractmethod
    def revision(self) -> str:
        """Return which weights these are: the hub commit, or a digest of the local files."""
