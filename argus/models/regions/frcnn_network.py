"""The Visual Genome Faster R-CNN (ResNet-101, C4) as a network: modules are named as in the published weights.

Written after the description of the network that comes with LXMERT in transformers' research projects, which follows
detectron2 and the Caffe model of "Bottom-Up and Top-Down Attention" (Anderson et al., 2018). Two things differ from
the usual C4: the last stage keeps its resolution and is dilated by 2, and the proposal head has a width of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt

import torch
from torch import Tensor, nn
from torch.nn.functional import max_pool2d, relu
from torchvision.ops import FrozenBatchNorm2d, clip_boxes_to_image, nms, remove_small_boxes, roi_pool

STRIDE = 16  # of the map that regions are cut from
DEPTHS = {50: (3, 4, 6), 101: (3, 4, 23), 152: (3, 8, 36)}
"""Blocks of the stages res2, res3 and res4; res5, which runs on regions, has three."""
LARGEST = log(1000 / 16)  # cut of the logarithmic sizes, so that none becomes infinite
Weights4 = tuple[float, float, float, float]


@dataclass(frozen=True)
class RcnnConfig:
    """The numbers of the published config.yaml that the network and its inference depend on."""

    pixel_mean: tuple[float, ...]  # blue, green, red
    pixel_std: tuple[float, ...]
    short_side: int  # a picture is scaled to this short side …
    long_side: int  # … unless its long side would then exceed this one
    caffe_max_pool: bool
    depth: int
    stem_width: int
    res2_width: int
    bottleneck_width: int
    stride_in_1x1: bool
    anchor_sizes: tuple[float, ...]
    anchor_ratios: tuple[float, ...]
    anchor_offset: float
    proposal_width: int  # channels of the proposal head; -1: as many as the map has
    proposal_min_side: float
    proposals_before_nms: int
    proposals: int
    proposal_nms: float
    proposal_coding: Weights4
    pooled_side: int
    halve_res5: bool
    classes: int
    attributes: int | None
    one_box_for_all_classes: bool
    box_coding: Weights4
    nms: tuple[float, ...]  # thresholds, tried in turn until enough boxes remain
    fewest: int
    most: int


class Conv(nn.Conv2d):
    """A convolution without bias and its frozen normalisation, `norm`."""

    def __init__(self, inner: int, outer: int, kernel: int, stride: int = 1, dilation: int = 1) -> None:
        padding = dilation * (kernel // 2)
        super().__init__(inner, outer, kernel, stride, padding, dilation, bias=False)
        self.norm = FrozenBatchNorm2d(outer)

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(super().forward(x))


class Block(nn.Module):
    """A bottleneck; `early` puts its stride into the first convolution, as in Caffe's ResNets."""

    def __init__(self, inner: int, middle: int, outer: int, stride: int, early: bool, dilation: int = 1) -> None:
        super().__init__()
        self.shortcut = Conv(inner, outer, 1, stride) if inner != outer else None
        self.conv1 = Conv(inner, middle, 1, stride if early else 1)
        self.conv2 = Conv(middle, middle, 3, 1 if early else stride, dilation)
        self.conv3 = Conv(middle, outer, 1)

    def forward(self, x: Tensor) -> Tensor:
        kept = x if self.shortcut is None else self.shortcut(x)
        return relu(self.conv3(relu(self.conv2(relu(self.conv1(x))))) + kept)


def _stage(config: RcnnConfig, number: int, blocks: int, stride: int, dilation: int = 1) -> nn.Sequential:
    """Return res2, res3, …: `number` is 2, 3, …."""
    outer, middle = config.res2_width * 2 ** (number - 2), config.bottleneck_width * 2 ** (number - 2)
    inner = config.stem_width if number == 2 else outer // 2
    early = config.stride_in_1x1
    first = Block(inner, middle, outer, stride, early, dilation)
    return nn.Sequential(first, *(Block(outer, middle, outer, 1, early, dilation) for _ in range(blocks - 1)))


