"""Histograms, integrals, scans, windows: functions that are NumPy's under other names,
and those that it lacks."""

import math
from typing import Any, SupportsIndex

import numpy as np

from dtensor import _C, Replicate, ops as _ops
from dtensor.torch import _create
from dtensor.torch._alike import rand_like
from dtensor.torch._cast import floating
from dtensor.torch._pointwise import FUNCTIONS
from dtensor.torch._reduce import dims_of, summed
from dtensor.torch._returned import TYPES
from dtensor.torch._rows import in_rows
from dtensor.torch._scatter import scatter_reduce
from dtensor.torch._shape import searchsorted
from dtensor.torch._types import Size, keeps, numpy_dtype, takes

ops: Any = _ops  # type checkers lose some of its names, in a cycle of imports
logaddexp = FUNCTIONS["logaddexp"]

__all__ = [
    "bartlett_window",
    "blackman_window",
    "broadcast_shapes",
    "bucketize",
    "cumulative_trapezoid",
    "diff",
    "frombuffer",
    "gradient",
    "hamming_window",
    "hann_window",
    "histc",
    "histogram",
    "index_reduce",
    "kaiser_window",
    "logcumsumexp",
    "multinomial",
    "nanquantile",
    "nonzero_static",
    "range",
    "scalar_tensor",
    "trapezoid",
    "trapz",
    "unique_consecutive",
    "unravel_index",
]


# --- counts ---------------------------------------------------------------------------


def bucketize(
    input: Any, boundaries: Any, *, out_int32: bool = False, right: bool = False
) -> Any:
    """Return between which boundaries each element lies."""
    return searchsorted(boundaries, input, out_int32=out_int32, right=right)


@keeps
def histc(input: Any, bins: int = 100, min: float = 0, max: float = 0) -> Any:
    """Return how many elements lie in each of equal bins, as the input's dtype.

    The bins reach from the smallest to the greatest element if both ends are equal.

    Raises
    ------
    RuntimeError
        If `bins` is not positive, or `max` is below `min`.
    """
    if bins <= 0:
        raise RuntimeError("bins must be > 0")
    if max < min:
        raise RuntimeError("max must be larger than min")
    x = ops.ravel(input.detach())
    if min == max and x.numel():
        min, max = float(ops.min(x)), float(ops.max(x))
    if min == max:
        min, max = min - 1, max + 1
    counts, _ = ops.histogram(x, bins, range=(min, max))
    return ops.astype(counts, np.dtype(input.dtype))


@keeps
def histogram(
    input: Any,
    bins: Any = 100,
    *,
    range: Any = None,
    weight: Any = None,
    density: bool = False,
) -> Any:
    """Return the counts in bins, and the edges of the bins."""
    dtype = np.dtype(input.dtype)
    x = ops.ravel(input.detach())
    weights = None if weight is None else ops.ravel(weight)
    counts, edges = ops.histogram(
        x, bins, range=range, weights=weights, density=density
    )
    return TYPES["histogram"]((ops.astype(counts, dtype), ops.astype(edges, dtype)))


def nanquantile(
    input: Any,
    q: Any,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
) -> Any:
    """Return the `q`-th quantile of the elements that are not NaN."""
    axis = dims_of(dim, input.ndim)
    return ops.nanquantile(input, q, axis=axis, keepdims=keepdim, method=interpolation)


