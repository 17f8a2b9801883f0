"""Cells to score, built by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from argus.records import CellKey, CellResult
from argus.scoring.resampling import Bootstrap
from argus.scoring.scheme import Formulas, Scheme, Weights

COSTS = {"latency_p50_ms": 10.0, "throughput_per_s": 50.0}
REFERENCES = {"latency_p50_ms": 10.0, "throughput_per_s": 50.0}


def cell(
    model: str,
    dataset: str,
    task: str,
    score: float | None,
    perturbation: str = "clean",
    severity: int = 0,
    modality: str = "none",
    status: str = "FINISHED",
    samples: int = 100,
    failed: tuple[str, ...] = (),
    costs: dict[str, float] = COSTS,
    references: dict[str, float] = REFERENCES,
    hardware: str = "cpu",
    reason: str = "",
    family: str = "",
) -> CellResult:
    key = CellKey(model, dataset, task, perturbation, modality, severity, hardware)
    run_id = f"{model}-{dataset}-{task}-{perturbation}-{severity}"
    return CellResult(key, status, run_id, score, samples, failed, {}, costs, references, reason, family)


def scheme(
    weights: Weights = Weights(1, 1, 1, 1),  # noqa: B008 - frozen
    cdc: str = "population",
    efficiency: str = "reference",
    overall: str = "arithmetic",
    costs: tuple[str, ...] = ("latency_p50_ms", "throughput_per_s"),
    bootstrap: Bootstrap = Bootstrap(0, 0),  # noqa: B008 - frozen
) -> Scheme:
    return Scheme("test", weights, Formulas(cdc, efficiency, costs, overall), bootstrap)


@pytest.fixture(scope="session")
def make_cell() -> Callable[..., CellResult]:
    return cell


@pytest.fixture(scope="session")
def make_scheme() -> Callable[..., Scheme]:
    return scheme
