"""Linear algebra under the older names of PyTorch: ``torch.inverse``, ``x.det()``."""

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dtensor import linalg as _linalg, ops as _ops
from dtensor.nn import functional
from dtensor.ops._make.composite import composite
from dtensor.torch import _reduce
from dtensor.torch._cast import cast_alike, floating
from dtensor.torch._promotion import promote_types
from dtensor.torch._returned import TYPES, Triangular, typed
from dtensor.torch._rows import in_rows
from dtensor.torch._types import numpy_dtype

ops: Any = _ops  # type checkers lose some of its names, in a cycle of imports
linalg: Any = _linalg

__all__ = [
    "adjoint",
    "block_diag",
    "cartesian_prod",
    "cdist",
    "chain_matmul",
    "cholesky",
    "cholesky_inverse",
    "cholesky_solve",
    "combinations",
    "corrcoef",
    "cov",
    "det",
    "diag_embed",
    "diagflat",
    "dist",
    "frobenius_norm",
    "inverse",
    "logdet",
    "matrix_exp",
    "matrix_power",
    "nuclear_norm",
    "pdist",
    "pinverse",
    "qr",
    "renorm",
    "slogdet",
    "svd",
    "triangular_solve",
    "vander",
]

det = linalg.det
inverse = linalg.inv
matrix_power = linalg.matrix_power
slogdet = typed(linalg.slogdet, "slogdet")


def pinverse(input: Any, rcond: float = 1e-15) -> Any:
    """Return the pseudoinverse; singular values below `rcond` of the first are 0."""
    return linalg.pinv(input, rcond)


def adjoint(input: Any) -> Any:
    """Return the last two dims swapped, of complex numbers the conjugates."""
    turned = ops.swapaxes(input, -2, -1)
    return ops.conj(turned) if np.dtype(input.dtype).kind == "c" else turned


def logdet(input: Any) -> Any:
    """Return the logarithm of the determinant; NaN if that is negative."""
    sign, log = linalg.slogdet(input)
    if np.dtype(input.dtype).kind == "c":
        return ops.log(sign) + log
    return ops.where(ops.less(sign, 0), np.nan, log)


def cholesky(input: Any, upper: bool = False) -> Any:
    """Return the Cholesky factor, a lower triangular matrix or an upper one."""
    found = linalg.cholesky(input)
    return adjoint(found) if upper else found


def cholesky_solve(B: Any, L: Any, upper: bool = False) -> Any:  # noqa: N803
    """Return the solution of ``A @ X == B``, for the Cholesky factor of A."""
    lower = adjoint(L) if upper else L
    return linalg.solve(adjoint(lower), linalg.solve(lower, B))


def cholesky_inverse(L: Any, upper: bool = False) -> Any:  # noqa: N803
    """Return the inverse of the matrix whose Cholesky factor is given."""
    lower = adjoint(L) if upper else L
    return linalg.inv(ops.matmul(lower, adjoint(lower)))


def triangular_solve(
    b: Any,
    A: Any,  # noqa: N803
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
) -> Triangular:
    """Return the solution of ``A @ X == b``, of the triangle of A alone."""
    part = ops.triu(A) if upper else ops.tril(A)
    if unitriangular:
        one = np.eye(A.shape[-1], dtype=np.dtype(A.dtype))
        part = part - part * one + one
    part = ops.swapaxes(part, -2, -1) if transpose else part
    found: Triangular = TYPES["triangular_solve"]((linalg.solve(part, b), A))
    return found


def qr(input: Any, some: bool = True) -> Any:
    """Return the matrices of the QR decomposition, reduced or complete."""
    return TYPES["qr"](linalg.qr(input, "reduced" if some else "complete"))


def svd(input: Any, some: bool = True, compute_uv: bool = True) -> Any:
    """Return the singular value decomposition: U, S and V, which is not V.mH."""
    if not compute_uv:
        values = linalg.svdvals(input)
        m, n = input.shape[-2:]
        lead = tuple(input.shape[:-2])
        zeros = [ops.zeros_like(input.detach(), shape=(*lead, k, k)) for k in (m, n)]
        return TYPES["svd"]((zeros[0], values, zeros[1]))
    u, s, vh = linalg.svd(input, full_matrices=not some)
    return TYPES["svd"]((u, s, in_rows(adjoint(vh))))


