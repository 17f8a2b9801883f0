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
    """A step whose batches are watched while the evaluation runs, so that measuring costs little of its own.

    The first batch warms up, the second tells the memory, the third goes sample by sample (one counts operations, the
    others are timed), the full ones after it are timed. Outputs are those of the step.
    """

    def __init__(self, step: Step, modules: Sequence[Module], device: str) -> None:
        self.step, self.modules, self.device = step, tuple(modules), device
        self.tensors = weights(modules)
        self.full = 0  # samples of a full batch
        self.peak_bytes: int | None = None
        self.flops: int | None = None
        self.latencies: list[float] = []  # seconds of calls at batch 1
        self.timings: list[Timing] = []

    def __call__(self, batch: Sequence[Sample]) -> list[Any]:
        if not self.full:
            self.full = len(batch)
            return self.step(batch)
        if self.peak_bytes is None:
            return self.weigh(batch)
        if self.flops is None:
            return self.singly(batch)
        return self.time(batch) if len(batch) == self.full else self.step(batch)

    def weigh(self, batch: Sequence[Sample]) -> list[Any]:
        """Run the step on a batch and note the most bytes that lived at once, the weights aside."""
        outputs: list[Any] = []
        self.peak_bytes = _peak_bytes(lambda: outputs.extend(self.step(batch)), self.tensors, self.device)
        return outputs

    def singly(self, batch: Sequence[Sample]) -> list[Any]:
        """Run the step on each sample by itself: on the first to count its operations, on the others to time them.

        Once that was enough, the rest goes together.
        """
        outputs, rest = self.count(batch[0]), list(batch[1:])
        while rest and not _enough(self.latencies, len(batch)):
            outputs.extend(self.call(rest.pop(0)))
        return outputs + self.step(rest) if rest else outputs

    def count(self, sample: Sample) -> list[Any]:
        """Run the step on one sample and note its operations; the counter slows it down."""
        outputs: list[Any] = []
        self.flops = count_flops(lambda: outputs.extend(self.step([sample])))
        return outputs

    def call(self, sample: Sample) -> list[Any]:
        """Run the step on one sample and note how long it took."""
        outputs, seconds = self._timed([sample])
        self.latencies.append(seconds)
        return outputs

    def time(self, batch: Sequence[Sample]) -> list[Any]:
        """Run the step on a batch and note how long it took."""
        outputs, seconds = self._timed(batch)
        self.timings.append(Timing(len(batch), seconds))
        return outputs

    def _timed(self, batch: Sequence[Sample]) -> tuple[list[Any], float]:
        synchronise(self.device)
        start = time.perf_counter()
        outputs = self.step(batch)
        synchronise(self.device)
        return outputs, time.perf_counter() - start


def probe(meter: Meter, samples: Sequence[Sample], warmup: int = 1, repeats: int = 20) -> ProbedCosts:
    """Return what one sample costs, once the evaluation has run through `meter`; `samples` is one batch, in memory.

    What the evaluation was too short for is done now. More calls at batch 1, after `warmup` that are not timed, go
    through the samples in turn until `repeats` are timed, or fewer once 0.75 s have passed and 10 are done, or 15 s and
    3. Give a step without a cache: repeated samples would hit it.

    Raises DataError without samples, ConfigError for repeats below 1.
    """
    if not samples:
        raise DataError("no readable sample to measure costs with; check the data, or leave the probe out")
    if repeats < 1 or warmup < 0:
        raise ConfigError(f"repeats {repeats}, warmup {warmup}: give 1 or more, 0 or more")
    with torch.inference_mode():
        if meter.peak_bytes is None:
            meter.weigh(samples)
        if meter.flops is None:
            meter.count(samples[0])
        if not meter.timings:
            meter.time(samples)
        _call(meter, cycle(samples), warmup, repeats)
    return _costs(meter)


def _call(meter: Meter, samples: Iterator[Sample], warmup: int, repeats: int) -> None:
    """Go on timing calls at batch 1 until there are enough."""
    if _enough(meter.latencies, repeats):
        return
    for _ in range(warmup):
        meter.step([next(samples)])
    while not _enough(meter.latencies, repeats):
        meter.call(next(samples))


def _enough(seconds: Sequence[float], repeats: int) -> bool:
    done, passed = len(seconds), sum(seconds)
    enough = (done >= FEWEST_CALLS and passed >= BUDGET_S) or (done >= 3 and passed >= PATIENCE_S)
    return done >= repeats or enough


def _costs(meter: Meter) -> ProbedCosts:
    weight_bytes, timings = size_bytes(meter.tensors), meter.timings
    assert meter.peak_bytes is not None
    return ProbedCosts(
        latency_p50_ms=1e3 * float(np.percentile(meter.latencies, 50)),
        latency_p95_ms=1e3 * float(np.percentile(meter.latencies, 95)),
        throughput_per_s=sum(timing.samples for timing in timings) / sum(timing.seconds for timing in timings),
        peak_memory_mb=_seen(meter, (weight_bytes + meter.peak_bytes) / MEBIBYTE),
        parameters=_seen(meter, count(parameters(meter.modules))),
        weights_mb=_seen(meter, weight_bytes / MEBIBYTE),
        flops_per_sample=meter.flops or math.nan,  # none counted is not known, which is not none
        latency_repeats=len(meter.latencies),
        batch_repeats=len(timings),
    )


def _seen(meter: Meter, cost: float) -> float:
    """Return the cost, or NaN for a model without modules: it runs behind a server, where only its time can be seen."""
    return cost if meter.modules else math.nan


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
