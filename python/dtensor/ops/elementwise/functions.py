"""Elementwise functions that are not ufuncs."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor.ops._make.copies import astype, copy
from dtensor.ops._make.elementwise import Rows, broadcast, conjugated, flat
from dtensor.ops._make.halves import is_bfloat16, weak_call
from dtensor.ops._make.operator import (
    Operand,
    broadcasts_out,
    call,
    implements,
    method,
    operator,
)
from dtensor.ops._make.out import casts_out
from dtensor.ops._make.words import Answer
from dtensor.ops.elementwise import piecewise
from dtensor.ops.elementwise.piecewise import *  # noqa: F403
from dtensor.ops.elementwise.piecewise import where_

__all__ = [
    "angle",
    "around",
    "astype",
    "copy",
    "fix",
    "i0",
    "imag",
    "iscomplex",
    "isclose",
    "isneginf",
    "isposinf",
    "isreal",
    "nan_to_num",
    "real",
    "real_if_close",
    "round",
    "sinc",
]
__all__ += piecewise.__all__

# --- one operand ----------------------------------------------------------------------


def _unary(
    function: Callable[..., Any],
    rows: Rows = Rows(),  # noqa: B008
    vjp: Callable[..., Any] | None = None,
) -> Any:
    def make(x: Any, out: None = None, **options: Any) -> Answer:
        return broadcast([x], rows.of([x])), weak_call(function, x, **options)

    make.__name__ = function.__name__
    make.__doc__ = f"""Element by element: see `numpy.{function.__name__}`.

    Parameters
    ----------
    x : array_like
        Of any shape.
    **options
        Further parameters of NumPy's function, by name.
    """
    answer = broadcasts_out(operator(make))
    if vjp is not None:
        answer.vjp(vjp)
    return implements(function)(answer)


def _bessel(x: npt.NDArray[Any], order: int) -> npt.NDArray[Any]:
    """Return the modified Bessel function of the first kind: the mean of
    exp(x cos t) cos(order t) over a period. 256 points, of which four are alike, are
    enough for all x whose exponential is finite and the few orders of gradients."""
    wide = x.astype(np.result_type(x, np.float64))
    total = np.zeros_like(wide)
    half = np.sinh if order % 2 else np.cosh
    for t in ((np.arange(64) + 0.5) * (math.tau / 256)).tolist():
        total += half(wide * math.cos(t)) * (math.cos(order * t) / 64)
    return total.astype(x.dtype)


@operator(name="i0_backward")
def bessel(x: Operand, order: int) -> Answer:
    """Return the modified Bessel function of the first kind, of an order."""
    return broadcast([x]), call(_bessel, x, order)


bessel.vjp(lambda g, _out, x, n: g * (bessel(x, n - 1) + bessel(x, n + 1)) / 2)


def _of_imag(g: Any, _out: Any, _z: Any) -> Any:
    return g * 1j if _z.dtype.kind == "c" else flat(g, _out)


def _of_sinc(g: Any, out: Any, x: Any) -> Any:
    slope = (np.cos(math.pi * x) - out) / where_(x == 0, 1, x)  # 0 where x is
    return g * conjugated(slope)


fix = _unary(np.fix, Rows("increasing"), flat)
i0 = _unary(np.i0, vjp=lambda g, _out, x: g * bessel(x, 1))
imag = _unary(np.imag, Rows("0"), _of_imag)
iscomplex = _unary(np.iscomplex)
isneginf = _unary(np.isneginf)
isposinf = _unary(np.isposinf)
isreal = _unary(np.isreal)
real = _unary(np.real, Rows("any"), lambda g, _out, _z: g)
sinc = _unary(np.sinc, vjp=_of_sinc)


@implements(np.angle)
@operator
def angle(z: Operand, deg: bool = False) -> Answer:
    """Return the angles of complex numbers: see `numpy.angle`."""
    return broadcast([z]), call(np.angle, z, deg)


def _of_angle(g: Any, _out: Any, z: Any, deg: bool = False) -> Any:
    """Return the component perpendicular to the direction of a number; 0 for 0."""
    if z.dtype.kind != "c":
        return flat(g, _out)
    across = (np.degrees(g) if deg else g) * 1j
    return where_(z == 0, 0, across / conjugated(where_(z == 0, 1, z)))


angle.vjp(_of_angle)


@operator(name="nan_to_num")
def as_numbers(
    x: Operand, nan: Any = 0.0, posinf: Any = None, neginf: Any = None
) -> Answer:
    """Return a copy without NaN and infinities, for which numbers stand."""
    more = (nan, posinf, neginf)
    kernel = _bfloat16_to_num if is_bfloat16(x.dtype) else np.nan_to_num
    return broadcast([x, *more]), call(kernel, x, True, *more)


as_numbers.vjp(lambda g, _out, x, *_, **_options: where_(np.isfinite(x), g, 0))


@implements(np.nan_to_num)
def nan_to_num(
    x: Any,
    copy: bool = True,
    nan: Any = 0.0,
    posinf: Any = None,
    neginf: Any = None,
) -> Any:
    """Replace NaN and infinities: see `numpy.nan_to_num`.

    The three replacements may be arrays. Without `copy`, `x` itself is changed, and
    returned."""
    into = {} if copy or not hasattr(x, "dtype") else {"out": x}
    nan, posinf, neginf = (_beside(value, x) for value in (nan, posinf, neginf))
    return as_numbers(x, nan, posinf, neginf, **into)


def _beside(value: Any, x: Any) -> Any:
    """Return a replacement without the dims of length 1 that it has before those of
    `x`, into which NumPy copies it."""
    if isinstance(value, list | tuple):
        value = np.asarray(value)
    if not getattr(value, "ndim", 0):
        return value
    if hasattr(x, "dtype") and x.dtype.kind in "biu":
        return None  # integers are what they are
    shape, before = np.shape(x), max(0, value.ndim - np.ndim(x))
    own = value.shape[before:]
    if {*value.shape[:before]} - {1} or np.broadcast_shapes(own, shape) != shape:
        raise ValueError(
            f"could not broadcast input array from shape {tuple(value.shape)} into "
            f"shape {tuple(shape)}"
        )
    return value.reshape(own) if before else value


def _bfloat16_to_num(
    x: npt.NDArray[Any], _copy: bool, nan: Any, posinf: Any, neginf: Any
) -> Any:
    """Do what NumPy's function does, which does not know that these are numbers."""
    largest = x.dtype.type(_LARGEST_BFLOAT16)
    out = x.copy()
    for found, value in (
        (np.isnan(x), nan),
        (np.isposinf(x), largest if posinf is None else posinf),
        (np.isneginf(x), -largest if neginf is None else neginf),
    ):
        np.copyto(out, np.asarray(value, x.dtype), where=found)
    return out


