from __future__ import annotations

import shutil
from dataclasses import replace

import pytest
import torch
from huggingface_hub import errors
from transformers import AutoModel, BlipForImageTextRetrieval
from transformers.utils import logging

from argus.errors import ArgusError, ConfigError, DataError
from argus.models import loading
from argus.models.loading import (
    digest,
    finite,
    load_model,
    load_processor,
    load_tokenizer,
    quietly,
    resolve,
    torch_dtype,
)


def test_a_folder_is_named_by_its_contents(clip_folder):
    source = resolve(str(clip_folder), revision="a revision of some hub repository")
    assert (source.path, source.commit, source.revision) == (str(clip_folder), None, digest(clip_folder))


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
def test_digest_changes_with_every_file_that_matters(clip_folder, tmp_path, name):
    copy = shutil.copytree(clip_folder, tmp_path / "copy")
    assert digest(copy) == digest(clip_folder)
    (copy / "README.md").write_text("notes change nothing")
    assert digest(copy) == digest(clip_folder)
    with (copy / name).open("ab") as file:
        file.write(b" ")
    assert digest(copy) != digest(clip_folder)


@pytest.mark.parametrize("location", ["/no/such/folder", "./absent", "~/absent-weights", "a/b/c", "absent"])
def test_an_absent_folder_is_an_error_that_names_it_and_what_belongs_there(location):
    with pytest.raises(DataError, match=r"no folder '.*absent|no folder '/no/such|no folder 'a/b/c") as error:
        resolve(location)
    assert "config.json" in str(error.value)


def test_an_absent_pocket_checkpoint_is_an_error_that_names_its_folder():
    told = r"no weights are shipped as 'pocket/nothing-here' .*pocket/checkpoints/nothing-here.*suite=official"
    with pytest.raises(DataError, match=told):
        resolve("pocket/nothing-here")


@pytest.mark.parametrize("name", ["config.json", "model.safetensors"])
def test_a_folder_without_configuration_or_weights_is_an_error(clip_folder, tmp_path, name):
    copy = shutil.copytree(clip_folder, tmp_path / "copy")
    (copy / name).unlink()
    with pytest.raises(DataError, match=r"config.json' is missing|no weights in"):
        resolve(str(copy))


@pytest.mark.parametrize(
    ("failure", "advice"),
    [
        (errors.GatedRepoError, "accept its licence on https://huggingface.co/google/gemma-3-4b-it, .*hf auth login"),
        (errors.RepositoryNotFoundError, "check the name"),
        (errors.HFValidationError, "cannot be the name of a hub repository"),
        (errors.RevisionNotFoundError, "has no revision 'v9'"),
        (errors.LocalEntryNotFoundError, "hf download google/gemma-3-4b-it --revision v9.*suite=pocket"),
        (errors.OfflineModeIsEnabled, "hf download google/gemma-3-4b-it --revision v9"),
    ],
)
def test_a_repository_out_of_reach_is_an_error_that_says_what_to_do(monkeypatch, failure, advice):
    def refuse(*arguments, **options):
        raise failure.__new__(failure)

    monkeypatch.setattr("huggingface_hub.hf_hub_download", refuse)
    with pytest.raises(DataError, match=advice):
        resolve("google/gemma-3-4b-it", "v9")


def test_a_repository_is_pinned_to_the_commit_its_configuration_came_from(monkeypatch, tmp_path):
    commit = "0123456789abcdef0123456789abcdef01234567"
    cached = tmp_path / "snapshots" / commit / "config.json"
    monkeypatch.setattr("huggingface_hub.hf_hub_download", lambda name, file, revision: str(cached))
    source = resolve("someone/some-model", "main")
    assert (source.path, source.commit, source.revision) == ("someone/some-model", commit, commit)


def test_offline_without_a_cached_copy_says_how_to_get_it(monkeypatch, tmp_path):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(DataError, match="hf download someone/some-model"):
        resolve("someone/some-model")


def test_weights_of_another_architecture_are_an_error_not_random_numbers(clip_folder, blip_folders, runtime):
    with pytest.raises(DataError, match=r"lacks .* weights|cannot load"):
        load_model(BlipForImageTextRetrieval, resolve(str(clip_folder)), runtime, "eager")
    with pytest.raises(DataError, match=r"lacks .* weights"):
        load_model(BlipForImageTextRetrieval, resolve(blip_folders["captioning"]), runtime, "eager")


def test_a_processor_without_pictures_is_an_error(clip_folder, tmp_path):
    copy = shutil.copytree(clip_folder, tmp_path / "copy")
    (copy / "processor_config.json").unlink()
    (copy / "tokenizer.json").unlink()
    with pytest.raises(DataError, match="processor"):
        load_processor(resolve(str(copy)))


def test_models_come_in_the_wanted_precision_and_in_eval_mode(clip_folder, runtime):
    for name in ("float32", "bfloat16"):
        model = load_model(AutoModel, resolve(str(clip_folder)), replace(runtime, dtype=name), "sdpa")
        assert {weights.dtype for weights in model.parameters()} == {torch_dtype(name)}
        assert not model.training


def test_an_unknown_precision_is_an_error_that_names_the_known():
    with pytest.raises(ConfigError, match=r"'float8'.*float32, bfloat16, float16"):
        torch_dtype("float8")


def test_values_that_are_not_finite_are_an_error_with_advice(runtime):
    assert finite(torch.ones(2, dtype=torch.bfloat16), "Chat", runtime).dtype == torch.float32
    with pytest.raises(ArgusError, match="use bfloat16 or float32"):
        finite(torch.tensor([1.0, torch.nan]), "Chat", replace(runtime, dtype="float16"))
    with pytest.raises(ArgusError, match="infinite values in float32"):
        finite(torch.tensor([1.0, torch.inf]), "Chat", runtime)


def test_quiet_loading_leaves_the_callers_settings_as_they_were():
    before = logging.get_verbosity(), logging.is_progress_bar_enabled()
    with pytest.raises(RuntimeError), quietly():
        raise RuntimeError
    assert (logging.get_verbosity(), logging.is_progress_bar_enabled()) == before


def test_loading_is_not_heavy_to_import():
    assert not {"torch", "transformers"} & set(vars(loading))


@pytest.mark.parametrize("model", ["clip", "blip/retrieval", "lxmert", "gemma", "qwen"])
def test_a_checkpoint_without_its_words_is_an_error_not_an_empty_tokenizer(tmp_path, model):
    copy = shutil.copytree(resolve(f"pocket/{model}", None).path, tmp_path / "copy")
    for name in ("tokenizer.json", "vocab.txt", "vocab.json", "merges.txt"):
        (copy / name).unlink(missing_ok=True)
    load = load_tokenizer if model == "lxmert" else load_processor
    with pytest.raises(DataError, match=r"knows no words|cannot load") as error:
        load(resolve(str(copy), None))
    assert str(copy) in str(error.value)
