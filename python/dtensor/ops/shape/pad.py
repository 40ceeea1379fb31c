"""Padding: with constants, or with elements from the edges."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core.device import is_meta
from dtensor.ops._make.numbers import has_operands, python_numbers_of
from dtensor.ops._make.operator import Operand, call, implements, letters, operator
from dtensor.ops._make.parts import inside, local, make, move_all, parts_of
from dtensor.ops._make.step import one_step
from dtensor.ops._make.words import Answer, rule
from dtensor.ops.index.gradient import added, along
from dtensor.ops.index.read import getitem
from dtensor.ops.shape.joined import chunked, joinable, joined

__all__ = ["pad"]  # and `unpadded`, for what pads in other words

Widths = npt.NDArray[np.int64]

# Modes that only copy elements, and modes that compute sums of them.
_REPEATING = {"edge", "wrap", "symmetric", "reflect"}
_LINEAR = {"constant", "empty", "linear_ramp", "mean", *_REPEATING}


@implements(np.pad)
@operator
def pad(
    array: Operand, pad_width: Any, mode: Any = "constant", **kwargs: Any
) -> Answer | Callable[..., Any]:
    """Pad an array.

    Parameters
    ----------
    array : array
    pad_width : int, sequence or dict
        How many before and after each dim, as for `numpy.pad`.
    mode : str or callable, default "constant"
        As for `numpy.pad`.
    **kwargs
        What the mode needs: ``constant_values=1``.

    Returns
    -------
    array
        A cut dim stays cut, in chunks, and only elements whose rank changes move. It is
        made whole if the new elements depend on many others.
    """
    if has_operands([pad_width, kwargs]):
        return _pad_by_arrays
    widths = _pad_widths(pad_width, array.ndim)
    if array.ndim > 0 and not callable(mode):  # NumPy's errors
        probe = np.ones((2,) * array.ndim, array.dtype)
        np.pad(probe, np.minimum(widths, 1), mode, **kwargs)
    if _cut_dims(array.layout, widths, mode):
        return _pad_dims
    names = letters(array.ndim, whole=np.flatnonzero(widths.any(axis=1)).tolist())
    after = [
        str(length + width) if width else name
        for name, length, width in zip(
            names, array.shape, widths.sum(axis=1).tolist(), strict=True
        )
    ]
    moves = mode in _REPEATING and kwargs.get("reflect_type", "even") == "even"
    zeros = mode == "constant" and not np.any(kwargs.get("constant_values", 0))
    partial = "any" if moves or zeros else None
    kernel = call(np.pad, array, pad_width, mode, **kwargs)
    if _has_kernel(array, widths, mode, kwargs):
        value = kwargs.get("constant_values", 0)
        flat = tuple(widths.ravel().tolist())
        kernel = call(_C.padded, array, flat, mode[0], value)
    return rule([names], [after], partial), kernel, array.dtype


def _has_kernel(x: Operand, widths: Widths, mode: Any, kwargs: dict[str, Any]) -> bool:
    """Return whether there is a C kernel: copies reach no further than the elements."""
    value = kwargs.get("constant_values", 0)
    numbers = (int, float) if x.dtype is not None and x.dtype.kind == "f" else (int,)
    if not x.ndim or mode not in ("constant", "edge", "reflect", "wrap"):
        return False
    if kwargs.keys() - {"constant_values"} or type(value) not in numbers:
        return False
    if mode == "constant":
        return x.dtype.kind in "fiuc" and (x.dtype.kind not in "iu" or value == 0)
    less = {"edge": 0, "reflect": 1, "wrap": 0}[mode]
    most = [n - less if mode != "edge" else n * widths.size for n in x.shape]
    return not kwargs and all(
        max(both) <= max(n, 0) for both, n in zip(widths.tolist(), most, strict=True)
    )


def unpadded(
    grad: Any,
    _out: Any,
    _array: Any,
    pad_width: Any,
    mode: Any = "constant",
    **kwargs: Any,
) -> Any:
    """Add up the gradients of the copies of each element, one dim after another."""
    width = pad_width if isinstance(pad_width, dict) else np.asarray(pad_width)
    widths = _pad_widths(width, _array.ndim)
    if mode not in _LINEAR:
        raise NotImplementedError(f"derivative for pad in mode {mode!r}")
    for dim, width in enumerate(widths.tolist()):
        if any(width):
            grad = _unpadded(grad, dim, _array.shape[dim], width, mode, kwargs)
    return grad


def _unpadded(
    grad: Any, dim: int, length: int, width: list[int], mode: str, kwargs: Any
) -> Any:
    """Return the gradient of the operand of padding along one dim."""
    key = (slice(None),) * dim
    before, end = width[0], width[0] + length
    inner = grad[(*key, slice(before, end))]
    if mode in ("constant", "empty"):
        return inner
    sources = _sources(dim, length, width, mode, kwargs)
    for part, source in zip((slice(before), slice(end, None)), sources, strict=True):
        used = source if source.ndim == 1 else np.flatnonzero(source.any(axis=0))
        if used.size:
            first, stop = int(used.min()), int(used.max()) + 1
            spans = slice(first), slice(first, stop), slice(stop, None)
            pieces = [inner[(*key, span)] for span in spans]
            side = grad[(*key, part)]
            if source.ndim == 1:
                side = added(side, along(dim), [source - first], pieces[1].shape)
            else:
                side = np.tensordot(side, source[:, first:stop], ([dim], [0]))
                side = np.moveaxis(side, -1, dim)
            pieces[1] = pieces[1] + side
            inner = np.concatenate(pieces, dim)
    return inner


def _sources(
    dim: int, length: int, width: list[int], mode: str, kwargs: dict[str, Any]
) -> list[npt.NDArray[Any]]:
    """Return the indices of the elements put before and after a dim. For sums of
    elements return the matrices that compute them: `numpy.pad` of unit vectors."""
    if mode in _REPEATING and kwargs.get("reflect_type", "even") == "even":
        whole: npt.NDArray[Any] = np.pad(np.arange(length), width, mode)  # type: ignore
        return [whole[: width[0]], whole[width[0] + length :]]
    known = {key: value for key, value in kwargs.items() if key == "reflect_type"}
    if kwargs.get("stat_length") is not None:
        count = np.asarray(kwargs["stat_length"])
        row = np.broadcast_to(count, (dim + 1, 2)) if count.ndim < 2 else count
        known["stat_length"] = [row[dim if len(row) > 1 else 0].tolist(), (1, 1)]
    whole = np.pad(np.eye(length), [width, (0, 0)], mode, **known)  # type: ignore
    return [whole[: width[0]], whole[width[0] + length :]]


pad.vjp(unpadded)


def _pad_widths(pad_width: Any, ndim: int) -> Widths:
    """Return how many elements come before and after each dim."""
    if isinstance(pad_width, dict):
        widths = np.zeros((ndim, 2), int)
        for dim, width in pad_width.items():
            widths[dim] = width
    else:
        widths = np.broadcast_to(np.asarray(pad_width), (ndim, 2))
    if widths.dtype.kind not in "iu":
        raise TypeError("`pad_width` must be of integral type.")
    if (widths < 0).any():
        raise ValueError("index can't contain negative values")
    return widths


def _pad_by_arrays(array: Any, pad_width: Any, *mode: Any, **kwargs: Any) -> Any:
    """Pad by widths or values that are arrays; these become constants."""
    given = python_numbers_of("pad", {"pad_width": pad_width, **kwargs})
    return pad(array, given.pop("pad_width"), *mode, **given)


def _edges(mode: Any, widths: Widths) -> tuple[int, int] | None:
    """Return how many elements at both ends of a dim determine the padding."""
    before, after = (int(n) for n in widths)
    if mode in ("constant", "empty"):
        return 0, 0
    if mode in ("edge", "linear_ramp"):
        return min(before, 1), min(after, 1)
    if mode == "wrap":
        return after, before
    if mode == "symmetric":
        return before, after
    if mode == "reflect":
        return before + (before > 0), after + (after > 0)
    return None


def _cut_dims(layout: _C.Layout | None, widths: Widths, mode: Any) -> list[int]:
    """Return the padded dims that stay cut because that moves no more elements."""
    dims = []
    for dim, width in enumerate(widths):
        edges = _edges(mode, width)
        if layout is None or edges is None or not width.any():
            continue
        # The ends go to all ranks; in mode wrap, each goes to the other end.
        copies = 1 if mode == "wrap" else _parts(layout, dim)
        if joinable(layout, dim) and sum(edges) * copies <= layout.shape[dim]:
            dims.append(dim)
    return dims


def _parts(layout: _C.Layout, dim: int) -> int:
    return math.prod(layout.mesh.shape[m] for m in layout.cut_by(dim))


@one_step("pad", unpadded)
def _pad_dims(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Any:
    """Pad one dim after another; cut dims by joining pieces."""
    widths = _pad_widths(pad_width, array.ndim)
    for dim in range(array.ndim):
        alone = np.where(np.arange(array.ndim)[:, None] == dim, widths, 0)
        if _cut_dims(array.layout, alone, mode):
            array = _pad_cut(array, dim, alone, mode, kwargs)
        elif alone.any():
            array = pad(array, alone.tolist(), mode, **kwargs)
    return array


def _pad_cut(
    x: _C.DTensor, dim: int, widths: Widths, mode: str, kwargs: dict[str, Any]
) -> _C.DTensor:
    """Pad one cut dim: join it with the padding made from its ends."""
    edges = _edges(mode, widths[dim])
    assert edges is not None
    length, key = x.shape[dim], (slice(None),) * dim
    total = length + int(widths[dim].sum())
    to = chunked(x.layout, dim, total)
    if mode in ("constant", "empty"):
        before, after = _constants(x, dim, widths, mode, kwargs, to)
        return joined("pad", [before, x, after], dim, to)
    slices = [slice(edges[0]), slice(length - edges[1], None)]
    if mode == "wrap":
        slices.reverse()
    ends = [getitem(x, (*key, part)) for part in slices]
    pieces = _ends(ends, dim, widths, mode, kwargs)
    return joined("pad", [pieces[0], x, pieces[1]], dim, to)


def _constants(
    x: _C.DTensor,
    dim: int,
    widths: Widths,
    mode: Any,
    kwargs: dict[str, Any],
    to: _C.Layout,
) -> list[_C.DTensor]:
    """Return the padding before and after a dim, each rank's where it is wanted."""
    one = np.zeros((1,) * x.ndim, x.dtype)
    values = np.pad(one, np.minimum(widths, 1), mode, **kwargs).flat
    edges = np.array([*(s for s, _ in parts_of(to, dim) or ()), to.shape[dim]])
    first = int(widths[dim, 0]) + x.shape[dim]
    sides = zip(widths[dim].tolist(), (0, first), (values[0], values[-1]), strict=True)
    pieces = []
    for count, start, value in sides:
        cuts = np.maximum.accumulate(np.clip(edges - start, 0, count))
        layout = chunked(x.layout, dim, count, cuts.tolist())
        if is_meta(x):
            pieces.append(_C.without_data(layout))
            continue
        shape = layout.local_shape() if inside(layout) else 0
        pieces.append(make(np.full(shape, value, x.dtype), layout))
    return pieces


