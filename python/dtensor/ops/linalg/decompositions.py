"""Decompositions and linear equations. Matrices are made whole; stacks may be cut.

One matrix that is cut and takes more than 64 MiB stays cut (`square`): no rank has more
than a few parts of it.

If NumPy refuses a matrix (singular, not positive definite), all ranks raise
LinAlgError, also those that do not hold it. So these functions are collective.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.linalg import LinAlgError

from dtensor._C import DTensor
from dtensor._core.device import is_meta
from dtensor.ops._make.operator import Operand, Rule, call, implements, operator
from dtensor.ops._make.parts import inside, local
from dtensor.ops._make.recorded import recorded
from dtensor.ops._make.words import Answer, rule
from dtensor.ops.linalg import factors as _factors, gradient as back, spectra, square
from dtensor.ops.linalg.adjoint import adjoint, conj
from dtensor.ops.linalg.factors import *  # noqa: F403
from dtensor.ops.linalg.factors import lengths
from dtensor.ops.linalg.large import is_large

__all__ = [
    "cholesky",
    "det",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "matrix_power",
    "slogdet",
    "solve",
    "tensorinv",
    "tensorsolve",
]
__all__ += _factors.__all__

Step = Callable[..., Any]

# --- rules ----------------------------------------------------------------------------


def _square(a: Operand, *results: str) -> Rule:
    """Return the rule of a function of square matrices; "n" is their length."""
    n = lengths(a)[1]
    words = ",".join("..." + word.replace("n", f" {n}") for word in results)
    return Rule(f"... {n} {n}->{words}")


def _stays_cut(a: Operand) -> bool:
    """Return whether the function of a square matrix is computed in parts."""
    return is_large(a) and a.shape[0] == a.shape[1]


def _in_parts(function: Step, back: Step) -> Step:
    """Return a function of parts as one step, whose gradient is ``back(grad, out, *)``
    of the same arguments."""
    name = function.__name__

    def step(a: Any, *args: Any, **named: Any) -> Any:
        return recorded(name, function, back, (a,), *args, *named.values())

    return step


# --- square matrices ------------------------------------------------------------------


@implements(np.linalg.inv)
@operator(agrees=LinAlgError)
def inv(a: Operand) -> Answer | Step:
    """Inverse of matrices, shape (..., n, n). LinAlgError for singular ones.

    That of a large matrix in parts is cut by columns."""
    if _stays_cut(a):
        return _in_parts(square.inv, _inv_back)
    return _square(a, "nn"), call(np.linalg.inv, a)


def _inv_back(grad: Any, out: Any, _a: Any) -> Any:
    return back.of_inverse(grad, out)


inv.vjp(_inv_back)


@implements(np.linalg.det)
@operator(agrees=LinAlgError)
def det(a: Operand) -> Answer | Step:
    """Determinants of matrices, shape (..., n, n) -> (...).

    The gradient makes matrices whole, except a large one in parts that is regular."""
    if _stays_cut(a):
        return _in_parts(square.det, _det_back)
    return _square(a, ""), call(np.linalg.det, a)


@operator(name="det_backward", agrees=LinAlgError)
def _cofactors(a: Operand) -> Answer:
    return _square(a, "nn"), call(_cofactors_of, a)


def _is_zero(x: Any) -> bool:
    """Return whether a number, which every rank has, is 0."""
    here = not isinstance(x, DTensor) or inside(x.layout)
    return here and not is_meta(x) and not np.any(local(x))


def _cofactors_of(a: Any) -> Any:
    """Return ``det(a) * inv(a).mT``, which also exists for singular matrices."""
    u, s, vh = np.linalg.svd(a)
    others = np.where(np.eye(s.shape[-1], dtype=bool), 1, s[..., None, :]).prod(-1)
    sign = np.linalg.det(u) * np.linalg.det(vh)
    product: Any = (u * others[..., None, :]) @ vh
    return sign[..., None, None] * product.conj()


def _det_back(grad: Any, out: Any, a: Any) -> Any:
    if _stays_cut(a) and not _is_zero(out):
        return np.expand_dims(grad * conj(out), (-2, -1)) * adjoint(np.linalg.inv(a))
    return np.expand_dims(grad, (-2, -1)) * conj(_cofactors(a))


det.vjp(_det_back)
_cofactors.vjp(lambda grad, out, a: back.of_cofactors(grad, out, a))


@implements(np.linalg.slogdet)
@operator(agrees=LinAlgError)
def slogdet(a: Operand) -> Answer | Step:
    """Sign and logarithm of determinants, shape (..., n, n) -> (...), named tuple."""
    if _stays_cut(a):
        return _in_parts(square.slogdet, back.of_slogdet)
    return _square(a, "", ""), call(np.linalg.slogdet, a)


slogdet.vjp(lambda grad, out, a: back.of_slogdet(grad, out, a))


@implements(np.linalg.cholesky)
@operator(agrees=LinAlgError)
def cholesky(a: Operand, /, *, upper: bool = False) -> Answer | Step:
    """Cholesky factor of matrices, shape (..., n, n).

    Of a large matrix in parts, the rows of a lower factor are cut, or the columns of an
    upper one.

    Raises
    ------
    LinAlgError
        If a matrix is not positive definite.
    """
    if _stays_cut(a):
        return _cholesky_of_parts
    return _square(a, "nn"), call(np.linalg.cholesky, a, upper=upper)


def _cholesky_of_parts(a: Any, /, *, upper: bool = False) -> Any:
    return _in_parts(square.cholesky, _cholesky_back)(a, upper)


def _cholesky_back(grad: Any, out: Any, _a: Any, upper: bool = False) -> Any:
    return back.of_cholesky(grad, out, upper)


cholesky.vjp(_cholesky_back)


@implements(np.linalg.matrix_power)
@operator(agrees=LinAlgError)
def matrix_power(a: Operand, n: int) -> Answer:
    """Power of matrices, shape (..., n, n); negative: of their inverse."""
    return _square(a, "nn"), call(_power, a, n)


def _power(a: Any, n: int) -> Any:
    """Return the power also where `n` is the one int64 that has no absolute value."""
    if n == np.iinfo(np.int64).min:
        return np.linalg.matrix_power(np.linalg.matrix_power(a, n // 2), 2)
    return np.linalg.matrix_power(a, n)


matrix_power.vjp(lambda grad, _out, a, n: back.of_matrix_power(grad, a, n))


@implements(np.linalg.eigh)
@operator(agrees=LinAlgError)
def eigh(a: Operand, UPLO: str = "L") -> Answer | Step:
    """Eigenvalues and -vectors of Hermitian matrices, shape (..., n, n).

    Of a large matrix in parts the rows of the vectors are cut, the values are on every
    rank; blocks of columns go from rank to rank several times."""
    if _stays_cut(a) and UPLO in ("L", "U", "l", "u"):
        return _in_parts(spectra.eigh, _eigh_back)
    return _square(a, "n", "nn"), call(np.linalg.eigh, a, UPLO)


def _eigh_back(grad: Any, out: Any, _a: Any, UPLO: str = "L") -> Any:  # noqa: N803
    return back.of_eigh(grad, out)


eigh.vjp(_eigh_back)


@implements(np.linalg.eigvalsh)
@operator(agrees=LinAlgError)
def eigvalsh(a: Operand, UPLO: str = "L") -> Answer | Step:
    """Eigenvalues of Hermitian matrices, shape (..., n, n) -> (..., n), ascending.

    A large matrix in parts stays cut."""
    if _stays_cut(a) and UPLO in ("L", "U", "l", "u"):
        return _in_parts(spectra.eigvalsh, _eigvalsh_back)
    return _square(a, "n"), call(np.linalg.eigvalsh, a, UPLO)


def _eigvalsh_back(grad: Any, _out: Any, a: Any, UPLO: str = "L") -> Any:  # noqa: N803
    return back.of_eigvalsh(grad, eigh(a, UPLO)[1])


eigvalsh.vjp(_eigvalsh_back)


# NumPy before 2.5 returns real eigenvalues if those of all matrices are real. This is
# known only at the end.

_OF_ONE: Any = np.linalg.eig(np.eye(1))
_EigResult: Any = type(_OF_ONE)
_SOME_ARE_REAL: bool = _OF_ONE.eigenvalues.dtype.kind == "f"


def _complex_eig(a: Any) -> Any:
    values, vectors = np.linalg.eig(a)
    dtype = np.result_type(values, np.complex64)
    return _EigResult(values.astype(dtype), vectors.astype(dtype))


def _complex_eigvals(a: Any) -> Any:
    values = np.linalg.eigvals(a)
    return values.astype(np.result_type(values, np.complex64))


@operator(name="eig", agrees=LinAlgError)
def _eig(a: Operand) -> Answer:
    return _square(a, "n", "nn"), call(_complex_eig, a)


_eig.vjp(lambda grad, out, _a: back.of_eig(grad, out))


@operator(name="eigvals", agrees=LinAlgError)
def _eigvals(a: Operand) -> Answer:
    return _square(a, "n"), call(_complex_eigvals, a)


_eigvals.vjp(lambda grad, _out, a: back.of_eigvals(grad, _eig(a)[1]))


def _are_real(a: Any, values: Any) -> bool:
    """Return whether NumPy gives these eigenvalues of `a` as real numbers."""
    if not _SOME_ARE_REAL or a.dtype.kind == "c":
        return False
    if isinstance(a, DTensor) and not inside(a.layout):
        return False  # a rank outside the mesh has none of them
    return not np.any(np.imag(values))


@implements(np.linalg.eig)
def eig(a: Any) -> Any:
    """Eigenvalues and -vectors of matrices, shape (..., n, n), as a named tuple.

    A matrix is made whole on every rank. The values are complex. Before NumPy 2.5 they
    are real if all are, which takes a collective call to find out.
    """
    values, vectors = _eig(a)
    real = _are_real(a, values)
    return _EigResult(*(map(np.real, (values, vectors)) if real else (values, vectors)))


@implements(np.linalg.eigvals)
def eigvals(a: Any) -> Any:
    """Eigenvalues of matrices, shape (..., n, n) -> (..., n).

    A matrix is made whole on every rank. The values are complex. Before NumPy 2.5 they
    are real if all are, which takes a collective call to find out.
    """
    values = _eigvals(a)
    return np.real(values) if _are_real(a, values) else values


# --- equations ------------------------------------------------------------------------


@implements(np.linalg.solve)
@operator(operands=2, agrees=LinAlgError)
def solve(a: Operand, b: Operand) -> Answer | Step:
    """Solve ``a @ x = b``.

    Parameters
    ----------
    a : array, shape (..., n, n)
        A large one in parts stays cut: blocks of it go to all ranks, one at a time. The
        columns of the result are then cut.
    b : array, shape (n,) or (..., n, k)
        Its columns may be cut.

    Raises
    ------
    LinAlgError
        If a matrix is singular.
    """
    n = lengths(a)[1]
    if _stays_cut(a) and b.shape[:1] == (n,) and b.ndim in (1, 2) and _goes_with(a, b):
        return _solve_of_parts
    right = f" {n}" if b.ndim == 1 else f"... {n} k"
    text = f"... {n} {n},{right}->... {n}{'' if b.ndim == 1 else ' k'}"
    return Rule(text, partial="1"), call(np.linalg.solve, a, b)


def _goes_with(a: Operand, b: Operand) -> bool:
    known = b.layout is None or (
        a.layout is not None and b.layout.mesh == a.layout.mesh
    )
    return known and (
        b.dtype is None or b.dtype.char in "fdFD" or b.dtype.kind in "biu"
    )


def _solve_of_parts(a: Any, b: Any) -> Any:
    return recorded("solve", square.solve, _solve_back, (a, b))


def _solve_back(grad: Any, out: Any, a: Any, b: Any) -> tuple[Any, Any]:
    one = b.ndim == 1
    return back.of_left_side(grad, out, a, one), back.of_right_side(grad, a, one)


solve.vjp(
    lambda grad, out, a, _b: back.of_left_side(grad, out, a, _b.ndim == 1),
    lambda grad, _out, a, _b: back.of_right_side(grad, a, _b.ndim == 1),
)


@implements(np.linalg.tensorinv)
@operator(agrees=LinAlgError)
def tensorinv(a: Operand, ind: int = 2) -> Answer:
    """Inverse of the matrix whose rows are the first `ind` dims; `a` is whole."""
    after = map(str, a.shape[ind:] + a.shape[:ind])
    return rule([["*"] * a.ndim], [after]), call(np.linalg.tensorinv, a, ind)


tensorinv.vjp(lambda grad, out, _a, ind=2: back.of_tensorinv(grad, out, ind))


@implements(np.linalg.tensorsolve)
@operator(operands=2, agrees=LinAlgError)
def tensorsolve(a: Operand, b: Operand, axes: Sequence[int] | None = None) -> Answer:
    """Solve ``tensordot(a, x, x.ndim) = b``; both are whole.

    Parameters
    ----------
    a, b : array
    axes : sequence of int, optional
        Dims of `a` to move to the end first.
    """
    order = [dim for dim in range(a.ndim) if dim not in (axes or ())] + [*(axes or ())]
    after = [str(a.shape[dim]) for dim in order[b.ndim :]]
    terms = [["*"] * a.ndim, ["*"] * b.ndim]
    return rule(terms, [after], "1"), call(np.linalg.tensorsolve, a, b, axes)


tensorsolve.vjp(
    lambda grad, out, a, _b, axes=None: back.of_tensor(grad, out, a, axes),
    lambda grad, _out, a, _b, axes=None: back.of_tensor_side(grad, a, _b.shape, axes),
)
