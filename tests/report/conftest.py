"""Reports of small sweeps, built by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from argus.records import CellKey, CellResult, DroppedCell
from argus.report.html.background import Background
from argus.report.html.page import page
from argus.report.html.parts import Picture
from argus.scoring.analysis import Analysis, analyse
from argus.scoring.breakage import Breakage
from argus.scoring.drawn import value_of
from argus.scoring.resampling import Bootstrap, Resamples
from argus.scoring.scheme import Formulas, Scheme, Weights
from argus.scoring.vector import compare, scorecards
from argus.seeding import rng_for

COSTS = {
    "latency_p50_ms": 10.0,
    "latency_p95_ms": 12.0,
    "throughput_per_s": 50.0,
    "peak_memory_mb": 20.0,
    "parameters": 1.5e6,
    "flops_per_sample": 1e9,
}
SOURCE = "data:image/webp;base64,UklGRg=="
KINDS = {"accuracy": 0.5, "accuracy_count": 0.4, "accuracy_exist": 0.6, "chance": 0.25, "accuracy_chance_adjusted": 0.3}
SCHEME = Scheme(
    "equal", Weights(1, 1, 1, 1), Formulas("population", "reference", tuple(COSTS), "arithmetic"), Bootstrap(200, 0)
)


def cell(
    model: str,
    dataset: str,
    task: str,
    score: float | None,
    perturbation: str = "clean",
    severity: int = 0,
    status: str = "FINISHED",
    hardware: str = "cpu",
    reason: str = "",
) -> CellResult:
    modality = {"clean": "none", "typo": "text"}.get(perturbation, "image")
    key = CellKey(model, dataset, task, perturbation, modality, severity, hardware)
    run_id = f"{model}-{dataset}-{task}-{perturbation}-{severity}-{hardware}"
    metrics = KINDS if task == "reasoning" else {}
    costs = COSTS if perturbation == "clean" else {}
    return CellResult(key, status, run_id, score, 100, (), metrics, costs, COSTS, reason, f"family of {perturbation}")


def sweep(
    models: Iterable[str] = ("clip", "gemma"), changes: Iterable[str] = ("blur", "typo"), hardware: str = "cpu"
) -> list[CellResult]:
    """Return cells of models on two data sets: each is more capable than the last, and less robust."""
    cells = []
    for place, model in enumerate(models):
        for dataset, task, clean in (("coco", "retrieval", 0.5), ("clevr", "reasoning", 0.4)):
            better = clean + 0.1 * place
            cells.append(cell(model, dataset, task, better, hardware=hardware))
            for change in changes:
                for severity in (1, 5):
                    left = better * (1 - 0.1 * severity / 5 * (1 + place))
                    cells.append(cell(model, dataset, task, left, change, severity, hardware=hardware))
    return cells


def resampled(cells: Iterable[CellResult]) -> Resamples:
    known = [one for one in cells if one.score is not None]
    scores = {
        one.run_id: np.clip(one.score + rng_for(0, one.run_id).normal(0, 0.02, 200), 0, 1)
        for one in known
        if one.score is not None
    }
    costs = {one.run_id: {name: np.full(200, cost) for name, cost in one.costs.items()} for one in known}
    return Resamples(200, scores, costs)


def analysed(
    cells: list[CellResult], dropped: Iterable[DroppedCell] = (), resamples: Resamples | None = None
) -> Analysis:
    def never(clean: CellResult, perturbed: CellResult) -> None:
        raise AssertionError("the samples are the same")

    comparison = compare(cells, SCHEME, never, tuple(dropped), resampled(cells) if resamples is None else resamples)
    broken = [
        Breakage(
            comparison.name(name),
            slot,
            100,
            {
                "destructive": value_of(np.linspace(0.1, 0.2, 201), ""),
                "corrective": value_of(0.05, ""),
                "agreement": value_of(0.8, ""),
            },
        )
        for name, mine in comparison.cells.items()
        for slot, one in mine.items()
        if slot.perturbation != "clean" and one.score is not None
    ]
    return analyse(comparison, scorecards(comparison, SCHEME), SCHEME, broken, {})


BACKGROUND = Background(
    sweep_id="0123abcd",
    started="2026-01-02 03:04 UTC",
    command="model=clip,gemma perturbation=blur,typo",
    suite="pocket",
    seed="0",
    version="0.1.0",
    checkpoints={"clip": "pocket/clip at revision sha256:0", "gemma": "pocket/gemma"},
    deployments=(),
    prompts={},
    devices={"cpu": "x86_64, 2 threads"},
    pictures=(
        Picture("clip, coco retrieval, blur 5", SOURCE, 480, 240, "A picture of coco twice.", (("asked", "a dog"),)),
    ),
    pictures_gap="",
)


class Page(HTMLParser):
    """What a page holds; raises where an element is closed that is not the last one opened."""

    VOID = ("meta", "img", "link", "br")

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.words: list[str] = []
        self.scripts: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, f"</{tag}> closes nothing"

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("script", "style"):
            self.scripts.append(data)
        else:
            self.words.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def read(analysis: Analysis, background: Background = BACKGROUND) -> Page:
    return Page(page(analysis, background))


@pytest.fixture(scope="session")
def small() -> Analysis:
    """Two models, two data sets, two perturbations."""
    return analysed(sweep())


@pytest.fixture(scope="session")
def gaps() -> Analysis:
    """Three models; one failed a clean cell, another reads no text."""
    cells = [
        one for one in sweep(("clip", "gemma", "blip")) if (one.key.model, one.key.perturbation) != ("blip", "typo")
    ]
    dropped = [DroppedCell(one.key, "reads no text") for one in sweep(("blip",)) if one.key.perturbation == "typo"]
    failed = [
        replace(one, status="FAILED", score=None, reason="out of memory")
        if (one.key.model, one.key.dataset, one.key.perturbation) == ("gemma", "clevr", "clean")
        else one
        for one in cells
    ]
    return analysed(failed, dropped)


@pytest.fixture(scope="session")
def make_report() -> Callable[..., Page]:
    return read


@pytest.fixture(scope="session")
def make_analysis() -> Callable[..., Analysis]:
    return analysed


@pytest.fixture(scope="session")
def make_sweep() -> Callable[..., list[CellResult]]:
    return sweep


@pytest.fixture(scope="session")
def background() -> Background:
    return BACKGROUND
