"""What one sample costs: a short measurement, apart from the evaluation itself."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from typing import TYPE_CHECKING

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
BUDGET_S = 1.5  # a timing stops here, once it has its fewest repeats
PATIENCE_S = 15.0  # … or here, once it has three (or its fewest, if that is less)
FEWEST_CALLS = 10  # below, a 95th percentile says little
FEWEST_BATCHES = 1  # after one that warms up, and of many samples


@dataclass(frozen=True)
class ProbedCosts(Costs):
    """Costs, and over how many calls they were timed."""

    latency_repeats: int  # calls at batch 1 behind the percentiles
    batch_repeats: int  # calls at the profile's batch size behind the throughput


def probe(
    step: Step,
    samples: Sequence[Sample],
    batch_size: int,
    modules: Sequence[Module],
    device: str,
    warmup: int = 3,
    repeats: int = 20,
) -> ProbedCosts:
    """Return what one sample costs in `step`, with the samples in memory: no reading, no decoding.

    Calls at batch 1 go through the samples in turn. They are timed `repeats` times, but stop after 1.5 s once 10 are
    done, and after 15 s once 3 are; batches stop after 1.5 s. Give a step without a cache: samples come back.
    Raises DataError without samples, ConfigError for sizes below 1.
    """
    if not samples:
        raise DataError("no readable sample to measure costs with; check the data, or leave the probe out")
    if min(batch_size, repeats) < 1 or warmup < 0:
        raise ConfigError(f"batch_size {batch_size}, repeats {repeats}, warmup {warmup}: give 1, 1, 0 or more")
    singles = cycle([[sample] for sample in samples])
    batches = cycle([list(islice(cycle(samples), batch_size))])
    tensors = weights(modules)
    with torch.inference_mode():
        for _ in range(warmup):
            step(next(singles))
        latencies = _time(step, singles, device, FEWEST_CALLS, repeats)
        flops = count_flops(lambda: step([samples[0]]))
        activations = _peak_bytes(lambda: step(next(batches)), tensors, device)  # also warms the larger batch up
        durations = _time(step, batches, device, FEWEST_BATCHES, repeats)
    return ProbedCosts(
        latency_p50_ms=1e3 * float(np.percentile(latencies, 50)),
        latency_p95_ms=1e3 * float(np.percentile(latencies, 95)),
        throughput_per_s=batch_size * len(durations) / sum(durations),
        peak_memory_mb=(size_bytes(tensors) + activations) / MEBIBYTE,
        parameters=count(parameters(modules)),
        weights_mb=size_bytes(tensors) / MEBIBYTE,
        flops_per_sample=float(flops) or math.nan,  # none counted is not known, which is not none: E shows a gap
        latency_repeats=len(latencies),
        batch_repeats=len(durations),
    )


def _time(step: Step, batches: Iterator[list[Sample]], device: str, fewest: int, most: int) -> list[float]:
    """Return the seconds of each call."""
    seconds: list[float] = []
    while len(seconds) < most and not _enough(seconds, fewest):
        batch = next(batches)
        _synchronise(device)
        start = time.perf_counter()
        step(batch)
        _synchronise(device)
        seconds.append(time.perf_counter() - start)
    return seconds


def _enough(seconds: Sequence[float], fewest: int) -> bool:
    if sum(seconds) < BUDGET_S:
        return False
    return len(seconds) >= fewest or (len(seconds) >= 3 and sum(seconds) >= PATIENCE_S)


def _synchronise(device: str) -> None:
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
