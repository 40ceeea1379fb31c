"""Element by element, under PyTorch's names: functions, methods, methods in place.

Each does what its NumPy function does, with NumPy's dtypes; one that ends in an
underscore works in place and returns the tensor."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor.ops._make.direct import Maybe, in_front
from dtensor.ops._make.elementwise import FLAT, broadcast, conjugated
from dtensor.ops._make.halves import wide_call
from dtensor.ops._make.operator import METHODS, Operand, call, method, operator
from dtensor.ops._make.reduction import MISSING
from dtensor.ops._make.words import Answer
from dtensor.ops.elementwise import functions, pointwise, powers
from dtensor.ops.elementwise.piecewise import clip_row
from dtensor.ops.model.activation import relu, sigmoid

__all__ = ["clamp", "div", "mul", "neg", "rsqrt", "sub"]

mul = pointwise.multiply
neg = pointwise.negative


def _inverse_root(x: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.asarray(np.reciprocal(np.sqrt(x)))


@operator
def rsqrt(x: Operand) -> Answer:
    """Return 1 divided by the square root, element by element."""
    return broadcast([x]), wide_call(_inverse_root, x)


rsqrt.vjp(lambda g, out, _x: g * (conjugated(out * out * out) * -0.5))


def _row_of(base: Any, name: str) -> Callable[[Callable[..., Any]], Any]:
    """Return the row of a function of two that has more options than an operator."""

    def ask(x: Any, other: Any) -> Maybe:
        return base, 2

    return in_front(ask, operands=2, name=name)


@_row_of(pointwise.add, "add")
def _add(x: Any, other: Any, *, alpha: Any = 1, **options: Any) -> Any:
    """Return ``x + alpha * other``: see `numpy.add` for the other options."""
    if alpha != 1:
        other = alpha * other
    return pointwise.add(x, other, **options)


@_row_of(pointwise.subtract, "sub")
def sub(x: Any, other: Any, *, alpha: Any = 1, **options: Any) -> Any:
    """Return ``x - alpha * other``: see `numpy.subtract` for the other options."""
    if alpha != 1:
        other = alpha * other
    return pointwise.subtract(x, other, **options)


def _quotient(x: Any, y: Any, **options: Any) -> Any:
    return np.trunc(np.divide(x, y), **options)


@operator(operands=2, name="div")
def _truncated(
    x: Operand, other: Operand, rounding_mode: str, **options: Any
) -> Answer:
    return broadcast([x, other]), call(_quotient, x, other, **options)


_truncated.vjp(*FLAT)


@_row_of(pointwise.divide, "div")
def div(x: Any, other: Any, *, rounding_mode: str | None = None, **options: Any) -> Any:
    """Divide, element by element.

    Parameters
    ----------
    x, other : array_like
        They are broadcast.
    rounding_mode : {None, "floor", "trunc"}
        As `numpy.divide`, as `numpy.floor_divide`, or rounded towards zero.
    **options
        Keywords of ufuncs.

    Raises
    ------
    ValueError
        For another mode.
    """
    if rounding_mode is None:
        return pointwise.divide(x, other, **options)
    if rounding_mode == "floor":
        return pointwise.floor_divide(x, other, **options)
    if rounding_mode != "trunc":
        raise ValueError(
            "div expected rounding_mode to be one of None, 'trunc', or 'floor' "
            f"but found {rounding_mode!r}"
        )
    if np.result_type(*(getattr(v, "dtype", v) for v in (x, other))).kind in "biu":
        whole = pointwise.subtract(x, pointwise.fmod(x, other))
        return pointwise.floor_divide(whole, other, **options)
    return _truncated(x, other, rounding_mode, **options)


def _clamp_row(x: Any, min: Any = None, max: Any = MISSING) -> Maybe:
    return None if min is None and max is None else clip_row(x, min, max)


@in_front(_clamp_row, operands=3)
def clamp(x: Any, min: Any = None, max: Any = None, **options: Any) -> Any:
    """Limit the elements to an interval.

    Parameters
    ----------
    x : array_like
    min, max : array_like, optional
        The limits; one is enough.
    **options
        Keywords of ufuncs.

    Raises
    ------
    RuntimeError
        If there is no limit.
    """
    if min is None and max is None:
        raise RuntimeError("clamp: At least one of 'min' or 'max' must not be None")
    return functions.clip(x, min, max, **options)


def _clamp_min(x: Any, min: Any) -> Any:
    """Return the elements, or what they are less than: see `clamp`."""
    return functions.clip(x, min, None)


def _clamp_max(x: Any, max: Any) -> Any:
    """Return the elements, or what they are greater than: see `clamp`."""
    return functions.clip(x, None, max)


# These also work in place, except those of the second part.
UNARY = """
    abs absolute acos acosh arccos arccosh arcsin arcsinh arctan arctanh asin asinh atan
    atanh ceil cos cosh deg2rad exp exp2 expm1 floor log log10 log1p log2 negative
    rad2deg reciprocal sign sin sinh sqrt square tan tanh trunc bitwise_not logical_not
"""
QUESTIONS = "isfinite isinf isnan signbit positive frexp"
BINARY = """
    arctan2 atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift
    bitwise_xor copysign divide float_power floor_divide fmod gcd heaviside hypot lcm
    ldexp multiply nextafter remainder subtract true_divide logical_and logical_or
    logical_xor
"""
RELATIONS = """
    fmax fmin greater greater_equal less less_equal logaddexp logaddexp2 maximum minimum
    not_equal
"""
# PyTorch's name -> ours
RENAMED = {
    "add": _add,
    "clamp": clamp,
    "div": div,
    "fix": pointwise.trunc,
    "mul": mul,
    "nan_to_num": functions.as_numbers,
    "neg": neg,
    "pow": powers.raised,
    "relu": relu,
    "rsqrt": rsqrt,
    "sgn": pointwise.sign,
    "sigmoid": sigmoid,
    "sinc": functions.sinc,
    "sub": sub,
}
RENAMED_ONLY = {
    "amax": METHODS["max"],
    "amin": METHODS["min"],
    "angle": functions.angle,
    "clamp_max": _clamp_max,
    "clamp_min": _clamp_min,
    "eq": pointwise.equal,
    "ge": pointwise.greater_equal,
    "gt": pointwise.greater,
    "isclose": functions.isclose,
    "isneginf": functions.isneginf,
    "isposinf": functions.isposinf,
    "isreal": functions.isreal,
    "le": pointwise.less_equal,
    "lt": pointwise.less,
    "ne": pointwise.not_equal,
}


def _in_place(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    def change(self: Any, *args: Any, **options: Any) -> Any:
        function(self, *args, **options, out=self)
        return self

    change.__name__ = change.__qualname__ = f"{name}_"
    change.__doc__ = f"""As `{name}`, in place: the tensor keeps its layout and dtype.

    Returns
    -------
    Tensor or DTensor
        This one.
    """
    return change


def _register() -> None:
    inside = {name: getattr(pointwise, name) for name in f"{UNARY} {BINARY}".split()}
    only = {
        name: getattr(pointwise, name) for name in f"{QUESTIONS} {RELATIONS}".split()
    }
    inside |= RENAMED
    METHODS.update(inside | only | RENAMED_ONLY)
    inside["round"] = functions.round
    for name, function in inside.items():
        method(_in_place(function, name), name=f"{name}_")


_register()
