"""The shared vocabulary: what moves through Argus, as frozen records. Imports nothing of ours."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image

Box = tuple[float, float, float, float]
"""Left, top, right, bottom, in pixels of the upright image."""


@dataclass(frozen=True)
class Mark:
    """A named box that is drawn on the picture, for models that take no boxes."""

    label: str
    box: Box


@dataclass(frozen=True)
class ImageSource:
    """Where a picture lies, and what is done to it before anybody sees it."""

    path: Path
    crop: Box | None = None
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True)
class Caption:
    """A sentence that describes a picture; `id` is unique within its dataset."""

    id: str
    text: str


@dataclass(frozen=True)
class Question:
    """A question with its choices; `target` is the index of the right one.

    `kind` groups questions in reports ("count", "Q->A"). Questions that share a non-empty `group` are one joint
    question, right only when all of them are (VCR's Q->AR).
    """

    id: str
    text: str
    choices: tuple[str, ...]
    target: int
    kind: str
    group: str = ""


@dataclass(frozen=True)
class Entry:
    """One picture of a dataset with its texts, the picture not yet read from disk."""

    id: str
    source: ImageSource
    captions: tuple[Caption, ...] = ()
    questions: tuple[Question, ...] = ()


@dataclass(frozen=True)
class Sample:
    """An entry whose picture is in memory: upright RGB, at its own size."""

    id: str
    image: Image
    captions: tuple[Caption, ...] = ()
    questions: tuple[Question, ...] = ()


@dataclass(frozen=True)
class Failure:
    """A sample that could not be read, and why."""

    id: str
    reason: str


@dataclass(frozen=True)
class RankPrediction:
    """Where the best right answer of one retrieval query came; rank 1 is first, ties count against the model."""

    id: str
    image_id: str
    direction: str  # "image_to_text" or "text_to_image"
    rank: int
    candidates: int
    top: str  # id of the candidate that came first
    score: float  # of the best right answer


@dataclass(frozen=True)
class CaptionPrediction:
    """A caption that a model wrote (or picked) for an image, with the references it is compared with."""

    id: str
    image_id: str
    text: str
    references: tuple[str, ...]


@dataclass(frozen=True)
class ChoicePrediction:
    """A model's score for each choice of a question; `predicted` is the index of the highest."""

    id: str
    image_id: str
    kind: str
    group: str
    scores: tuple[float, ...]
    predicted: int
    target: int


Prediction = RankPrediction | CaptionPrediction | ChoicePrediction


@dataclass(frozen=True)
class Costs:
    """What one sample costs on one device, measured. NaN where the device cannot tell."""

    latency_p50_ms: float  # batch 1, warmed up, synchronised
    latency_p95_ms: float
    throughput_per_s: float  # at the profile's batch size
    peak_memory_mb: float  # weights plus the most that lived at once beside them, 2**20 bytes
    parameters: float  # how many
    weights_mb: float
    flops_per_sample: float


LOAD = "load_per_core"
"""Metric of a cell whose costs were measured: how many processes wanted each core in the minute before its end."""


@dataclass(frozen=True)
class CellKey:
    """Which cell: everything that a user can vary and a score depends on."""

    model: str
    dataset: str
    task: str
    perturbation: str
    modality: str  # what the perturbation changes: "image", "text", "both" or "none"
    severity: int
    hardware: str


@dataclass(frozen=True)
class CellResult:
    """What the tracking store keeps of one cell."""

    key: CellKey
    status: str  # "FINISHED", "FAILED", "KILLED" or "MISSING"
    run_id: str
    score: float | None  # None unless FINISHED
    samples: int  # that the score stands over
    failed: tuple[str, ...]  # ids of samples that could not be read
    metrics: dict[str, float]
    costs: dict[str, float]  # by the names of Costs; empty where not probed
    references: dict[str, float]  # by the names of Costs: the cost that scores 0.5
    reason: str = ""  # why it failed
    family: str = ""  # of the perturbation: "noise", "typing", …; "" where it was not recorded


@dataclass(frozen=True)
class DroppedCell:
    """A cell that makes no sense, and why."""

    key: CellKey
    reason: str
