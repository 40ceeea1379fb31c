"""Polynomials that fit points: `polyfit`."""

from typing import Any

import numpy as np
from numpy.exceptions import RankWarning

from dtensor._core.caller import warn
from dtensor.ops._make.fallback import composed, mesh_of, on_mesh
from dtensor.ops._make.parts import number_of
from dtensor.ops.linalg.least_squares import lstsq

__all__ = ["polyfit"]


@composed(np.polyfit)
def polyfit(
    x: Any,
    y: Any,
    deg: int,
    rcond: float | None = None,
    full: bool = False,
    w: Any = None,
    cov: bool | str = False,
) -> Any:
    """Return the polynomial that fits points best: see `numpy.polyfit`.

    Collective. If the points are cut, many and more than a few for each rank, factors
    of as many rows and columns as there are coefficients are sent (see `lstsq`).

    Parameters
    ----------
    x : array_like, shape (n,)
        Where the points are; may be cut.
    y : array_like, shape (n,) or (n, k)
        Their values; each column is fitted.
    deg : int
        The degree.
    rcond : float, optional
        Directions whose singular value is at most this times the largest one are left
        out. Default: n times the precision of `x`.
    full : bool, default False
        Whether to return also what `lstsq` does, and `rcond`.
    w : array_like, shape (n,), optional
        The weights of the points.
    cov : bool or "unscaled", default False
        Whether to return also the covariance of the coefficients.
    """
    mesh = mesh_of((x, y, w))
    order = int(deg) + 1
    x, y = (on_mesh(each, mesh) + 0.0 for each in (x, y))
    if deg < 0:
        raise ValueError("expected deg >= 0")
    if x.ndim != 1:
        raise TypeError("expected 1D vector for x")
    if x.size == 0:
        raise TypeError("expected non-empty vector for x")
    if y.ndim < 1 or y.ndim > 2:
        raise TypeError("expected 1D or 2D array for y")
    if len(x) != len(y):
        raise TypeError("expected x and y to have same length")
    rcond = len(x) * np.finfo(x.dtype).eps if rcond is None else rcond
    powers, values = np.vander(x, order), y
    if w is not None:
        w = on_mesh(w, mesh) + 0.0
        if w.ndim != 1:
            raise TypeError("expected a 1-d array for weights")
        if len(w) != len(y):
            raise TypeError("expected w and y to have the same length")
        powers = powers * w[:, None]
        values = values * (w[:, None] if y.ndim == 2 else w)
    scale = np.sqrt(np.sum(powers * powers, axis=0))
    powers = powers / scale
    found, residuals, rank, singular = lstsq(powers, values, rcond)
    found = (found.T / scale).T
    if full:
        return found, residuals, rank, singular, rcond
    if number_of("polyfit", rank, order) != order:
        warn("Polyfit may be poorly conditioned", RankWarning)
    if not cov:
        return found
    spread = np.linalg.inv(powers.T @ powers) / np.outer(scale, scale)
    factor: Any = 1
    if cov != "unscaled":
        if len(x) <= order:
            raise ValueError(
                "the number of data points must exceed order to scale the covariance "
                "matrix"
            )
        factor = residuals / (len(x) - order)
    return found, spread * factor if y.ndim == 1 else spread[:, :, None] * factor
