"""Moves that operators make on their own: forbidden, or told if they are large."""

import os
import threading
import warnings
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from typing import Self

from dtensor import _C
from dtensor._core.caller import caller

__all__ = [
    "GatherWarning",
    "ImplicitRedistributeError",
    "explicit",
    "set_gather_bytes",
    "strict",
]

_on: ContextVar[bool] = ContextVar("dtensor_strict", default=False)
_lock = threading.Lock()
_open = 0  # open blocks, in all threads
_told = threading.local()  # .lines: what this rank has warned of

NEVER = (1 << 63) - 1
_large = 64 << 20  # bytes of arrays that are not gathered silently


class ImplicitRedistributeError(RuntimeError):
    """An operator would have moved data on its own inside `strict`."""


class strict:
    """Forbid operators to move data on their own.

    Inside the block an operator that would have to send operands raises
    `ImplicitRedistributeError`, on every rank and before anything moves. So does a
    NumPy function that would gather its arguments. Explicit moves (``redistribute``,
    ``full_tensor``, `halo`, `map_overlap`, ...) work as usual, and so do moves that
    need no message.

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


def explicit() -> AbstractContextManager[object]:
    """Return a block whose moves the caller has asked for: they are not forbidden."""
    return strict(False) if _on.get() else nullcontext()


def _count(more: int) -> None:
    """Have the dispatcher ask `on_implicit` while any thread is inside a block."""
    global _open
    with _lock:
        _open += more
        _listen()


def _listen() -> None:
    """Have the dispatcher ask `on_implicit`: always inside a block, else if a large
    array becomes whole."""
    _C.set_implicit_hook(on_implicit, 0 if _open else _large)


# --- large arrays that become whole ---------------------------------------------------


class GatherWarning(UserWarning):
    """An operator makes the whole of a large array on every rank."""


def set_gather_bytes(count: int | None) -> int | None:
    """Set from how many bytes on an array is too large to be gathered silently.

    Before an operator, or a function composed of operators, makes such an array whole
    on every rank, it warns with a `GatherWarning`, once for each line of the program,
    function and mesh. Moves that the program asks for (``redistribute``,
    ``full_tensor``) do not warn. With
    ``warnings.simplefilter("error", GatherWarning)`` it is an error, on all ranks and
    before anything is sent; `strict` refuses smaller moves as well.

    It sends nothing, but all ranks must set the same.

    Parameters
    ----------
    count : int or None
        Bytes of the whole array; None: never warn. When the job starts: the environment
        variable ``DTENSOR_GATHER_BYTES``, else 64 MiB.

    Returns
    -------
    int or None
        What was set before.

    Raises
    ------
    ValueError
        If it is not positive.

    Examples
    --------
    >>> before = set_gather_bytes(1 << 30)
    >>> set_gather_bytes(before) == 1 << 30
    True
    """
    global _large
    if count is not None and count <= 0:
        raise ValueError(f"set_gather_bytes: {count} is not a positive number of bytes")
    with _lock:
        before, _large = _large, NEVER if count is None else min(count, NEVER)
        _listen()
    return None if before == NEVER else before


def _is_gather(old: _C.Layout, new: _C.Layout) -> bool:
    """Return whether an array that is cut becomes whole on every rank."""
    dims = range(old.ndim)
    return any(map(old.is_cut, dims)) and not any(map(new.is_cut, dims))


def _tell(name: str, before: Sequence[_C.Layout], after: Sequence[_C.Layout]) -> None:
    """Warn of large arrays that become whole, once for a line, function and mesh: as an
    error the warning comes on all of its ranks, whatever some have done elsewhere."""
    pairs = zip(before, after, strict=True)
    large = [old for old, new in pairs if old.nbytes >= _large and _is_gather(old, new)]
    if not large:
        return
    file, line, level = caller()
    lines: set[tuple[str, int, str, int]] = _told.__dict__.setdefault("lines", set())
    key = file, line, name, hash(before[0].mesh)
    if key in lines:
        return
    lines.add(key)
    arrays = ", ".join(f"{old} of shape {old.shape}" for old in large)
    warnings.warn(
        f"{name} makes the whole of {arrays} on every rank: "
        f"{sum(old.nbytes for old in large):,} bytes. docs/operators_table.md names "
        "what works on parts; a redistribute() before the call says that it is meant, "
        "set_gather_bytes() from how many bytes on to warn",
        GatherWarning,
        stacklevel=level,
    )


def _from_environment() -> None:
    text = os.environ.get("DTENSOR_GATHER_BYTES", "")
    if text and not (text.isdecimal() and int(text)):
        raise ValueError(
            f"DTENSOR_GATHER_BYTES must be a positive number of bytes, not {text!r}"
        )
    set_gather_bytes(int(text) if text else _large)


# --- what the dispatcher asks ---------------------------------------------------------


def on_implicit(
    name: str, before: Sequence[_C.Layout], after: Sequence[_C.Layout]
) -> None:
    """Raise if a move of operands sends bytes and the caller's block forbids it; warn
    if it makes a large array whole.

    Parameters
    ----------
    name : str
        The operator.
    before, after : sequence of Layout
        Of the operands that move.
    """
    if not _on.get():
        return _tell(name, before, after)
    moves = list(zip(before, after, strict=True))
    counts = [sent(old, new) for old, new in moves]
    total = sum(counts)
    if total:
        file, line, _ = caller()
        pairs = zip(moves, counts, strict=True)
        which = ", ".join(f"{old} -> {new}" for (old, new), count in pairs if count)
        alike = any(old.placements == new.placements for old, new in moves)
        points = " (`placements=` another layout, or rebalance(), sets where it is cut)"
        raise ImplicitRedistributeError(
            f"strict: {name} at {file}:{line} would send {total} bytes from all ranks "
            f"together ({which}); redistribute its operands first"
            f"{points if alike else ''}, or leave the strict block"
        )


def sent(old: _C.Layout, new: _C.Layout) -> int:
    """Return how many bytes all ranks together send in a move."""
    if old == new:
        return 0
    ranks = old.mesh.ranks.ravel().tolist()
    plans = [_C._explain(old, new, rank, None)[2] for rank in ranks]
    return sum(step[4] for steps in plans for step in steps)


_from_environment()
