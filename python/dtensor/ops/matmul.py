"""Products of arrays: matmul, dot, outer and their kin. einsum has a file of its own.

All are linear in each operand: one of them may be Partial, the others are replicated.
Where the dim that is summed over is cut, in all operands alike, the result is Partial.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.lib.array_utils import normalize_axis_index

from dtensor.ops._operator import (
    Operand,
    Rule,
    axes_of,
    call,
    implements,
    letters,
    method,
    operator,
)
from dtensor.ops._words import Answer, aligned, group, rule

__all__ = [
    "cross",
    "dot",
    "inner",
    "kron",
    "matmul",
    "matvec",
    "outer",
    "tensordot",
    "vdot",
    "vecdot",
    "vecmat",
]

_MULTIPLY = Rule("...,...->...", partial="each")


def _given(
    dtype: npt.DTypeLike | None = None, casting: str = "same_kind", axis: int = -1
) -> dict[str, Any]:
    """Return a ufunc's settings without those that are its defaults."""
    settings = {"dtype": dtype, "casting": casting, "axis": axis}
    defaults = {"dtype": None, "casting": "same_kind", "axis": -1}
    return {key: settings[key] for key in settings if settings[key] != defaults[key]}


@method
@method(name="mm")
@method(name="bmm")
@method(name="mv")
@implements(np.matmul, np.linalg.matmul)
@operator(operands=2)
def matmul(
    x1: Operand,
    x2: Operand,
    /,
    *,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> Answer:
    """Matrix product: ``x1 @ x2``.

    Parameters
    ----------
    x1 : array, shape (..., m, k) or (k,)
    x2 : array, shape (..., k, n) or (k,)
        Leading dims are broadcast.
    dtype, casting
        As for every ufunc.

    Returns
    -------
    array, shape (..., m, n)
        Without m or n where an operand has one dim.

    Raises
    ------
    ValueError
        If the lengths k differ, or an operand is a number.
    """
    m, n = ("" if x.ndim == 1 else word for x, word in ((x1, "m"), (x2, "n")))
    left, right = (f"...{m}k" if m else "k"), (f"...k{n}" if n else "k")
    out = f"...{m}{n}" if m or n else ""
    text = f"{left},{right}->{out}"
    return Rule(text, partial="each"), call(np.matmul, x1, x2, **_given(dtype, casting))


def _contraction(a: Operand, b: Operand, pairs: list[tuple[int, int]]) -> Rule:
    """Return the rule of a product that is summed over pairs of dims."""
    left = letters(a.ndim)
    right = letters(b.ndim, skip=a.ndim)
    for i, j in pairs:
        right[j] = left[i]
    kept = [w for w in left if w not in right] + [w for w in right if w not in left]
    return rule([left, right], [kept], "each")


@method
@implements(np.dot)
@operator(operands=2)
def dot(a: Operand, b: Operand) -> Answer:
    """Product of two arrays, summed over the last dim of `a` and the one before last
    of `b` (the last, if `b` has one dim only). Numbers multiply.

    Returns
    -------
    array, shape a.shape[:-1] + b.shape[:-2] + b.shape[-1:]

    Raises
    ------
    ValueError
        If the lengths of the two dims differ.
    """
    if 0 in (a.ndim, b.ndim):
        return _MULTIPLY, call(np.dot, a, b)
    pairs = [(a.ndim - 1, max(b.ndim - 2, 0))]
    return _contraction(a, b, pairs), call(np.dot, a, b)


@method
@implements(np.inner)
@operator(operands=2)
def inner(a: Operand, b: Operand, /) -> Answer:
    """Product of two arrays, summed over the last dims of both. Numbers multiply.

    Returns
    -------
    array, shape a.shape[:-1] + b.shape[:-1]
    """
    if 0 in (a.ndim, b.ndim):
        return _MULTIPLY, call(np.inner, a, b)
    return _contraction(a, b, [(a.ndim - 1, b.ndim - 1)]), call(np.inner, a, b)


@method
@implements(np.vdot)
@operator(operands=2)
def vdot(a: Operand, b: Operand, /) -> Answer:
    """Sum of ``conj(a) * b`` over all elements, as if both had one dim.

    Cut dims stay cut if the shapes are the same.
    """
    if a.shape == b.shape:
        names = letters(a.ndim)
        return rule([names, names], [[]], "each"), call(np.vdot, a, b)
    terms = [["*"] * x.ndim for x in (a, b)]
    return rule(terms, [[]], "each"), call(np.vdot, a, b)


@method
@implements(np.outer)
@operator(operands=2)
def outer(a: Operand, b: Operand) -> Answer:
    """Product of each element of `a` with each of `b`, as if both had one dim.

    Returns
    -------
    array, shape (a.size, b.size)
    """
    left, right = letters(a.ndim), letters(b.ndim, skip=a.ndim)
    product = rule([left, right], [[group(left), group(right)]], "each")
    return product, call(np.outer, a, b)


def _axes_lists(axes: Any, ndim: int) -> tuple[list[int], list[int]]:
    """Return tensordot's axes of both operands, `ndim` of the first."""
    try:
        pair = [
            [int(axis) for axis in np.atleast_1d(np.asarray(side))] for side in axes
        ]
    except TypeError:
        return [*range(ndim - axes, ndim)], [*range(axes)]
    return pair[0], pair[1]


@implements(np.tensordot, np.linalg.tensordot)
@operator(operands=2)
def tensordot(a: Operand, b: Operand, axes: Any = 2) -> Answer:
    """Product of two arrays, summed over pairs of dims.

    Parameters
    ----------
    a, b : array
    axes : int or pair of (int or sequence of int), default 2
        Dims of `a` and dims of `b`, or how many: the last of `a`, the first of `b`.

    Returns
    -------
    array
        Dims of `a` that are left, then those of `b`.

    Raises
    ------
    ValueError
        If the dims of a pair differ in length.
    """
    kernel = call(np.tensordot, a, b, axes=axes)
    lists = _axes_lists(axes, a.ndim)
    if len(lists[0]) != len(lists[1]):
        raise ValueError("shape-mismatch for sum")
    pairs = zip(
        (normalize_axis_index(axis, a.ndim) for axis in lists[0]),
        (normalize_axis_index(axis, b.ndim) for axis in lists[1]),
        strict=True,
    )
    return _contraction(a, b, list(pairs)), kernel


@method
@implements(np.kron)
@operator(operands=2)
def kron(a: Operand, b: Operand) -> Answer:
    """Kronecker product: every element of `a` times all of `b`, in blocks.

    Returns
    -------
    array
        Dims as the operand that has more; each is as long as the product of the two.
    """
    ndim = max(a.ndim, b.ndim)
    left = ["1"] * (ndim - a.ndim) + letters(a.ndim)
    right = ["1"] * (ndim - b.ndim) + letters(b.ndim, skip=a.ndim)
    out = [group(words) for words in zip(left, right, strict=True)]
    terms = [left[ndim - a.ndim :], right[ndim - b.ndim :]]
    return rule(terms, [out], "each"), call(np.kron, a, b)


@method
@implements(np.vecdot, np.linalg.vecdot)
@operator(operands=2)
def vecdot(
    x1: Operand,
    x2: Operand,
    /,
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
    kernel = call(np.vecdot, x1, x2, **_given(dtype, casting, axis))
    places = [normalize_axis_index(axis, x.ndim) for x in (x1, x2)]
    rests = [
        x.shape[:place] + x.shape[place + 1 :]
        for x, place in zip((x1, x2), places, strict=True)
    ]
    terms, out = aligned(*rests)
    summed = letters(1, skip=len(out))
    for term, place in zip(terms, places, strict=True):
        term[place:place] = summed
    return rule(terms, [out], "each"), kernel


@implements(np.matvec)
@operator(operands=2)
def matvec(
    x1: Operand,
    x2: Operand,
    /,
    *,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> Answer:
    """Products of matrices, shape (..., m, n), and vectors, (..., n)."""
    kernel = call(np.matvec, x1, x2, **_given(dtype, casting))
    return Rule("...mn,...n->...m", partial="each"), kernel


@implements(np.vecmat)
@operator(operands=2)
def vecmat(
    x1: Operand,
    x2: Operand,
    /,
    *,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> Answer:
    """Products of conjugate vectors, shape (..., m), and matrices, (..., m, n)."""
    kernel = call(np.vecmat, x1, x2, **_given(dtype, casting))
    return Rule("...m,...mn->...n", partial="each"), kernel


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
    """Cross product of vectors of 3 elements (2: the third is 0).

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
        If the vectors have other lengths.
    """
    kernel = call(np.cross, a, b, axisa, axisb, axisc, axis)
    if axis is not None:
        axisa = axisb = axisc = axis
    if 0 in (a.ndim, b.ndim):
        raise ValueError("At least one array has zero dimension")
    (i,), (j,) = axes_of(axisa, a.ndim), axes_of(axisb, b.ndim)
    if a.shape[i] not in (2, 3) or b.shape[j] not in (2, 3):
        raise ValueError(
            "incompatible dimensions for cross product\n(dimension must be 2 or 3)"
        )
    terms, out = aligned(a.shape[:i] + a.shape[i + 1 :], b.shape[:j] + b.shape[j + 1 :])
    terms[0].insert(i, str(a.shape[i]))
    terms[1].insert(j, str(b.shape[j]))
    if (a.shape[i], b.shape[j]) != (2, 2):
        out.insert(normalize_axis_index(axisc, len(out) + 1), "3")
    return rule(terms, [out], "each"), kernel, np.result_type(a.dtype, b.dtype)
