"""Chains of elementwise functions that run together."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from contextlib import ContextDecorator
from typing import ParamSpec, TypeVar

from dtensor import _C

__all__ = ["fuse", "fused"]

_P = ParamSpec("_P")
_R = TypeVar("_R")


class _Before(threading.local):
    """What each thread has left to come back to."""

    def __init__(self) -> None:
        self.modes: list[bool] = []


class fused(ContextDecorator):
    """Run chains of elementwise functions block by block.

    Within the block, calls of elementwise ufuncs on large arrays are put off. When
    elements are asked for, and at the end, all of them run together over blocks of
    16 KiB, so that what one writes the next one finds in the processor's cache, and
    what nobody has kept is never written to memory: of ``y = (x - m) * s + b`` only
    ``y`` is. Values are the same bit for bit. Threads share the blocks
    (`set_num_threads`).

    Put off are results of 256 KiB and more on this rank, of NumPy's own elementwise
    ufuncs with one result, without ``out``, on arrays in C order that may be broadcast;
    also those of a backward pass within the block. Sums and means of all elements of
    such a result, of float32 and float64, join them: ``np.mean((x - y) ** 2)`` reads x
    and y and writes nothing. Everything else runs at once, after what was put off. So
    does a call one of whose large operands has an ndarray that the program may hold,
    too (of `from_local`, `as_tensor`, `to_local`): it could be written to meanwhile.
    What is written within the block to a raw address that was taken before
    (``x.ctypes.data``) is not seen.

    Local: nothing is sent, and ranks need not enter it together.

    Notes
    -----
    A warning of a floating-point error comes once for each call, as `numpy.errstate`
    was there, but where the chain runs. Under ``errstate`` with "raise", "call",
    "print" or "log" nothing is put off. A warning that is an error is raised where the
    chain runs; the other ranks hear of it as of a kernel that fails on one rank.

    Operands and results that were dropped keep their memory until the chain runs, which
    it does after 32 calls at the latest; the pages of a result that is not written are
    never touched.

    The method is loop blocking with fused loops, without generated code, as in numexpr
    (``D. Cooke, F. Alted et al.``); the loops are NumPy's own.

    See Also
    --------
    fuse : The same for a function.

    Examples
    --------
    >>> import numpy as np, dtensor
    >>> x = dtensor.tensor(np.linspace(0, 1, 100_000))
    >>> with dtensor.fused():
    ...     y = np.exp(-x * x) * 2 + 1
    >>> bool(np.all(y.numpy() == np.exp(-x.numpy() * x.numpy()) * 2 + 1))
    True
    """

    def __init__(self) -> None:
        self._before = _Before()

    def _recreate_cm(self) -> fused:
        return fused()

    def __enter__(self) -> None:
        self._before.modes.append(_C.set_fusing(True))

    def __exit__(self, *exception: object) -> None:
        _C.set_fusing(self._before.modes.pop())


def fuse(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Return a function whose chains of elementwise functions run together.

    Parameters
    ----------
    function : callable
        Is called within `fused`.

    Returns
    -------
    callable
        With the same arguments and results.

    Examples
    --------
    >>> import numpy as np, dtensor
    >>> @dtensor.fuse
    ... def gauss(x, mean, width):
    ...     return np.exp(-(((x - mean) / width) ** 2) / 2)
    >>> gauss(dtensor.tensor(np.arange(3.0)), 1.0, 0.5).numpy().round(3)
    array([0.135, 1.   , 0.135])
    """

    @functools.wraps(function)
    def within(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        with fused():
            return function(*args, **kwargs)

    return within
