from __future__ import annotations

import subprocess
import sys

import pytest

from argus.models.base import Chooser, Embedder, Generator, Matcher
from argus.tasks.captioning import Captioning
from argus.tasks.reasoning import Reasoning
from argus.tasks.retrieval import Retrieval
from argus.tasks.sense import why_not

ALL = ("retrieval", "captioning", "reasoning")


class Clip(Embedder): ...


class Blip(Embedder, Matcher, Generator, Chooser): ...


class Lxmert(Matcher, Chooser): ...


@pytest.mark.parametrize("modality", ["none", "image"])
@pytest.mark.parametrize("task", [Retrieval, Captioning, Reasoning])
@pytest.mark.parametrize("model", [Clip, Blip])
def test_clean_and_image_cells_make_sense_for_models_that_can_do_the_task(model, task, modality):
    assert why_not(task, model, modality, "", ALL) is None


def test_task_that_the_dataset_does_not_have_is_named():
    assert why_not(Captioning, Blip, "none", "", ("reasoning",)) == "the dataset offers reasoning, not captioning"


def test_what_a_model_lacks_for_a_task_is_said_in_plain_words():
    reason = why_not(Captioning, Lxmert, "none", "", ALL)
    assert reason == "the model writes no text and embeds no pictures, so it cannot do captioning"


@pytest.mark.parametrize("modality", ["text", "both"])
def test_text_perturbation_of_captioning_needs_a_prompt_that_is_read(modality):
    assert why_not(Captioning, Blip, modality, "a picture of", ALL) is None
    assert "reads no prompt" in (why_not(Captioning, Blip, modality, "", ALL) or "")
    assert "bank" in (why_not(Captioning, Clip, modality, "a picture of", ALL) or "")


@pytest.mark.parametrize("task", [Retrieval, Reasoning])
def test_text_perturbation_of_other_tasks_makes_sense(task):
    assert why_not(task, Clip, "text", "", ALL) is None


def test_planning_loads_no_heavy_library():
    code = "import argus.tasks.sense, sys; print([m for m in ('torch', 'transformers', 'mlflow') if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
