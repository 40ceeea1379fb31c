"""``torch.cpu``: the only device; what it is told is done in order, at once."""

import contextlib
from typing import Any

from dtensor.torch.cpu import amp as amp

__all__ = [
    "Event",
    "Stream",
    "StreamContext",
    "amp",
    "current_device",
    "current_stream",
    "device_count",
    "is_available",
    "is_initialized",
    "set_device",
    "stream",
    "synchronize",
]


class Stream:
    """The order in which the processor does what it is told: there is one.

    Parameters
    ----------
    priority : int, default -1
        Ignored.
    """

    def __init__(self, priority: int = -1) -> None:
        pass

    def wait_stream(self, stream: Any) -> None:
        """Do nothing: all that was told before is done."""

    def record_event(self, event: Any = None) -> None:
        """Do nothing: all that was told before is done."""

    def wait_event(self, event: Any) -> None:
        """Do nothing: all that was told before is done."""


class Event:
    """A point in a stream, which is reached at once."""

    def query(self) -> bool:
        """Return True: all that was told before is done."""
        return True

    def record(self, stream: Any = None) -> None:
        """Do nothing: all that was told before is done."""

    def synchronize(self) -> None:
        """Do nothing: all that was told before is done."""

    def wait(self, stream: Any = None) -> None:
        """Do nothing: all that was told before is done."""


_current = Stream()


class StreamContext(contextlib.AbstractContextManager[None]):
    """A block in which a stream is the current one.

    Parameters
    ----------
    stream : Stream or None
        None: there is no difference.
    """

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        global _current
        self._before = _current
        if self.stream is not None:
            _current = self.stream

    def __exit__(self, *error: object) -> None:
        global _current
        _current = self._before


def stream(stream: Any) -> StreamContext:
    """Return a block in which a stream is the current one."""
    return StreamContext(stream)


def current_stream(device: Any = None) -> Stream:
    """Return the stream of the block that runs."""
    return _current


def is_available() -> bool:
    """Return True."""
    return True


def is_initialized() -> bool:
    """Return True."""
    return True


def device_count() -> int:
    """Return 1."""
    return 1


def current_device() -> str:
    """Return "cpu"."""
    return "cpu"


def set_device(device: Any) -> None:
    """Do nothing: there is one device."""


def synchronize(device: Any = None) -> None:
    """Do nothing: all that was told before is done. Not collective."""
