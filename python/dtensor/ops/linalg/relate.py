"""Covariances, convolutions, polynomials."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from dtensor import _C
from dtensor._core.caller import warn
from dtensor.ops._make.composite import as_dtype, settled
from dtensor.ops._make.elementwise import conjugated
from dtensor.ops._make.fallback import composed, mesh_of, on_mesh, replicated
from dtensor.ops._make.operator import Operand, Rule, call, operator
from dtensor.ops._make.parts import move, values_of
from dtensor.ops._make.routes import ranges_of, reachable
from dtensor.ops.index.read import getitem
from dtensor.ops.shape.borders import resized
from dtensor.ops.shape.reach import by_rows

__all__ = ["convolve", "corrcoef", "correlate", "cov", "polyval"]

# --- covariances ----------------------------------------------------------------------


def _weights(name: str, given: Any, count: int) -> Any:
    """Return weights of observations as an array that every rank has."""
    weights = values_of("cov", given).astype(float)
    if weights.ndim > 1:
        raise RuntimeError(f"cannot handle multidimensional {name}")
    if weights.shape[0] != count:
        raise RuntimeError(f"incompatible numbers of samples and {name}")
    if np.any(weights < 0):
        raise ValueError(f"{name} cannot be negative")
    return weights


def _rows(name: str, x: Any, dtype: Any, rowvar: bool) -> Any:
    """Return a matrix with a row for each variable."""
    if x.ndim > 2:
        raise ValueError(f"{name} has more than 2 dimensions")
    x = as_dtype(x, dtype)
    if x.ndim < 2:
        return np.atleast_2d(x)
    return x if rowvar else x.T


@composed(np.cov)
def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: Any = None,
) -> Any:
    """Return the covariances of variables.

    Parameters
    ----------
    m, y : array_like
        Observations of variables, of at most 2 dims. Cut along the observations, the
        result is Partial(sum).
    rowvar : bool, default True
        Whether variables are rows; else columns.
    bias : bool, default False
        Whether to divide by the number of observations; else by one less.
    ddof : int, optional
        What to subtract from that number instead.
    fweights, aweights : array_like, shape (n,), optional
        How often each observation counts, and how much.
    dtype : dtype_like, optional
        Of the result; default: at least float64.
    """
    if ddof is not None and ddof != int(ddof):
        raise ValueError("ddof must be integer")
    mesh = mesh_of((m, y, fweights, aweights))
    given = [on_mesh(x, mesh) for x in (m, y) if x is not None]
    told = dtype is not None
    if not told:
        dtype = np.result_type(*(x.dtype for x in given), np.float64)
    x = _rows("m", given[0], dtype, rowvar)
    if x.shape[0] == 0:
        return replicated(np.empty((0, 0)), mesh)
    if told:
        np.cov(np.ones((1, 2), dtype), dtype=dtype)  # or NumPy's error
    if y is not None:
        x = np.concatenate((x, _rows("y", given[1], dtype, rowvar)), axis=0)
    ddof = int(not bias) if ddof is None else ddof
    count = x.shape[1]
    weights = None
    if fweights is not None:
        weights = _weights("fweights", fweights, count)
        if np.any(weights != np.around(weights)):
            raise TypeError("fweights must be integer")
    if aweights is not None:
        amounts = _weights("aweights", aweights, count)
        weights = amounts if weights is None else weights * amounts
    total = count if weights is None else weights.sum()
    less = ddof
    if ddof and weights is not None and aweights is not None:
        less = ddof * (weights * amounts).sum() / total
    left = total - less
    if left <= 0:
        text = "Degrees of freedom <= 0 for slice"
        warn(text, RuntimeWarning)
        left = 0.0
    x = as_dtype(x - np.average(x, axis=1, weights=weights)[:, None], x.dtype)
    other = x if weights is None else x * weights
    c = np.squeeze(np.matmul(x, np.conj(other.T)))
    c = c if left else settled("cov", c)  # infinite sums have to be whole
    return as_dtype(c * np.true_divide(1, left), c.dtype)


@composed(np.corrcoef)
def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Any:
    """Return the correlation coefficients of variables; parameters as of `cov`."""
    c = cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return c / c
    spread = np.sqrt(np.real(np.diag(c)))
    c = c / spread[:, None] / spread[None, :]
    if c.dtype.kind != "c":
        return np.clip(c, -1, 1)
    return np.clip(c.real, -1, 1) + 1j * np.clip(c.imag, -1, 1)


# --- convolutions ---------------------------------------------------------------------


@composed(np.convolve)
def convolve(a: Any, v: Any, mode: Any = "full") -> Any:
    """Return the convolution of two sequences.

    The shorter one is made whole. Of the longer one, ranks send their neighbours as
    many elements as the shorter one has; the result is cut as it is. Strided ones, and
    those of a Partial, are made whole.

    Parameters
    ----------
    a, v : array_like, shape (n,)
        The sequences.
    mode : {"full", "same", "valid"}
        Every overlap, the length of the longer one, or only places where they overlap
        completely.
    """
    mesh = mesh_of((a, v))
    a, v = (np.atleast_1d(on_mesh(x, mesh)) for x in (a, v))
    if v.size > a.size:
        a, v = v, a
    return _folded(a, v, mode, "convolve")


@composed(np.correlate)
def correlate(a: Any, v: Any, mode: Any = "valid") -> Any:
    """Return the correlation of two sequences; parameters, and what is sent, as of
    `convolve`. If `v` is the longer one, the result is turned around."""
    mesh = mesh_of((a, v))
    a, v = on_mesh(a, mesh), on_mesh(v, mesh)
    if v.size > a.size and a.ndim == v.ndim == 1:
        return _turned(_folded(v, a, mode, "correlate"))
    return _folded(a, v, mode, "correlate")


@operator(name="convolve", operands=2)
def _folded(a: Operand, v: Operand, mode: Any, name: str) -> Any:
    function: Any = getattr(np, name)
    shapes = [(min(2, x.size * 2),) if x.ndim == 1 else (1,) * x.ndim for x in (a, v)]
    kind = len(function(*map(np.zeros, shapes), mode))  # or NumPy's error
    small, large = sorted((a.size, v.size))
    length = {3: large + small - 1, 2: large, 1: large - small + 1}[kind]
    dtype = np.result_type(a.dtype, v.dtype)
    if a.layout is not None and reachable(a.layout, 0) and v.size <= a.size:
        return functools.partial(_folded_parts, kind, length)
    return Rule(f"*,*->{length}"), call(function, a, v, mode), dtype


# How many of the results in the mode "full" come before those in the others, by the
# length of the shorter sequence.
_LEFT_OUT: dict[int, Callable[[int], int]] = {
    1: lambda n: n - 1,
    2: lambda n: (n - 1) // 2,
    3: lambda _: 0,
}


def _folded_parts(
    kind: int, length: int, a: _C.DTensor, v: Any, _mode: Any, name: str
) -> Any:
    """Compute on each rank the results where its elements are; those behind the end are
    the last rank's."""
    if isinstance(v, _C.DTensor):
        v = move(name, v, v.layout.with_placements(None))
    skip, reach = _LEFT_OUT[kind](v.size), v.size - 1
    own = [(min(i, length), min(j, length)) for i, j in ranges_of(a.layout, 0)]
    own[-1] = (own[-1][0], length)
    wanted = [
        (max(0, i + skip - reach), min(a.size, j + skip)) if i < j else (0, 0)
        for i, j in own
    ]

    def inner(rows: Any, number: int, v: Any) -> Any:
        (i, j), (first, _) = own[number], wanted[number]
        if i == j:
            return rows.astype(np.result_type(rows.dtype, v.dtype))
        if i + skip >= reach and j + skip <= a.size:  # no row is missing
            return _folded(rows, v, "valid", name)
        return _folded(rows, v, "full", name)[i + skip - first : j + skip - first]

    to = resized(a.layout, 0, [j - i for i, j in own])
    to = to.with_dtype(np.result_type(a.dtype, v.dtype))
    return by_rows(name, a, 0, wanted, to, inner, on_mesh(v, a.device_mesh))


