"""What one sample costs: a short measurement, apart from the evaluation itself."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from argus.efficiency.flops import count_flops
from argus.efficiency.memory import LiveTensors
from argus.efficiency.weights import count, parameters, size_bytes, weights
from argus.errors import ConfigError, DataError
from argus.records import Costs, Sample

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Module

    from argus.tasks.base import Step

MEBIBYTE = 2**20
BUDGET_S = 0.75  # a timing stops here, once it has its fewest repeats
PATIENCE_S = 15.0  # … or here, once it has three
FEWEST_CALLS = 10  # below, a 95th percentile says little


@dataclass(frozen=True)
class Timing:
    """How long one batch of the evaluation took in the step: no reading, no decoding."""

    samples: int
    seconds: float


@dataclass(frozen=True)
class ProbedCosts(Costs):
    """Costs, and over how many calls they were timed."""

    latency_repeats: int  # calls at batch 1 behind the percentiles
    batch_repeats: int  # batches of the evaluation behind the throughput


class Meter:
    """A step whose batches are watched while the evaluation runs, so that measuring costs no batch of its own.

    The first batch warms up, the second tells the memory, those after it are timed; outputs are those of the step.
    """

    def __init__(self, step: Step, modules: Sequence[Module], device: str) -> None:
        self.step, self.modules, self.device = step, tuple(modules), device
        self.tensors = weights(modules)
        self.calls = 0
        self.peak_bytes: int | None = None
        self.timings: list[Timing] = []

    def __call__(self, batch: Sequence[Sample]) -> list[Any]:
        self.calls += 1
        if self.calls == 1:
            return self.step(batch)
        return self.weigh(batch) if self.peak_bytes is None else self.time(batch)

    def weigh(self, batch: Sequence[Sample]) -> list[Any]:
        """Run the step on a batch and note the most bytes that lived at once, the weights aside."""
        outputs: list[Any] = []
        self.peak_bytes = _peak_bytes(lambda: outputs.extend(self.step(batch)), self.tensors, self.device)
        return outputs

    def time(self, batch: Sequence[Sample]) -> list[Any]:
        """Run the step on a batch, the device synchronised before and after."""
        synchronise(self.device)
        start = time.perf_counter()
        outputs = self.step(batch)
        synchronise(self.device)
        self.timings.append(Timing(len(batch), time.perf_counter() - start))
        return outputs


def probe(meter: Meter, samples: Sequence[Sample], warmup: int = 1, repeats: int = 20) -> ProbedCosts:
    """Return what one sample costs, once the evaluation has run through `meter`; `samples` is one batch, in memory.

    Calls at batch 1 go through the samples in turn: one counts operations (the counter slows it down), `warmup` follow,
    and `repeats` are timed, or fewer once 0.75 s have passed and 10 are done, or 15 s and 3. All samples in one
    call are weighed or timed where the evaluation had too few batches for that. Give a step without a cache: repeated
    samples would hit it.

    Raises DataError without samples, ConfigError for repeats below 1.
    """
    if not samples:
        raise DataError("no readable sample to measure costs with; check the data, or leave the probe out")
    if repeats < 1 or warmup < 0:
        raise ConfigError(f"repeats {repeats}, warmup {warmup}: give 1 or more, 0 or more")
    singles = cycle([[sample] for sample in samples])
    with torch.inference_mode():
        flops = count_flops(lambda: meter.step(next(singles)))
        for _ in range(warmup):
            meter.step(next(singles))
        latencies = _time(meter.step, singles, meter.device, FEWEST_CALLS, repeats)
        if meter.peak_bytes is None:
            meter.weigh(samples)
        if not meter.timings:
            meter.time(samples)
    return _costs(flops, latencies, meter)


def _costs(flops: int, latencies: Sequence[float], meter: Meter) -> ProbedCosts:
    weight_bytes, timings = size_bytes(meter.tensors), meter.timings
    assert meter.peak_bytes is not None
    return ProbedCosts(
        latency_p50_ms=1e3 * float(np.percentile(latencies, 50)),
        latency_p95_ms=1e3 * float(np.percentile(latencies, 95)),
        throughput_per_s=sum(timing.samples for timing in timings) / sum(timing.seconds for timing in timings),
        peak_memory_mb=(weight_bytes + meter.peak_bytes) / MEBIBYTE,
        parameters=count(parameters(meter.modules)),
        weights_mb=weight_bytes / MEBIBYTE,
        flops_per_sample=flops or math.nan,  # none counted is not known, which is not none
        latency_repeats=len(latencies),
        batch_repeats=len(timings),
    )


def _time(step: Step, batches: Iterator[list[Sample]], device: str, fewest: int, most: int) -> list[float]:
    """Return the seconds of each call."""
    seconds: list[float] = []
    while len(seconds) < most and not _enough(seconds, fewest):
        batch = next(batches)
        synchronise(device)
        start = time.perf_counter()
        step(batch)
        synchronise(device)
        seconds.append(time.perf_counter() - start)
    return seconds


def _enough(seconds: Sequence[float], fewest: int) -> bool:
    if sum(seconds) < BUDGET_S:
        return False
    return len(seconds) >= fewest or (len(seconds) >= 3 and sum(seconds) >= PATIENCE_S)


def synchronise(device: str) -> None:
    """Wait until the device has done what it was given."""
    if torch.device(device).type == "cuda":
        torch.cuda.synchronize(device)


def _peak_bytes(call: Callable[[], object], tensors: Sequence[Tensor], device: str) -> int:
    """Return the most bytes that lived at once during the call, beside what lived before it."""
    if torch.device(device).type == "cuda":
        torch.cuda.synchronize(device)
        torch.cuda.reset_peak_memory_stats(device)
        before = torch.cuda.memory_allocated(device)
        call()
        torch.cuda.synchronize(device)
        return torch.cuda.max_memory_allocated(device) - before
    with LiveTensors(ignored=tensors) as live:
        call()
    return live.peak_bytes
