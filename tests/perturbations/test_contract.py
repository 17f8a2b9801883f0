"""What every perturbation promises, for every yaml in conf/perturbation."""

from __future__ import annotations

import json
import os
import pickle
import random
import re
import runpy
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from difflib import SequenceMatcher
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from omegaconf import DictConfig
from PIL import Image

from argus.errors import ConfigError
from argus.perturbations.base import ImagePerturbation, Perturbation, TextPerturbation
from argus.perturbations.combined import Combined
from argus.settings import build

SCRIPT = Path(__file__).with_name("digests.py")
PICTURES, TEXTS = ("image", "both"), ("text", "both")  # the modalities that change each
ODD_SIZES = [(1, 1), (1, 300), (300, 1), (2, 3), (8, 8), (32, 32), (332, 27), (500, 333), (4000, 3000)]
ODD_TEXTS = {
    "empty": "",
    "one letter": "a",
    "capital": "Q",
    "emoji": "😀👩‍👩‍👧",
    "Chinese": "一只猫坐在红色的沙发上",
    "mixed": "une 猫 à côté d'un chien… 😀",
    "digits": "12 345 6,789",
    "spaces": "   \t  ",
    "newlines": "\n a \n\n b\r\n",
    "controls": "a\x00b\x1fc\u2028d\u200be",
    "long": "a cat and the dog " * 100,
    "one long word": "x" * 5000,
}
# The figures of ImageNet-C put these not in the order of the mean distance, on some pictures or on all; they stay as
# published, so that scores can be compared.
PUBLISHED_ORDER = {"fog", "frost", "glass_blur", "saturate", "snow", "spatter"}
NOTHING_TO_CHANGE = {key for key, text in ODD_TEXTS.items() if not re.search("[A-Za-z0-9]", text)}


def pixels(image: Image.Image) -> np.ndarray:
    return np.asarray(image, dtype=float)


def distance(before: str, after: str) -> float:
    """Return 0 for the same words and gaps in the same order, 1 where none is left; words may come and go."""
    old, new = re.findall(r"\s+|\S+", before), re.findall(r"\s+|\S+", after)
    return 1 - SequenceMatcher(None, old, new, autojunk=False).ratio()


def test_yaml_has_the_agreed_keys_and_builds_what_it_says(name: str, config: DictConfig, perturbation: Perturbation):
    protection = {"protect", "protect_numbers"} if config.perturbation.modality in TEXTS else set()
    assert set(config.perturbation) - protection == {"name", "modality", "family", "severity", "transform"}
    assert config.perturbation.name == name
    assert re.fullmatch("[a-z]+", config.perturbation.family)
    kinds = {"image": ImagePerturbation, "text": TextPerturbation, "both": Combined, "none": Perturbation}
    assert isinstance(perturbation, kinds[config.perturbation.modality])
    assert perturbation.severity == config.perturbation.severity


def test_same_seed_and_id_give_the_same_result(every_severity, photo, sentences):
    for perturbation in every_severity:
        first, second = perturbation.image(photo, 3, "id"), perturbation.image(photo, 3, "id")
        assert first.tobytes() == second.tobytes()
        assert [perturbation.text(t, 3, "id") for t in sentences] == [perturbation.text(t, 3, "id") for t in sentences]


def test_order_does_not_matter(perturbation, photo, sentences):
    ids = [f"id {number}" for number in range(6)]
    forward = {
        key: (perturbation.image(photo, 0, key).tobytes(), perturbation.text(sentences[0], 0, key)) for key in ids
    }
    backward = {
        key: (perturbation.image(photo, 0, key).tobytes(), perturbation.text(sentences[0], 0, key)) for key in ids[::-1]
    }
    assert forward == backward


def test_threads_do_not_disturb_each_other(perturbation, make_picture, sentences):
    image = make_picture(64, 48)

    def both(number: int) -> tuple[bytes, str]:
        key = f"id {number}"
        return perturbation.image(image, 0, key).tobytes(), perturbation.text(sentences[number % 6], 0, key)

    alone = [both(number) for number in range(60)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(both, range(60))) == alone


@pytest.fixture(scope="module")
def elsewhere() -> list[dict[str, list[str]]]:
    """The digests of two new processes that hash strings differently."""
    root = str(SCRIPT.parents[2])
    runs = [
        subprocess.run(
            [sys.executable, str(SCRIPT)],
            env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": root},
            capture_output=True,
            text=True,
            check=True,
        )
        for hash_seed in ("1", "2")
    ]
    return [json.loads(run.stdout) for run in runs]


@pytest.fixture(scope="module")
def here() -> dict[str, list[str]]:
    return runpy.run_path(str(SCRIPT))["digests"]()


def test_processes_agree_whatever_their_hash_seed(elsewhere, here, name):
    assert [found[name] for found in elsewhere] == [here[name], here[name]]


def test_survives_the_way_to_a_worker(perturbation, photo, sentences):
    arrived = pickle.loads(pickle.dumps(perturbation))
    assert arrived.image(photo, 0, "id").tobytes() == perturbation.image(photo, 0, "id").tobytes()
    assert [arrived.text(text, 0, "id") for text in sentences] == [perturbation.text(t, 0, "id") for t in sentences]


def test_input_stays_and_output_has_its_size_and_mode(every_severity, photo):
    before = photo.tobytes()
    for perturbation in every_severity:
        after = perturbation.image(photo, 0, "id")
        assert (after.size, after.mode) == (photo.size, "RGB")
        assert photo.tobytes() == before