def _of_whole(g: Any, a: Any, v: Any, name: str) -> Any:
    """Return the gradient of the result in the mode "full", of which that in others is
    what is left without the ends."""
    ends = a.size + v.size - 1 - g.size
    before = (ends + (name == "correlate" and a.size < v.size)) // 2
    return np.pad(g, (before, ends - before))


def _turned(v: Any) -> Any:
    return np.flip(conjugated(v))


def _of_first(g: Any, _out: Any, _a: Any, v: Any, _mode: Any, name: str) -> Any:
    """A correlation is a convolution with the other sequence reversed, conjugated."""
    factor = _turned(v) if name == "correlate" else v
    return _folded(_of_whole(g, _a, v, name), factor, "valid", "correlate")


def _of_second(g: Any, _out: Any, a: Any, _v: Any, _mode: Any, name: str) -> Any:
    grad = _folded(_of_whole(g, a, _v, name), a, "valid", "correlate")
    return _turned(grad) if name == "correlate" else grad


_folded.vjp(_of_first, _of_second)


# --- polynomials ----------------------------------------------------------------------


def _each(p: Any) -> Any:
    """Return coefficients as numbers that every rank has; as tensors for a gradient."""
    if not isinstance(p, _C.DTensor) or not p.requires_grad:
        return values_of("polyval", p)
    whole = move("polyval", p, p.layout.with_placements(None))
    return [getitem(whole, k) for k in range(len(whole))]


@composed(np.polyval)
def polyval(p: Any, x: Any) -> Any:
    """Return the values of a polynomial.

    Parameters
    ----------
    p : array_like, shape (n,)
        Its coefficients, of the highest power first.
    x : array_like
        Where to evaluate it; may be cut.
    """
    mesh = mesh_of((p, x))
    coefficients = _each(p)
    if isinstance(x, np.poly1d):
        return np.polyval(coefficients, x)
    x = on_mesh(x, mesh)
    y = np.zeros_like(x)
    for coefficient in coefficients:
        y = y * x + coefficient
    return y
