"""Failures on purpose: of memory, messages and files of one rank, for tests."""

import builtins
import errno
import fcntl
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from dtensor import _C
from dtensor._core import world

__all__ = ["KINDS", "Fault", "fault"]

# What fails or, of messages, comes late; what calls count.
KINDS = (
    "array",  # memory of the library's own arrays
    "memory",  # memory that its C code takes: it turns to its reserve
    "reserve",  # the same, and there is no reserve
    "numpy",  # memory of NumPy's arrays of over 64 bytes
    "message",  # messages that this rank sends: late
    "file",  # calls of the operating system about files
    "short",  # the same, but reading and writing do half of what they should
)

LATE = 0.05  # seconds

# What the library calls to work with files, from Python.
_CALLS = [
    *((os, name) for name in "open fsync fstat rename unlink listdir pread".split()),
    (fcntl, "flock"),
    (builtins, "open"),
    (_C, "write_at"),
    (_C, "read_part"),
]


class Fault:
    """One failure of a rank.

    Attributes
    ----------
    happened : bool
        Whether there were so many calls; known after the block.
    calls : int
        How many calls there were, at most `k`; known after the block.
    """

    def __init__(self, kind: str, k: int) -> None:
        self.kind, self.k = kind, k
        self.left = k

    @property
    def happened(self) -> bool:
        return self.k > 0 and self.left <= 0

    @property
    def calls(self) -> int:
        return self.k - max(self.left, 0)

    def now(self) -> bool:
        """Count a call that works with files; whether it is the one to fail."""
        self.left -= 1
        return self.left == 0


@contextmanager
def fault(kind: str, k: int) -> Iterator[Fault]:
    """Let the k-th call of a kind fail on this rank, in this thread.

    Calls that work with files are also counted in background saves of this thread.

    Parameters
    ----------
    kind : str
        One of `KINDS`.
    k : int
        Which call from now on; 1 is the next one, 0 none.

    Yields
    ------
    Fault
    """
    made = Fault(kind, k)
    if kind in ("file", "short"):
        with _files(made):
            yield made
    elif kind == "message":
        here = world.current()
        here._late_at(k, LATE)
        try:
            yield made
        finally:
            made.left = here._late_at(0, LATE)
    else:
        name = "memory" if kind == "reserve" else kind
        _C._fault_at(name, k, kind == "reserve")
        try:
            yield made
        finally:
            made.left = _C._fault_at(name, 0)


# --- files ----------------------------------------------------------------------------

_current: ContextVar[Fault | None] = ContextVar("fault of files", default=None)
_real: dict[tuple[Any, str], Callable[..., Any]] = {}
_users = 0  # ranks may be threads: the functions are replaced once for all of them
_lock = threading.Lock()


@contextmanager
def _files(made: Fault) -> Iterator[None]:
    global _users
    with _lock:
        _users += 1
        if _users == 1:
            _replace()
    token = _current.set(made if made.k else None)
    try:
        yield
    finally:
        _current.reset(token)
        with _lock:
            _users -= 1
            if _users == 0:
                for (module, name), function in _real.items():
                    setattr(module, name, function)
                _real.clear()


def _replace() -> None:
    for module, name in _CALLS:
        real = getattr(module, name)
        _real[module, name] = real
        setattr(module, name, (_moving if module is _C else _failing)(name, real))


def _failing(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that raises where a call is to fail; some can be short."""

    def call(*args: Any, **options: Any) -> Any:
        made = _current.get()
        if made is None or not made.now():
            return real(*args, **options)
        if made.kind == "short" and name == "pread":
            return real(*args, **options)[: args[1] // 2]
        number = errno.EMFILE if name in ("open", "listdir") else errno.EIO
        raise OSError(number, os.strerror(number))

    return call


def _moving(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
    """Return the same for the functions of the extension that move bytes."""

    def call(*args: Any) -> Any:
        made = _current.get()
        if made is None or not made.now():
            return real(*args)
        _C._fault_at("file", 1, made.kind == "short")
        try:
            return real(*args)
        finally:
            _C._fault_at("file", 0)

    return call
