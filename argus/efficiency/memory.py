"""How much the tensors of a computation take at once, on a CPU as well.

The resident size of the process would include the interpreter, the libraries and freed pages that the allocator keeps.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class LiveTensors(TorchDispatchMode):
    """While active, `peak_bytes` is the most that living tensors took at once, beside `ignored` (the weights).

    Sees what operators take and return; what a kernel allocates and frees inside itself stays unseen.
    """

    def __init__(self, ignored: Iterable[torch.Tensor]) -> None:
        super().__init__()
        self.live_bytes = 0
        self.peak_bytes = 0
        self._known: set[int] = set()  # ids of living storages
        self._ignored = {tensor.untyped_storage().data_ptr() for tensor in ignored}

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        self._watch((args, kwargs))
        result = func(*args, **(kwargs or {}))
        self._watch(result)
        return result

    def _watch(self, tree: Any) -> None:
        for leaf in tree_leaves(tree):
            if isinstance(leaf, torch.Tensor) and leaf.layout is torch.strided:
                self._add(leaf.untyped_storage())

    def _add(self, storage: torch.UntypedStorage) -> None:
        key = id(storage)  # torch keeps one Python object per storage for as long as the storage lives
        size = storage.nbytes()
        if key in self._known or not size or storage.data_ptr() in self._ignored:
            return
        self._known.add(key)
        self.live_bytes += size
        self.peak_bytes = max(self.peak_bytes, self.live_bytes)
        weakref.finalize(storage, self._remove, key, size).atexit = False

    def _remove(self, key: int, size: int) -> None:
        self._known.discard(key)
        self.live_bytes -= size
