"""Tall matrices in parts, and wide ones by their transpose: from the factor r of rows,
which is small, follows what the matrix has in common with it."""

from collections.abc import Callable
from typing import Any

import numpy as np

from dtensor import _C
from dtensor.ops.linalg.adjoint import adjoint
from dtensor.ops.linalg.tall_parts import Factors, by_rows

__all__ = ["of_r", "pinv", "qr", "svd", "tolerance"]

Function = Callable[..., Any]

_QRResult: Any = type(np.linalg.qr(np.eye(1)))
_SVDResult: Any = type(np.linalg.svd(np.eye(1)))


# Of DTensors NumPy's functions return DTensors.
_svd: Function = np.linalg.svd
_qr: Function = np.linalg.qr
_pinv: Function = np.linalg.pinv


def _is_tall(x: Any) -> bool:
    return bool(x.shape[0] >= x.shape[1])


def qr(x: Any, mode: str = "reduced") -> Any:
    """Return the reduced factors, or r; of a wide matrix those of its first columns and
    the products of q with the others."""
    if not _is_tall(x):
        x = adjoint(by_rows("qr", adjoint(x)))
        q = _qr(x[:, : x.shape[0]])[0]
        r: Any = np.triu(adjoint(q) @ x)
    else:
        q, r = Factors("qr", by_rows("qr", x)).reduced("qr")
    return r if mode == "r" else _QRResult(q, r)


def svd(x: Any, *_: Any) -> Any:
    """Return the reduced factors u, s, vh."""
    if not _is_tall(x):
        u, s, vh = svd(adjoint(x))
        return _SVDResult(adjoint(vh), s, adjoint(u))
    factors = Factors("svd", by_rows("svd", x))
    u, s, vh = _svd(factors.r)
    return _SVDResult(factors.times(u), s, vh)


def of_r(name: str, function: Function) -> Function:
    """Return a function of the singular values of a matrix, found by the same function
    of its factor r."""

    def found(x: _C.DTensor, *args: Any) -> Any:
        x = x if _is_tall(x) else adjoint(x)
        return function(Factors(name, by_rows(name, x), False).r, *args)

    return found


def tolerance(x: Any, relative: float | None) -> Any:
    """Return up to which part of the largest one singular values count as 0."""
    return max(x.shape) * np.finfo(x.dtype).eps if relative is None else relative


def pinv(x: Any, relative: Any) -> Any:
    """Return the pseudo-inverse, cut by columns; of a wide matrix by rows."""
    if not _is_tall(x):
        return adjoint(pinv(adjoint(x), relative))
    factors = Factors("pinv", by_rows("pinv", x))
    return adjoint(factors.times(adjoint(_pinv(factors.r, relative))))
