"""Floating-point operations of one call, by torch's counter (a multiply and an add are two)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils.flop_counter import FlopCounterMode


def count_flops(call: Callable[[], object]) -> int:
    """Return the operations of the matrix products, convolutions and attentions that the call runs.

    Run it on the eager model: the counter does not see into a compiled one.
    """
    fast = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)  # it runs a whole layer as one operator, which counts as nothing
    try:
        with FlopCounterMode(display=False, custom_mapping=_MISSING) as counter:
            call()
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)
    return counter.get_total_flops()


def _attention(query: torch.Size, key: torch.Size, value: torch.Size, *args: Any, **kwargs: Any) -> int:
    """Return the operations of query·keyᵀ and of weights·value; shapes are (batch, heads, length, width)."""
    *outer, queries, width = query
    products = 1
    for length in outer:
        products *= length
    return 2 * products * queries * key[-2] * (width + value[-1])


# torch counts attention on CUDA only: without this, a CPU profile would show a transformer without its attention.
_MISSING: dict[Any, Any] = {torch.ops.aten._scaled_dot_product_flash_attention_for_cpu: _attention}
