"""Eigenvalues of large Hermitian matrices and singular values of others, in parts.

Matrices are reduced to tridiagonal ones (`tridiagonal`) or bidiagonal ones
(`bidiagonal`), these are divided (`conquer`), and reflections make vectors of theirs
those of the matrix. No rank has more than some parts.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core.device import is_meta
from dtensor.ops._make.parts import inside, local, make, move, positions
from dtensor.ops.linalg import merge_bidiagonal
from dtensor.ops.linalg.adjoint import adjoint
from dtensor.ops.linalg.bidiagonal import Bidiagonal
from dtensor.ops.linalg.conquer import spectrum
from dtensor.ops.linalg.deal import even
from dtensor.ops.linalg.line import Line
from dtensor.ops.linalg.merge import Symmetric
from dtensor.ops.linalg.product_parts import multiply
from dtensor.ops.linalg.square import qr, raise_if
from dtensor.ops.linalg.tall_parts import by_rows
from dtensor.ops.linalg.tridiagonal import Tridiagonal

__all__ = ["cond", "eigh", "eigvalsh", "matrix_rank", "pinv", "svd", "svdvals"]

Array = npt.NDArray[Any]

# Matrices so many times as high as wide are factored first: it is less work.
TALL = 5 / 3

_EighResult: Any = type(np.linalg.eigh(np.eye(1)))
_SVDResult: Any = type(np.linalg.svd(np.eye(1)))


def _by_columns(like: _C.Layout) -> _C.Layout:
    """Return the layout whose columns are cut as these rows are."""
    cutting, ndim = like.cut_by(0), like.mesh.ndim
    placements = [_C.Shard(1) if m in cutting else _C.Replicate() for m in range(ndim)]
    return like.with_placements(placements)


def _values_of(like: _C.Layout) -> _C.Layout:
    """Return the layout of real numbers, one for each column, on every rank."""
    real = np.finfo(like.dtype).dtype
    return _C.Layout(like.mesh, [_C.Replicate()] * like.mesh.ndim, like.shape[1:], real)


def _scaled(name: str, array: Array, to: _C.Layout) -> int:
    """Divide the parts of a matrix by a power of 2, so that the largest element is
    about 1; return which."""
    placements = [_C.Partial("max") if p.is_shard() else p for p in to.placements]
    real = np.finfo(to.dtype)
    here = _C.Layout(to.mesh, placements, (), real.dtype)
    parts = (np.abs(array.real), np.abs(array.imag))
    largest = np.array(max(np.max(part, initial=0) for part in parts), real.dtype)
    total = local(move(name, make(largest, here), here.with_placements(None)))
    exponent = int(np.frexp(total)[1]) if np.isfinite(total) else 0
    exponent = max(real.minexp, min(exponent, real.maxexp - 1))
    array *= real.dtype.type(2) ** -exponent
    return exponent


def eigh(x: Any, uplo: str = "L") -> Any:
    """Return the eigenvalues, on every rank, and the vectors, their rows cut."""
    return _eigen("eigh", x, uplo, True)


def eigvalsh(x: Any, uplo: str = "L") -> Any:
    """Return the eigenvalues on every rank."""
    return _eigen("eigvalsh", x, uplo, False)


def _eigen(name: str, x: Any, uplo: str, wants_vectors: bool) -> Any:
    x = by_rows(name, x)
    x = move(name, x, even(x.layout))
    of_values = _values_of(x.layout)
    values, vectors = np.empty(0), np.empty(0)
    if is_meta(x):
        found = (_C.without_data(of_values), _C.without_data(x.layout))
        return _EighResult(*found) if wants_vectors else found[0]
    converged = True
    if inside(x.layout):
        like, line = x.layout, Line(name, x.layout)
        rows, exponent = _hermitian(name, x, uplo.upper() == "L")
        del x
        converged = _is_finite(line, rows)
        if converged:
            values, vectors = _eigenpairs(line, rows, wants_vectors)
            del rows
            values = np.ldexp(values, exponent)
            converged = bool(np.all(np.isfinite(values)))
    else:
        like = x.layout
    raise_if(not converged, like, "Eigenvalues did not converge")
    found_values = make(values, of_values)
    if not wants_vectors:
        return found_values
    return _EighResult(found_values, make(vectors, like))


def _is_finite(line: Line, array: Array) -> bool:
    """Return whether all elements of all parts are finite."""
    with np.errstate(all="ignore"):
        size = np.array([np.linalg.norm(array)], np.float64)
    return bool(np.isfinite(line.total(size)[0]))


def _eigenpairs(line: Line, rows: Array, wants_vectors: bool) -> tuple[Array, Array]:
    """Return the eigenvalues, and the caller's rows of the vectors."""
    reduced = Tridiagonal(line, rows, wants_vectors)
    dtype, real, n = rows.dtype, reduced.d.dtype, reduced.n
    problem = Symmetric(reduced.d, reduced.e, real)
    values, vectors = spectrum(line, problem, wants_vectors)
    if not wants_vectors:
        return values.astype(real), values
    lines = line.recut(vectors.pop(), (n, n), 1, 0)
    lines = reduced.product(lines.astype(dtype, copy=False))
    del reduced
    lines = line.recut(lines, (n, n), 0, 1)
    return values.astype(real), np.ascontiguousarray(lines.T)


def _hermitian(name: str, x: Any, is_lower: bool) -> tuple[Array, int]:
    """Return the caller's rows of the matrix of one triangle, scaled; and the scale.

    Sent: one part."""
    to = _by_columns(x.layout)
    other = np.conj(local(move(name, x, to)).T)
    own = local(x)
    rows, columns = positions(x.layout, 0)[:, None], np.arange(x.shape[0])
    known = rows >= columns if is_lower else rows <= columns
    array = np.where(known, own, other)
    on = np.arange(len(rows))
    array[on, rows[:, 0]] = array[on, rows[:, 0]].real
    exponent = _scaled(name, array, x.layout)
    return array, exponent


