"""Promises of the shipped Qwen2.5-VL: small, loadable, good on scenes never seen, and worse on damaged ones."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from transformers import (
    AutoModelForImageTextToText,
    AutoProcessor,
    Qwen2_5_VLForConditionalGeneration,
    Qwen2_5_VLProcessor,
)

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

UNSEEN = 40  # of each style
CANDIDATES = 20
CAPTIONED = ("coco", "flickr30k", "visual_genome")
MEGABYTE = 10**6
DAMAGE = [Blur(5), Noise(5), Typo(5)]


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def qwen() -> Model:
    return build("qwen", CHECKPOINTS / "qwen")


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Entry, ...]]:
    root = tmp_path_factory.mktemp("scenes") / "pocket"
    write_pocket(root, UNSEEN)
    return entries(root)


def recall(model: Model, read: dict[str, tuple[Entry, ...]], perturbation: Perturbation) -> float:
    """Return R@1 among CANDIDATES pictures, the mean of both directions and of the datasets with captions."""
    task = Retrieval(CANDIDATES, None)
    found = [task.measure(predict(task, model, read[name], perturbation)) for name in CAPTIONED]
    names = ("image_to_text_recall_at_1", "text_to_image_recall_at_1")
    return float(np.mean([one[name] for one in found for name in names]))


def test_the_shipped_checkpoint_is_an_official_qwen_of_few_megabytes() -> None:
    folder = CHECKPOINTS / "qwen"
    assert isinstance(AutoProcessor.from_pretrained(folder), Qwen2_5_VLProcessor)
    model = AutoModelForImageTextToText.from_pretrained(folder, dtype=torch.float32)
    assert isinstance(model, Qwen2_5_VLForConditionalGeneration)
    assert model.generation_config.do_sample is False
    assert sum(file.stat().st_size for file in folder.iterdir()) <= 5 * MEGABYTE


@pytest.mark.parametrize("name", ["coco", "flickr30k"])
def test_it_describes_scenes_that_it_never_saw_and_worse_so_through_a_blur(
    qwen: Model, read: dict[str, tuple[Entry, ...]], name: str
) -> None:
    task = Captioning(1.0)
    sharp, blurred = (
        task.measure(predict(task, qwen, read[name], perturbation))["cider_d"] for perturbation in (Clean(0), Blur(5))
    )
    assert 0.5 < blurred < sharp - 0.1
    assert sharp > 2


@pytest.fixture(scope="module")
def clean(qwen: Model, read: dict[str, tuple[Entry, ...]]) -> float:
    return recall(qwen, read, Clean(0))


def test_it_tells_fitting_captions_from_others(clean: float) -> None:
    assert clean > 0.6


@pytest.mark.parametrize("damage", DAMAGE, ids=lambda damage: type(damage).__name__)
def test_heavy_damage_lowers_matching_but_does_not_blind(
    qwen: Model, read: dict[str, tuple[Entry, ...]], clean: float, damage: Perturbation
) -> None:
    assert 2 / CANDIDATES < recall(qwen, read, damage) < clean


@pytest.mark.parametrize(("name", "least"), [("clevr", 0.1), ("vcr", 0.1)])
def test_it_answers_well_above_the_commonest_answer(
    qwen: Model, read: dict[str, tuple[Entry, ...]], name: str, least: float
) -> None:
    predictions = predict(Reasoning(), qwen, read[name], Clean(0))
    answered = [one for one in predictions if isinstance(one, ChoicePrediction)]
    floor = commonest(read[name])
    assert np.mean([(one.predicted == one.target) - floor[one.kind] for one in answered]) > least
