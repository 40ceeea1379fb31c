"""Strict mode: operators may not send anything on their own."""

import sys
import threading
from collections.abc import Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Self

import numpy as np

from dtensor import _C

__all__ = ["ImplicitRedistributeError", "strict"]

# Frames of these folders are not the caller's.
_OURS = tuple(str(Path(f).parent) for f in (_C.__file__, np.__file__))

_on: ContextVar[bool] = ContextVar("dtensor_strict", default=False)
_lock = threading.Lock()
_open = 0  # open blocks, in all threads


class ImplicitRedistributeError(RuntimeError):
    """An operator would have moved data on its own inside `strict`."""


class strict:
    """Forbid operators to move data on their own.

    Inside the block an operator that would have to send operands raises
    `ImplicitRedistributeError`, on every rank and before anything moves. So does a
    NumPy function that would gather its arguments. Explicit moves (``redistribute``,
    ``full_tensor``, ...) work as usual, and so do moves that need no message.

    Parameters
    ----------
    on : bool, default True
        False allows implicit moves again, within an outer block.

    Examples
    --------
    >>> with strict():
    ...     strict.active()
    True
    """

    def __init__(self, on: bool = True) -> None:
        self.on = on
        self._before: list[bool] = []

    @staticmethod
    def active() -> bool:
        """Return whether the caller is inside such a block."""
        return _on.get()

    def __enter__(self) -> Self:
        self._before.append(_on.get())
        _on.set(self.on)
        _count(1)
        return self

    def __exit__(self, *error: object) -> None:
        _count(-1)
        _on.set(self._before.pop())


def _count(more: int) -> None:
    """Have the dispatcher ask `on_implicit` while any thread is inside a block."""
    global _open
    with _lock:
        _open += more
        _C.set_implicit_hook(on_implicit if _open else None)


def on_implicit(
    name: str, before: Sequence[_C.Layout], after: Sequence[_C.Layout]
) -> None:
    """Raise if a move of operands sends bytes and the caller's block forbids it.

    Parameters
    ----------
    name : str
        The operator.
    before, after : sequence of Layout
        Of the operands that move.
    """
    if not _on.get():
        return
    moves = list(zip(before, after, strict=True))
    counts = [sent(old, new) for old, new in moves]
    total = sum(counts)
    if total:
        file, line, _ = caller()
        pairs = zip(moves, counts, strict=True)
        which = ", ".join(f"{old} -> {new}" for (old, new), count in pairs if count)
        raise ImplicitRedistributeError(
            f"strict: {name} at {file}:{line} would send {total} bytes ({which}); "
            "redistribute its operands first, or leave the strict block"
        )


def sent(old: _C.Layout, new: _C.Layout) -> int:
    """Return how many bytes all ranks together send in a move."""
    if old == new:
        return 0
    ranks = old.mesh.ranks.ravel().tolist()
    plans = [_C._explain(old, new, rank, None)[2] for rank in ranks]
    return sum(step[4] for steps in plans for step in steps)


def caller() -> tuple[str, int, int]:
    """Return file, line and stack level of the nearest frame that is not ours."""
    frame, level = sys._getframe(1), 1
    while frame.f_code.co_filename.startswith(_OURS) and frame.f_back is not None:
        frame, level = frame.f_back, level + 1
    return frame.f_code.co_filename, frame.f_lineno, level