def svd(x: Any, *_: Any) -> Any:
    """Return the reduced factors u, s, vh: the rows of u and the columns of vh are cut,
    s is on every rank."""
    if x.shape[0] < x.shape[1]:
        u, s, vh = svd(adjoint(x))
        return _SVDResult(adjoint(vh), s, adjoint(u))
    return _SVDResult(*_singular("svd", x, True))


def svdvals(x: Any) -> Any:
    """Return the singular values on every rank."""
    x = adjoint(x) if x.shape[0] < x.shape[1] else x
    return _singular("svdvals", x, False)[1]


def _singular(name: str, x: Any, wants_vectors: bool) -> tuple[Any, Any, Any]:
    """Return u, s, vh of a matrix that is not wide; without vectors s alone."""
    x = by_rows(name, x)
    x = move(name, x, even(x.layout))
    like, of_values = x.layout, _values_of(x.layout)
    of_right = like.like((x.shape[1],) * 2, {0: 0})
    if is_meta(x):
        u, s, v = map(_C.without_data, (like, of_values, of_right))
        return u, s, adjoint(v)
    if x.shape[0] >= TALL * x.shape[1]:
        return _of_factor(name, x, wants_vectors)
    converged, exponent = True, 0
    values, left, right = (np.empty(0) for _ in range(3))
    if inside(like):
        line, rows = Line(name, like), local(x).copy()
        del x
        exponent = _scaled(name, rows, like)
        converged = _is_finite(line, rows)
        if converged:
            values, left, right = _triplets(line, rows, like.shape[0], wants_vectors)
            del rows
            converged = bool(np.all(np.isfinite(values)))
            values = np.ldexp(values, exponent)
    raise_if(not converged, like, "SVD did not converge")
    s = make(values, of_values)
    if not wants_vectors:
        return s, s, s
    return make(left, like), s, adjoint(make(right, of_right))


def _of_factor(name: str, x: Any, wants_vectors: bool) -> tuple[Any, Any, Any]:
    """Return u, s, vh of a matrix by those of its factor r."""
    if not wants_vectors:
        return _singular(name, qr(x, "r"), False)
    q, r = qr(x)
    u, s, vh = _singular(name, r, True)
    return multiply(q, u), s, vh


def _triplets(
    line: Line, rows: Array, count: int, wants_vectors: bool
) -> tuple[Array, Array, Array]:
    """Return the singular values, and the caller's rows of the vectors on the left and
    on the right."""
    reduced = Bidiagonal(line, rows, count, wants_vectors)
    dtype, real, n = rows.dtype, reduced.d.dtype, reduced.n
    problem = merge_bidiagonal.Bidiagonal(reduced.d, reduced.e, real)
    values, vectors = spectrum(line, problem, wants_vectors)
    values = values[::-1].astype(real)
    if not wants_vectors:
        return values, values, values
    of_left, of_right = vectors.pop(), vectors.pop()
    lines = line.recut(of_right, (n, n), 1, 0)
    del of_right
    lines = reduced.product_right(lines.astype(dtype, copy=False))
    right = np.ascontiguousarray(line.recut(lines, (n, n), 0, 1)[::-1].T)
    lines = line.recut(of_left, (n, n), 1, 0)
    del of_left
    longer = np.zeros((len(lines), count), dtype)
    longer[:, :n] = lines
    del lines
    longer = reduced.product_left(longer)
    del reduced, rows
    left = np.ascontiguousarray(line.recut(longer, (n, count), 0, 1)[::-1].T)
    return values, left, right


# --- what follows from singular values ------------------------------------------------


def _of_values(s: Any, function: Callable[[Array], Any], dtype: Any) -> Any:
    """Return a number that every rank computes of the singular values."""
    to = s.layout.like((), {}, dtype)
    if is_meta(s):
        return _C.without_data(to)
    return make(np.asarray(function(local(s)), dtype) if inside(to) else (), to)


def matrix_rank(x: Any, tol: Any, rtol: Any) -> Any:
    """Return how many singular values are above a bound, or a part of the largest."""

    def rank(s: Array) -> Any:
        least = np.max(s, initial=0) * rtol if tol is None else tol
        return np.count_nonzero(s > least)

    return _of_values(svdvals(x), rank, np.intp)


def cond(x: Any, p: Any = None) -> Any:
    """Return the ratio of the largest singular value and the least, or its inverse."""

    def ratio(s: Array) -> Any:
        ends = s[[-1, 0]] if p == -2 else s[[0, -1]]
        with np.errstate(all="ignore"):
            found = ends[0] / ends[1]
        return np.inf if np.isnan(found) else found

    s = svdvals(x)
    return _of_values(s, ratio, s.dtype)


def pinv(x: Any, relative: Any) -> Any:
    """Return the pseudo-inverse, cut by columns; of a wide matrix by rows."""
    if x.shape[0] < x.shape[1]:
        return adjoint(pinv(adjoint(x), relative))
    u, s, vh = svd(x)
    v = adjoint(vh)
    if not is_meta(x) and inside(s.layout):
        sizes = local(s)
        is_known = sizes > relative * np.max(sizes, initial=0)
        known = np.divide(1, sizes, where=is_known, out=np.zeros_like(sizes))
        u = make(local(u) * known, u.layout)
    return adjoint(multiply(u, adjoint(v)))
