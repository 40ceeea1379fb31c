"""Pooling of one and two dims: names and arguments as in torch.nn.functional."""

from collections.abc import Callable, Sequence
from typing import Any

from dtensor.ops.model.pool_parts import average, largest_of, maximum
from dtensor.ops.model.pool_rows import avg_row, max_row, share_row
from dtensor.ops.model.pool_windows import INT64, INTEGERS, shares_of, windows_of
from dtensor.ops.model.windows import Dims

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "avg_pool1d",
    "avg_pool2d",
    "max_pool1d",
    "max_pool2d",
]

# --- what is called -------------------------------------------------------------------

Lengths = int | Sequence[int]


def batched(x: Any, dims: Dims, pool: Callable[[Any], Any]) -> Any:
    """Return a pool of samples, or of one without the dim of samples."""
    if len(x.shape) == len(dims) + 2:
        return pool(x)
    found = pool(x[None])
    return tuple(part[0] for part in found) if isinstance(found, tuple) else found[0]


def max_pool(pool: str, x: Any, return_indices: bool, *steps: Any) -> Any:
    """Return `max_pool2d` and its like, over as many dims as the name says."""
    dims = windows_of(pool, x, INTEGERS, *steps)
    operator = largest_of if return_indices else maximum
    return batched(x, dims, lambda batch: operator(batch, dims))


