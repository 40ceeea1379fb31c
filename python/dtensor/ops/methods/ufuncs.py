"""Methods of ufuncs: reduce, accumulate, reduceat, outer and at."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from dtensor import _C
from dtensor.ops._make.axes import normalize_axis_index
from dtensor.ops._make.elementwise import elementwise
from dtensor.ops._make.fallback import fallback, without_gradient
from dtensor.ops._make.operator import Operand, call, letters, operator
from dtensor.ops._make.out import casts_out
from dtensor.ops._make.parts import move
from dtensor.ops._make.reduction import (
    MISSING,
    Axis,
    DTypeLike,
    kind_of,
    loop_dtype,
    partial_rows,
    reduced_axes,
    reduction,
)
from dtensor.ops._make.words import Answer, rule
from dtensor.ops.index.pick import everywhere
from dtensor.ops.methods.slices_gradient import OF_SLICES
from dtensor.ops.methods.ufunc_at import RAISES, at_of, is_recorded
from dtensor.ops.reduce.chain import ASSOCIATIVE, REDUCED, in_parts, reduced_in_parts
from dtensor.ops.reduce.gradient import BY_UFUNC as OF_REDUCTIONS
from dtensor.ops.reduce.scan import scan
from dtensor.ops.reduce.slices import are_in_parts, slices_of_parts
from dtensor.ops.shape.view import squeeze

__all__ = ["ufunc_method"]


@functools.cache
def ufunc_method(ufunc: np.ufunc, method: str) -> Callable[..., Any]:
    """Return what answers a method of a ufunc.

    Parameters
    ----------
    ufunc : numpy.ufunc
        Any; parts go together without a gather where `_reduction.KINDS` says how.
    method : {"__call__", "reduce", "accumulate", "reduceat", "outer", "at"}
        Its arguments are NumPy's.

    Raises
    ------
    TypeError
        If there is no such method.
    """
    makers: dict[str, Callable[[np.ufunc], Callable[..., Any]]] = {
        "__call__": _call,
        "reduce": _reduce,
        "accumulate": _accumulate,
        "reduceat": _reduceat,
        "outer": _outer,
        "at": at_of,
    }
    if method not in makers:
        raise TypeError(f"{ufunc.__name__} of DTensors has no method {method!r}")
    return makers[method](ufunc)


def _call(ufunc: np.ufunc) -> Any:
    """Return what answers a ufunc of another library."""
    if ufunc.signature is None:
        return _of_objects if _is_of_objects(ufunc) else elementwise(ufunc)
    gather = fallback(ufunc)
    return lambda *args, **options: gather(args, options)


def _is_of_objects(ufunc: np.ufunc) -> bool:
    """Return whether a ufunc calls a Python function, as those of frompyfunc do."""
    return all(set(loop) <= {"O", "-", ">"} for loop in ufunc.types)


def _of_objects(*_: Any, **__: Any) -> Any:
    raise TypeError(
        "a ufunc of numpy.frompyfunc gives Python objects, which tensors do not hold; "
        "call the function on parts, as "
        "dtensor.map_overlap(np.vectorize(f, otypes=[float]), x, {})"
    )


def _reduce(ufunc: np.ufunc) -> Any:
    def reduce(
        array: Operand,
        axis: Axis = 0,
        dtype: DTypeLike = None,
        out: None = None,
        keepdims: bool = False,
        initial: Any = MISSING,
        where: Any = True,
    ) -> Answer | Callable[..., Any]:
        plain = where is True and initial is MISSING and out is None
        if plain and _is_chained(ufunc, array, axis):
            return of_parts
        return reduction(ufunc, array, axis, dtype, keepdims, initial, where, out=out)

    def of_parts(
        array: Any,
        axis: Any = 0,
        dtype: DTypeLike = None,
        out: None = None,
        keepdims: bool = False,
        initial: Any = MISSING,
        where: Any = True,
    ) -> Any:
        axes = reduced_axes(axis, array.ndim)
        given = array.detach() if ufunc in OF_REDUCTIONS else array
        if len(axes) == 1:
            result = reduced_in_parts(ufunc, given, axes[0], dtype, bool(keepdims))
        else:
            result = one_by_one(given, axes, dtype, keepdims)
        if ufunc not in OF_REDUCTIONS or not is_recorded(array):
            return result
        kept = _C.save(array)

        def back(grad: Any) -> Any:
            x = kept.unpack()
            y = of_parts(x, axes, dtype, None, keepdims)
            return OF_REDUCTIONS[ufunc](grad, y, x, axes, dtype, None, keepdims)

        _C.record_function(name, back, (array,), (result,))
        return result

    def one_by_one(x: Any, axes: tuple[int, ...], dtype: Any, keepdims: bool) -> Any:
        """Reduce what each rank has whole, then one cut dim after another."""
        cut = [dim for dim in axes if x.layout.is_cut(dim)]
        here = tuple(dim for dim in axes if dim not in cut)
        for step in (here, *cut) if here else cut:
            x = answer(x, step, dtype, None, True)
        return x if keepdims else squeeze(x, axes)

    name = f"{ufunc.__name__}.reduce"
    answer = casts_out(operator(reduce, name=name, agrees=RAISES.get(ufunc)))
    if ufunc in OF_REDUCTIONS:
        answer.vjp(OF_REDUCTIONS[ufunc])
    return answer


def _is_chained(ufunc: np.ufunc, x: Operand, axis: Axis) -> bool:
    """Return whether the elements along cut dims, of which only some functions may take
    several, are reduced by a ufunc that is no reduction of Partials."""
    axes = reduced_axes(axis, x.ndim)
    if x.layout is None or x.layout.mesh.size() == 1:
        return False
    cut = [dim for dim in axes if x.layout.is_cut(dim)]
    return (
        bool(cut)
        and all(in_parts(x.layout, dim) for dim in cut)
        and all(x.shape[dim] > 0 for dim in axes)
        and kind_of(ufunc, x.dtype) is None
        and ufunc in (REDUCED if len(axes) == 1 else ASSOCIATIVE)
    )


def _accumulate(ufunc: np.ufunc) -> Any:
    return functools.partial(scan, ufunc)


def _reduceat(ufunc: np.ufunc) -> Any:
    def reduceat(
        array: Operand,
        indices: Operand,
        axis: int = 0,
        dtype: DTypeLike = None,
        out: None = None,
    ) -> Answer | Callable[..., Any]:
        if array.ndim == 0:
            raise TypeError("cannot reduceat on a scalar")
        none = indices.layout is None and indices.shape == (0,)  # perhaps a list
        where = np.empty(0, np.intp) if none else indices
        axis = normalize_axis_index(axis, array.ndim)
        if out is None and are_in_parts(ufunc, array.layout, axis):
            return of_parts
        dtype = loop_dtype(ufunc, array.dtype, dtype, out)
        names = letters(array.ndim, whole=[axis])
        starts = letters(1, whole=[0], skip=array.ndim)
        result = [*names[:axis], *starts, *names[axis + 1 :]]
        kernel = call(ufunc.reduceat, array, where, axis=axis, dtype=dtype)
        wide = ufunc.reduceat(np.ones(1, array.dtype), [0], dtype=dtype).dtype
        rows = partial_rows(kind_of(ufunc, array.dtype), 1)
        return rule([names, starts], [result], rows), kernel, wide

    def of_parts(
        array: Any,
        indices: Any,
        axis: int = 0,
        dtype: DTypeLike = None,
        out: None = None,
    ) -> Any:
        axis, result = normalize_axis_index(axis, array.ndim), None
        known = everywhere(indices) if hasattr(indices, "dtype") else None
        if known is None and not hasattr(indices, "dtype"):
            known = np.asarray(indices)
        if known is not None:
            dtype = loop_dtype(ufunc, array.dtype, dtype, out)
            result = slices_of_parts(ufunc, array.detach(), known, axis, dtype)
        if result is None:
            whole = move(name, array, array.layout.settled().whole(axis))
            return answer(whole, indices, axis, dtype)
        if not is_recorded(array) or ufunc not in OF_SLICES:
            return without_gradient(name, (array,), result)
        kept, starts = _C.save(array), np.asarray(known)

        def back(grad: Any) -> Any:
            x = kept.unpack()
            out = ufunc.reduceat(x, starts, axis, dtype)
            return OF_SLICES[ufunc](grad, out, x, starts, axis)

        _C.record_function(name, back, (array,), (result,))
        return result

    name = f"{ufunc.__name__}.reduceat"
    answer = casts_out(
        operator(reduceat, name=name, operands=2, agrees=RAISES.get(ufunc))
    )
    if ufunc in OF_SLICES:
        answer.vjp(OF_SLICES[ufunc])
    return answer


def _outer(ufunc: np.ufunc) -> Any:
    def outer(a: Any, b: Any, /, **options: Any) -> Any:
        if ufunc.nin != 2 or ufunc.signature is not None:
            ufunc.outer(0, 0)  # NumPy's error
        a, b = (x if hasattr(x, "dtype") else np.asarray(x) for x in (a, b))
        return ufunc(np.reshape(a, a.shape + (1,) * b.ndim), b, **options)

    return outer
