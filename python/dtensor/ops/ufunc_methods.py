"""Methods of ufuncs: reduce, accumulate, reduceat, outer and at."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.lib.array_utils import normalize_axis_index

from dtensor import _C
from dtensor.ops._elementwise import Rows, elementwise
from dtensor.ops._operator import Operand, call, letters, operator
from dtensor.ops._parts import (
    find,
    inside,
    is_strided,
    key_of,
    local,
    place,
    values_of,
)
from dtensor.ops._reduction import (
    MISSING,
    Axis,
    DTypeLike,
    kind_of,
    partial_rows,
    reduction,
)
from dtensor.ops._words import Answer, rule
from dtensor.ops.cumulative import scan
from dtensor.ops.fallback import fallback
from dtensor.ops.pointwise import ROWS

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
        "at": _at,
    }
    if method not in makers:
        raise TypeError(f"{ufunc.__name__} of DTensors has no method {method!r}")
    return makers[method](ufunc)


def _call(ufunc: np.ufunc) -> Any:
    """Return what answers a ufunc of another library."""
    if ufunc.signature is None:
        return elementwise(ufunc)
    gather = fallback(ufunc)
    return lambda *args, **options: gather(args, options)


def _reduce(ufunc: np.ufunc) -> Any:
    def reduce(
        array: Operand,
        axis: Axis = 0,
        dtype: DTypeLike = None,
        out: None = None,
        keepdims: bool = False,
        initial: Any = MISSING,
        where: Any = True,
    ) -> Answer:
        return reduction(ufunc, array, axis, dtype, keepdims, initial, where)

    return operator(reduce, name=f"{ufunc.__name__}.reduce")


def _accumulate(ufunc: np.ufunc) -> Any:
    return functools.partial(scan, ufunc)


def _reduceat(ufunc: np.ufunc) -> Any:
    def reduceat(
        array: Operand,
        indices: Operand,
        axis: int = 0,
        dtype: DTypeLike = None,
        out: None = None,
    ) -> Answer:
        axis = normalize_axis_index(axis, array.ndim)
        names = letters(array.ndim, whole=[axis])
        starts = letters(1, whole=[0], skip=array.ndim)
        result = [*names[:axis], *starts, *names[axis + 1 :]]
        kernel = call(ufunc.reduceat, array, indices, axis=axis, dtype=dtype)
        wide = ufunc.reduceat(np.ones(1, array.dtype), [0], dtype=dtype).dtype
        rows = partial_rows(kind_of(ufunc, array.dtype), 1)
        return rule([names, starts], [result], rows), kernel, wide

    return operator(reduceat, name=f"{ufunc.__name__}.reduceat", operands=2)


def _outer(ufunc: np.ufunc) -> Any:
    rows = ROWS.get(ufunc, Rows())

    def outer(a: Operand, b: Operand, /, **options: Any) -> Answer:
        left, right = letters(a.ndim), letters(b.ndim, skip=a.ndim)
        partial = None if options else rows.of([a, b])
        return (
            rule([left, right], [[*left, *right]], partial),
            call(ufunc.outer, a, b, **options),
        )

    return operator(outer, name=f"{ufunc.__name__}.outer", operands=2)


# --- in place -------------------------------------------------------------------------


def _at(ufunc: np.ufunc) -> Callable[..., None]:
    name = f"{ufunc.__name__}.at"

    def at(a: Any, indices: Any, *values: Any) -> None:
        """Work in place at indices: see `numpy.ufunc.at`. Collective.

        Integers for the first dim are found by the ranks that have them; for any other
        index the array is gathered and written back."""
        index = _whole(name, indices)
        arrays = [values_of(name, value) for value in values]
        if not isinstance(a, _C.DTensor):
            ufunc.at(np.asarray(a), index, *arrays)
        elif _is_first(index) and not a.layout.is_partial and _is_box(a.layout):
            _at_own(ufunc, a, np.asarray(index), arrays)
        else:
            array = np.array(values_of(name, a))
            ufunc.at(array, index, *arrays)
            if inside(a.layout):
                np.copyto(local(a), local(place(array, a.layout)))

    return at


def _whole(name: str, index: Any) -> Any:
    """Return an index with arrays in the place of tensors."""
    if isinstance(index, tuple):
        return tuple(_whole(name, item) for item in index)
    return values_of(name, index) if isinstance(index, _C.Tensor) else index


def _is_first(index: Any) -> bool:
    """Return whether an index is integers for the first dim."""
    if isinstance(index, tuple) or index is None or isinstance(index, slice):
        return False
    array = np.asarray(index)
    return array.dtype.kind in "iu"


def _is_box(layout: _C.Layout) -> bool:
    """Return whether the part of every rank, not only of this one, is a box."""
    return layout.ndim > 0 and not any(
        is_strided(layout, dim) for dim in range(layout.ndim)
    )


def _at_own(
    ufunc: np.ufunc,
    a: _C.DTensor,
    index: npt.NDArray[Any],
    arrays: list[npt.NDArray[Any]],
) -> None:
    """Work on what this rank holds; all ranks know all indices and values."""
    probe = np.broadcast_to(np.zeros((), bool), a.shape)
    shape = probe[index].shape  # or NumPy's IndexError, on every rank
    values = [np.broadcast_to(array, shape) for array in arrays]
    if not inside(a.layout):
        return
    index = np.where(index < 0, index + a.shape[0], index)
    where, held = find(a.layout, 0, index)
    rest = (slice(None), *key_of(a.layout)[1:])
    ufunc.at(local(a), where[held], *(value[held][rest] for value in values))