@keeps
def unique_consecutive(
    input: Any,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """Return the elements that differ from the one before; collective of a DTensor.

    Parameters
    ----------
    input : tensor
    return_inverse, return_counts : bool, default False
        Whether to return where each element has gone, and how many there were.
    dim : int, optional
        Compare slices along it; default: elements, in a row.
    """
    x = ops.ravel(input) if dim is None else ops.moveaxis(input, dim, 0)
    n = int(x.shape[0])
    differs = ops.not_equal(
        ops.getitem(x, slice(1, None)), ops.getitem(x, slice(0, -1))
    )
    if x.ndim > 1:
        differs = ops.any(differs, axis=tuple(np.arange(1, x.ndim).tolist()))
    full = differs.full_tensor() if isinstance(differs, _C.DTensor) else differs
    first = np.concatenate([np.ones(min(n, 1), bool), np.asarray(full.detach())])
    starts = np.flatnonzero(first)
    found = [ops.getitem(x, (starts,))]
    if dim is not None:
        found[0] = ops.moveaxis(found[0], 0, dim)
    if return_inverse:
        shape = tuple(input.shape) if dim is None else (n,)
        found.append(_create.tensor((np.cumsum(first) - 1).reshape(shape)))
    if return_counts:
        found.append(_create.tensor(np.diff(np.append(starts, n))))
    return tuple(found) if len(found) > 1 else found[0]


def multinomial(
    input: Any, num_samples: int, replacement: bool = False, *, generator: Any = None
) -> Any:
    """Draw indices with probabilities in proportion to the elements of each row.

    The numbers are not those that PyTorch draws.

    Raises
    ------
    RuntimeError
        If there are more samples than elements, without `replacement`, or the input
        has not one or two dims.
    """
    if input.ndim not in (1, 2):
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    if num_samples <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    weights = input.detach()
    if bool(ops.any(ops.logical_not(ops.greater_equal(weights, 0)))):
        raise RuntimeError(
            "probability tensor contains either `inf`, `nan` or element < 0"
        )
    if bool(ops.any(ops.equal(ops.sum(weights, -1), 0))):
        raise RuntimeError(
            "invalid multinomial distribution (sum of probabilities <= 0)"
        )
    if not replacement:
        if num_samples > input.shape[-1]:
            raise RuntimeError(
                "cannot sample n_sample > prob_dist.size(-1) samples without "
                "replacement"
            )
        noise = -ops.log1p(-rand_like(weights, generator=generator))
        return ops.topk(weights / noise, num_samples, -1)[1]
    cut = isinstance(weights, _C.DTensor)
    whole = weights.full_tensor() if cut else weights
    sums = np.cumsum(np.asarray(whole).astype(np.float64), -1)
    shape = (*sums.shape[:-1], num_samples)
    places = _create.rand(*shape, generator=generator, dtype=np.float64)
    wanted = np.asarray(places) * sums[..., -1:]
    index = (wanted[..., None] >= sums[..., None, :]).sum(-1)
    found = _create.tensor(np.minimum(index, sums.shape[-1] - 1))
    if not cut:
        return found
    mesh = weights.device_mesh
    return _C.DTensor.from_local(found, mesh, [Replicate()] * mesh.ndim)


# --- along dims -----------------------------------------------------------------------


def logcumsumexp(input: Any, dim: int) -> Any:
    """Return the logarithms of running sums of exponentials, by doubling steps."""
    x = ops.moveaxis(floating(input), dim, -1) if input.ndim else floating(input)
    length, step = (int(x.shape[-1]) if x.ndim else 1), 1
    while step < length:
        width = [(0, 0)] * (x.ndim - 1) + [(step, 0)]
        part = ops.getitem(x, (..., slice(0, length - step)))
        x = logaddexp(x, ops.pad(part, width, constant_values=-np.inf))
        step *= 2
    return in_rows(ops.moveaxis(x, -1, dim)) if input.ndim else x


def diff(
    input: Any, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None
) -> Any:
    """Return the differences of neighbours along a dim, `n` times over.

    `prepend` and `append` are put before and after the input.
    """
    given = {"prepend": prepend, "append": append}
    more = {name: x for name, x in given.items() if x is not None}
    return ops.diff(input, n, dim, **more)


def trapezoid(y: Any, x: Any = None, *, dx: Any = 1, dim: int = -1) -> Any:
    """Return the integral along a dim, by the trapezoidal rule."""
    if x is None:
        return ops.trapezoid(floating(y), None, dx, dim)
    y = ops.moveaxis(y, dim, -1)
    dx = ops.diff(x if x.ndim == 1 else ops.moveaxis(x, dim, -1), axis=-1)
    pairs = ops.getitem(y, (..., slice(1, None))) + ops.getitem(y, (..., slice(0, -1)))
    total = ops.sum(pairs * dx, axis=-1, dtype=summed(pairs * dx))
    return floating(total) / 2


trapz = trapezoid


def cumulative_trapezoid(y: Any, x: Any = None, *, dx: Any = 1, dim: int = -1) -> Any:
    """Return the running integrals along a dim, by the trapezoidal rule."""
    y = ops.moveaxis(y, dim, -1)
    pairs = ops.getitem(y, (..., slice(1, None))) + ops.getitem(y, (..., slice(0, -1)))
    if x is not None:
        dx = ops.diff(x if x.ndim == 1 else ops.moveaxis(x, dim, -1), axis=-1)
    return in_rows(ops.moveaxis(ops.cumsum(pairs * dx / 2, axis=-1), -1, dim))


def gradient(
    input: Any, *, spacing: Any = 1, dim: Any = None, edge_order: int = 1
) -> tuple[Any, ...]:
    """Return differences of neighbours along each dim, as a tuple."""
    several = isinstance(spacing, tuple | list)
    axes = {} if dim is None else {"axis": tuple(dim) if np.iterable(dim) else dim}
    if several and dim is None and len(spacing) < input.ndim:
        axes = {"axis": tuple(np.arange(len(spacing)).tolist())}
    found = ops.gradient(
        input,
        *(spacing if several else (1 if spacing is None else spacing,)),
        edge_order=edge_order,
        **axes,
    )
    found = found if isinstance(found, tuple | list) else (found,)
    return tuple(map(in_rows, found))


def index_reduce(
    input: Any,
    dim: int,
    index: Any,
    source: Any,
    reduce: str,
    *,
    include_self: bool = True,
) -> Any:
    """Return the input with slices of `source` combined with those that `index` names.

    `reduce` is "prod", "mean", "amax" or "amin".
    """
    shape = [1] * source.ndim
    shape[dim] = int(index.shape[0])
    wide = ops.broadcast_to(ops.reshape(index, tuple(shape)), tuple(source.shape))
    return scatter_reduce(input, dim, wide, source, reduce, include_self=include_self)


def unravel_index(indices: Any, shape: Any) -> tuple[Any, ...]:
    """Return the indices along each dim of those in the flattened tensor."""
    sizes = (shape,) if isinstance(shape, SupportsIndex) else tuple(shape)
    found = ops.unravel_index(indices, sizes)
    return tuple(x if hasattr(x, "grad_fn") else _create.tensor(x) for x in found)


@keeps
def nonzero_static(input: Any, *, size: int, fill_value: int = -1) -> Any:
    """Return the indices of the first `size` elements that are not 0, as rows."""
    found = ops.argwhere(input)
    found = ops.getitem(found, slice(0, size))
    missing = size - int(found.shape[0])
    return ops.pad(found, ((0, missing), (0, 0)), constant_values=fill_value)


# --- new ones -------------------------------------------------------------------------


def broadcast_shapes(*shapes: Any) -> Size:
    """Return the shape that tensors of these shapes broadcast to.

    Raises
    ------
    RuntimeError
        If they do not.
    """
    try:
        given = [(s,) if isinstance(s, int) else tuple(s) for s in shapes]
        return Size(np.broadcast_shapes(*given))
    except ValueError as error:
        raise RuntimeError(
            "Shape mismatch: objects cannot be broadcast to a single shape"
        ) from error


def frombuffer(
    buffer: Any,
    *,
    dtype: Any,
    count: int = -1,
    offset: int = 0,
    requires_grad: bool = False,
) -> Any:
    """Return a vector that shares the memory of a buffer."""
    found = np.frombuffer(buffer, numpy_dtype(dtype), count, offset)
    return _create.from_numpy(found).requires_grad_(requires_grad)


@takes(_create._new)
def scalar_tensor(s: Any, **options: Any) -> Any:
    """Return a tensor without dims; by default of the default dtype."""
    return _create.tensor(s, **{"dtype": _C.get_default_dtype(), **options})


@takes(_create._new)
def range(start: float = 0, end: Any = None, step: float = 1, **options: Any) -> Any:
    """Return numbers from `start` to `end`, with the end: an older form of `arange`."""
    start, end = (0, start) if end is None else (start, end)
    count = math.floor((end - start) / step) + 1
    options.setdefault("dtype", _C.get_default_dtype())
    return _create.tensor(start + step * np.arange(count), **options)


def _window(formula: Any, name: str, *names: str) -> Any:
    @takes(_create._new)
    def window(
        window_length: int, periodic: bool = True, *shape: Any, **options: Any
    ) -> Any:
        named = {each: options.pop(each) for each in names if each in options}
        dtype = numpy_dtype(options.pop("dtype", None)) or _C.get_default_dtype()
        length = int(window_length)
        count = length + (periodic and length > 1)
        values = (
            np.ones(min(length, 1)) if length < 2 else formula(count, *shape, **named)
        )
        for ignored in ("layout", "pin_memory"):
            options.pop(ignored, None)
        return _create.tensor(values[:length], dtype=dtype, **options)

    window.__name__ = window.__qualname__ = name
    window.__doc__ = (
        f"Return the {name.split('_')[0].title()} window of a length, periodic or "
        "symmetric."
    )
    return window


def _cosines(*weights: float) -> Any:
    def formula(count: int, *shape: float, **named: float) -> Any:
        angle = 2 * np.pi * np.arange(count) / (count - 1)
        given = [*shape, *weights[len(shape) :]]
        for k, each in enumerate(("alpha", "beta")):
            given[k] = named.get(each, given[k])
        terms = enumerate(given)
        return np.add.reduce([(-1) ** k * w * np.cos(k * angle) for k, w in terms])

    return formula


hann_window = _window(_cosines(0.5, 0.5), "hann_window")
hamming_window = _window(_cosines(0.54, 0.46), "hamming_window", "alpha", "beta")
blackman_window = _window(_cosines(0.42, 0.5, 0.08), "blackman_window")
bartlett_window = _window(lambda n: np.bartlett(n), "bartlett_window")
kaiser_window = _window(
    lambda n, beta=12.0: np.kaiser(n, beta), "kaiser_window", "beta"
)
