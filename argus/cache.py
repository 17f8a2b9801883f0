"""What is kept between cells, so that what a perturbation does not touch is not computed again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Cache(Generic[Value]):
    """Holds values up to `limit` bytes and forgets those longest unused. Nobody may change what it returns.

    `size` tells the bytes of a value.
    """

    def __init__(self, limit: int, size: Callable[[Value], int]) -> None:
        self.limit, self.size = limit, size
        self.held = 0  # bytes
        self._values: OrderedDict[Hashable, Value] = OrderedDict()
        self._lock = Lock()

    def __reduce__(self) -> tuple[type[Cache[Value]], tuple[int, Callable[[Value], int]]]:
        """A copy in another process starts empty."""
        return type(self), (self.limit, self.size)

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """Return the value of this key, made now where it is not held; what `make` raises is not remembered."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
        value = make()
        self.put(key, value)
        return value

    def put(self, key: Hashable, value: Value) -> None:
        """Keep a value, unless it is larger than the limit or already there."""
        size = self.size(value)
        with self._lock:
            if size > self.limit or key in self._values:
                return
            self._values[key] = value
            self.held += size
            while self.held > self.limit:
                self.held -= self.size(self._values.popitem(last=False)[1])
