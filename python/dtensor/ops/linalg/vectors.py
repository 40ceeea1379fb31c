"""Products of vectors with vectors and matrices: vdot, vecdot, matvec, vecmat, cross.

Linear in each operand, as all of matmul.py.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor._core.dtype import dtype_of
from dtensor.ops._make.autocast import narrowed
from dtensor.ops._make.axes import normalize_axis_index
from dtensor.ops._make.halves import wide_call
from dtensor.ops._make.operator import (
    Operand,
    Rule,
    axes_of,
    call,
    implements,
    letters,
    method,
    operator,
)
from dtensor.ops._make.words import Answer, aligned, rule
from dtensor.ops.linalg.adjoint import conj, cross_with
from dtensor.ops.shape.permute import moveaxis
from dtensor.ops.shape.view import expand_dims, reshape

__all__ = ["cross", "matvec", "vdot", "vecdot", "vecmat"]


def given(
    dtype: npt.DTypeLike | None = None, casting: str = "same_kind", axis: int = -1
) -> dict[str, Any]:
    """Return a ufunc's settings without those that are its defaults."""
    settings: dict[str, Any] = {} if dtype is None else {"dtype": dtype_of(dtype)}
    if casting != "same_kind":
        settings["casting"] = casting
    return settings if axis == -1 else settings | {"axis": axis}


@method
@implements(np.vdot)
@operator(operands=2)
def vdot(a: Operand, b: Operand, /) -> Answer:
    """Sum of ``conj(a) * b`` over all elements, as if both had one dim.

    Cut dims stay cut if the shapes are the same.
    """
    if a.shape == b.shape:
        names = letters(a.ndim)
        return rule([names, names], [[]], "each"), wide_call(np.vdot, a, b)
    terms = [["*"] * x.ndim for x in (a, b)]
    return rule(terms, [[]], "each"), wide_call(np.vdot, a, b)


vdot.vjp(
    lambda grad, _out, _a, b: reshape(conj(grad) * b, _a.shape),
    lambda grad, _out, a, _b: reshape(grad * a, _b.shape),
)


@narrowed
@method
@implements(np.vecdot, np.linalg.vecdot)
@operator(operands=2)
def vecdot(
    x1: Operand,
    x2: Operand,
    /,
    out: None = None,
    *,
    axis: int = -1,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> Answer:
    """Sum of ``conj(x1) * x2`` over one dim; the others are broadcast.

    Parameters
    ----------
    x1, x2 : array, shape (..., k)
    axis : int, default -1
        The dim, of both.

    Raises
    ------
    ValueError
        If the lengths k differ.
    """
    make = wide_call if dtype is None else call
    kernel = make(np.vecdot, x1, x2, **given(dtype, casting, axis))
    if 0 in (x1.ndim, x2.ndim):
        np.vecdot(0, 0)  # NumPy's error
    places = [normalize_axis_index(axis, x.ndim) for x in (x1, x2)]
    rests = [
        x.shape[:place] + x.shape[place + 1 :]
        for x, place in zip((x1, x2), places, strict=True)
    ]
    terms, kept = aligned(*rests)
    summed = letters(1, skip=len(kept))
    for term, place in zip(terms, places, strict=True):
        term[place:place] = summed
    return rule(terms, [kept], "each"), kernel


def _along(x: Any, other: Any, axis: int, scale: Any) -> Any:
    """Return the vectors of `other`, scaled, where those of `x` are."""
    found = expand_dims(scale, -1) * moveaxis(other, axis, -1)
    return moveaxis(found, -1, axis if axis < 0 else axis - x.ndim)


vecdot.vjp(
    lambda grad, _out, _x1, x2, axis=-1, **_: _along(_x1, x2, axis, conj(grad)),
    lambda grad, _out, x1, _x2, axis=-1, **_: _along(_x2, x1, axis, grad),
)


@narrowed
@implements(np.matvec)
@operator(operands=2)
def matvec(
    x1: Operand,
    x2: Operand,
    /,
    out: None = None,
    *,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> Answer:
    """Products of matrices, shape (..., m, n), and vectors, (..., n)."""
    make = wide_call if dtype is None else call
    kernel = make(np.matvec, x1, x2, **given(dtype, casting))
    return Rule("...mn,...n->...m", partial="each"), kernel


@narrowed
@implements(np.vecmat)
@operator(operands=2)
def vecmat(
    x1: Operand,
    x2: Operand,
    /,
    out: None = None,
    *,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> Answer:
    """Products of conjugate vectors, shape (..., m), and matrices, (..., m, n)."""
    make = wide_call if dtype is None else call
    kernel = make(np.vecmat, x1, x2, **given(dtype, casting))
    return Rule("...m,...mn->...n", partial="each"), kernel


matvec.vjp(
    lambda grad, _out, _x1, x2, **_: expand_dims(grad, -1) * expand_dims(conj(x2), -2),
    lambda grad, _out, x1, _x2, **_: conj(vecmat(grad, x1)),
)
vecmat.vjp(
    lambda grad, _out, _x1, x2, **_: matvec(x2, conj(grad)),
    lambda grad, _out, x1, _x2, **_: expand_dims(x1, -1) * expand_dims(grad, -2),
)


@implements(np.cross)
@operator(operands=2)
def cross(
    a: Operand,
    b: Operand,
    axisa: int = -1,
    axisb: int = -1,
    axisc: int = -1,
    axis: int | None = None,
) -> Answer:
    """Cross product of vectors of 3 elements.

    NumPy before 2.5 takes vectors of 2 elements too, whose third is 0, and warns.

    Parameters
    ----------
    a, b : array
    axisa, axisb : int, default -1
        The dims of the vectors; the others are broadcast.
    axisc : int, default -1
        Where the vectors of the result lie, unless all have 2 elements.
    axis : int, optional
        For all three.

    Raises
    ------
    ValueError
        If NumPy does not take vectors of these lengths.
    """
    kernel = call(np.cross, a, b, axisa, axisb, axisc, axis)
    if axis is not None:
        axisa = axisb = axisc = axis
    if 0 in (a.ndim, b.ndim):
        raise ValueError("At least one array has zero dimension")
    (i,), (j,) = axes_of(axisa, a.ndim), axes_of(axisb, b.ndim)
    # NumPy says which lengths there are, and whether the result is a number.
    found = np.cross(np.broadcast_to(0, a.shape[i]), np.broadcast_to(0, b.shape[j]))
    terms, out = aligned(a.shape[:i] + a.shape[i + 1 :], b.shape[:j] + b.shape[j + 1 :])
    terms[0].insert(i, str(a.shape[i]))
    terms[1].insert(j, str(b.shape[j]))
    if found.ndim:
        out.insert(normalize_axis_index(axisc, len(out) + 1), "3")
    return rule(terms, [out], "each"), kernel, np.result_type(a.dtype, b.dtype)


def _vector_dims(
    axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> tuple[int, int, int]:
    return (axisa, axisb, axisc) if axis is None else (axis, axis, axis)


def _cross_left(grad: Any, _out: Any, _a: Any, b: Any, *dims: Any, **named: Any) -> Any:
    i, j, k = _vector_dims(*dims, **named)
    return cross_with(grad, _a, i, b, j, k, 1)


def _cross_right(
    grad: Any, _out: Any, a: Any, _b: Any, *dims: Any, **named: Any
) -> Any:
    i, j, k = _vector_dims(*dims, **named)
    return cross_with(grad, _b, j, a, i, k, -1)


cross.vjp(_cross_left, _cross_right)
