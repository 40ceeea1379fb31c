"""Large square matrices in parts: Cholesky, LU and QR factors, block by block.

The matrix is dealt to a grid of ranks (`deal`). Nobody has more than some parts.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.linalg import LinAlgError

from dtensor import _C
from dtensor._core.device import is_meta
from dtensor.ops._make.composite import as_dtype, settled
from dtensor.ops._make.fallback import on_mesh
from dtensor.ops._make.kernel import inexact
from dtensor.ops._make.operator import Operand, call, operator
from dtensor.ops._make.parts import inside, local, make, move, parts_of
from dtensor.ops._make.words import Answer, rule
from dtensor.ops.linalg.adjoint import adjoint
from dtensor.ops.linalg.cholesky import Cholesky
from dtensor.ops.linalg.deal import Deal
from dtensor.ops.linalg.householder import Reflections
from dtensor.ops.linalg.inverse import Inverse
from dtensor.ops.linalg.lu import LU
from dtensor.ops.linalg.tall_parts import by_rows, common_dtype

__all__ = ["cholesky", "det", "inv", "qr", "raise_if", "slogdet", "solve"]

Array = npt.NDArray[Any]

# For QR factors the grid is so many times as wide as it is high.
FLAT = 2

_QRResult: Any = type(np.linalg.qr(np.eye(1)))
_SlogdetResult: Any = type(np.linalg.slogdet(np.eye(1)))

# --- failing on all ranks -------------------------------------------------------------


@operator(name="linalg", agrees=LinAlgError)
def _verdict(wrong: Operand, sentence: str) -> Answer:
    """Raise on all ranks of the mesh if a number is not 0."""
    return rule([[]], [[]]), call(_judge, wrong, sentence), wrong.dtype


def _judge(wrong: Array, sentence: str) -> Array:
    if wrong:
        raise LinAlgError(sentence)
    return wrong


def raise_if(wrong: bool, like: _C.Layout, sentence: str) -> None:
    _verdict(make(np.array(wrong), like.like((), {}, np.bool_)), sentence)


# --- Cholesky -------------------------------------------------------------------------


def cholesky(x: Any, upper: bool = False) -> Any:
    """Return the lower factor, its rows cut; the upper one, its columns cut.

    Sent: the lower triangle of the matrix and its factor once each to be dealt, and
    each block of the factor along the rows and the columns of the grid. Memory: three
    parts, and some blocks.
    """
    if upper:
        return adjoint(cholesky(adjoint(x)))
    x = by_rows("cholesky", x)
    if is_meta(x):
        return _C.without_data(x.layout)
    deal, to = Deal(x.layout), x.layout
    failed, array = False, np.empty(0, x.dtype)
    if inside(to):
        array = deal.dealt("cholesky", x, triangle="lower")
        del x
        wrong = not Cholesky(deal, array).is_definite
        failed = bool(deal.total("cholesky", np.array(wrong, np.float32)) > 0)
    raise_if(failed, to, "Matrix is not positive definite")
    if not inside(to):
        return make(array, to)
    return deal.cut("cholesky", array, to, triangle="lower")


# --- LU -------------------------------------------------------------------------------


def _by_columns(like: _C.Layout, columns: int) -> _C.Layout:
    """Return the layout of other columns beside a matrix whose rows are cut, cut."""
    cutting = like.cut_by(0)
    placements = [
        _C.Shard(1) if m in cutting else _C.Replicate() for m in range(like.mesh.ndim)
    ]
    return _C.Layout(like.mesh, placements, (like.shape[0], columns), like.dtype)


def solve(a: Any, b: Any) -> Any:
    """Return the solution: of several right sides its columns are cut, of one it is on
    every rank."""
    b = settled("solve", on_mesh(b, a.device_mesh))
    dtype = common_dtype(a, b)
    a, b = by_rows("solve", as_dtype(a, dtype)), as_dtype(b, dtype)
    one = b.ndim == 1
    right: Any = np.reshape(b, (-1, 1)) if one else b
    to = _by_columns(a.layout, right.shape[1])
    right = move("solve", right, to)
    if is_meta(a) or is_meta(right):
        result = _C.without_data(to)
    else:
        result = _divided(a, right, to)
    if not one:
        return move("solve", result, to)
    return np.reshape(move("solve", result, to.with_placements(None)), (-1,))


def _divided(a: Any, right: Any, to: _C.Layout) -> _C.DTensor:
    """Return what is divided by a matrix, in a layout, or on every rank if it has few
    columns.

    Sent: the matrix and the right side once to be dealt, and what `LU` says. Memory:
    three parts of the matrix or the right side, a part of the other, and some blocks.
    """
    deal = Deal(a.layout)
    whole, few = to.with_placements(None), deal.is_few(to.shape[1])
    factors, is_singular = None, False
    if inside(to):
        array = deal.dealt("solve", a)
        factors = LU("solve", deal, array, deal.dealt("solve", right, 1), to)
        is_singular = factors.is_singular()
    raise_if(is_singular, a.layout, "Singular matrix")
    if factors is None:
        return make(np.empty(0), whole if few else to)
    if few:
        return make(factors.solve_few(), whole)
    return deal.cut("solve", factors.solve(), to, 1)


def inv(x: Any) -> Any:
    """Return the inverse, its columns cut.

    Sent: the matrix once to be dealt, its inverse once to be cut, and what `Inverse`
    says. Memory: four parts, and some blocks."""
    x = by_rows("inv", x)
    to = _by_columns(x.layout, x.shape[0])
    if is_meta(x):
        return _C.without_data(to)
    inverse, is_singular = None, False
    if inside(to):
        deal = Deal(x.layout)
        inverse = Inverse("inv", deal, deal.dealt("inv", x))
        is_singular = inverse.is_singular()
    raise_if(is_singular, x.layout, "Singular matrix")
    return make(np.empty(0), to) if inverse is None else inverse.cut(to)


def slogdet(x: Any) -> Any:
    """Return sign and logarithm on every rank."""
    sign, logarithm = _determinant("slogdet", x)
    like = x.layout.like((), {}, inexact(x.dtype))
    real = like.with_dtype(np.finfo(like.dtype).dtype)
    if is_meta(x):
        return _SlogdetResult(_C.without_data(like), _C.without_data(real))
    return _SlogdetResult(
        make(np.asarray(sign, like.dtype), like),
        make(np.asarray(logarithm, real.dtype), real),
    )


def det(x: Any) -> Any:
    """Return the determinant on every rank."""
    sign, logarithm = _determinant("det", x)
    like = x.layout.like((), {}, inexact(x.dtype))
    if is_meta(x):
        return _C.without_data(like)
    return make(np.asarray(sign * np.exp(logarithm), like.dtype), like)


def _determinant(name: str, x: Any) -> tuple[Any, Any]:
    """Return sign and logarithm, of double precision."""
    x = by_rows(name, x)
    if is_meta(x) or not inside(x.layout):
        return 0, 0
    deal = Deal(x.layout)
    nothing = np.empty((len(deal.rows[deal.i]), 0), x.dtype)
    none = _by_columns(x.layout, 0)
    factors = LU(name, deal, deal.dealt(name, x), nothing, none)
    values = factors.diagonal().astype(np.result_type(x.dtype, np.float64))
    sizes = np.abs(values)
    with np.errstate(divide="ignore"):
        logarithm = np.log(sizes).sum()
    sign = np.prod(values / np.where(sizes == 0, 1, sizes))
    return -sign if factors.is_odd() else sign, logarithm


# --- QR -------------------------------------------------------------------------------


def qr(x: Any, mode: str = "reduced") -> Any:
    """Return the reduced factors, or r; the rows of both are cut.

    Sent: the matrix and both factors once each, to be dealt and cut, and what
    `Reflections` says. Memory: three parts, what they keep, and some blocks.
    """
    x = by_rows("qr", x)
    (m, n), k = x.shape, min(x.shape)
    of_q, of_r = (x.layout.like(shape, {0: 0}) for shape in ((m, k), (k, n)))
    if is_meta(x):
        q, r = _C.without_data(of_q), _C.without_data(of_r)
    elif not inside(x.layout):
        q, r = make(np.empty(0), of_q), make(np.empty(0), of_r)
    else:
        deal, wants_q = Deal(x.layout, FLAT), mode != "r"
        found = Reflections(deal, deal.dealt("qr", x), wants_q)
        if wants_q:
            of_columns = Deal(x.layout.like((m, k), {0: 0}), FLAT)
            q = of_columns.cut("qr", found.product(of_columns), of_q)
        r = deal.cut("qr", found.array, deal.like, triangle="upper")
        r = _first_rows("qr", r, of_r)
    return r if mode == "r" else _QRResult(q, r)


def _first_rows(name: str, x: Any, to: _C.Layout) -> Any:
    """Return as many rows of a matrix, whose rows are cut, as a layout has."""
    rows = to.shape[0]
    starts = [min(start, rows) for start, _ in parts_of(x.layout, 0) or ()]
    cuts = {0: (*starts, rows)}
    here = _C.Layout(to.mesh, x.placements, to.shape, to.dtype, cuts=cuts)
    own = local(x)[: here.local_shape()[0]]
    return move(name, make(own, here), to)
