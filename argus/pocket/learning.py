"""What the recipes share: the optimiser's loop, the patch task, and saving in half precision."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import cos, pi
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from argus.pocket.corpus import FACETS, Corpus
from argus.pocket.scenes import STYLES

if TYPE_CHECKING:
    from numpy.random import Generator
    from transformers import PreTrainedModel, ProcessorMixin

log = logging.getLogger(__name__)
WARM_UP = 80
"""Steps over which the learning rate rises."""
DECAY = 0.02
NOTHING = 0.1
"""Weight of empty patches in the patch task."""
MUON = 5.0  # Muon's highest learning rate, as a multiple of AdamW's; its updates are scaled to be as large
STACKS = ("layers", "layer", "blocks")
"""What the architectures call the list of their layers."""
MEAN = torch.tensor([0.48145466, 0.4578275, 0.40821073]).view(3, 1, 1)
SPREAD = torch.tensor([0.26862954, 0.26130258, 0.27577711]).view(3, 1, 1)
"""Mean and standard deviation of the colour channels that CLIP's, BLIP's and Qwen's processors normalise with."""


@dataclass(frozen=True)
class Recipe:
    """How long and on how much a model is trained. `scenes` is the number of training scenes of each style."""

    scenes: int
    steps: int
    batch: int  # pictures a step
    rate: float  # highest learning rate


def fit(
    weights: Iterable[nn.Parameter],
    loss_at: Callable[[int], Tensor],
    recipe: Recipe,
    name: str,
    turned: Iterable[nn.Parameter] = (),
) -> None:
    """Minimise `loss_at(step)`: a linear warm-up, then a cosine down to nothing.

    The matrices `turned` are moved by Muon, which needed fewer steps in short trials, the rest by AdamW.
    """
    kept, inner = list(weights), list(turned)
    optimizers: list[torch.optim.Optimizer] = [
        torch.optim.AdamW(kept, lr=recipe.rate, betas=(0.9, 0.98), weight_decay=DECAY)
    ]
    rates = [recipe.rate]
    if inner:
        optimizers.append(torch.optim.Muon(inner, weight_decay=DECAY, adjust_lr_fn="match_rms_adamw"))
        rates.append(MUON * recipe.rate)
    running = 0.0
    for step in range(recipe.steps):
        loss = loss_at(step)
        for optimizer, rate in zip(optimizers, rates, strict=True):
            optimizer.zero_grad(set_to_none=True)
            for group in optimizer.param_groups:
                group["lr"] = rate * _share(step, recipe.steps)
        loss.backward()
        nn.utils.clip_grad_norm_([*kept, *inner], 1.0)
        for optimizer in optimizers:
            optimizer.step()
        running = loss.item() if step == 0 else 0.95 * running + 0.05 * loss.item()
        if step % 50 == 49 or step + 1 == recipe.steps:
            log.info("%s: step %d of %d, loss %.3f", name, step + 1, recipe.steps, running)


def matrices(model: nn.Module) -> dict[str, nn.Parameter]:
    """Return the maps between a model's hidden states, by name: what Muon is made for, tables and heads left out."""
    return {
        name: weight
        for name, weight in model.named_parameters()
        if weight.ndim == 2 and any(f".{stack}." in f".{name}" for stack in STACKS)
    }


def _share(step: int, steps: int) -> float:
    """Return the share of the highest learning rate that a step has."""
    return min(1.0, (step + 1) / WARM_UP) * 0.5 * (1 + cos(pi * step / steps))


def pixel_values(pictures: NDArray[np.uint8]) -> Tensor:
    """Return what the processors make of (n, h, w, 3) pictures: normalised, shaped (n, 3, h, w)."""
    return (torch.from_numpy(pictures).permute(0, 3, 1, 2).float() / 255 - MEAN) / SPREAD


class PatchTask(nn.Module):
    """Reads from each patch what lies over it. It teaches the image tower to see, and is thrown away."""

    def __init__(self, width: int, nothing: float = 1.0) -> None:
        """`nothing` is the weight of patches that nothing lies over: most of them, and soon learnt."""
        super().__init__()
        self.nothing = nothing
        self.heads = nn.ModuleList([nn.Linear(width, values + 1) for values in FACETS])

    def forward(self, patches: Tensor, labels: NDArray[np.uint8]) -> Tensor:
        """Return the mean loss for patches (n, grid, width) and labels (n, len(FACETS), grid)."""
        targets = torch.from_numpy(labels).long()
        losses = []
        for facet, head in enumerate(self.heads):
            read = head(patches).flatten(0, 1)
            weights = torch.ones(read.shape[-1])
            weights[0] = self.nothing
            losses.append(cross_entropy(read, targets[:, facet].flatten(), weight=weights))
        return torch.stack(losses).mean()


def see(tower: nn.Module, patches: PatchTask, data: Corpus, recipe: Recipe, rng: Generator, name: str) -> None:
    """Teach an image tower, whose first state is of the whole picture, what lies over each patch.

    Before it can tell shapes apart, nothing that is learnt about texts can hold.
    """

    def loss_at(step: int) -> Tensor:
        part = data[STYLES[step % len(STYLES)]]
        rows = rng.integers(len(part.scenes), size=recipe.batch)
        seen = tower(pixel_values=pixel_values(part.pictures[rows])).last_hidden_state
        return patches(seen[:, 1:], part.patches[rows])

    inner = matrices(tower)
    outer = [weight for name, weight in tower.named_parameters() if name not in inner]
    fit([*outer, *patches.parameters()], loss_at, recipe, name, inner.values())


def save(model: PreTrainedModel, processor: ProcessorMixin, folder: Path) -> None:
    """Write weights in half precision and the processor, in the `save_pretrained` layout."""
    folder.mkdir(parents=True, exist_ok=True)
    model.half().save_pretrained(folder)
    processor.save_pretrained(folder)
    model.float()
