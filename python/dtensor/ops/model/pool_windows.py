"""The windows that are asked of a pool; what torch refuses."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dtensor.ops._make.elementwise import is_floating
from dtensor.ops.model.columns import Ints
from dtensor.ops.model.windows import Dims, Shares, Windows

__all__ = ["INT64", "INTEGERS", "numbers", "shares_of", "windows_of"]

INT64 = (np.dtype(np.int64),)
INTEGERS = tuple(map(np.dtype, "bBhHiIlLqQ"))


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


def shares_of(pool: str, x: Any, output_size: Any) -> Dims:
    """Return shares of the last dims, as many as `pool` says."""
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
    return tuple(map(Shares, lengths, places))