def matrix_exp(input: Any) -> Any:
    """Return the matrix exponential, by scaling, a series, and squaring.

    Collective of a DTensor: the number of squarings depends on the norm.
    """
    x = floating(input)
    if not x.numel():
        return x
    if np.dtype(x.dtype).itemsize == 2:
        return ops.astype(matrix_exp(ops.astype(x, np.float32)), np.dtype(x.dtype))
    norm = float(ops.max(ops.sum(ops.abs(x.detach()), axis=-1)))
    squarings = max(0, math.ceil(math.log2(norm)) + 1) if 0 < norm < np.inf else 0
    x = x * 2.0**-squarings
    total = term = ops.zeros_like(x.detach()) + np.eye(
        x.shape[-1], dtype=np.dtype(x.dtype)
    )
    for k in range(1, 19):
        term = ops.matmul(term, x) * (1 / k)
        total = total + term
    for _ in range(squarings):
        total = ops.matmul(total, total)
    return total


def _grouped_mm(
    self: Any, mat2: Any, offs: Any = None, bias: Any = None, out_dtype: Any = None
) -> Any:
    """Return `torch.nn.functional.grouped_mm`, by its older name."""
    return functional.grouped_mm(self, mat2, offs=offs, bias=bias, out_dtype=out_dtype)


# --- norms and distances --------------------------------------------------------------


def dist(input: Any, other: Any, p: float = 2) -> Any:
    """Return the norm of ``input - other``, of all elements."""
    return _reduce.norm(input - other, p)


