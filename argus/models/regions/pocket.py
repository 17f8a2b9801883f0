"""The pocket detector: five convolutions that find the things of the pocket scenes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn.functional import max_pool2d, relu

from argus.errors import DataError
from argus.models.loading import resolve
from argus.models.regions.base import RegionExtractor, Regions

WEIGHTS, SETTINGS = "model.safetensors", "config.json"


@dataclass(frozen=True)
class DetectorConfig:
    """Shape of the network. Three of its convolutions halve the picture: the map is `side` / 8 cells wide."""

    side: int  # of the square picture that it sees, in pixels
    widths: tuple[int, int, int, int, int]  # channels of the convolutions; the last is the length of a feature
    regions: int  # cells that are reported
    facets: tuple[int, ...]  # for each facet of a thing (its shape, …) how many values it has

    @property
    def grid(self) -> int:
        return self.side // 8


@dataclass(frozen=True)
class Cells:
    """What the network reads off each cell of its map; n pictures of grid x grid cells."""

    features: Tensor  # (n, cells, d)
    objectness: Tensor  # (n, cells) logit that a thing's middle lies here
    boxes: Tensor  # (n, cells, 4) left, top, right, bottom as shares of the picture
    facets: tuple[Tensor, ...]  # for each facet (n, cells, 1 + values); only training reads them


class Detector(nn.Module):
    """A map of grid x grid cells, each with a feature, an objectness, a box and facets of the thing over it."""

    def __init__(self, config: DetectorConfig) -> None:
        super().__init__()
        self.config = config
        sizes = (3, *config.widths)
        self.convolutions = nn.ModuleList(
            nn.Conv2d(sizes[i], sizes[i + 1], 3, stride=2 if i < 3 else 1, padding=1, bias=False) for i in range(5)
        )
        self.norms = nn.ModuleList(nn.BatchNorm2d(width) for width in config.widths)
        self.objectness = nn.Linear(config.widths[-1], 1)
        self.box = nn.Linear(config.widths[-1], 4)
        self.facets = nn.ModuleList(nn.Linear(config.widths[-1], values + 1) for values in config.facets)
        rows, columns = torch.meshgrid(torch.arange(config.grid), torch.arange(config.grid), indexing="ij")
        middles = (torch.stack([columns, rows], dim=-1).flatten(0, 1) + 0.5) / config.grid
        self.register_buffer("middles", middles, persistent=False)

    def forward(self, pixels: Tensor) -> Cells:
        """Read pictures (n, 3, side, side) with values in [0, 1]."""
        seen = 2 * pixels - 1
        for convolution, norm in zip(self.convolutions, self.norms, strict=True):
            seen = relu(norm(convolution(seen)))
        features = seen.flatten(2).transpose(1, 2)
        told = self.box(features)
        middle = self.middles + told[..., :2].tanh() / 4  # at most a quarter of the picture away
        half = told[..., 2:].sigmoid() / 2
        return Cells(
            features=features,
            objectness=self.objectness(features).squeeze(-1),
            boxes=torch.cat([middle - half, middle + half], dim=-1).clamp(0, 1),
            facets=tuple(head(features) for head in self.facets),
        )


def likeliest(cells: Cells, config: DetectorConfig) -> Regions:
    """Return the cells of highest objectness: first those that none of their eight neighbours exceeds."""
    grid = config.grid
    found = cells.objectness.float().sigmoid().view(-1, 1, grid, grid)
    peak = found >= max_pool2d(found, 3, stride=1, padding=1)
    order = (found + peak).flatten(1).topk(config.regions, dim=1).indices
    features = cells.features.gather(1, order[..., None].expand(-1, -1, cells.features.shape[-1]))
    return Regions(features.float(), cells.boxes.gather(1, order[..., None].expand(-1, -1, 4)).float())


def as_pixels(pictures: np.ndarray) -> Tensor:
    """Return what the detector reads of (n, side, side, 3) pictures of whole numbers up to 255."""
    return torch.from_numpy(pictures).permute(0, 3, 1, 2).float() / 255


def save_detector(detector: Detector, folder: Path) -> None:
    """Write a detector's weights, in half precision, and its shape."""
    folder.mkdir(parents=True, exist_ok=True)
    halves = {k: v.half().contiguous() if v.is_floating_point() else v for k, v in detector.state_dict().items()}
    save_file(halves, folder / WEIGHTS)
    (folder / SETTINGS).write_text(json.dumps({"model_type": "argus_detector", **asdict(detector.config)}, indent=2))


def load_detector(folder: Path) -> Detector:
    """Read a detector that `save_detector` wrote; DataError when it is none."""
    told = json.loads((folder / SETTINGS).read_text())
    if told.pop("model_type", None) != "argus_detector" or not (folder / WEIGHTS).is_file():
        raise DataError(
            f"'{folder}' holds no pocket detector: {SETTINGS} with model_type argus_detector, and {WEIGHTS}; "
            "give the folder `regions` of a pocket LXMERT"
        )
    widths, facets = tuple(told["widths"]), tuple(told["facets"])
    detector = Detector(DetectorConfig(told["side"], widths, told["regions"], facets))
    detector.load_state_dict(
        {k: v.float() if v.is_floating_point() else v for k, v in load_file(folder / WEIGHTS).items()}
    )
    return detector.eval().requires_grad_(False)


class PocketRegions(RegionExtractor):
    """The regions that a pocket detector finds, in float32: it is small, and positions suffer from less."""

    def __init__(self, checkpoint: str, revision: str | None) -> None:
        self.checkpoint = checkpoint
        self.wanted = revision
        self._detector: Detector | None = None

    @torch.inference_mode()
    def extract(self, images: Sequence[Image.Image], device: str) -> Regions:
        detector = self._loaded().to(device)
        size = (detector.config.side, detector.config.side)
        resized = [image.convert("RGB").resize(size, Image.Resampling.BICUBIC) for image in images]
        return likeliest(
            detector(as_pixels(np.stack([np.asarray(picture) for picture in resized])).to(device)), detector.config
        )

    def modules(self) -> tuple[nn.Module, ...]:
        return (self._loaded(),)

    @property
    def revision(self) -> str:
        return resolve(self.checkpoint, self.wanted).revision

    def _loaded(self) -> Detector:
        if self._detector is None:
            self._detector = load_detector(Path(resolve(self.checkpoint, self.wanted).path))
        return self._detector
