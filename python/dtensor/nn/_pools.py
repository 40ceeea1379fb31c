"""Pools over three dims, adaptive maxima, norms of windows, and maxima put back."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dtensor.ops.model.activation import relu
from dtensor.ops.model.pool import (
    adaptive,
    avg_pool1d,
    avg_pool2d,
    batched,
    max_pool,
)
from dtensor.ops.model.pool_parts import average, largest_of, put_back
from dtensor.ops.model.pool_windows import numbers, windows_of

__all__ = [
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices",
    "adaptive_max_pool2d",
    "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d",
    "adaptive_max_pool3d_with_indices",
    "avg_pool3d",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "max_pool1d_with_indices",
    "max_pool2d_with_indices",
    "max_pool3d",
    "max_pool3d_with_indices",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
]

Lengths = int | Sequence[int]

# --- three dims -----------------------------------------------------------------------


def max_pool3d(
    input: Any,
    kernel_size: Lengths,
    stride: Lengths | None = None,
    padding: Lengths = 0,
    dilation: Lengths = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Return the largest element of each window of the last three dims.

    See `max_pool2d`.
    """
    steps = kernel_size, stride, padding, dilation, ceil_mode
    return max_pool("max_pool3d", input, return_indices, *steps)


def avg_pool3d(
    input: Any,
    kernel_size: Lengths,
    stride: Lengths | None = None,
    padding: Lengths = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Any:
    """Return the mean of each window of the last three dims: see `avg_pool2d`."""
    if divisor_override == 0:
        raise RuntimeError("divisor must be not zero")
    steps = kernel_size, stride, padding, 1, ceil_mode, count_include_pad
    dims = windows_of("avg_pool3d", input, (), *steps)
    return batched(input, dims, lambda batch: average(batch, dims, divisor_override))


def adaptive_avg_pool3d(input: Any, output_size: Any) -> Any:
    """Return means of the last three dims, shared out: see `adaptive_avg_pool2d`."""
    return adaptive(
        "adaptive_avg_pool3d",
        input,
        output_size,
        lambda x, dims: average(x, dims, None),
    )


# --- maxima of shares -----------------------------------------------------------------


def _adaptive_max(count: int) -> tuple[Callable[..., Any], Callable[..., Any]]:
    name = f"adaptive_max_pool{count}d"

    def both(input: Any, output_size: Any, return_indices: bool = True) -> Any:
        return adaptive(name, input, output_size, largest_of)

    def answer(input: Any, output_size: Any, return_indices: bool = False) -> Any:
        found = both(input, output_size)
        return found if return_indices else found[0]

    answer.__name__ = answer.__qualname__ = name
    both.__name__ = both.__qualname__ = f"{name}_with_indices"
    what = (
        f"Return the largest elements of the last {count} dims, shared out among a "
        "number of places{}.\n\n    See `adaptive_avg_pool2d` and `max_pool2d`.\n    "
    )
    answer.__doc__, both.__doc__ = what.format(""), what.format(", and their indices")
    return answer, both


adaptive_max_pool1d, adaptive_max_pool1d_with_indices = _adaptive_max(1)
adaptive_max_pool2d, adaptive_max_pool2d_with_indices = _adaptive_max(2)
adaptive_max_pool3d, adaptive_max_pool3d_with_indices = _adaptive_max(3)


def _with_indices(count: int) -> Callable[..., Any]:
    def both(
        input: Any,
        kernel_size: Lengths,
        stride: Lengths | None = None,
        padding: Lengths = 0,
        dilation: Lengths = 1,
        ceil_mode: bool = False,
        return_indices: bool = True,
    ) -> Any:
        steps = kernel_size, stride, padding, dilation, ceil_mode
        return max_pool(f"max_pool{count}d", input, True, *steps)

    both.__name__ = both.__qualname__ = f"max_pool{count}d_with_indices"
    both.__doc__ = f"Return `max_pool{count}d`, and the indices of the elements."
    return both


max_pool1d_with_indices = _with_indices(1)
max_pool2d_with_indices = _with_indices(2)
max_pool3d_with_indices = _with_indices(3)

# --- norms of windows -----------------------------------------------------------------

_MEANS: dict[int, Callable[..., Any]] = {1: avg_pool1d, 2: avg_pool2d, 3: avg_pool3d}


def _lp(count: int) -> Callable[..., Any]:
    def answer(
        input: Any,
        norm_type: float,
        kernel_size: Lengths,
        stride: Lengths | None = None,
        ceil_mode: bool = False,
    ) -> Any:
        size = numbers(f"lp_pool{count}d", "kernel_size", kernel_size, count)
        mean = _MEANS[count](input**norm_type, size, stride, 0, ceil_mode)
        # No gradient where it is 0, as the norm has none.
        total = np.sign(mean) * relu(np.abs(mean)) * math.prod(size)
        return total ** (1.0 / norm_type)

    answer.__name__ = answer.__qualname__ = f"lp_pool{count}d"
    answer.__doc__ = (
        f"Return the norm of each window of the last {count} dims.\n\n"
        "    It is ``sum(x ** norm_type) ** (1 / norm_type)``; other arguments are\n"
        "    those of `avg_pool2d`, without padding.\n    "
    )
    return answer


lp_pool1d, lp_pool2d, lp_pool3d = _lp(1), _lp(2), _lp(3)

# --- back to where they were ----------------------------------------------------------


def _lengths(
    have: tuple[int, ...],
    kernel: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    output_size: Sequence[int] | None,
) -> tuple[int, ...]:
    steps = list(zip(have, kernel, stride, padding, strict=True))
    usual = tuple((n - 1) * s + k - 2 * p for n, k, s, p in steps)
    if output_size is None:
        return usual
    wanted = tuple(output_size)[-len(kernel) :]
    if len(output_size) not in (len(kernel), len(kernel) + 1, len(kernel) + 2):
        raise ValueError(
            f"output_size should be a sequence containing {len(kernel)} or "
            f"{len(kernel) + 2} elements, but it has a length of '{len(output_size)}'"
        )
    for k, (n, m, s) in enumerate(zip(wanted, usual, stride, strict=True)):
        if not m - s < n < m + s:
            raise ValueError(
                f"invalid output_size {list(wanted)} (dim {k} must be between {m - s} "
                f"and {m + s})"
            )
    return wanted


def _unpool(count: int) -> Callable[..., Any]:
    name = f"max_unpool{count}d"

    def answer(
        input: Any,
        indices: Any,
        kernel_size: Lengths,
        stride: Lengths | None = None,
        padding: Lengths = 0,
        output_size: Sequence[int] | None = None,
    ) -> Any:
        kernel = numbers(name, "kernel_size", kernel_size, count)
        step = kernel if stride is None else numbers(name, "stride", stride, count)
        pad = numbers(name, "padding", padding, count)
        if input.ndim not in (count + 1, count + 2):
            raise RuntimeError(
                f"{name}: Expected {count + 1}D or {count + 2}D input, but got a "
                f"tensor with {input.ndim} dimensions"
            )
        if tuple(input.shape) != tuple(indices.shape):
            raise RuntimeError(
                f"Expected shape of indices to be: {list(input.shape)} but got: "
                f"{list(indices.shape)}"
            )
        lengths = _lengths(tuple(input.shape[-count:]), kernel, step, pad, output_size)
        volume = math.prod(lengths)
        for least_or_largest in (np.min, np.max) if indices.numel() else ():
            if not 0 <= (index := int(least_or_largest(indices))) < volume:
                raise RuntimeError(
                    f"Found an invalid max index: {index} (output volumes are of size "
                    f"{lengths})"
                )
        if input.ndim == count + 2:
            return put_back(input, indices, lengths)
        return put_back(input[None], indices[None], lengths)[0]

    answer.__name__ = answer.__qualname__ = name
    answer.__doc__ = (
        f"Put what `max_pool{count}d` returned back to where it was, among zeros.\n\n"
        "    Parameters\n    ----------\n    input, indices : tensor\n"
        "        The maxima, and their indices, each once.\n"
        "    kernel_size, stride, padding\n        Those of the pool.\n"
        "    output_size : sequence of int, optional\n"
        "        The lengths before, if several have the same number of windows.\n    "
    )
    return answer


max_unpool1d, max_unpool2d, max_unpool3d = _unpool(1), _unpool(2), _unpool(3)