def _ends(
    ends: list[_C.DTensor], dim: int, widths: Widths, mode: str, kwargs: dict[str, Any]
) -> list[_C.DTensor]:
    """Return the padding before and after a dim, made from its two ends."""
    if mode == "wrap":
        return ends
    layouts = [x.layout.whole(dim) for x in ends]
    sides = [np.where([True, False], widths, 0), np.where([False, True], widths, 0)]
    to = [
        chunked(layout, dim, int(side.sum()))
        for layout, side in zip(layouts, sides, strict=True)
    ]
    if to[0].mesh.world == 0:
        return [_C.without_data(layout) for layout in to]
    if any(x.size for x in ends):
        ends = move_all("pad", ends, layouts)
    elif inside(to[0]):
        ends = [make(np.empty(y.local_shape(), y.dtype), y) for y in layouts]
    if any(map(is_meta, ends)):
        return [_C.without_data(layout) for layout in to]
    if not inside(to[0]):
        return [make(np.empty(0, layout.dtype), layout) for layout in to]
    around = [
        np.pad(local(x), side, mode, **kwargs)  # type: ignore[call-overload]
        for x, side in zip(ends, sides, strict=True)
    ]
    key = (slice(None),) * dim
    before = around[0][(*key, slice(to[0].shape[dim]))]
    after = around[1][(*key, slice(ends[1].shape[dim], None))]
    return [make(before, to[0]), make(after, to[1])]
