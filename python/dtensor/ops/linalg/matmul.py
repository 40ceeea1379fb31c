"""Products of arrays: matmul, dot, inner, outer, tensordot, kron. einsum and products
of vectors have files of their own.

All are linear in each operand: one of them may be Partial, the others are replicated.
If the dim that is summed over is cut, in all operands alike, the result is Partial.
Large matrices, one of which would be gathered, are multiplied by panels
(`product_parts`).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor.ops._make.autocast import narrowed
from dtensor.ops._make.axes import normalize_axis_index
from dtensor.ops._make.halves import is_half, is_multiplied, wide_call
from dtensor.ops._make.operator import (
    Operand,
    Rule,
    broadcasts_out,
    call,
    implements,
    letters,
    method,
    operator,
)
from dtensor.ops._make.out import exact_out
from dtensor.ops._make.recorded import recorded
from dtensor.ops._make.words import Answer, group, rule
from dtensor.ops.linalg import vectors as _vectors
from dtensor.ops.linalg.adjoint import (
    adjoint,
    conj,
    kron_left,
    kron_right,
    left_of,
    right_of,
)
from dtensor.ops.linalg.contract import contract
from dtensor.ops.linalg.product_parts import in_panels, multiply
from dtensor.ops.linalg.vectors import *  # noqa: F403
from dtensor.ops.linalg.vectors import given
from dtensor.ops.shape.view import expand_dims, ravel, reshape

__all__ = ["dot", "inner", "kron", "matmul", "outer", "tensordot"]
__all__ += _vectors.__all__

_MULTIPLY = Rule("...,...->...", partial="each")


@narrowed
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
    out: None = None,
    *,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> Answer | Callable[..., Any]:
    """Matrix product: ``x1 @ x2``.

    Where one matrix would be gathered and takes more than 64 MiB, the ranks give each
    other panels of it, one at a time, and the result is cut.

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
    settings = given(dtype, casting)
    if not settings and x1.shape[-1:] == x2.shape[:1] and in_panels(x1, x2):
        return _by_panels
    m, n = ("" if x.ndim == 1 else word for x, word in ((x1, "m"), (x2, "n")))
    left, right = (f"...{m}k" if m else "k"), (f"...k{n}" if n else "k")
    kept = f"...{m}{n}" if m or n else ""
    text = f"{left},{right}->{kept}"
    if min(x1.ndim, x2.ndim) > 1 and not settings and is_multiplied(x1, x2):
        made = call(_C.product, x1, x2)
    else:
        made = (wide_call if dtype is None else call)(np.matmul, x1, x2, **settings)
    return Rule(text, partial="each"), made


# Where an operand is one matrix and the other a stack, its gradient is one product over
# all of the stack: there are no products of each to be added up.


def _matmul_left(grad: Any, _out: Any, _x1: Any, x2: Any, **_: Any) -> Any:
    if x2.ndim == 1:
        return expand_dims(grad, -1) * conj(x2)
    if _x1.ndim > 2 or x2.ndim == 2 and _x1.ndim == 2:
        return grad @ adjoint(x2)
    if _x1.ndim == 2:
        summed = [*range(x2.ndim - 2), x2.ndim - 1]
        return tensordot(grad, conj(x2), (summed, summed))
    summed = [dim for dim in range(x2.ndim) if dim != x2.ndim - 2]
    return tensordot(conj(x2), grad, (summed, list(range(grad.ndim))))


def _matmul_right(grad: Any, _out: Any, x1: Any, _x2: Any, **_: Any) -> Any:
    if x1.ndim == 1:
        rows = expand_dims(grad, -2) if _x2.ndim > 1 else grad
        return (expand_dims(conj(x1), -1) if _x2.ndim > 1 else conj(x1)) * rows
    if _x2.ndim > 2 or x1.ndim == 2 and _x2.ndim == 2:
        return adjoint(x1) @ grad
    rows = list(range(x1.ndim - 1))
    return tensordot(conj(x1), grad, (rows, rows))


matmul.vjp(_matmul_left, _matmul_right)


def _by_panels(x1: Any, x2: Any, **_: Any) -> Any:
    return recorded("matmul", multiply, _matmul_back, (x1, x2))


def _matmul_back(grad: Any, _out: Any, x1: Any, x2: Any) -> tuple[Any, Any]:
    return _matmul_left(grad, None, x1, x2), _matmul_right(grad, None, x1, x2)


def _contraction(a: Operand, b: Operand, pairs: list[tuple[int, int]]) -> Rule:
    """Return the rule of a product that is summed over pairs of dims."""
    left, right, kept = _labels(a, b, pairs)
    return rule([left, right], [kept], "each")


def _contracted(
    function: Any, a: Operand, b: Operand, pairs: list[tuple[int, int]], **options: Any
) -> tuple[Rule, Any]:
    """Return the rule and the call of such a product, by a function of NumPy's."""
    if is_multiplied(a, b):
        labels = map(tuple, _labels(a, b, pairs))
        return _contraction(a, b, pairs), call(contract, a, b, *labels)
    return _contraction(a, b, pairs), wide_call(function, a, b, **options)


