"""The regions that LXMERT was trained on: 36 boxes of the Visual Genome Faster R-CNN, `unc-nlp/frcnn-vg-finetuned`.

What could NOT be verified, since the published weights were out of reach when this was written. Names and numbers
follow the public description of the network (transformers' research project on LXMERT); none of the following has been
compared with features of the published model:
- the keys of `config.yaml` and of the weights (a missing or a left-over key is an error, never a random number);
- box decoding (`decoded`, logarithmic sizes cut at log(1000 / 16)) and the anchors' offset;
- suppression: over all classes at once, each region with the box of its likeliest class, thresholds tried in turn until
  36 boxes remain (not class by class, as other detectors do);
- between 36 and 36 boxes: where even the last threshold leaves fewer (tiny pictures), the rest are zeros, as in the
  published demonstration;
- pooling (RoIPool, 14 x 14 of the res4 map, then res5 with stride 1 and dilation 2);
- channels: blue, green, red, less 102.9801, 115.9465, 122.7717, whatever INPUT.FORMAT says, because that is the order
  of those means;
- scaling: short side 600, long side at most 1000, bilinear without smoothing, on floating-point values. The Caffe model
  was trained with OpenCV's scaling, which rounds in other places.
Before figures of the official LXMERT are published, compare a few pictures with the published tsv features.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL.Image import Image
from torch import Tensor
from torch.nn import Module
from torch.nn.functional import interpolate, pad

from argus.errors import DataError
from argus.models.loading import DETECTOR_SETTINGS, Source, resolve
from argus.models.regions.base import RegionExtractor, Regions
from argus.models.regions.frcnn_network import DEPTHS, FasterRcnn, RcnnConfig

WEIGHTS = "pytorch_model.bin"
LAYOUT = f"{DETECTOR_SETTINGS} and {WEIGHTS}, as in unc-nlp/frcnn-vg-finetuned"


class VisualGenomeRegions(RegionExtractor):
    """Runs in float32 and one picture at a time: boxes near a threshold must not change with precision or company."""

    def __init__(self, checkpoint: str, revision: str | None) -> None:
        self.checkpoint = checkpoint
        self.wanted = revision
        self._network: FasterRcnn | None = None

    @torch.inference_mode()
    def extract(self, images: Sequence[Image], device: str) -> Regions:
        network = self._loaded().to(device)
        found = [self._look(network, image, device) for image in images]
        return Regions(torch.stack([features for features, _ in found]), torch.stack([boxes for _, boxes in found]))

    def modules(self) -> tuple[Module, ...]:
        return (self._loaded(),)

    @property
    def revision(self) -> str:
        return self._source().revision

    def _source(self) -> Source:
        try:
            return resolve(self.checkpoint, self.wanted)
        except DataError as error:
            raise DataError(f"{error}; the detector's files are {LAYOUT}") from error

    def _look(self, network: FasterRcnn, image: Image, device: str) -> tuple[Tensor, Tensor]:
        pixels = as_pixels(image, network.config).to(device)
        features, boxes = network(pixels)
        height, width = pixels.shape[2:]
        shares = boxes / torch.tensor([width, height, width, height], device=device)
        lacking = network.config.most - len(features)
        return pad(features.float(), (0, 0, 0, lacking)), pad(shares.float(), (0, 0, 0, lacking))

    def _loaded(self) -> FasterRcnn:
        if self._network is None:
            source = self._source()
            network = FasterRcnn(read_config(_file(source, DETECTOR_SETTINGS)))
            fill(network, read_weights(_file(source, WEIGHTS)), self.checkpoint)
            self._network = network.eval().requires_grad_(False)
        return self._network


def as_pixels(image: Image, config: RcnnConfig) -> Tensor:
    """Return the picture scaled and normalised, (1, 3, h, w), channels in the order blue, green, red."""
    width, height = image.size
    scale = min(config.short_side / min(width, height), config.long_side / max(width, height))
    size = (max(int(height * scale + 0.5), 1), max(int(width * scale + 0.5), 1))
    values = torch.from_numpy(np.array(image.convert("RGB"))[:, :, ::-1].astype(np.float32)).permute(2, 0, 1)[None]
    scaled = interpolate(values, size, mode="bilinear", align_corners=False)
    return (scaled - torch.tensor(config.pixel_mean).view(3, 1, 1)) / torch.tensor(config.pixel_std).view(3, 1, 1)


def read_config(path: Path) -> RcnnConfig:
    """Read the published config.yaml, its keys in capitals or not; DataError names a key that is missing or strange."""
    from omegaconf import OmegaConf

    tree = _small(OmegaConf.to_container(OmegaConf.load(path)))

    def at(key: str) -> Any:
        value: Any = tree
        for name in key.split("."):
            if not isinstance(value, Mapping) or name not in value:
                raise DataError(f"'{path}' lacks {key}. Expected: {LAYOUT}")
            value = value[name]
        return value

    depth, thresholds = int(at("resnets.depth")), at("roi_heads.nms_thresh_test")
    if depth not in DEPTHS:
        raise DataError(f"'{path}' has resnets.depth {depth}; known are {', '.join(map(str, DEPTHS))}")
    return RcnnConfig(
        pixel_mean=tuple(at("model.pixel_mean")),
        pixel_std=tuple(at("model.pixel_std")),
        short_side=int(at("input.min_size_test")),
        long_side=int(at("input.max_size_test")),
        caffe_max_pool=bool(at("model.max_pool")),
        depth=depth,
        stem_width=int(at("resnets.stem_out_channels")),
        res2_width=int(at("resnets.res2_out_channels")),
        bottleneck_width=int(at("resnets.num_groups")) * int(at("resnets.width_per_group")),
        stride_in_1x1=bool(at("resnets.stride_in_1x1")),
        anchor_sizes=tuple(at("anchor_generator.sizes")[0]),
        anchor_ratios=tuple(at("anchor_generator.aspect_ratios")[0]),
        anchor_offset=float(at("anchor_generator.offset")),
        proposal_width=int(at("proposal_generator.hidden_channels")),
        proposal_min_side=float(at("proposal_generator.min_size")),
        proposals_before_nms=int(at("rpn.pre_nms_topk_test")),
        proposals=int(at("rpn.post_nms_topk_test")),
        proposal_nms=float(at("rpn.nms_thresh")),
        proposal_coding=tuple(at("rpn.bbox_reg_weights")),
        pooled_side=int(at("roi_box_head.pooler_resolution")),
        halve_res5=bool(at("roi_box_head.res5halve")),
        classes=int(at("roi_heads.num_classes")),
        attributes=int(at("roi_box_head.num_attrs")) if at("roi_box_head.attr") else None,
        one_box_for_all_classes=bool(at("roi_box_head.cls_agnostic_bbox_reg")),
        box_coding=tuple(at("roi_box_head.bbox_reg_weights")),
        nms=tuple(thresholds) if isinstance(thresholds, list) else (thresholds,),
        fewest=int(at("min_detections")),
        most=int(at("max_detections")),
    )


def read_weights(path: Path) -> dict[str, Tensor]:
    """Read the published weights; DataError where the file holds anything else."""
    try:
        weights = torch.load(path, map_location="cpu", weights_only=True)
    except (OSError, RuntimeError, EOFError, pickle.UnpicklingError) as error:
        raise DataError(f"'{path}' cannot be read or holds no plain weights. Expected: {LAYOUT}") from error
    if not isinstance(weights, Mapping) or not all(isinstance(value, Tensor) for value in weights.values()):
        raise DataError(f"'{path}' holds no table of weights. Expected: {LAYOUT}")
    return dict(weights)


def fill(network: FasterRcnn, weights: Mapping[str, Tensor], name: str) -> None:
    """Put the published weights into the network: all of them, and nothing may be left over.

    Raises DataError that names the first weights that are missing, left over or of another shape.
    """
    given = {key: value for key, value in weights.items() if not key.endswith(".num_batches_tracked")}
    own = network.state_dict()
    for problem, keys in (
        ("lacks", sorted(set(own) - set(given))),
        ("has unknown", sorted(set(given) - set(own))),
        ("has in another shape", sorted(key for key in set(own) & set(given) if own[key].shape != given[key].shape)),
    ):
        if keys:
            raise DataError(f"'{name}' {problem} {len(keys)} weights (first: {keys[0]}). Expected: {LAYOUT}")
    network.load_state_dict(given)


def _small(tree: Any) -> Any:
    if isinstance(tree, Mapping):
        return {str(key).lower(): _small(value) for key, value in tree.items()}
    return tree


def _file(source: Source, name: str) -> Path:
    """Return one file of a source, fetched from the hub where it is there."""
    if source.commit is None:
        path = Path(source.path) / name
        if not path.is_file():
            raise DataError(f"'{path}' is missing. Expected in '{source.path}': {LAYOUT}")
        return path
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    try:
        return Path(hf_hub_download(source.path, name, revision=source.commit))
    except (HfHubHTTPError, LocalEntryNotFoundError, ConnectionError) as error:
        raise DataError(
            f"'{source.path}' has no {name} that can be fetched: {error}. Expected: {LAYOUT}. "
            f"Run where the hub can be reached: hf download {source.path}; or name a folder with these files"
        ) from error
