"""Helpers for gradients: conjugates, transposes, and the adjoints of products.

For complex numbers a gradient is the derivative by the real part plus i times that by
the imaginary part, as in PyTorch: of x in ``y = a * x`` it is ``conj(a) * grad``.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dtensor.ops.elementwise.pointwise import conjugate
from dtensor.ops.shape.permute import matrix_transpose, transpose

__all__ = [
    "adjoint",
    "conj",
    "cross_with",
    "kron_left",
    "kron_right",
    "left_of",
    "right_of",
]

Pairs = Sequence[tuple[int, int]]


def conj(x: Any) -> Any:
    """Return the conjugate; of real numbers themselves, not a copy."""
    if isinstance(x, int | float | complex):
        return x.conjugate()
    return conjugate(x) if x.dtype.kind == "c" else x


def adjoint(x: Any) -> Any:
    """Return conjugate transposes of matrices."""
    return matrix_transpose(conj(x))


# --- products that are summed over pairs of dims --------------------------------------


def left_of(grad: Any, a: Any, b: Any, pairs: Pairs) -> Any:
    """Return the gradient of `a` in a product, whose dims are those of `a` that are
    left, then those of `b`; only the shape of `a` counts."""
    if np.ndim(b) == 0:
        return grad * conj(b)
    pairs = sorted(pairs, key=lambda pair: pair[1])
    kept = [dim for dim in range(b.ndim) if dim not in [j for _, j in pairs]]
    summed = list(range(grad.ndim - len(kept), grad.ndim))
    found = np.tensordot(grad, conj(b), (summed, kept))
    rest = [dim for dim in range(a.ndim) if dim not in [i for i, _ in pairs]]
    return _ordered(found, rest + [i for i, _ in pairs])


def right_of(grad: Any, a: Any, b: Any, pairs: Pairs) -> Any:
    """Return the gradient of `b` in such a product; only the shape of `b` counts."""
    if np.ndim(a) == 0:
        return conj(a) * grad
    pairs = sorted(pairs)
    kept = [dim for dim in range(a.ndim) if dim not in [i for i, _ in pairs]]
    found = np.tensordot(conj(a), grad, (kept, list(range(len(kept)))))
    rest = [dim for dim in range(b.ndim) if dim not in [j for _, j in pairs]]
    return _ordered(found, [j for _, j in pairs] + rest)


def _ordered(x: Any, dims: Sequence[int]) -> Any:
    """Return an array whose dims are given in another order, in theirs."""
    order = [dims.index(dim) for dim in range(len(dims))]
    return x if order == sorted(order) else transpose(x, order)


# --- Kronecker products ---------------------------------------------------------------


def _in_blocks(
    grad: Any, a: Any, b: Any
) -> tuple[Any, tuple[int, ...], tuple[int, ...]]:
    """Return the gradient of a Kronecker product with a dim for each of both operands,
    in turns, and the shapes of these with as many dims."""
    ndim = max(np.ndim(a), np.ndim(b))
    left, right = ((1,) * (ndim - len(s)) + s for s in (np.shape(a), np.shape(b)))
    turns = [n for pair in zip(left, right, strict=True) for n in pair]
    return np.reshape(grad, turns), left, right


def kron_left(grad: Any, a: Any, b: Any) -> Any:
    """Return the gradient of `a` in ``kron(a, b)``."""
    blocks, _, right = _in_blocks(grad, a, b)
    dims = list(range(len(right)))
    other = conj(np.reshape(b, right))
    found = np.tensordot(blocks, other, ([2 * dim + 1 for dim in dims], dims))
    return np.reshape(found, a.shape)


def kron_right(grad: Any, a: Any, b: Any) -> Any:
    """Return the gradient of `b` in ``kron(a, b)``."""
    blocks, left, _ = _in_blocks(grad, a, b)
    dims = list(range(len(left)))
    other = conj(np.reshape(a, left))
    found = np.tensordot(other, blocks, (dims, [2 * dim for dim in dims]))
    return np.reshape(found, b.shape)


# --- cross products -------------------------------------------------------------------


def cross_with(
    grad: Any, x: Any, axis: int, other: Any, other_axis: int, axisc: int, sign: int
) -> Any:
    """Return the gradient of an operand of a cross product.

    Parameters
    ----------
    grad : array
        Of the product; its vectors lie along `axisc`, unless both operands have 2
        elements.
    x : array
        The operand (only its shape is used), and the dim along which its vectors lie.
    other : array
        The other operand.
    sign : int
        1 for the first operand, -1 for the second.
    """
    known = np.moveaxis(conj(other), other_axis, -1)
    if (x.shape[axis], known.shape[-1]) == (2, 2):
        grad = np.expand_dims(grad, -1)
    else:
        grad = np.moveaxis(grad, axisc, -1)
    # A vector of 2 elements has 0 for the third; only the third of a product is given.
    known = _of_three(known, 0)
    grad = _of_three(grad, 2)
    found = np.cross(known, grad) if sign > 0 else np.cross(grad, known)
    found = found[..., : x.shape[axis]]
    return np.moveaxis(found, -1, axis if axis < 0 else axis - x.ndim)


def _of_three(x: Any, before: int) -> Any:
    """Return vectors of 3 elements, with zeros before and behind those there are."""
    length = x.shape[-1]
    if length == 3:
        return x
    widths = [(0, 0)] * (x.ndim - 1) + [(before, 3 - length - before)]
    return np.pad(x, widths)
