from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
import torch
from PIL import Image
from torch.nn.functional import scaled_dot_product_attention

from argus.efficiency.flops import count_flops
from argus.efficiency.memory import LiveTensors
from argus.efficiency.probe import BUDGET_S, MEBIBYTE, Meter, Timing, _enough, probe
from argus.efficiency.weights import count, parameters, size_bytes, weights
from argus.errors import ConfigError, DataError
from argus.records import Sample


def pictures(number: int) -> list[Sample]:
    return [Sample(str(index), Image.new("RGB", (2, 2))) for index in range(number)]


class Layer:
    """A step that runs one linear layer, 256 -> 1024, on a row per sample; keeps the batches that it saw."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.module = torch.nn.Linear(256, 1024)
        self.seconds = seconds
        self.batches: list[list[str]] = []

    def __call__(self, batch: Sequence[Sample]) -> list[int]:
        self.batches.append([sample.id for sample in batch])
        if self.seconds:
            torch.randn(1)
            _sleep(self.seconds * len(batch))
        self.module(torch.ones(len(batch), 256))
        return [0] * len(batch)


def metered(layer: Layer, sizes: Sequence[int] = ()) -> Meter:
    """Return a meter through which batches of these sizes have gone."""
    meter = Meter(layer, [layer.module], "cpu")
    for size in sizes:
        meter(pictures(size))
    return meter


def _sleep(seconds: float) -> None:
    import time

    time.sleep(seconds)


def test_costs_are_those_of_the_layer():
    meter = metered(Layer(seconds=0.01), [8, 8, 8, 8, 8, 4])
    costs = probe(meter, pictures(8), warmup=1, repeats=12)
    assert costs.parameters == 256 * 1024 + 1024
    assert costs.weights_mb == pytest.approx(4 * (256 * 1024 + 1024) / MEBIBYTE)
    assert costs.flops_per_sample == 2 * 256 * 1024
    # of the second batch, 8 rows in and 8 rows out live beside the weights
    assert costs.peak_memory_mb == pytest.approx(costs.weights_mb + 8 * (256 + 1024) * 4 / MEBIBYTE)
    assert 10 <= costs.latency_p50_ms <= costs.latency_p95_ms < 100
    assert costs.latency_repeats == 12  # seven in the third batch, five afterwards
    assert costs.batch_repeats == 2
    assert 50 < costs.throughput_per_s <= 100


def test_throughput_is_samples_by_seconds_of_the_timed_batches():
    meter = metered(Layer(), [8, 8, 8])
    meter.timings.extend([Timing(8, 0.125), Timing(12, 0.075)])
    assert probe(meter, pictures(8), warmup=0, repeats=1).throughput_per_s == 100


def test_warm_up_is_not_timed():
    class SlowStart(Layer):
        def __call__(self, batch: Sequence[Sample]) -> list[int]:
            self.seconds = 0.3 if len(self.batches) < 3 else 0.0
            return super().__call__(batch)

    costs = probe(metered(SlowStart()), pictures(1), warmup=2, repeats=10)
    assert costs.latency_p95_ms < 150


def test_slow_steps_stop_at_the_fewest_repeats_and_say_so():
    meter = metered(Layer(seconds=BUDGET_S / 8), [2, 2, 2, 2, 2])
    costs = probe(meter, pictures(2), warmup=0, repeats=20)
    assert (costs.latency_repeats, costs.batch_repeats) == (10, 2)


@pytest.mark.parametrize("sizes", [[], [4], [4, 4], [4, 4, 1], [4, 4, 4, 3]])
def test_an_evaluation_too_short_to_be_watched_is_made_up_for_with_the_samples(sizes):
    layer = Layer()
    costs = probe(metered(layer, sizes), pictures(2), warmup=0, repeats=1)
    assert costs.batch_repeats == 1  # a last batch that is not full says little of throughput
    assert costs.latency_repeats >= 1
    assert costs.flops_per_sample == 2 * 256 * 1024
    assert ["0", "1"] in layer.batches


def test_a_watched_step_gives_the_same_outputs_and_sees_each_sample_once():
    layer = Layer(seconds=0.01)
    meter = metered(layer)
    assert [meter(pictures(size)) for size in (3, 3, 3, 3, 1)] == [[0, 0, 0]] * 4 + [[0]]
    assert [len(batch) for batch in layer.batches] == [3, 3, 1, 1, 1, 3, 1]
    assert layer.batches[2:5] == [["0"], ["1"], ["2"]]
    assert [timing.samples for timing in meter.timings] == [3]
    assert meter.timings[0].seconds >= 0.03
    assert len(meter.latencies) == 2


def test_slow_samples_go_together_once_enough_were_timed():
    layer = Layer(seconds=BUDGET_S / 8)
    metered(layer, [20] * 2)(pictures(20))
    assert [len(batch) for batch in layer.batches] == [20, 20, *[1] * 11, 9]


@pytest.mark.parametrize(
    ("seconds", "stops_after"),
    [(0.03125, 24), (0.2, 10), (2.0, 8), (4.0, 4), (60.0, 3)],  # 0.75 s and ten calls; 15 s and three
)
def test_timing_stops_by_the_stated_rule(seconds, stops_after):
    done = next(n for n in range(1, 1000) if _enough([seconds] * n, repeats=1000))
    assert done == stops_after


def test_calls_at_batch_one_go_through_the_samples():
    layer = Layer()
    probe(metered(layer, [3, 3]), pictures(3), warmup=2, repeats=10)
    assert layer.batches[2:8] == [["0"], ["0", "1", "2"], ["0"], ["1"], ["2"], ["0"]]
    assert len(layer.batches) == 2 + 1 + 1 + 2 + 10  # the evaluation's, one that counts, one full, warm-up, timed


def test_a_step_without_counted_operations_is_not_free():
    meter = Meter(lambda batch: [0] * len(batch), [torch.nn.Linear(2, 2)], "cpu")
    assert math.isnan(probe(meter, pictures(1), 0, 10).flops_per_sample)


def test_of_a_model_that_runs_elsewhere_the_time_is_known_and_nothing_else_is_free():
    costs = probe(Meter(lambda batch: [torch.zeros(9)] * len(batch), [], "cpu"), pictures(2), 0, 10)
    assert costs.latency_p50_ms > 0
    assert costs.throughput_per_s > 0
    unseen = (costs.peak_memory_mb, costs.parameters, costs.weights_mb, costs.flops_per_sample)
    assert all(math.isnan(cost) for cost in unseen)


def test_no_sample_and_impossible_sizes_are_refused():
    with pytest.raises(DataError, match="sample"):
        probe(metered(Layer()), [])
    with pytest.raises(ConfigError, match="repeats 0"):
        probe(metered(Layer()), pictures(1), repeats=0)


def test_shared_weights_count_once():
    first, second = torch.nn.Linear(8, 8, bias=False), torch.nn.Linear(8, 8, bias=False)
    second.weight = first.weight
    viewing = torch.nn.Linear(8, 8, bias=False)
    viewing.weight = torch.nn.Parameter(first.weight.data.view(8, 8))
    assert count(parameters([first, second, first, viewing])) == 64


def test_buffers_weigh_but_are_no_parameters():
    norm = torch.nn.BatchNorm1d(4)
    assert count(parameters([norm])) == 8
    assert size_bytes(weights([norm])) == 4 * (8 + 8) + 8  # two float32 buffers of 4, one int64 counter


@pytest.mark.parametrize("masked", [False, True])
def test_attention_counts_on_the_cpu_too(masked):
    query, key, value = torch.ones(2, 3, 5, 16), torch.ones(2, 3, 7, 16), torch.ones(2, 3, 7, 16)
    mask = torch.zeros(5, 7) if masked else None
    with torch.inference_mode():
        flops = count_flops(lambda: scaled_dot_product_attention(query, key, value, attn_mask=mask))
    assert flops == 2 * 2 * 3 * 5 * 7 * 16 * 2


def test_attention_counts_the_same_however_it_is_computed():
    query, key, value = (torch.ones(1, 2, 6, 8) for _ in range(3))
    with torch.inference_mode():
        fused = count_flops(lambda: scaled_dot_product_attention(query, key, value))
        plain = count_flops(lambda: (query @ key.transpose(-1, -2)).softmax(-1) @ value)
    assert fused == plain


def test_layers_with_a_fast_path_count_and_keep_it():
    layer = torch.nn.MultiheadAttention(64, 4, batch_first=True).eval()
    rows = torch.ones(2, 5, 64)
    with torch.inference_mode():
        flops = count_flops(lambda: layer(rows, rows, rows, need_weights=False))
    projections, attention = 4 * 2 * (2 * 5) * 64 * 64, 2 * 2 * 2 * 5 * 5 * 64
    assert flops == projections + attention
    assert torch.backends.mha.get_fastpath_enabled()


def test_peak_is_what_lived_at_once_not_the_sum():
    def chain() -> torch.Tensor:
        value = torch.ones(MEBIBYTE // 4)
        for _ in range(10):
            value = value + 1  # two live at a time
        return value

    with torch.inference_mode(), LiveTensors(ignored=[]) as live:
        chain()
    assert live.peak_bytes == 2 * MEBIBYTE
    assert live.live_bytes == 0


def test_views_share_memory_and_weights_are_not_activations():
    weight = torch.ones(MEBIBYTE // 4)
    with torch.inference_mode(), LiveTensors(ignored=[weight]) as live:
        view = weight.view(2, -1)
        doubled = view * 2
        doubled.t().reshape(-1)[:5]
    assert live.peak_bytes < 2.1 * MEBIBYTE  # `doubled` and the copy that reshape makes


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_cuda_memory_and_time_are_measured():
    module = torch.nn.Linear(256, 1024).cuda()

    def step(batch: Sequence[Sample]) -> list[int]:
        module(torch.ones(len(batch), 256, device="cuda"))
        return [0] * len(batch)

    costs = probe(Meter(step, [module], "cuda"), pictures(8))
    assert costs.peak_memory_mb > costs.weights_mb
    assert costs.latency_p50_ms > 0
