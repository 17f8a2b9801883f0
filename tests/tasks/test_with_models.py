"""The tasks with the real adapters on tiny random checkpoints: shapes, batches and costs, not what they know."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from PIL import Image

from argus.efficiency.probe import Meter, probe
from argus.models.base import Model, Runtime
from argus.models.blip import Blip
from argus.models.clip import Clip
from argus.records import ChoicePrediction, Question, RankPrediction, Sample
from argus.tasks.captioning import Captioning
from argus.tasks.reasoning import Reasoning
from argus.tasks.retrieval import Retrieval
from tests.models import tiny

CAPTIONS = {
    f"i{n}": [f"a {word} cube", f"this is {word}"] for n, word in enumerate(("red", "blue", "old", "new", "big"))
}
QUESTIONS = {
    image: [Question(f"{image} what", "What is this?", ("red", "blue", "cube"), number % 3, "colour")]
    for number, image in enumerate(CAPTIONS)
}


@pytest.fixture(scope="module", params=["clip", "blip"])
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Model:
    runtime = Runtime(device="cpu", dtype="float32", attention="sdpa")
    folder: Path = tmp_path_factory.mktemp(request.param)
    if request.param == "clip":
        return Clip(str(tiny.save_clip(folder)), None, "longest", runtime)
    heads = tiny.save_blip(folder)
    return Blip(heads, dict.fromkeys(heads), "", 1, 5, None, 16, runtime)


def with_pictures(work):
    """Give the samples pictures that differ in more than one pixel's red."""
    generator = torch.Generator().manual_seed(0)

    def picture(sample: Sample) -> Sample:
        noise = torch.randint(0, 255, (8, 9, 3), generator=generator, dtype=torch.uint8)
        return replace(sample, image=Image.fromarray(noise.numpy()))

    work.loop.samples = [picture(sample) for sample in work.loop.samples]
    return work


@pytest.mark.parametrize("rerank_top_k", [None, 2])
def test_retrieval_ranks_do_not_depend_on_the_batch_size(make_work, model, rerank_top_k):
    task = Retrieval(gallery_size=None, rerank_top_k=rerank_top_k)
    one, many = (task.predict(model, with_pictures(make_work(CAPTIONS, batch_size=size))) for size in (1, 32))
    assert len(one) == 5 + 10
    for first, second in zip(one, many, strict=True):
        assert isinstance(first, RankPrediction)
        assert replace(first, score=0.0) == replace(second, score=0.0)
        assert first.score == pytest.approx(second.score, abs=1e-4)
    assert 0 <= task.measure(one)["score"] <= 1


def test_captions_do_not_depend_on_the_batch_size(make_work, model):
    task = Captioning(1.5)
    one, many = (task.predict(model, with_pictures(make_work(CAPTIONS, batch_size=size))) for size in (1, 32))
    assert one == many
    assert 0 <= task.measure(one)["score"] <= 1


def test_answers_do_not_depend_on_the_batch_size(make_work, model):
    one, many = (
        Reasoning().predict(model, with_pictures(make_work(questions=QUESTIONS, batch_size=size))) for size in (1, 32)
    )
    for first, second in zip(one, many, strict=True):
        assert isinstance(first, ChoicePrediction)
        assert first.predicted == second.predicted
        assert first.scores == pytest.approx(second.scores, abs=1e-4)


@pytest.mark.parametrize("task", [Retrieval(None, 2), Captioning(1.5), Reasoning()], ids=lambda task: task.name)
def test_every_step_can_be_probed(make_work, model, task):
    work = with_pictures(make_work(CAPTIONS, QUESTIONS))
    meter = Meter(task.prepare(model, work), model.modules(task.name), "cpu")
    work.loop(meter)
    costs = probe(meter, work.loop.samples, warmup=1, repeats=10)
    assert costs.throughput_per_s > 0
    assert costs.flops_per_sample > costs.parameters  # every weight is used once or more, but for embeddings
    assert costs.peak_memory_mb > costs.weights_mb > 0
    assert costs.latency_p95_ms >= costs.latency_p50_ms > 0


@pytest.mark.parametrize("task", [Retrieval(None, 2), Captioning(1.5), Reasoning()], ids=lambda task: task.name)
def test_measuring_costs_does_not_change_an_output(make_work, model, task):
    work = with_pictures(make_work(CAPTIONS, QUESTIONS))
    step = task.prepare(model, work)
    meter = Meter(step, model.modules(task.name), "cpu")
    plain = task.collect(work.loop(step), work)
    for _ in range(3):  # warms up, weighs, times
        assert task.collect(work.loop(meter), work) == plain
    assert meter.peak_bytes is not None
    assert meter.timings
