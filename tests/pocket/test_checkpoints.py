"""Promises of the shipped CLIP and BLIP: small, loadable, good on scenes never seen, and worse on damaged ones."""

from __future__ import annotations

import pytest
import torch
from transformers import AutoModel, AutoProcessor

from argus.models.base import Model
from argus.perturbations.base import Perturbation
from argus.perturbations.blur import Blur
from argus.perturbations.clean import Clean
from argus.perturbations.noise import Noise
from argus.perturbations.typo import Typo
from argus.pocket.evaluate import build, commonest, entries, predict
from argus.pocket.layouts import write_pocket
from argus.pocket.train import CHECKPOINTS
from argus.records import ChoicePrediction, Entry
from argus.tasks.captioning import Captioning
from argus.tasks.reasoning import Reasoning
from argus.tasks.retrieval import Retrieval

SCENES = 100
"""The suite's own pictures: what the model card states."""
CAPTIONED = ("coco", "flickr30k", "visual_genome")
DAMAGE = [Blur(5), Noise(5), Typo(5)]
MEGABYTE = 10**6


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Entry, ...]]:
    root = tmp_path_factory.mktemp("scenes") / "pocket"
    write_pocket(root, SCENES)
    return entries(root)


@pytest.fixture(scope="module")
def clip() -> Model:
    return build("clip", CHECKPOINTS / "clip")


@pytest.fixture(scope="module")
def blip() -> Model:
    return build("blip", CHECKPOINTS / "blip")


def recalls(model: Model, found: tuple[Entry, ...], perturbation: Perturbation) -> tuple[float, float]:
    """Return R@1 image to text and text to image, over one gallery."""
    task = Retrieval(None, None)
    measured = task.measure(predict(task, model, found, perturbation))
    return measured["image_to_text_recall_at_1"], measured["text_to_image_recall_at_1"]


def gain(model: Model, found: tuple[Entry, ...], perturbation: Perturbation) -> float:
    """Return the accuracy above that of always giving the commonest answer of each kind of question."""
    predictions = [one for one in predict(Reasoning(), model, found, perturbation) if isinstance(one, ChoicePrediction)]
    floor = commonest(found)
    return sum((one.predicted == one.target) - floor[one.kind] for one in predictions) / len(predictions)


def mean(values: list[float]) -> float:
    return sum(values) / len(values)


def test_checkpoints_are_small():
    folders = [CHECKPOINTS / "clip", *(CHECKPOINTS / "blip" / head for head in ("retrieval", "captioning", "vqa"))]
    sizes = [path.stat().st_size for folder in folders for path in folder.iterdir()]
    assert sum(sizes) <= 14 * MEGABYTE
    assert all((folder / "model.safetensors").is_file() for folder in folders)


@pytest.mark.parametrize("folder", ["clip", "blip/retrieval", "blip/captioning", "blip/vqa"])
def test_checkpoints_load_with_the_auto_classes(folder: str):
    assert AutoProcessor.from_pretrained(CHECKPOINTS / folder).tokenizer.pad_token_id is not None
    if folder == "clip":
        AutoModel.from_pretrained(CHECKPOINTS / folder, dtype=torch.float32)


@pytest.mark.parametrize(
    ("name", "least"), [("coco", (0.9, 0.77)), ("flickr30k", (0.9, 0.77)), ("visual_genome", (0.7, 0.7))]
)
def test_clip_finds_captions_and_pictures_among_a_hundred(clip, read, name, least):
    found = recalls(clip, read[name], Clean(0))
    assert found[0] >= least[0]
    assert found[1] >= least[1]


@pytest.mark.parametrize(
    ("name", "least"), [("coco", (0.7, 0.58)), ("flickr30k", (0.7, 0.58)), ("visual_genome", (0.3, 0.34))]
)
def test_blip_finds_captions_and_pictures_among_a_hundred(blip, read, name, least):
    found = recalls(blip, read[name], Clean(0))
    assert found[0] >= least[0]
    assert found[1] >= least[1]


@pytest.mark.parametrize("name", CAPTIONED)
def test_matching_pairs_improves_blip(blip, read, name):
    cosine, matched = (Retrieval(20, k) for k in (None, 4))
    before, after = (task.measure(predict(task, blip, read[name], Clean(0)))["score"] for task in (cosine, matched))
    assert after > before


@pytest.mark.parametrize("name", ["coco", "flickr30k"])
def test_blip_writes_captions(blip, read, name):
    task = Captioning(1.0)
    assert task.measure(predict(task, blip, read[name], Clean(0)))["cider_d"] > 2


@pytest.mark.parametrize(("name", "least"), [("clevr", 0.1), ("vcr", 0.2)])
def test_blip_answers_well_above_the_commonest_answer(blip, read, name, least):
    assert gain(blip, read[name], Clean(0)) > least


def test_clip_chooses_sentences_better_than_the_commonest_place(clip, read):
    assert gain(clip, read["vcr"], Clean(0)) > 0.02


@pytest.mark.parametrize("damage", DAMAGE, ids=lambda damage: type(damage).__name__)
@pytest.mark.parametrize("name", ["clip", "blip"])
def test_damage_lowers_retrieval_but_does_not_blind(request, read, name, damage):
    model = request.getfixturevalue(name)
    clean = mean([mean(list(recalls(model, read[one], Clean(0)))) for one in CAPTIONED])
    harmed = mean([mean(list(recalls(model, read[one], damage))) for one in CAPTIONED])
    assert 4 / SCENES < harmed < clean - 0.02
