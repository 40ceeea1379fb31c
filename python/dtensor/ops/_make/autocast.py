"""What operators and functions compute in within `dtensor.amp.autocast`.

As torch's lists for processors without accelerators say: products in the narrow dtype,
losses, decompositions and some others in float32. All else takes what it gets.
"""

import functools
import threading
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np

from dtensor import _C
from dtensor._core.nested import mapped
from dtensor.ops._make.copies import astype
from dtensor.ops._make.halves import is_half
from dtensor.ops._make.refusal import in_dialect

__all__ = ["State", "in_single", "narrowed", "state"]

F = TypeVar("F")
DType = np.dtype[Any]
SINGLE = np.dtype(np.float32)


class State(threading.local):
    """What the contexts of this thread say."""

    dtype: DType | None = None
    caches: bool = True
    depth: int = 0

    def __init__(self) -> None:
        # Parameters in the narrow dtype, until the outermost context ends.
        self.kept: dict[tuple[int, bool, DType], tuple[Any, int, Any]] = {}


state = State()


def _narrow(x: Any) -> Any:
    """Return a tensor of float32 or a 16-bit dtype in that of the context."""
    dtype = state.dtype
    if x.dtype == dtype or not (x.dtype == SINGLE or is_half(x.dtype)):
        return x
    if not (state.caches and x.requires_grad and x.is_leaf):
        return astype(x, dtype)
    key = id(x), _C.is_grad_enabled(), cast(DType, dtype)
    _, version, kept = state.kept.get(key, (None, -1, None))
    if version != x._version:
        kept = _C.let_float(astype(x, dtype))
        state.kept[key] = x, x._version, kept
    return kept


def _single(x: Any) -> Any:
    """Return a tensor of a 16-bit dtype in float32."""
    return astype(x, SINGLE) if is_half(x.dtype) else x


def _cast(change: Callable[[Any], Any], function: Any, *args: Any, **named: Any) -> Any:
    """Call a function with its tensors in another dtype, and itself as it is."""
    before = _C.set_autocast(False)
    try:
        args, named = mapped((args, named), _C.Tensor, change)
        return function(*args, **named)
    finally:
        _C.set_autocast(before)


def _casts(change: Callable[[Any], Any], function: F) -> F:
    if isinstance(function, _C.Operator):
        function.autocast = functools.partial(_cast, change)
        return function
    called: Any = function

    @functools.wraps(called)
    def run(*args: Any, **named: Any) -> Any:
        try:
            if not _C.is_autocast():
                return called(*args, **named)
            return _cast(change, called, *args, **named)
        except (ValueError, IndexError, TypeError) as error:
            if (other := in_dialect(error, called.__name__, *args)) is not None:
                raise other from error.__cause__
            raise

    return cast(F, run)


def narrowed(function: F) -> F:
    """Let an operator, or a function, compute in the dtype of `autocast`."""
    return _casts(_narrow, function)


def in_single(function: F) -> F:
    """Let an operator, or a function, compute in float32 within `autocast`."""
    return _casts(_single, function)
