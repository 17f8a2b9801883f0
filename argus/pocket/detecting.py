"""How the pocket detector learns: what each cell of its map shows, and the loss of reading it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy, smooth_l1_loss

from argus.models.regions.base import Regions
from argus.models.regions.pocket import Detector, DetectorConfig, as_pixels, likeliest
from argus.pocket.corpus import COLORS, FACETS, MATERIALS, PIXELS, SHAPES, Corpus
from argus.pocket.learning import Recipe, fit
from argus.pocket.scenes import SIDE, SIZES, STYLES, Scene, Thing

if TYPE_CHECKING:
    from numpy.random import Generator

CONFIG = DetectorConfig(side=PIXELS, widths=(24, 48, 96, 128, 128), regions=16, facets=FACETS)
MIDDLE = 8.0  # weight of the cells with a thing's middle, a few in a hundred, against the others
FACET_WEIGHTS = (1.5, 0.25, 0.25, 0.25)  # shapes are by far the hardest to tell
BOXES = 20.0  # weight of the boxes' loss, whose errors are small shares of a picture


@dataclass(frozen=True)
class Labels:
    """What the cells of n pictures show."""

    middles: NDArray[np.float32]  # (n, cells): 1 where a thing's middle lies
    facets: NDArray[np.uint8]  # (n, len(FACETS), cells): 1 + the value of the thing over the cell's middle, 0 for none
    boxes: NDArray[np.float32]  # (n, cells, 4): its box as shares of the picture


def labels(scenes: list[Scene]) -> Labels:
    """Return what the detector should read off the pictures of the scenes."""
    count, grid = len(scenes), CONFIG.grid
    middles = np.zeros((count, grid, grid), np.float32)
    facets = np.zeros((count, len(FACETS), grid, grid), np.uint8)
    boxes = np.zeros((count, grid, grid, 4), np.float32)
    centres = (np.arange(grid) + 0.5) * SIDE / grid
    for row, scene in enumerate(scenes):
        for thing in scene.things:
            across, down = np.abs(centres - thing.x), np.abs(centres - thing.y)
            over = (down[:, None] <= thing.radius) & (across[None, :] <= thing.radius)
            facets[row][:, over] = np.array(_values(thing))[:, None]
            boxes[row][over] = np.array(thing.box) / SIDE
            middles[row, int(thing.y * grid / SIDE), int(thing.x * grid / SIDE)] = 1
    return Labels(middles.reshape(count, -1), facets.reshape(count, len(FACETS), -1), boxes.reshape(count, -1, 4))


def _values(thing: Thing) -> tuple[int, int, int, int]:
    material = MATERIALS.index(thing.material) + 1 if thing.material else 0
    return SHAPES.index(thing.shape) + 1, COLORS.index(thing.color) + 1, SIZES.index(thing.size) + 1, material


def detection_loss(detector: Detector, pictures: NDArray[np.uint8], shown: Labels) -> Tensor:
    """Return the loss of finding middles everywhere, and boxes and facets where a thing is."""
    cells = detector(as_pixels(pictures))
    middles = torch.from_numpy(shown.middles)
    loss = binary_cross_entropy_with_logits(cells.objectness, middles, pos_weight=torch.tensor(MIDDLE))
    facets = torch.from_numpy(shown.facets).long()
    over = facets[:, 0] > 0
    boxes = torch.from_numpy(shown.boxes)[over]
    loss = loss + BOXES * smooth_l1_loss(cells.boxes[over], boxes, beta=0.02)
    read = [cross_entropy(told[over], facets[:, number][over]) for number, told in enumerate(cells.facets)]
    return loss + (torch.stack(read) * torch.tensor(FACET_WEIGHTS)).sum()


def train_detector(data: Corpus, recipe: Recipe, rng: Generator) -> Detector:
    """Train a detector from random weights, drawn from torch's global generator; a batch has a share of each style."""
    detector = Detector(CONFIG).train()
    share = recipe.batch // len(STYLES)

    def loss_at(step: int) -> Tensor:
        # All styles in each batch: the normalisation that is kept for later is that of the batches.
        drawn = [(data[style], rng.integers(len(data[style].scenes), size=share)) for style in STYLES]
        pictures = np.concatenate([part.pictures[rows] for part, rows in drawn])
        return detection_loss(detector, pictures, labels([part.scenes[row] for part, rows in drawn for row in rows]))

    fit(detector.parameters(), loss_at, recipe, "lxmert finds")
    return detector.eval().requires_grad_(False)


@torch.inference_mode()
def all_regions(detector: Detector, data: Corpus) -> dict[str, Regions]:
    """Return the regions of every training picture, by style: the detector is trained no further."""
    found = {}
    for style, part in data.items():
        chunks = [
            likeliest(detector(as_pixels(part.pictures[start : start + 100])), detector.config)
            for start in range(0, len(part.scenes), 100)
        ]
        found[style] = Regions(torch.cat([c.features for c in chunks]), torch.cat([c.boxes for c in chunks]))
    return found