def frobenius_norm(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Return the square root of the sum of squares, of all elements or along dims."""
    return _reduce.norm(input, 2, dim, keepdim)


def nuclear_norm(input: Any, dim: Any = (-2, -1), keepdim: bool = False) -> Any:
    """Return the sum of the singular values of the matrices in two dims."""
    moved = ops.moveaxis(input, tuple(dim), (-2, -1))
    found = ops.sum(linalg.svdvals(moved), axis=-1)
    if not keepdim:
        return found
    for d in sorted(k % input.ndim for k in dim):
        found = ops.unsqueeze(found, d)
    return found


_FEW_ROWS = 25  # up to which distances are those of differences, as in PyTorch


def cdist(
    x1: Any,
    x2: Any,
    p: float = 2.0,
    compute_mode: str | None = "use_mm_for_euclid_dist_if_necessary",
) -> Any:
    """Return the distances of all rows of one matrix from all rows of another."""
    if compute_mode not in _MODES:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    x1, x2 = cast_alike(x1, x2)
    always = _MODES[compute_mode]
    many = max(x1.shape[-2], x2.shape[-2]) > _FEW_ROWS
    if p == 2 and (many if always is None else always):
        return _euclidean(x1, x2)
    apart = ops.unsqueeze(x1, -2) - ops.unsqueeze(x2, -3)
    return linalg.vector_norm(apart, ord=p, axis=-1)


_MODES: dict[str | None, bool | None] = {
    None: None,
    "use_mm_for_euclid_dist_if_necessary": None,
    "use_mm_for_euclid_dist": True,
    "donot_use_mm_for_euclid_dist": False,
}


def _euclidean(x1: Any, x2: Any) -> Any:
    """Return distances by one product: ``|a - b|^2 = |a|^2 - 2 a b + |b|^2``.

    It takes the memory of the result alone, and cancels where rows are close.
    """
    ahead, behind = (ops.sum(x * x, axis=-1) for x in (x1, x2))
    products = ops.matmul(x1, ops.swapaxes(x2, -1, -2))
    squares = ops.unsqueeze(ahead, -1) - 2 * products + ops.unsqueeze(behind, -2)
    apart = ops.logical_not(ops.less_equal(squares, 0))  # or NaN
    return ops.where(apart, ops.sqrt(ops.where(apart, squares, 1.0)), 0.0)


def pdist(input: Any, p: float = 2) -> Any:
    """Return the distances of all pairs of rows."""
    first, second = np.triu_indices(input.shape[0], 1)
    apart = ops.getitem(input, (first,)) - ops.getitem(input, (second,))
    return linalg.vector_norm(apart, ord=p, axis=-1)


def renorm(input: Any, p: float, dim: int, maxnorm: float) -> Any:
    """Return the slices along a dim, those of a norm above `maxnorm` scaled to it."""
    rest = tuple(d for d in range(input.ndim) if d != dim % input.ndim)
    norm = linalg.vector_norm(input, ord=p, axis=rest, keepdims=True)
    factor = ops.where(ops.greater(norm, maxnorm), maxnorm / (norm + 1e-7), 1.0)
    return in_rows(input * ops.astype(factor, np.dtype(input.dtype)))


# --- matrices of vectors --------------------------------------------------------------


def chain_matmul(*matrices: Any) -> Any:
    """Return the product of matrices, in the cheapest order."""
    return linalg.multi_dot(list(matrices)) if len(matrices) > 1 else matrices[0]


def vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:  # noqa: N803
    """Return the powers of the elements of a vector, as columns."""
    if np.dtype(x.dtype).kind in "bui":
        x = ops.astype(x, np.int64)
    found = ops.vander(x, N, increasing)
    return found if found.dtype == x.dtype else ops.astype(found, np.dtype(x.dtype))


def _like(found: Any, x: Any) -> Any:
    """Return what NumPy computes in float64 in the dtype of its argument."""
    x = floating(x)
    if isinstance(found, np.generic):
        found = x.new_tensor(found)
    return found if found.dtype == x.dtype else ops.astype(found, np.dtype(x.dtype))


def cov(
    input: Any, *, correction: int = 1, fweights: Any = None, aweights: Any = None
) -> Any:
    """Return the covariances of the rows, in the dtype of `input` and `aweights`."""
    if aweights is not None:
        wide = promote_types(input.dtype, aweights.dtype)
        input = ops.astype(input, numpy_dtype(wide))
    weights = {"fweights": fweights, "aweights": aweights}
    return _like(ops.cov(input, ddof=correction, **weights), input)


def corrcoef(input: Any) -> Any:
    """Return the correlations of the rows."""
    return _like(ops.corrcoef(input), input)


def diagflat(input: Any, offset: int = 0) -> Any:
    """Return a matrix with all elements of the input on a diagonal."""
    return ops.diagflat(input, offset)


@composite
def diag_embed(input: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """Return matrices with the last dim of the input on a diagonal."""
    n = int(input.shape[-1]) + abs(offset)
    rows = np.arange(n)[:, None] + offset == np.arange(n)
    place = np.arange(n) - max(-offset, 0) if offset < 0 else np.arange(n)
    index = np.clip(place, 0, max(int(input.shape[-1]) - 1, 0))
    spread = ops.unsqueeze(ops.take(input, index, axis=-1), -1)
    found = ops.where(rows, spread, np.zeros((), np.dtype(input.dtype)))
    return ops.moveaxis(found, (-2, -1), (dim1, dim2))


def block_diag(*tensors: Any) -> Any:
    """Return matrices in blocks along the diagonal, zeros elsewhere."""
    blocks = [ops.atleast_2d(x) for x in cast_alike(*tensors)]
    columns = sum(int(x.shape[1]) for x in blocks)
    starts = itertools.accumulate((int(x.shape[1]) for x in blocks), initial=0)
    rows = [
        ops.pad(x, ((0, 0), (start, columns - start - int(x.shape[1]))))
        for x, start in zip(blocks, starts, strict=False)
    ]
    return ops.concatenate(rows, 0)


def cartesian_prod(*tensors: Any) -> Any:
    """Return all tuples of elements of vectors, as rows."""
    if len(tensors) == 1:
        return tensors[0]
    grids = ops.meshgrid(*tensors, indexing="ij")
    return ops.stack([ops.ravel(g) for g in grids], -1)


def combinations(input: Any, r: int = 2, with_replacement: bool = False) -> Any:
    """Return all choices of `r` elements of a vector, as rows."""
    choose: Any = itertools.combinations
    if with_replacement:
        choose = itertools.combinations_with_replacement
    rows: Sequence[Any] = list(choose(range(input.shape[0]), r))
    if not r:  # the one choice of none
        return ops.getitem(input, slice(0))
    index = np.array(rows, np.int64).reshape(-1, r)
    return ops.getitem(input, (index,))