class Stem(nn.Module):
    def __init__(self, width: int, caffe: bool) -> None:
        super().__init__()
        self.conv1 = Conv(3, width, 7, 2)
        self.caffe = caffe

    def forward(self, x: Tensor) -> Tensor:
        x = relu(self.conv1(x))
        return max_pool2d(x, 3, 2, padding=0, ceil_mode=True) if self.caffe else max_pool2d(x, 3, 2, padding=1)


class Backbone(nn.Module):
    """Picture (1, 3, h, w) -> map (1, 4 * res2_width, about h / 16, about w / 16)."""

    def __init__(self, config: RcnnConfig) -> None:
        super().__init__()
        two, three, four = DEPTHS[config.depth]
        self.stem = Stem(config.stem_width, config.caffe_max_pool)
        self.res2 = _stage(config, 2, two, 1)
        self.res3 = _stage(config, 3, three, 2)
        self.res4 = _stage(config, 4, four, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.res4(self.res3(self.res2(self.stem(x))))


class ProposalHead(nn.Module):
    def __init__(self, inner: int, width: int, anchors: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(inner, width, 3, padding=1)
        self.objectness_logits = nn.Conv2d(width, anchors, 1)
        self.anchor_deltas = nn.Conv2d(width, 4 * anchors, 1)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return objectness (cells * anchors,) and deltas (cells * anchors, 4) of one map (1, c, h, w)."""
        hidden = relu(self.conv(x))
        scores, deltas = self.objectness_logits(hidden)[0], self.anchor_deltas(hidden)[0]
        moved = deltas.unflatten(0, (-1, 4)).permute(2, 3, 0, 1)  # (anchors * 4, h, w) -> (h, w, anchors, 4)
        return scores.permute(1, 2, 0).flatten(), moved.reshape(-1, 4)


class Anchors(nn.Module):
    """The boxes around each cell; torchvision's generator rounds them, so it does not fit."""

    def __init__(self, config: RcnnConfig) -> None:
        super().__init__()
        boxes = []
        for size in config.anchor_sizes:
            for ratio in config.anchor_ratios:
                width = sqrt(size**2 / ratio)
                height = ratio * width
                boxes.append([-width / 2, -height / 2, width / 2, height / 2])
        self.cell_anchors = nn.ParameterList([nn.Parameter(torch.tensor(boxes), requires_grad=False)])
        self.offset = config.anchor_offset

    def forward(self, height: int, width: int) -> Tensor:
        """Return (height * width * anchors, 4) in pixels of the scaled picture."""
        around = self.cell_anchors[0]
        down = (torch.arange(height, device=around.device) + self.offset) * STRIDE
        across = (torch.arange(width, device=around.device) + self.offset) * STRIDE
        y, x = torch.meshgrid(down, across, indexing="ij")
        middles = torch.stack([x, y, x, y], dim=-1).reshape(-1, 1, 4)
        return (middles + around).reshape(-1, 4)


class Proposals(nn.Module):
    """Where something may be: map -> up to `proposals` boxes, best first."""

    def __init__(self, config: RcnnConfig) -> None:
        super().__init__()
        inner = 4 * config.res2_width
        width = inner if config.proposal_width == -1 else config.proposal_width
        self.anchor_generator = Anchors(config)
        self.rpn_head = ProposalHead(inner, width, len(config.anchor_sizes) * len(config.anchor_ratios))
        self.config = config

    def forward(self, seen: Tensor, size: tuple[int, int]) -> Tensor:
        scores, deltas = self.rpn_head(seen)
        boxes = decoded(deltas, self.anchor_generator(seen.shape[2], seen.shape[3]), self.config.proposal_coding)[:, 0]
        scores, order = scores.sort(descending=True, stable=True)
        kept = order[: self.config.proposals_before_nms]
        boxes, scores = clip_boxes_to_image(boxes[kept], size), scores[: len(kept)]
        large = remove_small_boxes(boxes, self.config.proposal_min_side)
        large = large[(boxes[large, 2:] > boxes[large, :2]).all(dim=1)]
        boxes, scores = boxes[large], scores[large]
        return boxes[nms(boxes, scores, self.config.proposal_nms)[: self.config.proposals]]


class Predictor(nn.Module):
    """Classes and boxes of regions. The attribute layers hold published weights; features do not depend on them."""

    def __init__(self, config: RcnnConfig) -> None:
        super().__init__()
        width = 8 * config.res2_width
        self.cls_score = nn.Linear(width, config.classes + 1)  # the last one is "nothing"
        self.bbox_pred = nn.Linear(width, 4 if config.one_box_for_all_classes else 4 * config.classes)
        if config.attributes is not None:
            self.cls_embedding = nn.Embedding(config.classes + 1, width // 8)
            self.fc_attr = nn.Linear(width + width // 8, width // 4)
            self.attr_score = nn.Linear(width // 4, config.attributes + 1)

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor]:
        return self.cls_score(features), self.bbox_pred(features)


class RegionHeads(nn.Module):
    """Map and boxes -> a feature of each box, and what lies in it."""

    def __init__(self, config: RcnnConfig) -> None:
        super().__init__()
        stride, dilation = (2, 1) if config.halve_res5 else (1, 2)
        self.res5 = _stage(config, 5, 3, stride, dilation)
        self.box_predictor = Predictor(config)
        self.side = config.pooled_side

    def forward(self, seen: Tensor, boxes: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return features (boxes, d), class logits (boxes, classes + 1) and deltas (boxes, 4 or 4 * classes)."""
        cut = roi_pool(seen, [boxes], self.side, spatial_scale=1 / STRIDE)
        features = self.res5(cut).mean(dim=(2, 3))
        return (features, *self.box_predictor(features))


class FasterRcnn(nn.Module):
    """One picture at a time, so that a region's feature does not depend on what stood beside it in a batch."""

    def __init__(self, config: RcnnConfig) -> None:
        super().__init__()
        self.config = config
        self.backbone = Backbone(config)
        self.proposal_generator = Proposals(config)
        self.roi_heads = RegionHeads(config)

    def forward(self, pixels: Tensor) -> tuple[Tensor, Tensor]:
        """Return features (k, d) and boxes (k, 4), in pixels, of a normalised picture (1, 3, h, w); k <= `most`."""
        size = (pixels.shape[2], pixels.shape[3])
        seen = self.backbone(pixels)
        proposed = self.proposal_generator(seen, size)
        features, logits, deltas = self.roi_heads(seen, proposed)
        scores, classes = logits.softmax(dim=-1)[:, :-1].max(dim=1)
        boxes = decoded(deltas, proposed, self.config.box_coding)
        which = torch.zeros_like(classes) if self.config.one_box_for_all_classes else classes
        boxes = clip_boxes_to_image(boxes[torch.arange(len(boxes)), which], size)
        kept = spread(boxes, scores, self.config)
        return features[kept], boxes[kept]


def spread(boxes: Tensor, scores: Tensor, config: RcnnConfig) -> Tensor:
    """Return the indices of the best boxes, best first, after suppression over all classes at once.

    The first threshold that leaves `fewest` boxes counts; where none does, the last one.
    """
    for threshold in config.nms:
        kept = nms(boxes, scores, threshold)[: config.most]
        if len(kept) >= config.fewest:
            break
    return kept


def decoded(deltas: Tensor, boxes: Tensor, weights: Weights4) -> Tensor:
    """Move and scale boxes (n, 4) by deltas (n, 4 * k), as the paper of Faster R-CNN defines them: (n, k, 4).

    A delta is (x, y, log w, log h), each multiplied by its weight when it was learnt.
    """
    moves = deltas.unflatten(1, (-1, 4)) / torch.tensor(weights, device=deltas.device)
    sizes = (boxes[:, 2:] - boxes[:, :2])[:, None]
    middles = boxes[:, None, :2] + sizes / 2
    middles = middles + moves[..., :2] * sizes
    halves = moves[..., 2:].clamp(max=LARGEST).exp() * sizes / 2
    return torch.cat([middles - halves, middles + halves], dim=-1)
