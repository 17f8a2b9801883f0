"""Ctrl-C and a cluster's polite kill, so that neither gets lost.

A KeyboardInterrupt that is raised inside a finaliser is dropped by Python, and libraries may turn it into an error of
their own. So the wish to stop is noted too, and looked at between batches and cells.
"""

from __future__ import annotations

import signal
from threading import Event
from types import FrameType

_REQUESTED = Event()


def listen() -> None:
    """Note SIGINT and SIGTERM, and raise KeyboardInterrupt for both."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _note)


def requested() -> bool:
    """Return whether this process was asked to stop."""
    return _REQUESTED.is_set()


def check() -> None:
    """Raise KeyboardInterrupt where this process was asked to stop."""
    if requested():
        raise KeyboardInterrupt


def _note(signum: int, frame: FrameType | None) -> None:
    _REQUESTED.set()
    raise KeyboardInterrupt
