"""The scatter family: elements along one dim, put or combined where an index says.

The index is one that all ranks know, or a DTensor. `scatter` writes into a copy; all
differentiate with respect to both tensors.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dtensor import _C, ops as _ops
from dtensor.ops._make.axes import normalize_axis_index
from dtensor.ops._make.recorded import recorded
from dtensor.ops.index.take import added_along
from dtensor.torch._numbers import fitted
from dtensor.torch._pointwise import div

ops: Any = _ops  # type checkers lose some of its names, in a cycle of imports

__all__ = ["scatter", "scatter_add", "scatter_reduce"]

_REDUCE = {
    "sum": np.add,
    "add": np.add,
    "prod": np.multiply,
    "multiply": np.multiply,
    "amax": np.maximum,
    "amin": np.minimum,
}


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
    if 0 in index.shape:
        return ops.copy(input, "C")
    if reduce is not None:
        if not hasattr(src, "shape"):
            to = np.dtype(input.dtype)
            src = ops.full_like(index, fitted(src, to), dtype=to)
        return scatter_reduce(input, dim, index, src, reduce)
    if not hasattr(src, "shape"):
        dim, values = _checked("scatter", input, dim, index), fitted(src, input.dtype)
    else:
        dim = _checked("scatter", input, dim, index, src)
        values = _window(src, index.shape)
    out = ops.copy(input, "C")
    if index.shape:
        lengths = [n if d != dim else input.shape[d] for d, n in enumerate(index.shape)]
        window = _window(out, lengths)
        part = window if window is out else ops.copy(window)
        ops.put_along_axis(part, index, values, dim)
        if part is not out:
            ops.setitem(out, tuple(map(slice, lengths)), part)
    return out


def scatter_add(input: Any, dim: int, index: Any, src: Any) -> Any:
    """Return the input with elements of `src` added, where `index` says along a dim."""
    if 0 in index.shape:
        return ops.copy(input, "C")
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
    include_self : bool, default True
        Whether the elements of `input` count, too.
    """
    if 0 in index.shape:
        return ops.copy(input, "C")
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
    differentiates = any(getattr(x, "requires_grad", False) for x in (input, src))
    if differentiates and _C.is_grad_enabled():
        if reduce == "prod":
            return _product(input, dim, index, src, include_self)
        return _picked(input, dim, index, src, reduce, include_self)
    values = ops.ravel(_window(src, index.shape))
    ufunc = _REDUCE[reduce]
    out = ops.copy(input, "C")
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

    def chosen(input: Any, src: Any) -> Any:
        return scatter_reduce(input, dim, index, src, reduce, include_self=include_self)

    def back(grad: Any, out: Any, input: Any, src: Any) -> Any:
        own, taken = ops.equal(input, out), ops.equal(_at(out, dim, index), src)
        if not include_self:
            own = ops.logical_and(own, _without(ops.ones_like(own), dim, index))
        one = ops.ones_like(grad)
        count = scatter_add(
            ops.where(own, one, 0),
            dim,
            index,
            ops.where(taken, _at(one, dim, index), 0),
        )
        share = grad / ops.maximum(count, 1)
        return ops.where(own, share, 0), ops.where(taken, _at(share, dim, index), 0)

    window = _window(src, index.shape)
    return recorded("scatter_reduce", chosen, back, (input, window))


def _product(input: Any, dim: int, index: Any, src: Any, include_self: bool) -> Any:
    """Products; the gradient of a factor is the product of the others."""

    def multiplied(input: Any, src: Any) -> Any:
        return scatter_reduce(input, dim, index, src, "prod", include_self=include_self)

    def back(grad: Any, out: Any, input: Any, src: Any) -> Any:
        own, given = cofactors(out, input, dim, index, src, include_self)
        return grad * own, _at(grad, dim, index) * given

    window = _window(src, index.shape)
    return recorded("scatter_reduce", multiplied, back, (input, window))


def cofactors(
    out: Any, input: Any, dim: int, index: Any, src: Any, include_self: bool
) -> tuple[Any, Any]:
    """Return, for each factor of products that were scattered, that of the others.

    ``out / x``, and for a factor that is 0 what the others give: the product of those
    that are not 0, times the other one that is, if there is one. The last is for second
    gradients: it is 0, too, but differentiates.
    """
    zero, null = ops.equal(input, 0), ops.equal(src, 0)

    def combined(own: Any, given: Any, reduce: str) -> Any:
        return scatter_reduce(own, dim, index, given, reduce, include_self=include_self)

    rest = combined(ops.where(zero, 1, input), ops.where(null, 1, src), "prod")
    zeros = combined(ops.where(zero, input, 0), ops.where(null, src, 0), "sum")
    flags = [ops.astype(each, input.dtype) for each in (zero, null)]
    count = combined(flags[0], flags[1], "sum")

    def others(x: Any, is_zero: Any, at: Any) -> Any:
        number, product = at(count), at(rest)
        beside = ops.where(ops.equal(number, 2), product * (at(zeros) - x), 0)
        of_zero = ops.where(ops.equal(number, 1), product, beside)
        return ops.where(is_zero, of_zero, at(out) / ops.where(is_zero, 1, x))

    own = others(input, zero, lambda x: x)
    own = own if include_self else _without(own, dim, index)
    return own, others(src, null, lambda x: _at(x, dim, index))


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
