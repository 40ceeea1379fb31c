"""New tensors in the layout of another one: ``torch.zeros_like`` and its kin.

Options are those of `empty`; the defaults are those of the other tensor.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy.typing as npt

from dtensor import _C, ops as _ops
from dtensor._core import device as _device
from dtensor.random import Generator
from dtensor.torch._create import filler
from dtensor.torch._numbers import fitted
from dtensor.torch._rows import order_of
from dtensor.torch._types import numpy_dtype, takes

ops: Any = _ops  # type checkers lose some of its names, in a cycle of imports

__all__ = [
    "clone",
    "empty_like",
    "full_like",
    "ones_like",
    "rand_like",
    "randint_like",
    "randn_like",
    "zeros_like",
]


class _Make(NamedTuple):
    """How to make an array like another one, and of which number; None: of any."""

    function: Callable[..., Any]
    value: Any = None


def _known(x: Any, value: Any, options: dict[str, Any]) -> Any:
    """Return a tensor of one number like a Tensor; None: it takes more than that."""
    if options or _device.kind_of(None) != "cpu":
        return None
    return _C.filled_like(x, value)


def _like(
    make: _Make,
    x: Any,
    *,
    dtype: npt.DTypeLike | None = None,
    layout: Any = None,
    device: str | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
    memory_format: Any = None,
) -> Any:
    if device is not None or _is_row(x) or _device.is_meta(x):
        made = _device.empty_like(x, numpy_dtype(dtype), device)
        if make.value is not None and not _device.is_meta(made):
            filler(make.value)(made)
    else:
        order = order_of(x, memory_format)
        made = make.function(x, dtype=numpy_dtype(dtype), order=order)
    made = _C.into_torch(made)
    return made.requires_grad_() if requires_grad else made


def clone(input: Any, *, memory_format: Any = None) -> Any:
    """Return a copy with memory of its own, in the same layout."""
    return ops.copy(input, order_of(input, memory_format))


def _is_row(x: Any) -> bool:
    """Return whether a Tensor is this rank's own, in C order."""
    return isinstance(x, _C.Tensor) and not (
        isinstance(x, _C.DTensor) or not x.is_contiguous()
    )


_EMPTY = _Make(ops.empty_like)
_ZEROS, _ONES = _Make(ops.zeros_like, 0), _Make(ops.ones_like, 1)


@takes(_like)
def empty_like(input: Any, **options: Any) -> Any:
    """Return a tensor in the layout of another one, with arbitrary elements.

    `input` may be a DTensor. Options as for `empty`; the defaults are those of `input`.
    """
    made = _known(input, None, options)
    return _like(_EMPTY, input, **options) if made is None else made


@takes(_like)
def zeros_like(input: Any, **options: Any) -> Any:
    """Return zeros in the layout of another tensor: see `empty_like`."""
    made = _known(input, False, options)
    return _like(_ZEROS, input, **options) if made is None else made


@takes(_like)
def ones_like(input: Any, **options: Any) -> Any:
    """Return ones in the layout of another tensor: see `empty_like`."""
    made = _known(input, 1, options)
    return _like(_ONES, input, **options) if made is None else made


@takes(_like)
def full_like(input: Any, fill_value: Any, **options: Any) -> Any:
    """Return a tensor of one value in the layout of another one: see `empty_like`."""

    if type(fill_value) is float and input.dtype.kind == "f":
        made = _known(input, fill_value, options)
        if made is not None:
            return made

    def make(x: Any, dtype: npt.DTypeLike | None = None, order: Any = "K") -> Any:
        number = fitted(fill_value, x.dtype if dtype is None else dtype)
        return ops.full_like(x, number, dtype=dtype, order=order)

    return _like(_Make(make, fill_value), input, **options)


@takes(_like)
def rand_like(input: Any, *, generator: Generator | None = None, **options: Any) -> Any:
    """Return uniform numbers in the layout of another tensor: see `empty_like`."""
    return empty_like(input, **options).uniform_(generator=generator)


@takes(_like)
def randn_like(
    input: Any, *, generator: Generator | None = None, **options: Any
) -> Any:
    """Return normal numbers in the layout of another tensor: see `empty_like`."""
    return empty_like(input, **options).normal_(generator=generator)


@takes(_like)
def randint_like(
    input: Any,
    low: int,
    high: int | None = None,
    *,
    generator: Generator | None = None,
    **options: Any,
) -> Any:
    """Return integers below `high` in the layout of another tensor: see `empty_like`.

    With one number, they are from 0 on, and below it.
    """
    low, high = (0, low) if high is None else (low, high)
    made = _like(_EMPTY, input, **options)
    return made.random_(low, high, generator=generator)
