"""Functions that read and write elements by index: the scatter and index families.

The index is one that all ranks know, or a DTensor. Those that add differentiate with
respect to both; the others write into a copy.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dtensor import _C, ops as _ops
from dtensor.ops._make.axes import normalize_axis_index
from dtensor.ops._make.composite import composite
from dtensor.ops.index.gradient import added, along
from dtensor.ops.index.take import added_along
from dtensor.torch._pointwise import cast, div

ops: Any = _ops  # type checkers lose some of its names, in a cycle of imports
ALL = slice(None)

__all__ = [
    "diagonal_scatter",
    "index_add",
    "index_copy",
    "index_fill",
    "index_put",
    "masked_fill",
    "masked_scatter",
    "put",
    "scatter",
    "scatter_add",
    "scatter_reduce",
    "select_scatter",
    "slice_scatter",
]

_REDUCE = {
    "sum": np.add,
    "add": np.add,
    "prod": np.multiply,
    "multiply": np.multiply,
    "amax": np.maximum,
    "amin": np.minimum,
}


def _copy(input: Any) -> Any:
    return ops.copy(input)


def _window(x: Any, shape: Sequence[int]) -> Any:
    """Return the part of a tensor from its first element on that has a shape."""
    if tuple(x.shape) == tuple(shape):
        return x
    return ops.getitem(x, tuple(slice(n) for n in shape))


def _checked(name: str, input: Any, dim: int, index: Any, src: Any = None) -> int:
    """Raise torch's errors unless an index fits; return the dim, from 0 on."""
    if np.dtype(index.dtype).kind not in "iu":
        raise RuntimeError(f"{name}(): Expected dtype int64 for index")
    if index.ndim != input.ndim:
        raise RuntimeError(
            "Index tensor must have the same number of dimensions as self tensor"
        )
    dim = normalize_axis_index(dim, input.ndim)
    beside = [d for d in range(input.ndim) if d != dim]
    whole = range(input.ndim) if src is not None else ()
    if any(index.shape[d] > input.shape[d] for d in beside) or any(
        index.shape[d] > src.shape[d] for d in whole
    ):
        raise RuntimeError(
            f"Expected index {list(index.shape)} to be no larger than self "
            f"{list(input.shape)} apart from dimension {dim}"
            + (f" and to be no larger size than src {list(src.shape)}" if whole else "")
        )
    return dim


def scatter(
    input: Any,
    dim: int,
    index: Any,
    src: Any = None,
    *,
    value: Any = None,
    reduce: str | None = None,
) -> Any:
    """Return a copy in which elements along a dim are those of `src`, by index.

    Parameters
    ----------
    input : tensor
    dim : int
    index : tensor of int64
        Where each element of `src` goes along `dim`; of as many dims, nowhere longer.
    src : tensor or number
    value : number
        Another name for `src`.
    reduce : {"add", "multiply"}, optional
        How it is combined with what is there; default: it takes its place.
    """
    src = value if src is None else src
    if reduce is not None:
        if not hasattr(src, "shape"):
            src = ops.full_like(index, src, dtype=np.dtype(input.dtype))
        return scatter_reduce(input, dim, index, src, reduce)
    if not hasattr(src, "shape"):
        dim, values = _checked("scatter", input, dim, index), src
    else:
        dim = _checked("scatter", input, dim, index, src)
        values = _window(src, index.shape)
    out = _copy(input)
    if index.shape and 0 not in index.shape:
        lengths = [n if d != dim else input.shape[d] for d, n in enumerate(index.shape)]
        window = _window(out, lengths)
        part = window if window is out else _copy(window)
        ops.put_along_axis(part, index, values, dim)
        if part is not out:
            ops.setitem(out, tuple(map(slice, lengths)), part)
    return out


def scatter_add(input: Any, dim: int, index: Any, src: Any) -> Any:
    """Return the input with elements of `src` added, where `index` says along a dim."""
    dim = _checked("scatter_add", input, dim, index, src)
    src = _window(src, index.shape)
    lengths = [n if d != dim else input.shape[d] for d, n in enumerate(index.shape)]
    more = added_along(src, index, dim, tuple(lengths))
    if tuple(lengths) == tuple(input.shape):
        return input + more
    return input + ops.pad(
        more, [(0, n - k) for n, k in zip(input.shape, lengths, strict=True)]
    )


