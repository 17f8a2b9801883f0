"""What scoring hands to the report: figures that are either a number or a named gap."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import NamedTuple

import numpy as np

AXES = ("P", "CDC", "RR", "E")
CLEAN = "clean"
NOTHING = 1e-9  # less than one hit in any test set: a score below it counts as 0 and divides nothing


class Slot(NamedTuple):
    """A cell without its model and hardware: what two models must share to be compared on it."""

    dataset: str
    task: str
    perturbation: str
    modality: str
    severity: int

    @property
    def baseline(self) -> Slot:
        """The clean cell that this one is held against."""
        return Slot(self.dataset, self.task, CLEAN, "none", 0)

    def __str__(self) -> str:
        suffix = "" if self.perturbation == CLEAN else f"-{self.severity}"
        return f"{self.dataset}/{self.task}/{self.perturbation}{suffix}"


@dataclass(frozen=True)
class Value:
    """A figure, or the reason why there is none; never both, never neither, never NaN."""

    value: float | None
    over: str  # what it stands over: "9 of 12 clean cells"
    gap: str = ""  # why there is no value
    notes: tuple[str, ...] = ()  # what a reader of this figure should know
    interval: tuple[float, float] | None = None  # 95 %, holding the value; None where unknown
    draws: np.ndarray | None = field(default=None, repr=False, compare=False)  # the value in each resample

    def __post_init__(self) -> None:
        if (self.value is None) != bool(self.gap):
            raise ValueError(f"a figure has either a value or a gap, not {self.value!r} and {self.gap!r}")
        if self.value is not None and not math.isfinite(self.value):
            raise ValueError(f"{self.value!r} is no figure")


@dataclass(frozen=True)
class Vector:
    """A(M) and the overall score."""

    P: Value
    CDC: Value
    RR: Value  # uncapped: above 1 where a perturbation helped
    E: Value
    overall: Value

    def figures(self) -> dict[str, Value]:
        """Return the five figures by name, in the order in which they are shown."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


@dataclass(frozen=True)
class Ratio:
    """What one perturbation leaves of the clean score (1 = all of it)."""

    perturbation: str
    modality: str
    ratio: Value  # mean over severities
    by_severity: Mapping[int, Value]


@dataclass(frozen=True)
class FamilyRatio:
    """What the perturbations of one family leave of the clean score: the mean of their ratios."""

    family: str
    modality: str
    ratio: Value  # mean over its perturbations, each of which is a mean over its severities
    by_severity: Mapping[int, Value]  # mean over those of its perturbations that have the severity


@dataclass(frozen=True)
class Breakdown:
    """What A(M) is made of, part by part; a row that a model has no cell in is not there, or a gap."""

    by_dataset: Mapping[str, Value]  # mean clean scores
    by_task: Mapping[str, Value]
    by_perturbation: tuple[Ratio, ...]
    by_family: tuple[FamilyRatio, ...]
    by_modality: Mapping[str, Value]  # the means of ratios that RR is the mean of
    rr_by_task: Mapping[str, Value]  # RR over the cells of one task


@dataclass(frozen=True)
class Absent:
    """A cell that a model's figures stand without, and why."""

    slot: Slot
    reason: str


@dataclass(frozen=True)
class WeakScore:
    """A clean score that a rule without pictures gets too, and what that means, in a sentence."""

    slot: Slot
    reason: str

    def __str__(self) -> str:
        return f"{self.slot}: {self.reason}"


@dataclass(frozen=True)
class Scorecard:
    """Everything that is said about one model on one hardware profile."""

    name: str  # the model; "model on hardware" where several profiles are compared
    model: str
    hardware: str
    own: Vector  # over the cells that the model has
    common: Vector  # over the cells that all compared models have; ranks come from here
    coverage: str  # "9 of 12 cells", clean and perturbed
    common_coverage: str  # the same of the common cells
    own_by: Breakdown  # over the cells that the model has
    shared_by: Breakdown  # each row over the cells that all models with any cell in it share: what compares
    missing: tuple[Absent, ...]  # failed, killed, never run or unusable
    dropped: tuple[Absent, ...]  # make no sense for this model
    little_to_lose: tuple[WeakScore, ...]  # where a perturbation has little to take
    notes: tuple[str, ...]
