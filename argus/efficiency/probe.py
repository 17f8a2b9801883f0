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


def probe(
    step: Step,
    samples: Sequence[Sample],
    timings: Sequence[Timing],
    modules: Sequence[Module],
    device: str,
    warmup: int = 3,
    repeats: int = 20,
) -> ProbedCosts:
    """Return what one sample costs in `step`; `samples` is one batch of the profile's size, in memory.

    Calls at batch 1 go through the samples in turn, and are timed `repeats` times, or fewer once 0.75 s have passed and
    10 are done, or 15 s and 3. One call with all samples tells memory and operations. The throughput is that of the
    evaluation itself, by `timings` of its batches. Give a step without a cache: repeated samples would hit it.
    Raises DataError without samples or timings, ConfigError for repeats below 1.
    """
    if not samples or not timings:
        raise DataError("no readable sample to measure costs with; check the data, or leave the probe out")
    if repeats < 1 or warmup < 0:
        raise ConfigError(f"repeats {repeats}, warmup {warmup}: give 1 or more, 0 or more")
    singles = cycle([[sample] for sample in samples])
    tensors = weights(modules)
    with torch.inference_mode():
        for _ in range(warmup):
            step(next(singles))
        latencies = _time(step, singles, device, FEWEST_CALLS, repeats)
        peaks: list[int] = []
        flops = count_flops(lambda: peaks.append(_peak_bytes(lambda: step(samples), tensors, device)))
    steady = timings[1:] or timings  # the first batch warms up
    return ProbedCosts(
        latency_p50_ms=1e3 * float(np.percentile(latencies, 50)),
        latency_p95_ms=1e3 * float(np.percentile(latencies, 95)),
        throughput_per_s=sum(timing.samples for timing in steady) / sum(timing.seconds for timing in steady),
        peak_memory_mb=(size_bytes(tensors) + peaks[0]) / MEBIBYTE,
        parameters=count(parameters(modules)),
        weights_mb=size_bytes(tensors) / MEBIBYTE,
        flops_per_sample=flops / len(samples) or math.nan,  # none counted is not known, which is not none
        latency_repeats=len(latencies),
        batch_repeats=len(steady),
    )


def timed(step: Step, device: str, timings: list[Timing]) -> Step:
    """Return the step with the time of each call added to `timings`, the device synchronised before and after."""

    def run(batch: Sequence[Sample]) -> list[Any]:
        synchronise(device)
        start = time.perf_counter()
        outputs = step(batch)
        synchronise(device)
        timings.append(Timing(len(batch), time.perf_counter() - start))
        return outputs

    return run


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
