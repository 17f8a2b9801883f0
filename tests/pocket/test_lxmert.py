"""Promises of the shipped LXMERT, of its detector and of their recipe."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoTokenizer, LxmertForPreTraining, LxmertForQuestionAnswering

from argus.models.base import Model
from argus.models.lxmert_parts import join, look, read
from argus.models.regions.pocket import as_pixels, likeliest, load_detector
from argus.perturbations.base import Perturbation
from argus.perturbations.blur import Blur
from argus.perturbations.clean import Clean
from argus.perturbations.noise import Noise
from argus.perturbations.typo import Typo
from argus.pocket.asking import ANSWERS
from argus.pocket.corpus import PIXELS, Corpus, corpus
from argus.pocket.detecting import CONFIG, all_regions, labels
from argus.pocket.evaluate import build, commonest, entries, predict
from argus.pocket.layouts import write_pocket
from argus.pocket.learning import Recipe
from argus.pocket.lxmert_model import ANSWERED
from argus.pocket.scenes import SIDE, STYLES, Scene, Thing
from argus.pocket.train import CHECKPOINTS
from argus.pocket.train_lxmert import train, turned
from argus.records import ChoicePrediction, Entry
from argus.tasks.reasoning import Reasoning
from argus.tasks.retrieval import Retrieval

SEED = 4
SCENES = 6  # of each style, to train on
UNSEEN = 40  # of each style, to be asked about
CANDIDATES = 20
MEGABYTE = 10**6
FOUND = 0.9
ABOVE = {"clevr": 0.25, "vcr": 0.2}
"""Well below what the model card states, for other and fewer pictures differ."""


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lxmert")
    few = Recipe(SCENES, 8, 10, 1e-3)  # eight: every style has had its turn
    train(folder, SEED, few, few)
    return folder


@pytest.fixture(scope="module")
def data() -> Corpus:
    return corpus(SEED, SCENES)


@pytest.fixture(scope="module")
def shipped() -> Path:
    return CHECKPOINTS / "lxmert"


@pytest.fixture(scope="module")
def lxmert(shipped: Path) -> Model:
    return build("lxmert", shipped)


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Entry, ...]]:
    root = tmp_path_factory.mktemp("scenes") / "pocket"
    write_pocket(root, UNSEEN)
    return entries(root)


def test_a_few_steps_write_both_heads_and_the_detector_in_half_precision(trained: Path) -> None:
    for network in (LxmertForPreTraining, LxmertForQuestionAnswering):
        model, report = network.from_pretrained(trained, dtype=torch.float32, output_loading_info=True)
        assert not report["missing_keys"]
        assert [model.config.id2label[number] for number in range(len(ANSWERED))] == list(ANSWERED)
    assert set(ANSWERS) <= set(ANSWERED)
    assert {weight.dtype for weight in load_file(trained / "model.safetensors").values()} == {torch.float16}
    detector = load_detector(trained / "regions")
    assert detector.config == CONFIG
    assert not detector.training
    tokenizer = AutoTokenizer.from_pretrained(trained)
    assert tokenizer.unk_token_id not in tokenizer("Whzt colro iz teh qqjx sp#ere? 7 ~`@^|\\")["input_ids"]


def test_training_repeats_to_rounding(trained: Path, tmp_path: Path) -> None:
    few = Recipe(SCENES, 8, 10, 1e-3)
    train(tmp_path, SEED, few, few)
    for file in ("model.safetensors", "regions/model.safetensors"):
        first, second = load_file(trained / file), load_file(tmp_path / file)
        assert all(torch.allclose(first[name].float(), second[name].float(), atol=2e-3) for name in first)


@torch.no_grad()
def test_the_parts_that_are_trained_compute_what_the_whole_model_does(trained: Path) -> None:
    model = LxmertForPreTraining.from_pretrained(trained, dtype=torch.float32).eval()
    draw = torch.Generator().manual_seed(1)
    ids, mask = torch.randint(5, 100, (3, 9), generator=draw), torch.ones(3, 9, dtype=torch.long)
    mask[0, 5:] = 0
    features, boxes = torch.randn(3, 16, 128, generator=draw), torch.rand(3, 16, 4, generator=draw)
    whole = model(input_ids=ids, attention_mask=mask, visual_feats=features, visual_pos=boxes)
    pooled = join(model.lxmert, read(model.lxmert, ids, mask), mask, look(model.lxmert, features, boxes))
    torch.testing.assert_close(model.answer_head(pooled), whole.question_answering_score, atol=1e-5, rtol=0)
    scores = model.cls.seq_relationship(pooled)
    torch.testing.assert_close(scores, whole.cross_relationship_score, atol=1e-5, rtol=0)


def test_muon_moves_the_maps_between_states_and_nothing_else(trained: Path) -> None:
    model = LxmertForPreTraining.from_pretrained(trained, dtype=torch.float32)
    moved = [name for name, weight in model.named_parameters() if id(weight) in turned(model)]
    assert len(moved) == 50
    assert not any(part in name for name in moved for part in ("embeddings", "LayerNorm", "visn_fc", "pooler", "head"))


def test_a_cell_is_labelled_with_the_thing_over_it() -> None:
    thing = Thing("cube", "red", "large", x=100.0, y=60.0, radius=30.0, material="metal")
    shown = labels([Scene("clevr", (thing,))])
    cell = SIDE / CONFIG.grid
    (middle,) = np.flatnonzero(shown.middles[0])
    assert divmod(int(middle), CONFIG.grid) == (int(60 / cell), int(100 / cell))
    over = np.flatnonzero(shown.facets[0, 0])
    columns, rows = (over % CONFIG.grid + 0.5) * cell, (over // CONFIG.grid + 0.5) * cell
    assert columns.min() >= 70
    assert columns.max() <= 130
    assert rows.min() >= 30
    assert rows.max() <= 90
    np.testing.assert_allclose(shown.boxes[0, middle], np.array([70, 30, 130, 90]) / SIDE, rtol=1e-6)
    assert shown.boxes[0][shown.facets[0, 0] == 0].max() == 0


def test_regions_for_training_are_those_of_use(trained: Path, data: Corpus) -> None:
    detector = load_detector(trained / "regions")
    found = all_regions(detector, data)
    assert set(found) == set(STYLES)
    alone = likeliest(detector(as_pixels(data["vcr"].pictures[2:3])), CONFIG)
    torch.testing.assert_close(found["vcr"].features[2:3], alone.features, atol=1e-5, rtol=0)
    torch.testing.assert_close(found["vcr"].boxes[2:3], alone.boxes, atol=1e-5, rtol=0)


def test_it_is_small(shipped: Path) -> None:
    assert sum(file.stat().st_size for file in shipped.rglob("*") if file.is_file()) <= 4 * MEGABYTE


@torch.inference_mode()
def test_the_detector_finds_things_that_it_never_saw(shipped: Path) -> None:
    detector = load_detector(shipped / "regions")
    for style, part in corpus(SEED + 1, 30, PIXELS).items():
        shown = labels(list(part.scenes))
        cells = detector(as_pixels(part.pictures))
        middle = torch.from_numpy(shown.middles) > 0
        assert (cells.objectness[middle] > 0).float().mean() > 0.9, style
        assert (cells.boxes[middle] - torch.from_numpy(shown.boxes)[middle]).abs().mean() < 0.02, style
        shapes = torch.from_numpy(shown.facets[:, 0]).long()[middle]
        assert (cells.facets[0][middle].argmax(dim=-1) == shapes).float().mean() > 0.9, style


def recalls(model: Model, found: tuple[Entry, ...], perturbation: Perturbation) -> float:
    """Return the mean of both R@1 over galleries of CANDIDATES pictures."""
    task = Retrieval(CANDIDATES, None)
    measured = task.measure(predict(task, model, found, perturbation))
    return (measured["image_to_text_recall_at_1"] + measured["text_to_image_recall_at_1"]) / 2


@pytest.fixture(scope="module")
def clean(lxmert: Model, scenes: dict[str, tuple[Entry, ...]]) -> float:
    return recalls(lxmert, scenes["coco"], Clean(0))


def test_it_finds_captions_and_pictures(clean: float) -> None:
    assert clean > FOUND


@pytest.mark.parametrize("damage", [Blur(5), Noise(5), Typo(5)], ids=lambda damage: type(damage).__name__)
def test_damage_lowers_retrieval_but_does_not_blind(
    lxmert: Model, scenes: dict[str, tuple[Entry, ...]], clean: float, damage: Perturbation
) -> None:
    assert 1 / CANDIDATES < recalls(lxmert, scenes["coco"], damage) < clean


@pytest.mark.parametrize("name", ["clevr", "vcr"])
def test_it_answers_better_than_the_commonest_answer(
    lxmert: Model, scenes: dict[str, tuple[Entry, ...]], name: str
) -> None:
    answered = [p for p in predict(Reasoning(), lxmert, scenes[name], Clean(0)) if isinstance(p, ChoicePrediction)]
    floor = commonest(scenes[name])
    assert np.mean([(one.predicted == one.target) - floor[one.kind] for one in answered]) > ABOVE[name]
