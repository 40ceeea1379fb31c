"""Pooling of one and two dims: names and arguments as in torch.nn.functional."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dtensor.ops._make.elementwise import is_floating
from dtensor.ops.model.columns import Ints
from dtensor.ops.model.pool_parts import average, largest_of, maximum
from dtensor.ops.model.windows import Dims, Shares, Windows

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "avg_pool1d",
    "avg_pool2d",
    "max_pool1d",
    "max_pool2d",
]

# --- what is asked of a pool ----------------------------------------------------------


def numbers(pool: str, name: str, value: Any, count: int) -> Ints:
    """Return an argument that is one number, or one for each dim."""
    if isinstance(value, int | np.integer):
        return (int(value),) * count
    values = tuple(value)
    if len(values) not in (1, count):
        told = "an int" if count == 1 else "a single int, or a tuple of two ints"
        raise RuntimeError(f"{pool}: {name} must be {told}, but got {list(values)}")
    return tuple(map(int, values * (count // len(values))))


def _check(
    pool: str, x: Any, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints
) -> None:
    """Raise what torch raises."""
    for values, name in ((stride, "stride"), (kernel, "kernel size")):
        if min(values) <= 0:
            raise RuntimeError(
                f"{pool}: {name} should be greater than zero, but got {list(values)}"
            )
    if min(dilation) <= 0:
        raise RuntimeError(
            f"dilation should be greater than zero, but got {list(dilation)}"
        )
    for pad, size, spread in zip(padding, kernel, dilation, strict=True):
        if pad < 0:
            raise RuntimeError(f"pad must be non-negative, but got pad: {pad}")
        if pad > size // 2:
            raise RuntimeError(
                "pad should be at most half of effective kernel size, but got "
                f"pad={pad}, kernel_size={size} and dilation={spread}"
            )
    if 0 in x.shape[-len(kernel) - 1 :]:
        raise RuntimeError(
            f"{pool}: Expected {len(kernel) + 1}D or {len(kernel) + 2}D (batch mode) "
            "tensor with optional 0 dim batch size for input, but got:"
            f"{list(x.shape)}"
        )


def _check_input(pool: str, x: Any, dims: int, integers: Sequence[Any] = ()) -> None:
    if len(x.shape) not in (dims + 1, dims + 2):
        raise RuntimeError(
            f"{pool}: Expected {dims + 1}D or {dims + 2}D (batch mode) tensor for "
            f"input, but got:{list(x.shape)}"
        )
    dtype = np.dtype(x.dtype)
    if not (is_floating(dtype) or dtype in integers):
        raise NotImplementedError(f'"{pool}" not implemented for {dtype.name!r}')


def windows_of(
    pool: str,
    x: Any,
    integers: Sequence[Any],
    kernel_size: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil_mode: bool,
    padded: bool = True,
) -> Dims:
    """Return the windows of a pool over the last dims: as many as its name says."""
    count = int(pool[-2])
    _check_input(pool, x, count, integers)
    kernel = numbers(pool, "kernel_size", kernel_size, count)
    given = stride is not None and (np.ndim(stride) == 0 or len(stride) > 0)
    step = numbers(pool, "stride", stride, count) if given else kernel
    pad = numbers(pool, "padding", padding, count)
    spread = numbers(pool, "dilation", dilation, count)
    _check(pool, x, kernel, step, pad, spread)
    lengths = x.shape[-count:]
    each = [
        Windows(n, _count(n, k, s, p, d, ceil_mode), k, s, p, d, padded)
        for n, k, s, p, d in zip(lengths, kernel, step, pad, spread, strict=True)
    ]
    if min(dim.places for dim in each) < 1:
        sizes = [
            "x".join(map(str, (x.shape[-count - 1], *of)))
            for of in (lengths, [dim.places for dim in each])
        ]
        raise RuntimeError(
            f"Given input size: ({sizes[0]}). Calculated output size: ({sizes[1]}). "
            "Output size is too small"
        )
    return tuple(each)


def _count(
    length: int, size: int, stride: int, padding: int, dilation: int, ceil_mode: bool
) -> int:
    """Return how many windows there are; the last one begins inside."""
    rest = length + 2 * padding - dilation * (size - 1) - 1
    if not ceil_mode:
        return rest // stride + 1
    count = -(-rest // stride) + 1
    return count - ((count - 1) * stride >= length + padding)


# --- what is called -------------------------------------------------------------------

Lengths = int | Sequence[int]

_INT64 = (np.dtype(np.int64),)
_INTEGERS = tuple(map(np.dtype, "bBhHiIlLqQ"))


def batched(x: Any, dims: Dims, pool: Callable[[Any], Any]) -> Any:
    """Return a pool of samples, or of one without the dim of samples."""
    if len(x.shape) == len(dims) + 2:
        return pool(x)
    found = pool(x[None])
    return tuple(part[0] for part in found) if isinstance(found, tuple) else found[0]


def max_pool(pool: str, x: Any, return_indices: bool, *steps: Any) -> Any:
    """Return `max_pool2d` and its like, over as many dims as the name says."""
    dims = windows_of(pool, x, _INTEGERS, *steps)
    operator = largest_of if return_indices else maximum
    return batched(x, dims, lambda batch: operator(batch, dims))


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
    dims = windows_of("avg_pool1d", input, _INT64, *steps)
    return batched(input, dims, lambda batch: average(batch, dims, None))


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
    dims = windows_of("avg_pool2d", input, _INT64, *steps)
    return batched(input, dims, lambda batch: average(batch, dims, divisor_override))


def adaptive(
    pool: str, x: Any, output_size: Any, how: Callable[[Any, Dims], Any]
) -> Any:
    """Return what `how` makes of shares of the last dims, as many as `pool` says."""
    count = int(pool[-2])
    _check_input(pool, x, count)
    if output_size is None or isinstance(output_size, int | np.integer):
        output_size = (output_size,) * count
    if len(output_size) != count:
        raise RuntimeError(f"{pool}: output_size must be {count}")
    lengths = x.shape[-count:]
    places = [
        n if size is None else int(size)
        for n, size in zip(lengths, output_size, strict=True)
    ]
    if min(places) < 0:
        raise RuntimeError(
            f"{pool}: elements of output_size must be greater than or equal to 0 but "
            f"received {places}"
        )
    if 0 in lengths:
        raise RuntimeError(
            f"{pool}(): Expected input to have non-zero size for non-batch dimensions, "
            f"but input has sizes {list(x.shape)}"
        )
    dims = tuple(map(Shares, lengths, places))
    return batched(x, dims, lambda batch: how(batch, dims))


def _means(x: Any, dims: Dims) -> Any:
    return average(x, dims, None)


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
