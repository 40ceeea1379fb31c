"""Convolutions as products of matrices, on one rank: columns, and the three products.

For every place of the kernel a column holds the elements under it (im2col). Filters
that look at one channel each are vectors then; they have kernels of their own. A rank
may hold some of the samples, groups, channels and filters, as its arrays' shapes say.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import as_strided

from dtensor import _C
from dtensor.ops._make.halves import is_bfloat16
from dtensor.ops._make.kernel import DIRECT

__all__ = [
    "Ints",
    "Steps",
    "columns_of",
    "convolve",
    "convolve_input",
    "convolve_weight",
    "from_columns",
    "is_few",
    "padded_shape",
    "places_of",
]

Array = npt.NDArray[Any]
Ints = tuple[int, ...]
# stride, padding before, padding after, dilation: a number for each spatial dim
Steps = tuple[Ints, Ints, Ints, Ints]

_COLUMNS = 1 << 21  # elements of columns that are made at a time
_FILTERS = 8  # of a channel, of which more are faster as a matrix
_LEAST = 8  # filters of a group, and elements of each, in a product of bfloat16

_DEPTHWISE = _C.kernel("depthwise")
_DEPTHWISE_INPUT = _C.kernel("depthwise_input")
_DEPTHWISE_WEIGHT = _C.kernel("depthwise_weight")

# --- columns --------------------------------------------------------------------------


def places_of(lengths: Sequence[int], kernel: Sequence[int], steps: Steps) -> Ints:
    """Return at how many places a kernel is put, for each dim."""
    return tuple(
        (n + low + high - dilation * (k - 1) - 1) // stride + 1
        for n, k, stride, low, high, dilation in zip(
            lengths, kernel, *steps, strict=True
        )
    )


def _windows(padded: Array, kernel: Ints, places: Ints, steps: Steps) -> Array:
    """Return what lies under the kernel: (samples, channels, *kernel, *places)."""
    stride, _, _, dilation = steps
    inner = padded.strides[2:]
    return as_strided(
        padded,
        (*padded.shape[:2], *kernel, *places),
        (
            *padded.strides[:2],
            *_strides(inner, dilation, kernel),
            *_strides(inner, stride, places),
        ),
    )


def _strides(inner: Ints, steps: Ints, counts: Ints) -> Ints:
    """Return the bytes between neighbours, of which one alone has none."""
    triples = zip(inner, steps, counts, strict=True)
    return tuple(s * step if count > 1 else 0 for s, step, count in triples)


def padded_shape(shape: Sequence[int], steps: Steps) -> Ints:
    _, low, high, _ = steps
    lengths = zip(shape[2:], low, high, strict=True)
    return (*shape[:2], *(n + a + b for n, a, b in lengths))


def _inside(shape: Sequence[int], steps: Steps) -> tuple[slice, ...]:
    """Return where an array lies in the one with padding."""
    pairs = zip(shape[2:], steps[1], strict=True)
    return (slice(None), slice(None), *(slice(a, a + n) for n, a in pairs))


def _dims(lengths: Ints, kernel: Ints, places: Ints, steps: Steps) -> list[Ints]:
    """Return a row for each dim, as kernels in C read them."""
    stride, low, _, dilation = steps
    return [*zip(lengths, kernel, places, stride, low, dilation, strict=True)]


def columns_of(
    x: Array, kernel: Ints, places: Ints, groups: int, steps: Steps
) -> Array:
    """Return matrices (samples, groups, channels and kernel, places)."""
    if x.dtype.itemsize in (2, 4, 8, 16) and len(kernel) <= 3 and x.shape[1]:
        dims = _dims(x.shape[2:], kernel, places, steps)
        return _C.columns_of(x, dims, max(groups, 1))
    if any(steps[1] + steps[2]):
        padded = np.zeros(padded_shape(x.shape, steps), x.dtype)
        padded[_inside(x.shape, steps)] = x
        x = padded
    rows = x.shape[1] // max(groups, 1) * math.prod(kernel)
    windows = _windows(x, kernel, places, steps)
    return windows.reshape(len(x), groups, rows, math.prod(places))


def from_columns(columns: Array, shape: Ints, kernel: Ints, steps: Steps) -> Array:
    """Add columns up where they came from: the adjoint of `columns_of`."""
    if columns.dtype in DIRECT and len(kernel) <= 3 and columns.size:
        places = places_of(shape[2:], kernel, steps)
        dims = _dims(tuple(shape[2:]), kernel, places, steps)
        return _C.columns_added(columns, dims, len(kernel)).reshape(shape)
    padded = np.zeros(padded_shape(shape, steps), columns.dtype)
    places = places_of(shape[2:], kernel, steps)
    columns = columns.reshape(*shape[:2], *kernel, *places)
    stride, _, _, dilation = steps
    for at in np.ndindex(*kernel):
        where: list[Any] = [
            slice(i * d, i * d + s * (n - 1) + 1, s)
            for i, d, s, n in zip(at, dilation, stride, places, strict=True)
        ]
        padded[tuple([..., *where])] += columns[:, :, *at]
    return np.ascontiguousarray(padded[_inside(shape, steps)])


def _is_pointwise(kernel: Ints, steps: Steps) -> bool:
    """Whether a kernel has one element at every place: columns are the array itself."""
    return {*kernel, *steps[0]} == {1} and not any(steps[1] + steps[2])


def _seen(x: Array, kernel: Ints, places: Ints, groups: int, steps: Steps) -> Array:
    """Return columns to read, a view if that will do."""
    if _is_pointwise(kernel, steps):
        return x.reshape(len(x), groups, x.shape[1] // groups, math.prod(places))
    return columns_of(x, kernel, places, groups, steps)


def _some(samples: int, elements: int) -> Iterator[slice]:
    """Yield slices of samples that have few elements each."""
    count = max(1, _COLUMNS // max(elements, 1))
    for first in range(0, samples, count):
        yield slice(first, first + count)


def _groups(channels: int, weight: Sequence[int]) -> int:
    """Return how many groups there are on this rank."""
    return channels // weight[1] if weight[1] else 0


def _is_depthwise(x: Ints, weight: Ints, dtype: np.dtype[Any], steps: Steps) -> bool:
    """Whether filters look at one channel each, and there are few for each of many.

    Padding that is much longer than the array is left to columns, which skip it.
    """
    channels, lengths = x[1], x[2:]
    few = 1 < channels <= weight[0] <= channels * _FILTERS and weight[1] == 1
    if not few or dtype not in DIRECT or len(lengths) > 3 or min(steps[1]) < 0:
        return False
    elements, padded = math.prod(lengths), math.prod(padded_shape(x, steps)[2:])
    return 0 < padded <= 8 * elements + _COLUMNS and 0 < math.prod(weight) * elements


def is_few(x: Ints, weight: Ints, steps: Steps) -> bool:
    """Return whether filters are too few, or too small, for products of bfloat16."""
    per_group = weight[0] // max(_groups(x[1], weight), 1)
    small = min(per_group, math.prod(weight[1:])) < _LEAST
    return small or _is_depthwise(x, weight, np.dtype(np.float32), steps)


# --- products -------------------------------------------------------------------------

# bfloat16 is multiplied as such, added up in float32, and rounded once (`_C.product`).


def _multiply(out: Array, rows: Array, columns: Array, bias: Array | None) -> None:
    """Write products, of bfloat16 or of what NumPy multiplies."""
    if is_bfloat16(out.dtype):
        out[...] = _C.product(rows, columns, bias)
        return
    np.matmul(rows, columns, out=out)
    if bias is not None:
        out += bias


def _rounded(x: Array, dtype: np.dtype[Any]) -> Array:
    """Return sums in this dtype."""
    return x if x.dtype == dtype else _C.cast(x, dtype)


def convolve(
    x: Array, weight: Array, bias: Array | None, adds: bool, steps: Steps
) -> Array:
    """Return the convolution, with the bias if this rank adds it."""
    kernel, groups = weight.shape[2:], _groups(x.shape[1], weight.shape)
    places = places_of(x.shape[2:], kernel, steps)
    if len(x) and _is_depthwise(x.shape, weight.shape, x.dtype, steps):
        dims = _dims(x.shape[2:], kernel, places, steps)
        made: Array = _DEPTHWISE(x, weight, bias if adds else None, dims)
        return made
    given = groups and x.size
    out = (np.empty if given else np.zeros)((len(x), len(weight), *places), x.dtype)
    shift = bias if adds else None
    if given and out.size:
        rows = weight.reshape(groups, len(weight) // groups, -1)
        flat = out.reshape(len(x), groups, rows.shape[1], -1)
        each = rows.shape[2] * groups * flat.shape[3]
        column = None if shift is None else shift.reshape(*rows.shape[:2], 1)
        for some in _some(len(x), each):
            columns = _seen(x[some], kernel, places, groups, steps)
            _multiply(flat[some], rows, columns, column)
    elif shift is not None:
        out += shift.reshape(-1, *(1,) * len(places))
    return out


def convolve_input(grad: Array, weight: Array, shape: Ints, steps: Steps) -> Array:
    """Return the gradient of an input of this shape."""
    kernel, groups = weight.shape[2:], _groups(shape[1], weight.shape)
    if grad.size and _is_depthwise(shape, weight.shape, grad.dtype, steps):
        dims = _dims(shape[2:], kernel, grad.shape[2:], steps)
        made: Array = _DEPTHWISE_INPUT(grad, weight, dims, shape[1])
        return made
    if not groups or not grad.size:
        return np.zeros(shape, grad.dtype)
    rows = weight.reshape(groups, len(weight) // groups, -1).swapaxes(1, 2)
    flat = grad.reshape(len(grad), groups, rows.shape[2], -1)
    if _is_pointwise(kernel, steps):
        return _C.product(rows, flat).reshape(shape)
    out = np.empty(shape, grad.dtype)
    for some in _some(len(grad), rows.shape[1] * groups * flat.shape[3]):
        part = out[some]
        columns = _C.product(rows, flat[some], None, True)
        added = from_columns(columns, part.shape, kernel, steps)
        part[...] = _rounded(added, grad.dtype)
    return out


def convolve_weight(grad: Array, x: Array, shape: Ints, steps: Steps) -> Array:
    """Return the gradient of weights of this shape."""
    kernel, groups = shape[2:], _groups(x.shape[1], shape)
    if grad.shape[2:] != places_of(x.shape[2:], kernel, steps):
        raise ValueError(f"no gradient of a convolution has shape {grad.shape}")
    if grad.size and _is_depthwise(x.shape, shape, grad.dtype, steps):
        dims = _dims(x.shape[2:], kernel, grad.shape[2:], steps)
        made: Array = _DEPTHWISE_WEIGHT(grad, x, dims)
        return made
    wide = np.float32 if is_bfloat16(grad.dtype) else grad.dtype
    out = np.zeros(shape, wide)
    if not groups or not grad.size or not out.size:
        return _rounded(out, grad.dtype)
    sums = out.reshape(groups, shape[0] // groups, -1)
    flat = grad.reshape(len(grad), groups, sums.shape[1], -1)
    for some in _some(len(x), sums.shape[2] * groups * flat.shape[3]):
        columns = _seen(x[some], kernel, grad.shape[2:], groups, steps)
        products = _C.product(flat[some], columns.swapaxes(2, 3), None, True)
        sums += products.sum(axis=0)
    return _rounded(out, grad.dtype)