@max_row(1)
def max_pool1d(
    input: Any,  # noqa: A002
    kernel_size: Lengths,
    stride: Lengths | None = None,
    padding: Lengths = 0,
    dilation: Lengths = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Return the largest element of each window along the last dim.

    Parameters
    ----------
    input : tensor, shape (samples, channels, length) or (channels, length)
    kernel_size, stride, padding, dilation, ceil_mode, return_indices
        See `max_pool2d`.

    Returns
    -------
    tensor, or tuple of tensor and tensor of int64
        Of shape (samples, channels, places) or (channels, places).

    Raises
    ------
    RuntimeError, NotImplementedError
        As `max_pool2d`.
    """
    steps = kernel_size, stride, padding, dilation, ceil_mode
    return max_pool("max_pool1d", input, return_indices, *steps)


@max_row(2)
def max_pool2d(
    input: Any,  # noqa: A002
    kernel_size: Lengths,
    stride: Lengths | None = None,
    padding: Lengths = 0,
    dilation: Lengths = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Return the largest element of each window of the last two dims.

    Nothing is sent where samples or channels are cut, or, without indices, where the
    input is ``Partial("max")``. Other dims are whole while it computes.

    Parameters
    ----------
    input : tensor, shape (samples, channels, height, width), or without samples
        Of integers or real floating-point numbers.
    kernel_size : int or (int, int)
        Of the windows.
    stride : int or (int, int), optional
        How far apart they are; default: `kernel_size`.
    padding : int or (int, int), default 0
        How far the first and last windows reach out, at most half of `kernel_size`.
        What is there counts as less than anything.
    dilation : int or (int, int), default 1
        How far apart the elements of a window are.
    ceil_mode : bool, default False
        Whether the last window may reach out of the padding. It begins inside.
    return_indices : bool, default False
        Whether to tell where the elements are.

    Returns
    -------
    tensor, shape (samples, channels, places, places), or without samples
        NaN where a window has one.
    tensor of int64, if `return_indices`
        The number of each element in its channel, row-major: of equal ones the first,
        of several NaN the last; -1 for a window that lies in the padding.

    Raises
    ------
    RuntimeError
        For shapes and numbers that do not go together, as torch does; on every rank.
    NotImplementedError
        For booleans and complex numbers.
    """
    steps = kernel_size, stride, padding, dilation, ceil_mode
    return max_pool("max_pool2d", input, return_indices, *steps)


@avg_row(1)
def avg_pool1d(
    input: Any,  # noqa: A002
    kernel_size: Lengths,
    stride: Lengths | None = None,
    padding: Lengths = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Any:
    """Return the mean of each window along the last dim.

    Parameters
    ----------
    input : tensor, shape (samples, channels, length) or (channels, length)
    kernel_size, stride, padding, ceil_mode, count_include_pad
        See `avg_pool2d`.

    Returns
    -------
    tensor, shape (samples, channels, places) or (channels, places)

    Raises
    ------
    RuntimeError, NotImplementedError
        As `avg_pool2d`.
    """
    steps = kernel_size, stride, padding, 1, ceil_mode, count_include_pad
    dims = windows_of("avg_pool1d", input, INT64, *steps)
    return batched(input, dims, lambda batch: average(batch, dims, None))


@avg_row(2)
def avg_pool2d(
    input: Any,  # noqa: A002
    kernel_size: Lengths,
    stride: Lengths | None = None,
    padding: Lengths = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Any:
    """Return the mean of each window of the last two dims.

    Nothing is sent where samples or channels are cut, or where the input is a Partial
    sum or mean. Other dims are whole while it computes.

    Parameters
    ----------
    input : tensor, shape (samples, channels, height, width), or without samples
        Of real floating-point numbers, or int64: the means are then cut off.
    kernel_size, stride, padding, ceil_mode
        See `max_pool2d`; in the padding are zeros.
    count_include_pad : bool, default True
        Whether the padding counts where sums are divided by the size of a window.
    divisor_override : int, optional
        What sums are divided by instead.

    Returns
    -------
    tensor, shape (samples, channels, places, places), or without samples

    Raises
    ------
    RuntimeError
        For shapes and numbers that do not go together, as torch does; on every rank.
    NotImplementedError
        For other dtypes.
    """
    if divisor_override == 0:
        raise RuntimeError("divisor must be not zero")
    steps = kernel_size, stride, padding, 1, ceil_mode, count_include_pad
    dims = windows_of("avg_pool2d", input, INT64, *steps)
    return batched(input, dims, lambda batch: average(batch, dims, divisor_override))


def adaptive(
    pool: str, x: Any, output_size: Any, how: Callable[[Any, Dims], Any]
) -> Any:
    """Return what `how` makes of `shares_of` an array."""
    dims = shares_of(pool, x, output_size)
    return batched(x, dims, lambda batch: how(batch, dims))


def _means(x: Any, dims: Dims) -> Any:
    return average(x, dims, None)


@share_row(1)
def adaptive_avg_pool1d(input: Any, output_size: Any) -> Any:  # noqa: A002
    """Return means of the last dim, shared out among a number of places.

    Parameters
    ----------
    input : tensor, shape (samples, channels, length) or (channels, length)
    output_size : int or (int,)
        See `adaptive_avg_pool2d`.

    Returns
    -------
    tensor, shape (samples, channels, places) or (channels, places)

    Raises
    ------
    RuntimeError, NotImplementedError
        As `adaptive_avg_pool2d`.
    """
    return adaptive("adaptive_avg_pool1d", input, output_size, _means)


@share_row(2)
def adaptive_avg_pool2d(input: Any, output_size: Any) -> Any:  # noqa: A002
    """Return means of the last two dims, shared out among a number of places.

    Place p of P has the elements from ``floor(p * n / P)`` to
    ``ceil((p + 1) * n / P)``. It sends what `avg_pool2d` does.

    Parameters
    ----------
    input : tensor, shape (samples, channels, height, width), or without samples
        Of real floating-point numbers.
    output_size : int, None or (int or None, int or None)
        How many places there are; None: as many as elements.

    Returns
    -------
    tensor, shape (samples, channels, places, places), or without samples

    Raises
    ------
    RuntimeError
        For shapes and numbers that do not go together, as torch does; on every rank.
    NotImplementedError
        For other dtypes.
    """
    return adaptive("adaptive_avg_pool2d", input, output_size, _means)