def _labels(
    a: Operand, b: Operand, pairs: list[tuple[int, int]]
) -> tuple[list[str], list[str], list[str]]:
    """Return names of the dims of both operands and of the product."""
    left = letters(a.ndim)
    right = letters(b.ndim, skip=a.ndim)
    for i, j in pairs:
        right[j] = left[i]
    kept = [w for w in left if w not in right] + [w for w in right if w not in left]
    return left, right, kept


def _by_number(function: Any, a: Operand, b: Operand, **options: Any) -> Any:
    """Return the call of a product one of whose operands has no dims. Of halves it is
    elementwise: BLAS, which NumPy calls for wider floats only, skips the number 0."""
    if a.dtype == b.dtype and is_half(a.dtype):
        return wide_call(np.multiply, a, b)
    return wide_call(function, a, b, **options)


@method
@implements(np.dot)
@exact_out
@operator(operands=2)
def dot(a: Operand, b: Operand, out: None = None) -> Answer | Callable[..., Any]:
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
        return _MULTIPLY, _by_number(np.dot, a, b)
    if a.shape[-1:] == b.shape[:1] and in_panels(a, b):
        return _by_panels
    return _contracted(np.dot, a, b, _dot_pairs(a, b))


def _dot_pairs(a: Any, b: Any) -> list[tuple[int, int]]:
    """Return the dims that `dot` sums over: none if there is a number."""
    one = 0 in (np.ndim(a), np.ndim(b))
    return [] if one else [(a.ndim - 1, max(b.ndim - 2, 0))]


dot.vjp(
    lambda grad, _out, _a, b: left_of(grad, _a, b, _dot_pairs(_a, b)),
    lambda grad, _out, a, _b: right_of(grad, a, _b, _dot_pairs(a, _b)),
)


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
        return _MULTIPLY, _by_number(np.inner, a, b)
    return _contracted(np.inner, a, b, _inner_pairs(a, b))


def _inner_pairs(a: Any, b: Any) -> list[tuple[int, int]]:
    one = 0 in (np.ndim(a), np.ndim(b))
    return [] if one else [(a.ndim - 1, b.ndim - 1)]


inner.vjp(
    lambda grad, _out, _a, b: left_of(grad, _a, b, _inner_pairs(_a, b)),
    lambda grad, _out, a, _b: right_of(grad, a, _b, _inner_pairs(a, _b)),
)


@method
@implements(np.outer)
@broadcasts_out
@operator(operands=2)
def outer(a: Operand, b: Operand, out: None = None) -> Answer:
    """Product of each element of `a` with each of `b`, both flattened.

    Returns
    -------
    array, shape (a.size, b.size)
    """
    left, right = letters(a.ndim), letters(b.ndim, skip=a.ndim)
    product = rule([left, right], [[group(left), group(right)]], "each")
    return product, wide_call(np.outer, a, b)


outer.vjp(
    lambda grad, _out, _a, b: reshape(grad @ conj(ravel(b)), _a.shape),
    lambda grad, _out, a, _b: reshape(conj(ravel(a)) @ grad, _b.shape),
)


def _axes_lists(axes: Any, ndim: int) -> tuple[list[int], list[int]]:
    """Return tensordot's axes of both operands, `ndim` of the first."""
    try:
        pair = [
            [int(axis) for axis in np.atleast_1d(np.asarray(side))] for side in axes
        ]
    except TypeError:
        return [*range(ndim - axes, ndim)], [*range(axes)]
    return pair[0], pair[1]


@narrowed
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
    pairs = _pairs(a, b, axes)
    if 0 in (a.ndim, b.ndim):
        return _contraction(a, b, pairs), _by_number(np.tensordot, a, b, axes=axes)
    return _contracted(np.tensordot, a, b, pairs, axes=axes)


def _pairs(a: Any, b: Any, axes: Any) -> list[tuple[int, int]]:
    """Return tensordot's pairs of dims."""
    lists = _axes_lists(axes, a.ndim)
    if len(lists[0]) != len(lists[1]):
        raise ValueError("shape-mismatch for sum")
    dims = [
        [normalize_axis_index(axis, x.ndim) for axis in axes_]
        for x, axes_ in zip((a, b), lists, strict=True)
    ]
    if any(len({*some}) < len(some) for some in dims):
        raise ValueError("axes don't match array: one is there twice")
    return list(zip(*dims, strict=True))


tensordot.vjp(
    lambda grad, _out, _a, b, axes=2: left_of(grad, _a, b, _pairs(_a, b, axes)),
    lambda grad, _out, a, _b, axes=2: right_of(grad, a, _b, _pairs(a, _b, axes)),
)


@method
@implements(np.kron)
@operator(operands=2)
def kron(a: Operand, b: Operand) -> Answer:
    """Kronecker product: every element of `a` times all of `b`, in blocks.

    Returns
    -------
    array
        With as many dims as the operand that has more; lengths are multiplied.
    """
    ndim = max(a.ndim, b.ndim)
    left = ["1"] * (ndim - a.ndim) + letters(a.ndim)
    right = ["1"] * (ndim - b.ndim) + letters(b.ndim, skip=a.ndim)
    out = [group(words) for words in zip(left, right, strict=True)]
    terms = [left[ndim - a.ndim :], right[ndim - b.ndim :]]
    return rule(terms, [out], "each"), wide_call(np.kron, a, b)


kron.vjp(
    lambda grad, _out, _a, b: kron_left(grad, _a, b),
    lambda grad, _out, a, _b: kron_right(grad, a, _b),
)
