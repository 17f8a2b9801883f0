"""How a chat model is taught: its eyes learn what lies where, then it learns to tell, to answer and to judge."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy, one_hot

from argus.pocket.corpus import FACETS, GRID, Corpus
from argus.pocket.learning import NOTHING, PatchTask, Recipe, fit, matrices
from argus.pocket.packing import Packed, Packer
from argus.pocket.scenes import STYLES
from argus.pocket.turns import CAPTION_TEXT, CHOICE_TEXT, MATCH_TEXT, Kind, turns

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

SIGHT = 0.5  # weight of the seeing losses while it learns to talk
HELD = 10.0  # weight of a value that an image token holds: it holds few of them
WEIGHTS = {Kind.CAPTION: 0.04, Kind.CHOICE: 1.0, Kind.MATCH: 1.5}  # of an answer; a caption has some 25 tokens
SIDE = 4  # image tokens a side of a picture: the same in both models
PHRASES = (CAPTION_TEXT, *MATCH_TEXT.split("{}"), *CHOICE_TEXT.split("{}")[1:])
"""What stands in every prompt."""


class Pupil(ABC):
    """A chat model that looks at pictures and reads packed turns about them.

    `eyes` are its parts that learn to see. The inner matrices of the parts in `turned` are moved by Muon.
    """

    model: Any  # a torch module, with the parts of its own kind
    eyes: Sequence[nn.Module]
    turned: Sequence[nn.Module]

    @abstractmethod
    def look(self, pictures: NDArray[np.uint8]) -> tuple[Tensor, Tensor]:
        """Return patches (n, GRID², width) and image tokens (n, SIDE², width), row by row from the top."""

    @abstractmethod
    def read(self, images: Tensor, packed: Packed) -> Tensor:
        """Return logits (answer tokens, vocabulary) from image tokens (n, SIDE², width) and n rows of turns."""


class Sight(nn.Module):
    """Reads from each patch what lies over it and from each image token what it holds; thrown away afterwards."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.patches = PatchTask(width, NOTHING)
        self.tokens = nn.Linear(width, sum(FACETS))

    def forward(self, patches: Tensor, tokens: Tensor, labels: NDArray[np.uint8]) -> Tensor:
        """Return the loss for patches (n, GRID², width), image tokens (n, SIDE², width) and patch labels."""
        few = binary_cross_entropy_with_logits(self.tokens(tokens), held(labels), pos_weight=torch.tensor(HELD))
        return self.patches(patches, labels) + few


def held(labels: NDArray[np.uint8]) -> Tensor:
    """Return (n, SIDE², sum(FACETS)): 1 where one of the token's patches has the value."""
    step = GRID // SIDE
    facets = []
    for facet, values in enumerate(FACETS):
        shown = one_hot(torch.from_numpy(labels[:, facet]).long(), values + 1)[..., 1:]
        cells = shown.view(-1, SIDE, step, SIDE, step, values).amax(dim=(2, 4))
        facets.append(cells.flatten(1, 2))
    return torch.cat(facets, dim=-1).float()


def see(pupil: Pupil, sight: Sight, data: Corpus, recipe: Recipe, rng: Generator, name: str) -> None:
    """Train the eyes to show what lies where."""

    def loss_at(step: int) -> Tensor:
        part = data[STYLES[step % len(STYLES)]]
        rows = rng.integers(len(part.scenes), size=recipe.batch)
        loss: Tensor = sight(*pupil.look(part.pictures[rows]), part.patches[rows])
        return loss

    learn([*pupil.eyes, sight], pupil.turned, loss_at, recipe, name)


def talk(pupil: Pupil, sight: Sight, data: Corpus, packer: Packer, recipe: Recipe, rng: Generator, name: str) -> None:
    """Train the whole model to answer and to go on seeing; every step sees all styles."""

    def loss_at(step: int) -> Tensor:
        parts = [data[STYLES[(step + i) % len(STYLES)]] for i in range(recipe.batch)]
        rows = [int(rng.integers(len(part.scenes))) for part in parts]
        packed = packer.pack([turns(part, row, rng) for part, row in zip(parts, rows, strict=True)])
        pictures = np.stack([part.pictures[row] for part, row in zip(parts, rows, strict=True)])
        labels = np.stack([part.patches[row] for part, row in zip(parts, rows, strict=True)])
        patches, tokens = pupil.look(pictures)
        seeing: Tensor = sight(patches, tokens, labels)
        return answer_loss(pupil.read(tokens, packed), packed) + SIGHT * seeing

    learn([pupil.model, sight], pupil.turned, loss_at, recipe, name)


def learn(
    modules: Sequence[nn.Module],
    turned: Sequence[nn.Module],
    loss_at: Callable[[int], Tensor],
    recipe: Recipe,
    name: str,
) -> None:
    """Fit all weights: Muon turns the maps between hidden states of the parts `turned`, AdamW the rest."""
    weights = [weight for module in modules for weight in module.parameters()]
    learning = {id(weight) for weight in weights}
    inner = [weight for part in turned for weight in matrices(part).values() if id(weight) in learning]
    moved = {id(weight) for weight in inner}
    fit([weight for weight in weights if id(weight) not in moved], loss_at, recipe, name, inner)


def answer_loss(logits: Tensor, packed: Packed) -> Tensor:
    """Return the weighted sum over the kinds of the mean loss of an answer, the sum over its tokens."""
    losses = cross_entropy(logits, packed.targets, reduction="none") * packed.weights
    sums = [weight * losses[packed.kinds == kind].sum() / packed.turns(kind) for kind, weight in WEIGHTS.items()]
    return torch.stack(sums).sum()
