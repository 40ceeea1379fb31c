"""New tensors in the layout of another one: ``torch.zeros_like`` and its kin.

Options are those of `empty`; the defaults are those of the other tensor.
"""

from collections.abc import Callable
from typing import Any

import numpy.typing as npt

from dtensor import _C, ops
from dtensor._core import device as _device
from dtensor.random import Generator
from dtensor.torch._types import numpy_dtype, takes

__all__ = [
    "empty_like",
    "full_like",
    "ones_like",
    "rand_like",
    "randint_like",
    "randn_like",
    "zeros_like",
]


def _like(
    make: Callable[..., Any],
    x: Any,
    *,
    dtype: npt.DTypeLike | None = None,
    layout: Any = None,
    device: str | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
    memory_format: Any = None,
) -> Any:
    if _device.is_meta(x) or device is not None:
        made = _device.empty_like(x, numpy_dtype(dtype), device)
        if not _device.is_meta(made):
            made.copy_(make(made))
    else:
        made = make(x, dtype=numpy_dtype(dtype))
    made = _C.into_torch(made)
    return made.requires_grad_() if requires_grad else made


@takes(_like)
def empty_like(input: Any, **options: Any) -> Any:
    """Return a tensor in the layout of another one, with arbitrary elements.

    `input` may be a DTensor. Options as for `empty`; the defaults are those of `input`.
    """
    return _like(ops.empty_like, input, **options)


@takes(_like)
def zeros_like(input: Any, **options: Any) -> Any:
    """Return zeros in the layout of another tensor: see `empty_like`."""
    return _like(ops.zeros_like, input, **options)


@takes(_like)
def ones_like(input: Any, **options: Any) -> Any:
    """Return ones in the layout of another tensor: see `empty_like`."""
    return _like(ops.ones_like, input, **options)


@takes(_like)
def full_like(input: Any, fill_value: Any, **options: Any) -> Any:
    """Return a tensor of one value in the layout of another one: see `empty_like`."""

    def make(x: Any, dtype: npt.DTypeLike | None = None) -> Any:
        return ops.full_like(x, fill_value, dtype=dtype)

    return _like(make, input, **options)


@takes(_like)
def rand_like(input: Any, *, generator: Generator | None = None, **options: Any) -> Any:
    """Return uniform numbers in the layout of another tensor: see `empty_like`."""
    return _like(ops.empty_like, input, **options).uniform_(generator=generator)


@takes(_like)
def randn_like(
    input: Any, *, generator: Generator | None = None, **options: Any
) -> Any:
    """Return normal numbers in the layout of another tensor: see `empty_like`."""
    return _like(ops.empty_like, input, **options).normal_(generator=generator)


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
    made = _like(ops.empty_like, input, **options)
    return made.random_(low, high, generator=generator)