def scatter_reduce(
    input: Any,
    dim: int,
    index: Any,
    src: Any,
    reduce: str,
    *,
    include_self: bool = True,
) -> Any:
    """Return the input with elements of `src` combined, where `index` says along a dim.

    Parameters
    ----------
    input, dim, index, src
        As for `scatter`.
    reduce : {"sum", "prod", "mean", "amax", "amin"}
        Only sums and means differentiate.
    include_self : bool, default True
        Whether the elements of `input` count, too.
    """
    if reduce in ("sum", "add", "mean"):
        base = input if include_self else _without(input, dim, index)
        total = scatter_add(base, dim, index, src)
        if reduce != "mean":
            return total
        ones = ops.ones_like(src)
        seen = ops.ones_like(input)
        seen = seen if include_self else _without(seen, dim, index)
        count = ops.maximum(scatter_add(seen, dim, index, ones), 1)
        if np.dtype(input.dtype).kind in "ui":
            return div(total, count, rounding_mode="floor")
        return total / count
    if reduce not in _REDUCE:
        raise RuntimeError(
            "reduce argument must be either sum, prod, mean, amax or amin, got "
            f"{reduce}"
        )
    dim = _checked("scatter_reduce", input, dim, index, src)
    recorded = any(getattr(x, "requires_grad", False) for x in (input, src))
    if recorded and _C.is_grad_enabled() and reduce != "prod":
        return _picked(input, dim, index, src, reduce, include_self)
    values = ops.ravel(_window(src, index.shape))
    ufunc = _REDUCE[reduce]
    out = _copy(input)
    if not include_self:
        start = {"prod": 1, "amax": _least(input), "amin": _most(input)}[reduce]
        out = scatter(out, dim, index, start)
    grid = [
        np.broadcast_to(g, index.shape)
        for g in np.ogrid[tuple(map(slice, index.shape))]
    ]
    places: list[Any] = [g.ravel() for g in grid]
    places[dim] = ops.ravel(index)
    ops.ufunc_method(ufunc, "at")(out, tuple(places), values)
    return out


def _picked(
    input: Any, dim: int, index: Any, src: Any, reduce: str, include_self: bool
) -> Any:
    """Extremes; of equal ones each gets its share of the gradient, as in PyTorch."""
    src = _window(src, index.shape)
    bare, given = input.detach(), src.detach()
    found = scatter_reduce(bare, dim, index, given, reduce, include_self=include_self)
    own, taken = ops.equal(bare, found), ops.equal(_at(found, dim, index), given)
    if not include_self:
        own = ops.logical_and(own, _without(ops.ones_like(own), dim, index))
    zeros = ops.zeros_like(bare)
    count = scatter_add(
        ops.where(own, 1, zeros), dim, index, ops.where(taken, 1, 0.0 * given)
    )
    total = scatter_add(ops.where(own, input, 0), dim, index, ops.where(taken, src, 0))
    share = total / ops.maximum(count, 1)
    finite = ops.isfinite(found)
    return found + ops.where(finite, share - ops.where(finite, share.detach(), 0), 0)


def _at(x: Any, dim: int, index: Any) -> Any:
    shape = list(index.shape)
    shape[dim] = x.shape[dim]
    return ops.take_along_axis(_window(x, shape), index, dim)


def _without(input: Any, dim: int, index: Any) -> Any:
    return scatter(input, dim, index, 0)


def _least(x: Any) -> Any:
    dtype = np.dtype(x.dtype)
    return -np.inf if dtype.kind in "fV" else -_greatest(dtype, False)


def _most(x: Any) -> Any:
    dtype = np.dtype(x.dtype)
    return np.inf if dtype.kind in "fV" else _greatest(dtype, True)


def _greatest(dtype: Any, most: bool) -> int:
    """Return the end of the range of integers or booleans, as a positive number."""
    if dtype.kind == "b":
        return int(most)
    return int(np.iinfo(dtype).max) if most else -int(np.iinfo(dtype).min)


# --- slices along a dim ---------------------------------------------------------------