_LARGEST_BFLOAT16 = 255 * 2.0**120


@method
@implements(np.round)
@casts_out
@operator
def round(a: Operand, decimals: int = 0, out: None = None) -> Answer:
    """Round to a number of decimals: see `numpy.round`."""
    if out is not None and (out != a.dtype or a.dtype.kind in "biu"):
        return broadcast([a]), call(_rounded_into, a, decimals, out)
    rows = Rows(floats="increasing").of([a])
    return broadcast([a], rows), call(np.round, a, decimals)


def _rounded_into(x: npt.NDArray[Any], decimals: int, dtype: np.dtype[Any]) -> Any:
    """Compute as NumPy does in the dtype of what it writes to."""
    return np.round(x, decimals, out=np.empty(x.shape, dtype))


round.vjp(flat)
around = implements(np.around)(round)


# --- with a tolerance -----------------------------------------------------------------


@implements(np.real_if_close)
def real_if_close(a: Any, tol: float = 100) -> Any:
    """Return the real part if all imaginary parts are close to 0: see
    `numpy.real_if_close`. Collective: all ranks learn whether they are."""
    if a.dtype.kind != "c":
        return a
    if tol > 1:
        tol = float(np.finfo(a.dtype).eps) * tol
    return real(a) if bool(np.all(np.absolute(imag(a)) < tol)) else a


@implements(np.isclose)
@operator(operands=4)
def isclose(
    a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False
) -> Answer:
    """Compare within a tolerance, element by element: see `numpy.isclose`."""
    arguments = (a, b, rtol, atol)
    return broadcast(arguments), call(np.isclose, *arguments, equal_nan)
