"""Functions composed of operators, which are called as operators are."""

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

import numpy as np

from dtensor import _C
from dtensor.ops._make.copies import astype, copy
from dtensor.ops._make.halves import is_half
from dtensor.ops._make.parts import move
from dtensor.ops._make.refusal import in_dialect

__all__ = [
    "array_of",
    "as_dtype",
    "composite",
    "rounded_once",
    "settled",
    "within",
]

F = TypeVar("F", bound=Callable[..., Any])


def composite(
    function: F,
    writes_out: bool = True,
    wide: Callable[[Any, Any], Any] | None = None,
    check: Callable[[Any, Any], None] | None = None,
) -> F:
    """Let a function take the keywords that the dispatcher takes for operators.

    ``dim=`` and ``keepdim=`` become ``axis=`` and ``keepdims=``; the result
    is written to `out`, which the function itself declares and ignores, unless
    `writes_out` is False. Then its first argument becomes ``wide(argument, out)``, if
    it is told no `dtype`, and ``check(result, out)`` may refuse to write."""
    names = list(inspect.signature(function).parameters)
    place = names.index("out") if "out" in names else None

    @functools.wraps(function)
    def answer(*args: Any, **options: Any) -> Any:
        for old, new in (("dim", "axis"), ("keepdim", "keepdims")):
            if old in options and old not in names:
                options[new] = options.pop(old)
        out = options.pop("out", None) if writes_out else None
        if writes_out and place is not None and len(args) > place:
            out, args = args[place], (*args[:place], None, *args[place + 1 :])
        if out is None:
            return _call(function, args, options)
        if wide is not None and _told("dtype", names, args, options) is None:
            if args:
                args = wide(args[0], out), *args[1:]
            else:
                options[names[0]] = wide(options[names[0]], out)
        result = _call(function, args, options)
        if check is not None:
            check(result, out)
        return copy(result, out=out)

    return cast(F, answer)


def _told(
    name: str, names: list[str], args: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """Return an argument, by its name or its place; None: there is none."""
    place = names.index(name) if name in names else len(args)
    return args[place] if place < len(args) else options.get(name)


_REFUSALS = (ValueError, IndexError, TypeError)


def _call(function: F, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    name = function.__qualname__
    before = _C.begin_call(name, args, options)
    if before is None:  # of Tensors
        inner = (function, args, options)
        try:
            return _C.carried(name, _C.composed, inner, {}, True)
        except _REFUSALS as error:
            if (other := in_dialect(error, name, *args)) is not None:
                raise other from error.__cause__
            raise
    try:
        return _C.composed(function, args, options)
    except (ArithmeticError, MemoryError):
        _C.call_failed(name, args, options)
        raise
    except _REFUSALS as error:
        if (other := in_dialect(error, name, *args)) is not None:
            raise other from error.__cause__
        raise
    finally:
        _C.end_call(before)


@contextmanager
def within(name: str, *args: Any) -> Iterator[None]:
    """Say that what the block makes of parts is made by a call of these arguments; and
    that the call has failed, perhaps on this rank alone, if the block does."""
    before = _C.begin_call(name, args, {})
    try:
        yield
    except Exception:
        _C.call_failed(name, args, {})
        raise
    finally:
        _C.end_call(before)


def settled(name: str, x: Any) -> Any:
    """Return a tensor that is not Partial: pending addends are reduced to Replicate."""
    if not isinstance(x, _C.DTensor) or not x.layout.is_partial:
        return x
    return move(name, x, x.layout.settled())


def array_of(x: Any) -> Any:
    """Return the array of a list of numbers; tensors and arrays as they are."""
    return x if hasattr(x, "ndim") else np.asarray(x)


def as_dtype(x: Any, dtype: Any) -> Any:
    """Return a tensor or an array in a dtype; itself if it has that dtype.

    An array stays one: it goes with tensors of any mesh, as no Tensor does.
    """
    if x.dtype == dtype:
        return x
    return x.astype(dtype) if isinstance(x, np.ndarray) else astype(x, dtype)


def rounded_once(function: F) -> F:
    """Let a composite of a tensor of 16-bit floats compute in float32, and round what
    it returns; if it is told no other dtype."""
    names = list(inspect.signature(function).parameters)
    place = names.index("dtype") if "dtype" in names else None

    @functools.wraps(function)
    def run(x: Any, *args: Any, **options: Any) -> Any:
        told = options.get("dtype")
        if place is not None and len(args) >= place:
            told = args[place - 1]
        dtype = np.dtype(x.dtype) if isinstance(x, _C.Tensor | np.ndarray) else None
        if told is not None or dtype is None or not is_half(dtype):
            return function(x, *args, **options)
        result = function(as_dtype(x, np.float32), *args, **options)
        return as_dtype(result, dtype) if result.dtype == np.float32 else result

    return cast(F, run)
