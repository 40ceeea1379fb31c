"""The gradients of decompositions, written as in PyTorch's FunctionsManual.cpp.

Where eigenvalues or singular values coincide, the vectors are not unique, and functions
of them have no gradient. Infinite terms are left out, so that functions that do not
depend on the choice of vectors have the right gradient.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dtensor.ops.linalg.adjoint import adjoint, conj
from dtensor.ops.shape.permute import matrix_transpose

__all__ = [
    "of_cholesky",
    "of_cofactors",
    "of_cond",
    "of_eig",
    "of_eigh",
    "of_eigvals",
    "of_eigvalsh",
    "of_inverse",
    "of_least_squares",
    "of_left_side",
    "of_matrix_power",
    "of_pinv",
    "of_qr",
    "of_right_side",
    "of_slogdet",
    "of_svd",
    "of_svdvals",
    "of_tensor",
    "of_tensor_side",
    "of_tensorinv",
]


def _eye(n: int) -> Any:
    return np.eye(n, dtype=bool)


def _diagonal(x: Any) -> Any:
    return np.diagonal(x, 0, -2, -1)


def _matrices(values: Any) -> Any:
    """Return diagonal matrices, of values that may be multiplied by them."""
    return np.where(_eye(values.shape[-1]), np.expand_dims(values, -1), 0)


def _inverse(x: Any) -> Any:
    """Return reciprocals, and 0 for 0."""
    return np.where(x == 0, 0, 1 / np.where(x == 0, 1, x))


def _hermitian(x: Any) -> Any:
    return x + adjoint(x)


def _skew(x: Any) -> Any:
    return x - adjoint(x)


def _per_matrix(x: Any) -> Any:
    """Return numbers, one for each matrix, with dims to be multiplied by these."""
    return np.expand_dims(x, (-2, -1))


# --- square matrices ------------------------------------------------------------------


def of_inverse(grad: Any, out: Any) -> Any:
    """Return the gradient of a matrix through its inverse."""
    other = adjoint(out)
    return -(other @ grad @ other)


def of_cofactors(grad: Any, out: Any, a: Any) -> Any:
    """Return the gradient through ``det(a) * inv(a).mT``, if there is an inverse."""
    other, known = adjoint(np.linalg.inv(a)), conj(out)
    total = np.sum(known * grad, axis=(-2, -1))
    return _per_matrix(total) * other - known @ matrix_transpose(grad) @ other


def of_slogdet(grad: Sequence[Any], out: Sequence[Any], a: Any) -> Any:
    """Return the gradient through sign (of a complex one the angle) and logarithm."""
    slope = grad[1]
    if a.dtype.kind == "c":
        slope = slope - 1j * np.imag(conj(grad[0]) * out[0])
    return _per_matrix(slope) * adjoint(np.linalg.inv(a))


def of_cholesky(grad: Any, out: Any, upper: bool) -> Any:
    """Return the gradient, a Hermitian matrix [1]_.

    References
    ----------
    .. [1] I. Murray, Differentiation of the Cholesky decomposition, arXiv:1602.07527.
    """
    right = out if upper else adjoint(out)
    grad = adjoint(grad) if upper else grad
    inner = right @ grad
    half = np.tril(inner, -1) + _matrices(_diagonal(inner)) / 2
    left = np.linalg.solve(right, _hermitian(half) / 2)
    return adjoint(np.linalg.solve(right, adjoint(left)))


def of_matrix_power(grad: Any, a: Any, n: int) -> Any:
    """Return the sum of ``b ** k @ grad @ b ** (n - 1 - k)``, b the adjoint of a: it is
    beside b ** n in the power of the block matrix of b and grad."""
    if n == 0:
        return grad * 0
    if n < 0:
        inverse = np.linalg.inv(a)
        return of_inverse(of_matrix_power(grad, inverse, -n), inverse)
    base, length = adjoint(a), a.shape[-1]
    rows = [np.concatenate((base, grad), -1), np.concatenate((base * 0, base), -1)]
    power = np.linalg.matrix_power(np.concatenate(rows, -2), n)
    return power[..., :length, length:]


# --- eigenvalues ----------------------------------------------------------------------


def _differences(values: Any) -> Any:
    """Return the reciprocals of those of column and row."""
    return _inverse(np.expand_dims(values, -2) - np.expand_dims(values, -1))


def of_eigvalsh(grad: Any, vectors: Any) -> Any:
    """Return the gradient through the eigenvalues of a Hermitian matrix."""
    return (vectors * np.expand_dims(grad, -2)) @ adjoint(vectors)


def of_eigh(grad: Sequence[Any], out: Sequence[Any]) -> Any:
    """Return the gradient, a Hermitian matrix, through eigenvalues and -vectors."""
    values, vectors = out
    other = adjoint(vectors)
    turned = _skew(other @ grad[1]) / 2
    inner = turned * _differences(values) + _matrices(grad[0])
    return vectors @ inner @ other


def of_eig(grad: Sequence[Any], out: Sequence[Any]) -> Any:
    """Return the gradient through eigenvalues and -vectors, these of length 1."""
    values, vectors = out
    other = adjoint(vectors)
    inner = other @ grad[1]
    lengths = np.expand_dims(np.real(_diagonal(inner)), -2)
    inner = (inner - other @ (vectors * lengths)) * _differences(conj(values))
    return np.linalg.solve(other, (inner + _matrices(grad[0])) @ other)


def of_eigvals(grad: Any, vectors: Any) -> Any:
    """Return the gradient through eigenvalues."""
    other = adjoint(vectors)
    return np.linalg.solve(other, _matrices(grad) @ other)


# --- equations ------------------------------------------------------------------------


def of_right_side(grad: Any, a: Any, one: bool) -> Any:
    """Return the gradient of b in ``solve(a, b)``; `one`: b is one vector."""
    if not one:
        return np.linalg.solve(adjoint(a), grad)
    return np.linalg.solve(adjoint(a), np.expand_dims(grad, -1))[..., 0]


def of_left_side(grad: Any, out: Any, a: Any, one: bool) -> Any:
    """Return the gradient of a in ``solve(a, b)``."""
    right = of_right_side(grad, a, one)
    if one:
        return -(np.expand_dims(right, -1) * np.expand_dims(conj(out), -2))
    return -(right @ adjoint(out))


def of_tensorinv(grad: Any, out: Any, ind: int) -> Any:
    """Return the gradient through the inverse of what has rows of several dims."""
    shape = (math.prod(out.shape[:-ind]), math.prod(out.shape[-ind:]))
    found = of_inverse(np.reshape(grad, shape), np.reshape(out, shape))
    return np.reshape(found, out.shape[-ind:] + out.shape[:-ind])


def _as_matrix(a: Any, size: int, axes: Sequence[int] | None) -> tuple[Any, list[int]]:
    """Return the matrix of `tensorsolve`, of `size` rows, and the order of the dims."""
    last = [axis % a.ndim for axis in axes or ()]
    order = [dim for dim in range(a.ndim) if dim not in last] + last
    return np.reshape(np.transpose(a, order), (size, -1)), order


def of_tensor_side(
    grad: Any, a: Any, shape: Sequence[int], axes: Sequence[int] | None
) -> Any:
    """Return the gradient of b in ``tensorsolve(a, b, axes)``."""
    matrix, _ = _as_matrix(a, math.prod(shape), axes)
    return np.reshape(of_right_side(np.ravel(grad), matrix, True), shape)


def of_tensor(grad: Any, out: Any, a: Any, axes: Sequence[int] | None) -> Any:
    """Return the gradient of a in ``tensorsolve(a, b, axes)``."""
    matrix, order = _as_matrix(a, out.size, axes)
    found = of_left_side(np.ravel(grad), np.ravel(out), matrix, True)
    found = np.reshape(found, [a.shape[dim] for dim in order])
    return np.transpose(found, np.argsort(order).tolist())


def of_pinv(grad: Any, out: Any, a: Any) -> Any:
    """Return the gradient through a pseudo-inverse of matrices of constant rank [1]_.

    References
    ----------
    .. [1] G. H. Golub, V. Pereyra, SIAM J. Numer. Anal. 10 (1973), eq. 4.12.
    """
    right, back = adjoint(out), adjoint(grad)
    if a.shape[-2] <= a.shape[-1]:
        inner = back @ out
        known = inner @ right
        return (
            known
            - adjoint(out @ inner)
            - (a @ out) @ known
            + (right @ out) @ (back - inner @ a)
        )
    inner = out @ back
    known = right @ inner
    return (
        known
        - adjoint(inner @ out)
        + ((back - a @ inner) @ out) @ right
        - (known @ out) @ a
    )


def of_least_squares(grad: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """Return the gradients of `a` and `b` through the pseudo-inverse times `b`."""
    inverse = np.linalg.pinv(a)
    right = adjoint(inverse) @ grad
    if b.ndim == 1:
        grad, b = np.expand_dims(grad, 1), np.expand_dims(b, 1)
    return of_pinv(grad @ adjoint(b), inverse, a), right


# --- factors --------------------------------------------------------------------------


def of_qr(gq: Any, gr: Any, a: Any, q: Any, r: Any) -> Any:
    """Return the gradient through reduced factors; `gq` None: of `r` alone.

    Of a wide matrix the factors are those of its first columns, and ``q.mH @ rest``.
    """
    m, n = a.shape[-2:]
    if m < n:
        first, rest = gr[..., :m], gr[..., m:]
        known = a[..., m:] @ adjoint(rest)
        gq = known if gq is None else gq + known
        square = of_qr(gq, first, a[..., :m], q, r[..., :m])
        return np.concatenate((square, q @ rest), -1)
    inner = gr @ adjoint(r)
    if gq is not None:
        inner = inner - adjoint(q) @ gq
    half = np.triu(inner, 1) + _matrices(_diagonal(inner)) / 2
    left = q @ _hermitian(half)
    left = left if gq is None else left + gq
    return adjoint(np.linalg.solve(r, adjoint(left)))


def of_svd(grad: Sequence[Any], out: Sequence[Any]) -> Any:
    """Return the gradient through reduced factors u, s, vh of a matrix."""
    (gu, gs, gvh), (u, s, vh) = grad, out
    rows, columns = np.expand_dims(s, -1), np.expand_dims(s, -2)
    apart = _inverse((columns - rows) * (columns + rows))
    left, right = adjoint(u) @ gu, vh @ adjoint(gvh)
    values = gs
    if u.dtype.kind == "c":  # u and v may turn together
        values = gs + 1j * np.imag(_diagonal(left)) * _inverse(s)
    inner = (_skew(left) * columns + rows * _skew(right)) * apart + _matrices(values)
    found = u @ inner @ vh
    m, k, n = u.shape[-2], s.shape[-1], vh.shape[-1]
    if m > k:
        found = found + ((gu - u @ left) * _inverse(columns)) @ vh
    if n > k:
        found = found + u @ ((gvh - adjoint(right) @ vh) * _inverse(rows))
    return found


def of_svdvals(grad: Any, u: Any, vh: Any) -> Any:
    """Return the gradient through singular values."""
    return (u * np.expand_dims(grad, -2)) @ vh


# --- condition numbers ----------------------------------------------------------------


def of_cond(grad: Any, x: Any, p: Any) -> Any:
    """Return the gradient through ``cond(x, p)``."""
    if p in (None, 2, -2):
        u, s, vh = np.linalg.svd(x, full_matrices=False)
        places = np.arange(s.shape[-1])
        largest, least = (places == 0), (places == places[-1])
        first, last = (s[..., :1], s[..., -1:])
        if p == -2:
            slopes = largest * (-last / first**2) + least / first
        else:
            slopes = largest / last - least * (first / last**2)
        return of_svdvals(np.expand_dims(grad, -1) * slopes, u, vh)
    inverse = np.linalg.inv(x)
    sizes = [np.linalg.matrix_norm(y, ord=p, keepdims=True) for y in (x, inverse)]
    slopes = [_slope(y, size, p) for y, size in zip((x, inverse), sizes, strict=True)]
    scale = _per_matrix(grad)
    through = of_inverse(scale * sizes[0] * slopes[1], inverse)
    return scale * sizes[1] * slopes[0] + through


def _slope(x: Any, size: Any, p: Any) -> Any:
    """Return the gradient of the norm of matrices, which is `size`."""
    if p in ("fro", "f"):
        return x / size
    if p == "nuc":
        u, _, vh = np.linalg.svd(x, full_matrices=False)
        return u @ vh
    sums = np.sum(np.abs(x), axis=-2 if abs(p) == 1 else -1, keepdims=True)
    chosen = sums == size
    share = chosen / np.sum(chosen, axis=(-2, -1), keepdims=True)
    return share * np.sign(x)
