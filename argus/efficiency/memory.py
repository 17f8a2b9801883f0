"""How much the tensors of a computation take at once, on a CPU as well.

The resident size of the process would include the interpreter, the libraries and freed pages that the allocator keeps.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode


class LiveTensors(TorchDispatchMode):
    """While active, `peak_bytes` is the most that living tensors took at once, beside `ignored` (the weights).

    Sees what operators take and return; what a kernel allocates and frees inside itself stays unseen.
    """

    def __init__(self, ignored: Iterable[torch.Tensor]) -> None:
        super().__init__()
        self.live_bytes = 0
        self.peak_bytes = 0
        self._known: dict[int, weakref.ref[torch.UntypedStorage]] = {}  # by id of living storages
        self._ignored = {tensor.untyped_storage().data_ptr() for tensor in ignored}

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        self._watch(args)
        if kwargs:
            self._watch(tuple(kwargs.values()))
        self._watch(result)
        return result

    def _watch(self, value: Any) -> None:
        if isinstance(value, torch.Tensor):
            if value.layout is torch.strided:
                self._add(value.untyped_storage())
        elif isinstance(value, tuple | list):
            for part in value:
                self._watch(part)

    def _add(self, storage: torch.UntypedStorage) -> None:
        key = id(storage)  # torch keeps one Python object per storage for as long as the storage lives
        if key in self._known:
            return
        size = storage.nbytes()
        if not size or storage.data_ptr() in self._ignored:
            return
        self._known[key] = weakref.ref(storage, lambda _: self._remove(key, size))
        self.live_bytes += size
        self.peak_bytes = max(self.peak_bytes, self.live_bytes)

    def _remove(self, key: int, size: int) -> None:
        del self._known[key]
        self.live_bytes -= size
