"""Hand-made work for tasks: an image is one pixel of a known red, so that a test's model can look its scores up."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from argus.records import Caption, Entry, ImageSource, Question, Sample
from argus.tasks.base import Step, Work


class PlainLoop:
    """Runs a step over the samples that can be read, in batches; `runs` counts the samples it was given."""

    def __init__(self, samples: Sequence[Sample], batch_size: int) -> None:
        self.samples = samples
        self.batch_size = batch_size
        self.runs = 0

    def __call__(self, step: Step) -> list[Any]:
        outputs = []
        for start in range(0, len(self.samples), self.batch_size):
            batch = self.samples[start : start + self.batch_size]
            self.runs += len(batch)
            outputs += step(batch)
        return outputs


@pytest.fixture
def make_work() -> Callable[..., Work]:
    """Return a function from texts by image id to Work; the n-th image is a pixel of red n."""

    def make(
        captions: Mapping[str, Sequence[str]] | None = None,
        questions: Mapping[str, Sequence[Question]] | None = None,
        *,
        batch_size: int = 2,
        unreadable: Sequence[str] = (),
        perturb: Callable[[str], str] = str,
        perturb_prompt: Callable[[str, str], str] = lambda prompt, sample_id: prompt,
    ) -> Work:
        captions, questions = captions or {}, questions or {}
        ids = list(captions or questions)
        clean, seen, samples = [], [], []
        for number, image_id in enumerate(ids):
            own = [Caption(f"{image_id}#{n}", text) for n, text in enumerate(captions.get(image_id, ()))]
            changed = tuple(Caption(caption.id, perturb(caption.text)) for caption in own)
            asked = tuple(questions.get(image_id, ()))
            source = ImageSource(Path(image_id))  # never opened here
            clean.append(Entry(image_id, source, tuple(own), asked))
            seen.append(Entry(image_id, source, changed, asked))
            if image_id not in unreadable:
                samples.append(Sample(image_id, Image.new("RGB", (1, 1), (number, 0, 0)), changed, asked))
        return Work(tuple(clean), tuple(seen), PlainLoop(samples, batch_size), perturb_prompt)

    return make
