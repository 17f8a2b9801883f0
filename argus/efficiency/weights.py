"""Counting weights, those that several modules share once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Module


def parameters(modules: Sequence[Module]) -> list[Tensor]:
    """Return the distinct parameters of the modules."""
    return _distinct(parameter for module in modules for parameter in module.parameters())


def weights(modules: Sequence[Module]) -> list[Tensor]:
    """Return the distinct parameters and buffers of the modules."""
    return _distinct(tensor for module in modules for tensor in chain(module.parameters(), module.buffers()))


def parameters_by_part(parts: Mapping[str, Sequence[Module]]) -> dict[str, int]:
    """Return how many parameters each part of a model has; one without modules runs elsewhere and is left out."""
    return {name: count(parameters(modules)) for name, modules in parts.items() if modules}


def count(tensors: Sequence[Tensor]) -> int:
    """Return the number of elements."""
    return sum(tensor.numel() for tensor in tensors)


def size_bytes(tensors: Sequence[Tensor]) -> int:
    """Return the bytes of the elements."""
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def _distinct(tensors: Iterable[Tensor]) -> list[Tensor]:
    # By place in memory, not by object: tied weights are often two views of one tensor.
    return list({(t.data_ptr(), t.numel(), t.dtype): t for t in tensors if t.numel()}.values())
