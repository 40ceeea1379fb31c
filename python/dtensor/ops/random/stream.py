"""Random streams: drawing from them, and filling tensors.

A stream is a key and a position; which words an element is made of depends only on its
index in the whole array (csrc/core/format/random.h, csrc/kernels/random.h)."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core.dtype import dtype_of
from dtensor.ops._make.created import made
from dtensor.ops._make.parts import inside, local

__all__ = ["NO_HALF", "Stream", "check", "drawn", "fill", "refill", "taken"]

Array = npt.NDArray[Any]
State = npt.NDArray[np.uint64]

NO_HALF = 2**64 - 1  # in the place of the word whose high half is kept


class Stream:
    """A key and a position in its words. What is taken moves the position.

    Parameters
    ----------
    key : int
        0 <= key < 2**128.
    """

    _state: State  # two words of the key, the position, the word whose half is kept

    def __init__(self, key: int) -> None:
        self.restart(key)

    def restart(self, key: int) -> None:
        """Go to the beginning of the stream of a key."""
        low, high = key % 2**64, key >> 64
        self._state = np.array([low, high, 0, NO_HALF], np.uint64)

    def take(self, kind: str, dtype: npt.DTypeLike, count: int) -> State:
        """Return the state before an array of `count` elements is taken out.

        Moves the position by what depends on the arguments alone, so that ranks that
        draw the same arrays stay in step.
        """
        return _C.random_take(self._state, kind, dtype, count)


def has_data(x: Any) -> bool:
    """Return whether a tensor or array has elements to be filled at all."""
    if isinstance(x, _C.DTensor) and x.layout.mesh.world == 0:
        return False
    return bool(x.device != "meta")


def taken(stream: Stream, x: Any, kind: str, dtype: npt.DTypeLike) -> State:
    """Return the state before as many elements as a tensor has are taken out.

    Without data nothing is: a model that is made without data and filled later has the
    numbers of one that is made with them.
    """
    return stream.take(kind, dtype, math.prod(x.shape) if has_data(x) else 0)


# --- what may be drawn ----------------------------------------------------------------


# kind -> what must be true of a and b, and what is said if not
CONDITIONS: dict[str, tuple[tuple[Callable[[Any, Any], Any], str], ...]] = {
    "uniform": (
        (
            lambda a, b: a <= b,
            "uniform_ expects to return a [from, to) range, but found "
            "from={a} > to={b}",
        ),
        (
            lambda a, b: math.isfinite(float(b) - float(a)),
            "uniform_ expects to-from to be finite, but found to={b} and from={a}",
        ),
    ),
    "normal": ((lambda a, b: b >= 0, "normal expects std >= 0.0, but found std {b}"),),
    "exponential": (
        (lambda a, b: a > 0, "exponential_ expects lambda > 0.0, but found lambda={a}"),
    ),
    "bernoulli": (
        (
            lambda a, b: 0 <= a <= 1,
            "bernoulli_ expects p to be in [0, 1], but got p={a}",
        ),
    ),
    "integers": (
        (
            lambda a, b: a < b,
            "random_ expects 'from' to be less than 'to', but got from={a} >= to={b}",
        ),
    ),
}


def check(kind: str, a: Any, b: Any, dtype: npt.DTypeLike = np.int64) -> None:
    """Refuse parameters that are invalid for a distribution.

    Parameters
    ----------
    kind : str
        As of `_C.random_take`.
    a, b : number
        Ends, mean and deviation, rate, or probability.
    dtype : dtype_like
        Which integers from `a` up to `b`, exclusively, must fit.

    Raises
    ------
    RuntimeError
        With torch's words.
    TypeError
        For arrays.
    """
    if np.ndim(a) or np.ndim(b):
        raise TypeError(
            f"{kind}: parameters are numbers, not arrays: draw standard numbers of the "
            "whole shape, then scale and shift them"
        )
    for holds, sentence in CONDITIONS[kind]:
        if not holds(a, b):
            raise RuntimeError(sentence.format(a=a, b=b))
    if kind == "integers":
        least, most = _ends(dtype_of(dtype))
        for name, value in (("from", a), ("to - 1", b - 1)):
            if not least <= value <= most:
                raise RuntimeError(f"{name} is out of bounds for {dtype_of(dtype)}")


def _ends(dtype: np.dtype[Any]) -> tuple[int, int]:
    """Return the least and the greatest integer of a dtype; int64's of floats."""
    if dtype.kind == "b":
        return 0, 1
    info = np.iinfo(dtype if dtype.kind in "iu" else np.int64)
    return int(info.min), int(info.max)


# --- what is drawn --------------------------------------------------------------------


def fill(
    x: _C.Tensor, stream: Stream, kind: str, a: Any, b: Any, what: str
) -> State | None:
    """Fill a tensor of any layout; every rank makes its own part, nothing is sent.

    Of a Partial one coordinate 0 gets the values and the others what adds nothing.
    A tensor without data takes nothing out of the stream.

    Parameters
    ----------
    x : DTensor or Tensor
        What is filled; its history is not looked at.
    stream : Stream
    kind : str
        As of `_C.random_take`.
    a, b : number
        Of the distribution: see csrc/kernels/random.h. Integers: the lowest one, and
        how many there are.
    what : str
        Names the call.
    """
    if not has_data(x):
        return None
    state = taken(stream, x, kind, x.dtype)
    if not isinstance(x, _C.DTensor):
        _C.random_fill(state, kind, a, b, np.asarray(x.detach()), None)
        return state
    layout = x.layout
    _C.random_check(what, state, layout.mesh)
    how = f"{what}: {kind} numbers of {layout.shape}", layout.dtype, a, b, state
    _C.made_of(x, *how)
    try:
        if layout.is_partial:
            whole = made(
                layout, lambda own: _C.random_part(state, kind, a, b, x.dtype, own)
            )
            local(x)[...] = local(whole)
        elif inside(layout):
            _C.random_fill(state, kind, a, b, local(x), layout)
    except MemoryError:
        _C.not_made(layout.mesh, *how)
        raise
    return state


def refill(x: Any, stream: Stream, kind: str, a: Any, b: Any, what: str) -> Any:
    """Fill the user's tensor in place, and return it: as `fill`.

    Raises
    ------
    RuntimeError
        If it is a leaf that requires a gradient and operators are recorded.
    ValueError
        If it is read-only.
    """
    _C.check_write(what, x, (x,))
    due, written = _C.begin_write(x), False
    try:
        state = fill(x, stream, kind, a, b, what)
        _C.record_write(what, _no_gradient, (x,), (kind, a, b, state))
        written = True
    finally:
        if due:
            _C.end_write(x, written)
    return x


def _no_gradient(grad: Any) -> None:
    """Return the gradient of what was there before."""


def drawn(
    size: tuple[int, ...],
    dtype: npt.DTypeLike,
    stream: Stream,
    kind: str,
    a: Any,
    b: Any,
) -> _C.Tensor:
    """Return a new Tensor of this rank."""
    dtype = dtype_of(dtype)
    state = stream.take(kind, dtype, math.prod(size))
    what = (state, kind, a, b, dtype, size)
    return _C.as_tensor(_C.carried("random_part", _C.random_part, what, {}, True))