def index_add(input: Any, dim: int, index: Any, source: Any, *, alpha: Any = 1) -> Any:
    """Return the input with slices of `source`, times `alpha`, added to those along a
    dim that `index` names."""
    dim = normalize_axis_index(dim, input.ndim)
    if source.ndim and index.ndim and source.shape[dim] != index.shape[0]:
        raise RuntimeError(
            f"Number of indices ({index.shape[0]}) should be equal to the source's "
            f"length along dim {dim} ({source.shape[dim]})"
        )
    if alpha != 1:
        number = np.asarray(alpha).astype(np.dtype(source.dtype))  # -1 of bytes is 255
        source = source * number
    return input + added(source, along(dim), [index], tuple(input.shape))


def _set(input: Any, dim: int, index: Any, value: Any) -> Any:
    out = _copy(input)
    dim = normalize_axis_index(dim, input.ndim)
    ops.setitem(out, (ALL,) * dim + (index,), value)
    return out


def index_copy(input: Any, dim: int, index: Any, source: Any) -> Any:
    """Return the input with slices of `source` in the places that `index` names."""
    return _set(input, dim, index, source)


def index_fill(input: Any, dim: int, index: Any, value: Any) -> Any:
    """Return the input with one number in the slices that `index` names."""
    return _set(input, dim, index, value)


def index_put(
    input: Any, indices: Sequence[Any], values: Any, accumulate: bool = False
) -> Any:
    """Return the input with ``input[indices]`` set to values, or these added to it."""
    out = _copy(input)
    index = tuple(slice(None) if each is None else each for each in indices)
    if accumulate:
        ops.ufunc_method(np.add, "at")(out, index, values)
    else:
        ops.setitem(out, index, values)
    return out


def put(input: Any, index: Any, source: Any, accumulate: bool = False) -> Any:
    """Return the input with elements set, by their indices in the flattened tensor."""
    flat = ops.ravel(input)
    found = index_put(flat, (ops.ravel(index),), ops.ravel(source), accumulate)
    return ops.reshape(found, tuple(input.shape))


def filling(input: Any, value: Any) -> Any:
    """Return a value that is to fill elements of a tensor, cast as PyTorch casts it.

    Booleans take any number, and integers the whole part of a float."""
    kind = np.dtype(input.dtype).kind
    if kind == "b":
        return cast(value, bool) if hasattr(value, "dtype") else bool(value)
    return int(value) if kind in "iu" and isinstance(value, float) else value


def masked_fill(input: Any, mask: Any, value: Any) -> Any:
    """Return the input with one number where a mask is true."""
    return ops.masked_fill(input, mask, filling(input, value))


def masked_scatter(input: Any, mask: Any, source: Any) -> Any:
    """Return the input with elements of `source`, in turn, where a mask is true.

    Raises
    ------
    RuntimeError
        If there are fewer of them.
    """
    shape = np.broadcast_shapes(tuple(input.shape), tuple(mask.shape))
    out = _copy(ops.broadcast_to(input, shape))
    mask = ops.broadcast_to(mask, shape)
    count = int(ops.count_nonzero(mask))
    values = ops.ravel(source)
    if count > values.shape[0]:
        raise RuntimeError(
            "masked_scatter: expected self and source to have same dtypes and source "
            f"at least {count} elements, but it has {values.shape[0]}"
        )
    ops.setitem(out, mask, ops.getitem(values, slice(count)))
    return out


def select_scatter(input: Any, src: Any, dim: int, index: int) -> Any:
    """Return the input with `src` in the place of one slice along a dim."""
    out = _copy(input)
    ops.setitem(out, (ALL,) * normalize_axis_index(dim, input.ndim) + (index,), src)
    return out


def slice_scatter(
    input: Any,
    src: Any,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Any:
    """Return the input with `src` in the place of some slices along a dim."""
    out = _copy(input)
    place = slice(start, end, step)
    ops.setitem(out, (ALL,) * normalize_axis_index(dim, input.ndim) + (place,), src)
    return out


@composite
def diagonal_scatter(
    input: Any, src: Any, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Any:
    """Return the input with `src` in the place of its diagonals."""
    moved = ops.moveaxis(_copy(input), (dim1, dim2), (-2, -1))
    rows, columns = moved.shape[-2:]
    count = min(rows + min(offset, 0), columns - max(offset, 0))
    first = np.arange(count)
    ops.setitem(moved, (..., first - min(offset, 0), first + max(offset, 0)), src)
    return ops.moveaxis(moved, (-2, -1), (dim1, dim2))
