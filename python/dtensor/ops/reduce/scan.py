"""Scans: accumulating a ufunc along a dim.

A scan along a cut dim has two levels: each rank scans its part, the ranks exchange the
totals of their parts, and each adds the totals before its part."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core.device import is_meta
from dtensor.ops._make.axes import checked_axis, normalize_axis_index
from dtensor.ops._make.blocks import stacked
from dtensor.ops._make.composite import as_dtype, settled, within
from dtensor.ops._make.copies import copy
from dtensor.ops._make.elementwise import anywhere, conjugated
from dtensor.ops._make.halves import is_half
from dtensor.ops._make.operator import Operand, call, letters, operator
from dtensor.ops._make.parts import alone, inside, local, make, move, ordered, positions
from dtensor.ops._make.reduction import (
    DTypeLike,
    kind_of,
    loop_dtype,
    partial_rows,
    probe,
)
from dtensor.ops._make.routes import part_number, ranges_of
from dtensor.ops._make.words import Answer, rule
from dtensor.ops.elementwise.piecewise import where_
from dtensor.ops.reduce.chain import chained, in_parts, scanned_in_parts

__all__ = ["scan", "whole_scan"]

Array = npt.NDArray[Any]

# --- of a dim that is whole -----------------------------------------------------------


@functools.cache
def whole_scan(function: np.ufunc) -> Any:
    """Return the operator that accumulates a ufunc along a dim that is not cut."""

    def accumulate(
        x: Operand, axis: int = 0, dtype: DTypeLike = None, out: None = None
    ) -> Answer:
        axis = normalize_axis_index(axis, x.ndim)
        names = letters(x.ndim, whole=[axis])
        result = function.accumulate(probe(x), axis=axis, dtype=dtype).dtype
        rows = partial_rows(kind_of(function, x.dtype))
        kernel = call(function.accumulate, x, axis=axis, dtype=dtype)
        return rule([names], [names], rows), kernel, result

    answer = operator(
        accumulate,
        name=f"{function.__name__}.accumulate",
        agrees=ValueError if function is np.power else None,
    )
    if function in GRADIENTS:
        answer.vjp(GRADIENTS[function])
    return answer


def scan(
    function: np.ufunc, x: Any, axis: int = 0, dtype: DTypeLike = None, out: Any = None
) -> Any:
    """Return ``function.accumulate(x, axis, dtype, out)``.

    Along a cut dim one element for each part and line is sent, by functions that are
    not associative from rank to rank. `numpy.power`, strided dims, and the gradients of
    functions other than sums and products, make the dim whole."""
    if x.ndim == 0:
        raise TypeError("cannot accumulate on a scalar")
    axis = checked_axis(axis)
    out = out[0] if isinstance(out, tuple) else out
    into = None if out is None else out.dtype
    result = _scanned(function, x, axis, loop_dtype(function, x.dtype, dtype, into))
    return result if out is None else copy(as_dtype(result, into), out=out)


def _scanned(function: np.ufunc, x: Any, axis: int, dtype: DTypeLike) -> Any:
    dim = normalize_axis_index(axis, x.ndim)
    wide = np.dtype(x.dtype if dtype is None else dtype)
    if function in (np.add, np.multiply) and is_half(wide):
        scanned = _scanned(function, as_dtype(x, np.float32), dim, None)
        return as_dtype(scanned, wide)
    if not _is_in_parts(x, dim) or function is np.power:
        return whole_scan(function)(x, axis, dtype)
    if function in (np.add, np.multiply):
        return _scan_of_parts(function, x, dim, dtype)
    if function not in GRADIENTS or not (_C.is_grad_enabled() and x.requires_grad):
        return scanned_in_parts(function, x, dim, dtype)
    result = scanned_in_parts(function, x.detach(), dim, dtype)
    kept = _C.save(x)

    def back(grad: Any) -> Any:
        x = kept.unpack()
        return GRADIENTS[function](grad, _scanned(function, x, dim, dtype), x, dim)

    _C.record_function(f"{function.__name__}.accumulate", back, (x,), (result,))
    return result


# --- of parts -------------------------------------------------------------------------


def _is_in_parts(x: Any, dim: int) -> bool:
    return isinstance(x, _C.DTensor) and in_parts(x.layout, dim)


def _scan_of_parts(
    function: np.ufunc,
    x: _C.DTensor,
    axis: int,
    dtype: DTypeLike,
    backwards: bool = False,
) -> _C.DTensor:
    name = f"{function.__name__}.accumulate"
    with within(name, x, axis, dtype, backwards):
        result = _parts_scanned(function, x.detach(), axis, dtype, backwards)
    kept = _C.save(x) if function is np.multiply else None

    def back(grad: Any) -> Any:
        if kept is None:
            return _sums(grad, axis, not backwards)
        factors = kept.unpack()
        return _of_products(grad, scan(function, factors, axis), factors, axis)

    _C.record_function(name, back, (x,), (result,))
    return result


def _parts_scanned(
    function: np.ufunc, x: _C.DTensor, axis: int, dtype: DTypeLike, backwards: bool
) -> _C.DTensor:
    name = f"{function.__name__}.accumulate"
    x = settled(name, x)
    wide = function.accumulate(np.ones(1, x.dtype), dtype=dtype).dtype
    to = x.layout.with_dtype(wide)
    totals = stacked(to, (axis,))
    everywhere = totals.whole(0)
    part = total = np.empty(0, wide)
    if alone(to) and not is_meta(x):
        part = np.flip(local(x), axis) if backwards else local(x)
        part = function.accumulate(part, axis=axis, dtype=wide)
        part = np.flip(part, axis) if backwards else part
        return make(ordered(part, x), to)
    if inside(to) and not is_meta(x):
        part = np.flip(local(x), axis) if backwards else local(x)
        total = np.expand_dims(_total(function, part, axis, wide), 0)
        part = function.accumulate(part, axis=axis, dtype=wide)
    own = _C.without_data(totals) if is_meta(x) else make(total, totals)
    moved = move(name, own, everywhere)
    if is_meta(moved):
        return _C.without_data(to)
    if function is np.multiply and wide.kind == "c" and not _is_finite(moved):
        return chained(name, function, x, to, axis)
    if inside(to):
        mine = part_number(to, axis)
        before = [
            k
            for k, (first, end) in enumerate(ranges_of(to, axis))
            if first < end and (k > mine if backwards else k < mine)
        ]
        if before:
            total = _total(function, local(moved)[before], 0, wide)
            part = function(part, np.expand_dims(total, axis), out=part)
        part = np.flip(part, axis) if backwards else part
    return make(ordered(part, x), to)


def _total(function: np.ufunc, rows: Array, axis: int, dtype: np.dtype[Any]) -> Any:
    """Return the sum or the product of rows, without NumPy's 0 or 1 before the first:
    ``0 + -0.0`` is 0, and ``1 * (1+infj)`` is ``nan+infj``."""
    first = {"initial": None} if rows.shape[axis] else {}
    return function.reduce(rows, axis=axis, dtype=dtype, **first)


def _is_finite(totals: _C.DTensor) -> bool:
    """Return whether all products of complex parts are finite. Others depend on the
    order in which the numbers are multiplied: 1 changes ``1+infj`` to ``nan+infj``."""
    return not anywhere(np.logical_not(np.isfinite(totals)))


# --- gradients ------------------------------------------------------------------------


def _sums(x: Any, axis: int, backwards: bool) -> Any:
    """Return the sums of all elements up to each one, or from each one on."""
    if not backwards:
        return scan(np.add, x, axis)
    if _is_in_parts(x, axis % x.ndim):
        return _scan_of_parts(np.add, x, axis % x.ndim, None, True)
    return np.flip(scan(np.add, np.flip(x, axis), axis), axis)


def _of_products(grad: Any, out: Any, x: Any, axis: int) -> Any:
    """Return the gradient of products of all elements up to each one.

    Behind the first zero of a line all of them are 0 whatever comes. Before it each
    element is a factor of all products from it on; the zero is one of products of the
    others."""
    if _C.is_grad_enabled():
        return _of_products_each(grad, x, axis)
    zero = x == 0
    zeros = scan(np.add, zero, axis)
    first = zero & (zeros == 1)
    others = scan(np.multiply, where_(first, 1, x), axis)
    before = _sums(grad * conjugated(out), axis, True) / conjugated(where_(zero, 1, x))
    there = _sums(grad * conjugated(others), axis, True)
    return where_(zeros == 0, before, where_(first, there, 0))


def _of_products_each(grad: Any, x: Any, axis: int) -> Any:
    """Return the same as sums of products, whose gradient is right where there are
    zeros, too: of what is before an element, and what is between it and another."""
    grad, x = np.moveaxis(grad, axis, -1), np.moveaxis(x, axis, -1)
    length = x.shape[-1]
    later = np.tri(length, k=-1, dtype=bool).T
    between = scan(np.multiply, where_(later, np.expand_dims(x, -2), 1), -1)
    behind = where_(~later.T, conjugated(between) * np.expand_dims(grad, -2), 0)
    ahead = np.prod(where_(later.T, np.expand_dims(x, -2), 1), axis=-1)
    return np.moveaxis(np.sum(behind, axis=-1) * conjugated(ahead), -1, axis)


@operator(name="accumulate_backward")
def _to_chosen(grad: Operand, out: Operand, x: Operand, axis: int) -> Answer:
    names = letters(x.ndim, whole=[normalize_axis_index(axis, x.ndim)])
    return rule([names] * 3, [names]), call(_added, grad, out, x, axis), grad.dtype


@operator(name="accumulate_backward")
def _at_chosen(values: Operand, out: Operand, x: Operand, axis: int) -> Answer:
    names = letters(x.ndim, whole=[normalize_axis_index(axis, x.ndim)])
    return rule([names] * 3, [names]), call(_taken, values, out, x, axis), values.dtype


_to_chosen.vjp(lambda g, _o, _g, out, x, axis: _at_chosen(g, out, x, axis), None, None)
_at_chosen.vjp(lambda g, _o, _v, out, x, axis: _to_chosen(g, out, x, axis), None, None)


def _index(out: Array, x: Array, axis: int) -> tuple[Array, ...]:
    """Return where each running maximum or minimum is: the last of equal ones."""
    same = (x == out) | (x != x)
    index: list[Any] = list(np.indices(x.shape, sparse=True))
    index[axis] = np.maximum.accumulate(np.where(same, index[axis], 0), axis=axis)
    return tuple(index)


def _added(grad: Array, out: Array, x: Array, axis: int) -> Array:
    result = np.zeros_like(grad)
    np.add.at(result, _index(out, x, axis), grad)
    return result


def _taken(values: Array, out: Array, x: Array, axis: int) -> Array:
    return np.asarray(values[_index(out, x, axis)])


def _of_extremes(grad: Any, out: Any, x: Any, axis: int) -> Any:
    dim = normalize_axis_index(axis, x.ndim)
    if _C.is_grad_enabled() or not _is_in_parts(x, dim) or x.layout.mesh.size() == 1:
        return _to_chosen(grad, out, x, axis)
    settle = functools.partial(settled, "accumulate")
    return _to_chosen_in_parts(settle(grad), settle(out), settle(x), dim)


def _to_chosen_in_parts(grad: Any, out: Any, x: _C.DTensor, dim: int) -> _C.DTensor:
    """Add up the gradient of elements for the one that each of them is: in their own
    part, or before it. Two rows of each part are sent to all ranks."""
    to = x.layout.with_dtype(grad.dtype)
    grad, out = (
        move("accumulate", y, x.layout.with_dtype(y.dtype)) for y in (grad, out)
    )
    of_rows = stacked(to, (dim,))
    if is_meta(x):
        return _C.without_data(to)
    rows, found, last = [np.empty(0, to.dtype)] * 2, np.empty(0, to.dtype), np.empty(0)
    if inside(to):
        g, here = (np.moveaxis(local(y), dim, 0) for y in (grad, x))
        same = (here == np.moveaxis(local(out), dim, 0)) | (here != here)
        index: list[Any] = list(np.indices(here.shape, sparse=True))
        at = np.where(same, index[0], -1)
        index[0] = np.maximum.accumulate(at, axis=0)
        known = index[0] >= 0
        found, last = np.zeros_like(g), np.max(at, 0, initial=-1)
        np.add.at(found, tuple(index), np.where(known, g, 0))
        ahead = np.sum(np.where(known, 0, g), axis=0, dtype=to.dtype)
        rows = [ahead[None], (last >= 0)[None].astype(to.dtype)]
    carried, ends = (
        local(move("accumulate", make(row, of_rows), of_rows.whole(0))) for row in rows
    )
    if inside(to):
        is_open, more = last >= 0, np.zeros(last.shape, to.dtype)
        for k in range(int(positions(of_rows, 0)[0]) + 1, len(carried)):
            more += np.where(is_open, carried[k], 0)
            is_open &= ends[k] == 0
        if len(found):
            index[0] = np.maximum(last, 0)[None]
            found[tuple(index)] += more
    return make(np.ascontiguousarray(np.moveaxis(found, 0, dim)), to)


def _of_sums(
    grad: Any, _out: Any, _x: Any, axis: int = 0, dtype: Any = None, out: Any = None
) -> Any:
    return _sums(grad, axis, True)


def _of_logarithms(exponential: np.ufunc, logarithm: np.ufunc, total: np.ufunc) -> Any:
    """Return the gradient of logarithms of sums of exponentials up to each element:
    sums from each one on, of positive and of negative addends, whose logarithms are
    known."""

    def core(grad: Any, out: Any, x: Any, axis: int) -> Any:
        found = 0
        for sign in (1, -1):
            with np.errstate(all="ignore"):
                size = logarithm(np.maximum(sign * grad, 0)) - out
            behind = np.flip(scan(total, np.flip(size, axis), axis), axis)
            found = found + sign * exponential(x + behind)
        return found

    return core


def _with_data(core: Callable[..., Any]) -> Callable[..., Any]:
    def gradient(
        grad: Any, out: Any, x: Any, axis: int = 0, dtype: Any = None, _none: Any = None
    ) -> Any:
        return core(grad, out, x, axis)

    return gradient


GRADIENTS: dict[np.ufunc, Callable[..., Any]] = {
    np.add: _of_sums,
    np.multiply: _with_data(_of_products),
    np.maximum: _with_data(_of_extremes),
    np.minimum: _with_data(_of_extremes),
    np.fmax: _with_data(_of_extremes),
    np.fmin: _with_data(_of_extremes),
    np.logaddexp: _with_data(_of_logarithms(np.exp, np.log, np.logaddexp)),
    np.logaddexp2: _with_data(_of_logarithms(np.exp2, np.log2, np.logaddexp2)),
}
