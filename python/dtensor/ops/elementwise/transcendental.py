"""Exponentials, logarithms, roots and angles: one row each, as in pointwise.py.

A gradient is multiplied with the conjugate of the derivative, which is PyTorch's
convention for complex numbers. Where possible it uses the result, not the operand."""

import math
from typing import Any

import numpy as np

from dtensor.ops._make.elementwise import conjugated, ufunc
from dtensor.ops.elementwise.piecewise import where_

__all__ = [
    "acos",
    "acosh",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "cos",
    "cosh",
    "deg2rad",
    "degrees",
    "exp",
    "exp2",
    "expm1",
    "hypot",
    "log",
    "log10",
    "log1p",
    "log2",
    "logaddexp",
    "logaddexp2",
    "rad2deg",
    "radians",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
]

# --- exponents and logarithms ---------------------------------------------------------
# Square roots and logarithms are not monotonic where they are NaN.

exp = ufunc(np.exp, "increasing", vjp=lambda g, out, _x: g * conjugated(out))
exp2 = ufunc(
    np.exp2, "increasing", vjp=lambda g, out, _x: g * (conjugated(out) * math.log(2))
)
expm1 = ufunc(np.expm1, "increasing", vjp=lambda g, out, _x: g * (conjugated(out) + 1))
log = ufunc(np.log, vjp=lambda g, _out, x: g / conjugated(x))
log2 = ufunc(np.log2, vjp=lambda g, _out, x: g / (conjugated(x) * math.log(2)))
log10 = ufunc(np.log10, vjp=lambda g, _out, x: g / (conjugated(x) * math.log(10)))
log1p = ufunc(np.log1p, vjp=lambda g, _out, x: g / (conjugated(x) + 1))


def _below(x: Any, out: Any) -> Any:
    """Return how far a logarithm is below that of a sum, which may be infinite, too."""
    same = x == out
    return where_(same, 0, x) - where_(same, 0, out)


logaddexp = ufunc(
    np.logaddexp,
    "increasing;floating",
    vjp=(
        lambda g, out, x, _y: g * exp(_below(x, out)),
        lambda g, out, _x, y: g * exp(_below(y, out)),
    ),
)
logaddexp2 = ufunc(
    np.logaddexp2,
    "increasing;floating",
    vjp=(
        lambda g, out, x, _y: g * exp2(_below(x, out)),
        lambda g, out, _x, y: g * exp2(_below(y, out)),
    ),
)
sqrt = ufunc(np.sqrt, vjp=lambda g, out, _x: g / (conjugated(out) * 2))
cbrt = ufunc(np.cbrt, "increasing", vjp=lambda g, out, _x: g / (out * out * 3))
hypot = ufunc(
    np.hypot,
    vjp=(lambda g, out, x, _y: g * (x / out), lambda g, out, _x, y: g * (y / out)),
)

# --- angles ---------------------------------------------------------------------------


def _over_square(part: Any, x: Any, y: Any) -> Any:
    """Return a coordinate over the squared distance from the origin; 0 at 0."""
    square = x * x + y * y
    return part / where_(square == 0, 1, square)


sin = ufunc(np.sin, vjp=lambda g, _out, x: g * conjugated(cos(x)))
cos: Any = ufunc(np.cos, vjp=lambda g, _out, x: -g * conjugated(sin(x)))
tan = ufunc(np.tan, vjp=lambda g, out, _x: g * conjugated(out * out + 1))
arcsin = asin = ufunc(np.arcsin, vjp=lambda g, _out, x: g / conjugated(sqrt(1 - x * x)))
arccos = acos = ufunc(
    np.arccos, vjp=lambda g, _out, x: -g / conjugated(sqrt(1 - x * x))
)
arctan = atan = ufunc(
    np.arctan, "increasing", vjp=lambda g, _out, x: g / conjugated(x * x + 1)
)
arctan2 = atan2 = ufunc(
    np.arctan2,
    vjp=(
        lambda g, _out, y, x: g * _over_square(x, x, y),
        lambda g, _out, y, x: -g * _over_square(y, x, y),
    ),
)
sinh = ufunc(np.sinh, "increasing", vjp=lambda g, _out, x: g * conjugated(cosh(x)))
cosh: Any = ufunc(np.cosh, vjp=lambda g, _out, x: g * conjugated(sinh(x)))
tanh = ufunc(
    np.tanh, "increasing", vjp=lambda g, out, _x: g * conjugated(1 - out * out)
)
arcsinh = asinh = ufunc(
    np.arcsinh, "increasing", vjp=lambda g, _out, x: g / conjugated(sqrt(x * x + 1))
)
arccosh = acosh = ufunc(
    np.arccosh, vjp=lambda g, _out, x: g / conjugated(sqrt(x - 1) * sqrt(x + 1))
)
arctanh = atanh = ufunc(np.arctanh, vjp=lambda g, _out, x: g / conjugated(1 - x * x))
degrees: Any = ufunc(np.degrees, "0;increasing", vjp=lambda g, _out, _x: degrees(g))
radians: Any = ufunc(np.radians, "0;increasing", vjp=lambda g, _out, _x: radians(g))
rad2deg = ufunc(np.rad2deg, "0;increasing", vjp=lambda g, _out, _x: degrees(g))
deg2rad = ufunc(np.deg2rad, "0;increasing", vjp=lambda g, _out, _x: radians(g))
