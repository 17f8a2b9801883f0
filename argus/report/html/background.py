"""What a report says beside the analysis: where the sweep came from, and pictures of what broke."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from argus.report.html.parts import Picture
from argus.scoring.records import Value


@dataclass(frozen=True)
class Deployment:
    """What it takes to do all tasks of a sweep that a model can do."""

    model: str
    tasks: tuple[str, ...]
    lacking: tuple[str, ...]  # tasks of the sweep that it has no cell of
    parameters: Value  # of the weights of all its tasks; those that two tasks share count once


@dataclass(frozen=True)
class Background:
    """Facts about a sweep; a text is "" where its cells are too old to have kept it."""

    sweep_id: str
    started: str  # date and time, UTC
    command: str  # what was typed after python -m argus.run
    suite: str
    seed: str
    version: str  # of Argus, that wrote the report
    checkpoints: Mapping[str, str]  # by model, and role where it has several: path or repository, with its revision
    deployments: tuple[Deployment, ...]  # by model
    prompts: Mapping[str, Mapping[str, str]]  # by model and task, of models that are prompted
    devices: Mapping[str, str]  # by hardware profile: the machine that it ran on
    pictures: tuple[Picture, ...]  # the worst drops
    pictures_gap: str  # why there is none, or not all; "" where all is well
