"""Every yaml of conf/model builds an adapter, whatever the suite."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest
from hydra.utils import get_class
from omegaconf import OmegaConf

from argus.models.base import Choice, Chooser, Embedder, Generator, Matcher, Model, Runtime

CONF = Path(__file__).resolve().parents[2] / "conf" / "model"
NAMES = sorted(path.stem for path in CONF.glob("*.yaml"))
UNPINNED = {"blip2", "internvl", "llava_onevision", "lxmert", "paligemma", "siglip", "siglip2", "smolvlm"}
"""Models whose published commits could not be looked up; each yaml says so."""
SERVED = {"server"}
"""Models that run elsewhere: their yaml names no checkpoint."""


def settings(name: str, suite: str, *overrides: str):
    conf = OmegaConf.create(
        {"seed": 0, "suite": {"checkpoints": suite}, "model": OmegaConf.load(CONF / f"{name}.yaml")}
    )
    for override in overrides:
        OmegaConf.update(conf, *override.split("=", 1))
    OmegaConf.resolve(conf)
    return conf.model


@pytest.mark.parametrize("suite", ["pocket", "official"])
@pytest.mark.parametrize("name", NAMES)
def test_settings_are_exactly_what_the_adapter_takes(name, suite):
    model = settings(name, suite)
    adapter = get_class(model.adapter._target_)
    assert model.name == name
    assert issubclass(adapter, Model)
    assert issubclass(adapter, Embedder | Matcher | Generator | Chooser)
    given = {key: value for key, value in model.adapter.items() if not key.startswith("_")}
    inspect.signature(adapter).bind(**given, runtime=None)


@pytest.mark.parametrize("name", sorted(UNPINNED))
def test_a_model_that_is_not_pinned_says_so_in_its_yaml(name):
    revision = settings(name, "official").revision
    assert revision is None or set(revision.values()) == {None}
    assert "could not be looked up" in (CONF / f"{name}.yaml").read_text()


@pytest.mark.parametrize("name", sorted(set(NAMES) - UNPINNED - SERVED))
def test_official_checkpoints_are_pinned_to_a_commit(name):
    revisions = settings(name, "official").revision
    for revision in [revisions] if isinstance(revisions, str) else revisions.values():
        assert len(revision) == 40
        assert int(revision, 16)


def test_own_weights_are_one_override_away(clip_folder, blip_folders, gemma_folder, images):
    from hydra.utils import instantiate

    runtime = Runtime(device="cpu", dtype="float32", attention="sdpa")
    clip = settings("clip", "official", f"model.checkpoint={clip_folder}")
    assert instantiate(clip.adapter, _convert_="object", runtime=runtime).embed_images(images).shape == (6, 12)
    blip = settings("blip", "pocket", f"model.checkpoint.retrieval={blip_folders['retrieval']}")
    assert instantiate(blip.adapter, _convert_="object", runtime=runtime).embed_images(images).shape == (6, 12)
    assert blip.checkpoint.vqa == "pocket/blip/vqa"
    gemma = settings("gemma", "official", f"model.checkpoint={gemma_folder}")
    chat = instantiate(gemma.adapter, _convert_="object", runtime=runtime)
    assert isinstance(chat.runtime, Runtime)
    assert type(chat.prompts.image_options) is dict
    scores = chat.choose(images[:1], [[Choice("What?", ("red", "a blue cube"))]])
    assert scores[0][0].shape == (2,)