def test_other_modality_is_not_touched(config, perturbation, photo, sentences):
    if config.perturbation.modality not in PICTURES:
        assert perturbation.image(photo, 0, "id").tobytes() == photo.tobytes()
    if config.perturbation.modality not in TEXTS:
        assert [perturbation.text(text, 0, "id") for text in sentences] == sentences


@pytest.mark.parametrize("severity", [-1, 6, 99, 2.0, 2.5, True, "3", None])
def test_unknown_severity_is_named(config: DictConfig, severity: object):
    config.perturbation.severity = severity
    with pytest.raises(ConfigError, match=rf"severity {severity!r} of \w+: choose one of"):
        build(config.perturbation.transform)


def test_misspelt_setting_fails_at_build_time(config: DictConfig):
    with pytest.raises(ConfigError, match="severty"):
        build(config.perturbation.transform, severty=3)


def test_every_severity_changes_every_picture(name, config, every_severity, make_picture):
    for perturbation in every_severity:
        if config.perturbation.modality in PICTURES:
            for size in ((2, 3), (1, 300), (8, 8), (64, 48), (500, 333)):
                image = make_picture(*size)
                # A single column is its own mirror image.
                changes = (name, size) != ("flip_horizontal", (1, 300))
                assert (perturbation.image(image, 0, "id").tobytes() != image.tobytes()) == changes


def test_a_text_that_changes_at_a_severity_changes_at_every_higher_one(config, every_severity, sentences):
    if config.perturbation.modality in TEXTS:
        ids = [f"id {number}" for number in range(30)]
        changed = [
            {(text, key) for text in sentences for key in ids if each.text(text, 0, key) != text}
            for each in every_severity
        ]
        assert changed[0]
        assert all(low <= high for low, high in pairwise(changed))
        # At the highest severity it is the text that decides whether there is something to change, not the draw.
        assert changed[-1] == {(text, key) for text, _ in changed[-1] for key in ids}


def assert_rises(distances: list[float], name: str = "") -> None:
    if name in PUBLISHED_ORDER:
        assert min(distances[1:]) > 0, distances
        assert name == "frost" or distances[1] < distances[-1], distances
    else:
        assert all(low < high for low, high in pairwise(distances)), distances


def test_distance_to_clean_rises_with_severity(name, config, every_severity, photo, sentences):
    if config.perturbation.modality in PICTURES:
        changed = [perturbation.image(photo, 0, "id") for perturbation in every_severity]
        assert_rises([0.0, *(np.abs(pixels(image) - pixels(photo)).mean() for image in changed)], name)
    if config.perturbation.modality in TEXTS:
        ids = range(30)
        means = [
            np.mean([distance(text, each.text(text, 0, str(key))) for text in sentences for key in ids])
            for each in every_severity
        ]
        assert_rises([0.0, *means])


def test_distance_to_clean_rises_with_severity_on_coco(name, config, every_severity, sample_data):
    if config.perturbation.modality in PICTURES:
        for path in sorted((sample_data / "coco" / "val2017").glob("*.jpg"))[:3]:
            photo = Image.open(path).convert("RGB")
            changed = [perturbation.image(photo, 0, path.stem) for perturbation in every_severity]
            assert_rises([0.0, *(np.abs(pixels(image) - pixels(photo)).mean() for image in changed)], name)
    if config.perturbation.modality in TEXTS:
        file = sample_data / "coco" / "annotations" / "captions_val2017.json"
        captions = {str(caption["id"]): caption["caption"] for caption in json.loads(file.read_text())["annotations"]}
        # Few captions hold a number or a contraction: those with something to change are enough.
        some = [(key, text) for key, text in captions.items() if every_severity[-1].text(text, 0, key) != text][:100]
        means = [np.mean([distance(text, each.text(text, 0, key)) for key, text in some]) for each in every_severity]
        assert_rises([0.0, *means])


@pytest.mark.parametrize("size", ODD_SIZES, ids=lambda size: "x".join(map(str, size)))
def test_odd_pictures_pass_through(perturbation, size):
    image = Image.linear_gradient("L").resize(size).convert("RGB")
    after = perturbation.image(image, 0, "id")
    assert (after.size, after.mode) == (size, "RGB")


@pytest.mark.parametrize("key", ODD_TEXTS)
def test_odd_texts_pass_through(config, every_severity, key):
    text = ODD_TEXTS[key]
    for perturbation in every_severity:
        after = perturbation.text(text, 0, "id")
        assert type(after) is str
        if config.perturbation.modality not in TEXTS or key in NOTHING_TO_CHANGE:
            assert after == text


def test_global_random_states_stay(build: Callable[[int], Perturbation], perturbation, photo, sentences):
    def states() -> tuple:
        return random.getstate(), repr(np.random.get_state()), torch.get_rng_state().tolist()

    before = states()
    for each in (perturbation, build(perturbation.severities()[-1])):
        each.image(photo, 0, "id")
        for text in sentences:
            each.text(text, 0, "id")
    assert states() == before


def test_global_random_states_do_not_matter(perturbation, photo, sentences):
    found = set()
    for seed in (1, 2):
        random.seed(seed)
        np.random.seed(seed)
        torch.manual_seed(seed)
        texts = tuple(perturbation.text(text, 0, "id") for text in sentences)
        found.add((perturbation.image(photo, 0, "id").tobytes(), texts))
    assert len(found) == 1
