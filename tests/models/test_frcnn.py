"""The Faster R-CNN with random weights of small width, in the published layout; the published ones were never seen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from omegaconf import OmegaConf
from PIL import Image
from torch import Tensor
from torchvision.models.detection._utils import BoxCoder

from argus.errors import DataError
from argus.models.regions.frcnn import VisualGenomeRegions, as_pixels, read_config
from argus.models.regions.frcnn_network import Anchors, ProposalHead, decoded, spread

STEM, RES2, MIDDLE, HIDDEN, CLASSES, ATTRIBUTES = 8, 16, 4, 10, 7, 5
SETTINGS = {
    "MODEL": {"PIXEL_MEAN": [102.9801, 115.9465, 122.7717], "PIXEL_STD": [1.0, 1.0, 1.0], "MAX_POOL": True},
    "INPUT": {"MIN_SIZE_TEST": 60, "MAX_SIZE_TEST": 100, "FORMAT": "BGR"},
    "RESNETS": {
        "DEPTH": 101,
        "STEM_OUT_CHANNELS": STEM,
        "RES2_OUT_CHANNELS": RES2,
        "NUM_GROUPS": 1,
        "WIDTH_PER_GROUP": MIDDLE,
        "STRIDE_IN_1X1": True,
    },
    "ANCHOR_GENERATOR": {"SIZES": [[8, 16, 32, 64]], "ASPECT_RATIOS": [[0.5, 1.0, 2.0]], "OFFSET": 0.0},
    "PROPOSAL_GENERATOR": {"HIDDEN_CHANNELS": HIDDEN, "MIN_SIZE": 0},
    "RPN": {
        "PRE_NMS_TOPK_TEST": 6000,
        "POST_NMS_TOPK_TEST": 60,
        "NMS_THRESH": 0.7,
        "BBOX_REG_WEIGHTS": [1.0, 1.0, 1.0, 1.0],
    },
    "ROI_HEADS": {"NUM_CLASSES": CLASSES, "NMS_THRESH_TEST": [0.3, 0.5, 0.7, 1.0]},
    "ROI_BOX_HEAD": {
        "POOLER_RESOLUTION": 14,
        "RES5HALVE": False,
        "ATTR": True,
        "NUM_ATTRS": ATTRIBUTES,
        "CLS_AGNOSTIC_BBOX_REG": False,
        "BBOX_REG_WEIGHTS": [10.0, 10.0, 5.0, 5.0],
    },
    "MIN_DETECTIONS": 36,
    "MAX_DETECTIONS": 36,
}


def published() -> dict[str, Tensor]:
    """Random weights under the published names, built from the names alone."""
    draw = torch.Generator().manual_seed(3)
    weights: dict[str, Tensor] = {}

    def convolution(name: str, inner: int, outer: int, kernel: int) -> None:
        spread = (2 / (inner * kernel**2)) ** 0.5
        weights[f"{name}.weight"] = spread * torch.randn(outer, inner, kernel, kernel, generator=draw)
        gain = 0.2 if name.endswith("conv3") else 1  # else 33 blocks, one on the other, would grow without bounds
        weights[f"{name}.norm.weight"] = gain * (0.7 + 0.3 * torch.rand(outer, generator=draw))
        weights[f"{name}.norm.running_var"] = 0.7 + 0.3 * torch.rand(outer, generator=draw)
        for part in ("bias", "running_mean"):
            weights[f"{name}.norm.{part}"] = 0.1 * torch.randn(outer, generator=draw)
        weights[f"{name}.norm.num_batches_tracked"] = torch.tensor(0)

    def plain(name: str, *shape: int, spread: float = 0.2) -> None:
        weights[f"{name}.weight"] = spread * torch.randn(*shape, generator=draw)
        weights[f"{name}.bias"] = 0.1 * torch.randn(shape[0], generator=draw)

    convolution("backbone.stem.conv1", 3, STEM, 7)
    inner = STEM
    stages = {"backbone.res2": 3, "backbone.res3": 4, "backbone.res4": 23, "roi_heads.res5": 3}
    for number, (stage, blocks) in enumerate(stages.items()):
        outer, middle = RES2 * 2**number, MIDDLE * 2**number
        for block in range(blocks):
            first = inner if block == 0 else outer
            if block == 0:
                convolution(f"{stage}.0.shortcut", first, outer, 1)
            convolution(f"{stage}.{block}.conv1", first, middle, 1)
            convolution(f"{stage}.{block}.conv2", middle, middle, 3)
            convolution(f"{stage}.{block}.conv3", middle, outer, 1)
        inner = outer
    width = 8 * RES2
    weights["proposal_generator.anchor_generator.cell_anchors.0"] = cell_anchors()
    plain("proposal_generator.rpn_head.conv", HIDDEN, width // 2, 3, 3, spread=0.02)
    plain("proposal_generator.rpn_head.objectness_logits", 12, HIDDEN, 1, 1)
    plain("proposal_generator.rpn_head.anchor_deltas", 48, HIDDEN, 1, 1, spread=0.002)
    head = "roi_heads.box_predictor"
    plain(f"{head}.cls_score", CLASSES + 1, width)
    plain(f"{head}.bbox_pred", 4 * CLASSES, width, spread=0.02)
    weights[f"{head}.cls_embedding.weight"] = torch.randn(CLASSES + 1, width // 8, generator=draw)
    plain(f"{head}.fc_attr", width // 4, width + width // 8)
    plain(f"{head}.attr_score", ATTRIBUTES + 1, width // 4)
    return weights


def cell_anchors() -> Tensor:
    """Sizes in the outer loop, ratios (height to width) in the inner one."""
    boxes = []
    for size in (8, 16, 32, 64):
        for ratio in (0.5, 1.0, 2.0):
            width, height = size / ratio**0.5, size * ratio**0.5
            boxes.append([-width / 2, -height / 2, width / 2, height / 2])
    return torch.tensor(boxes)


def write(folder: Path, weights: dict[str, Tensor], settings: dict | None = None) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    OmegaConf.save(OmegaConf.create(settings or SETTINGS), folder / "config.yaml")
    torch.save(weights, folder / "pytorch_model.bin")
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("frcnn"), published())


@pytest.fixture(scope="module")
def detector(folder: Path) -> VisualGenomeRegions:
    return VisualGenomeRegions(str(folder), None)


def test_every_published_weight_is_used_and_none_is_left(detector):
    (network,) = detector.modules()
    given = {name: value for name, value in published().items() if not name.endswith("num_batches_tracked")}
    assert set(network.state_dict()) == set(given)
    assert all(torch.equal(network.state_dict()[name], value) for name, value in given.items())


def test_keys_may_be_in_small_letters(folder, detector, tmp_path):
    def small(tree):
        return {key.lower(): small(value) for key, value in tree.items()} if isinstance(tree, dict) else tree

    assert read_config(write(tmp_path, {}, small(SETTINGS)) / "config.yaml") == read_config(folder / "config.yaml")


def test_any_picture_has_36_regions_with_boxes_inside_it(detector, images, odd_images):
    pictures = [*images[:2], *odd_images]
    regions = detector.extract(pictures, "cpu")
    assert regions.features.shape == (len(pictures), 36, 8 * RES2)
    assert regions.boxes.shape == (len(pictures), 36, 4)
    assert regions.features.isfinite().all()
    assert regions.boxes.min() >= 0
    assert regions.boxes.max() <= 1
    assert (regions.boxes[..., 2:] >= regions.boxes[..., :2]).all()
    assert regions.features[0].std(dim=0).max() > 1e-3  # regions of a picture differ
    assert (regions.features[0] - regions.features[1]).abs().max() > 1e-3  # and so do pictures


def test_a_picture_has_the_same_regions_alone_and_in_company(detector, images, odd_images):
    pictures = [images[0], *odd_images]
    together = detector.extract(pictures, "cpu")
    for row, picture in enumerate(pictures):
        alone = detector.extract([picture], "cpu")
        assert torch.equal(alone.features[0], together.features[row])
        assert torch.equal(alone.boxes[0], together.boxes[row])


def test_pictures_are_scaled_to_the_short_side_and_turned_to_blue_green_red(folder):
    config = read_config(folder / "config.yaml")
    plain = as_pixels(Image.new("RGB", (40, 30), (200, 100, 50)), config)
    assert plain.shape == (1, 3, 60, 80)
    expected = torch.tensor([50 - 102.9801, 100 - 115.9465, 200 - 122.7717])
    torch.testing.assert_close(plain[0, :, 7, 9], expected)
    assert as_pixels(Image.new("RGB", (400, 40)), config).shape == (1, 3, 10, 100)  # the long side rules
    assert as_pixels(Image.new("RGB", (1000, 1)), config).shape == (1, 3, 1, 100)


def test_boxes_are_decoded_as_torchvision_does():
    draw = torch.Generator().manual_seed(1)
    boxes = torch.rand(9, 4, generator=draw) * 50
    boxes[:, 2:] += boxes[:, :2] + 1
    deltas = torch.randn(9, 12, generator=draw) * 4
    deltas[0, 2] = 1000  # cut, not infinite
    expected = BoxCoder((10.0, 10.0, 5.0, 5.0)).decode_single(deltas, boxes).view(9, 3, 4)
    torch.testing.assert_close(decoded(deltas, boxes, (10.0, 10.0, 5.0, 5.0)), expected)


def test_an_anchor_stands_where_its_score_and_delta_were_read(folder):
    config = read_config(folder / "config.yaml")
    anchors = Anchors(config)(2, 3).view(2, 3, 12, 4)
    assert anchors[1, 2, 4].tolist() == [32 - 8, 16 - 8, 32 + 8, 16 + 8]  # size 16, ratio 1, third column, second row
    torch.testing.assert_close(anchors[0, 0], cell_anchors())
    head = ProposalHead(5, 6, 12)
    seen = torch.randn(1, 5, 2, 3, generator=torch.Generator().manual_seed(2))
    scores, deltas = head(seen)
    hidden = head.conv(seen).relu()
    assert scores.view(2, 3, 12)[1, 2, 4] == head.objectness_logits(hidden)[0, 4, 1, 2]
    assert torch.equal(deltas.view(2, 3, 12, 4)[1, 2, 4], head.anchor_deltas(hidden)[0, 16:20, 1, 2])


def test_the_first_threshold_that_leaves_enough_boxes_counts(folder):
    config = replace(read_config(folder / "config.yaml"), nms=(0.1, 0.6), fewest=3, most=3)
    boxes = torch.tensor([[0.0, 0, 10, 10], [0, 0, 10, 8], [0, 0, 10, 5], [50, 50, 60, 60]])
    scores = torch.tensor([0.9, 0.8, 0.7, 0.6])
    # By 0.1 only the first and the last stay; by 0.6 the third (half of the first, 0.625 of the suppressed second) too.
    assert spread(boxes, scores, config).tolist() == [0, 2, 3]
    assert spread(boxes, scores, replace(config, fewest=2)).tolist() == [0, 3]


def test_missing_left_over_and_misshapen_weights_are_named(tmp_path):
    weights = published()
    gone = dict(weights)
    del gone["roi_heads.res5.1.conv2.weight"]
    wrong = weights | {"roi_heads.box_predictor.cls_score.bias": torch.zeros(3)}
    for number, (given, message) in enumerate(
        (
            (gone, r"lacks 1 weights \(first: roi_heads\.res5\.1\.conv2\.weight\)"),
            (weights | {"roi_heads.extra": torch.zeros(1)}, r"unknown 1 weights \(first: roi_heads\.extra\)"),
            (wrong, r"another shape 1 weights \(first: roi_heads\.box_predictor\.cls_score\.bias\)"),
        )
    ):
        with pytest.raises(DataError, match=message):
            VisualGenomeRegions(str(write(tmp_path / str(number), given)), None).modules()


def test_what_is_missing_is_told_with_the_expected_layout(tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    with pytest.raises(DataError, match=r"'unc-nlp/frcnn-vg-finetuned'.*the detector's files are config\.yaml and"):
        VisualGenomeRegions("unc-nlp/frcnn-vg-finetuned", None).modules()
    folder = write(tmp_path / "folder", published())
    (folder / "pytorch_model.bin").write_bytes(b"no weights")
    with pytest.raises(DataError, match=r"holds no plain weights.*config\.yaml and pytorch_model\.bin"):
        VisualGenomeRegions(str(folder), None).modules()
    cut = {key: value for key, value in SETTINGS.items() if key != "RPN"}
    with pytest.raises(DataError, match=r"lacks rpn\."):
        VisualGenomeRegions(str(write(folder, published(), cut)), None).modules()


def test_a_published_repository_in_the_hub_cache_is_found_by_its_config_yaml(folder, tmp_path, monkeypatch):
    commit = "c" * 40
    home = tmp_path / "models--unc-nlp--frcnn-vg-finetuned"
    (home / "refs").mkdir(parents=True)
    (home / "refs" / "main").write_text(commit)
    (home / "snapshots").mkdir()
    (home / "snapshots" / commit).symlink_to(folder)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    found = VisualGenomeRegions("unc-nlp/frcnn-vg-finetuned", None)
    assert found.revision == commit
    picture = Image.fromarray(np.arange(40 * 30 * 3, dtype=np.uint8).reshape(30, 40, 3))
    expected = VisualGenomeRegions(str(folder), None).extract([picture], "cpu")
    assert torch.equal(found.extract([picture], "cpu").features, expected.features)
