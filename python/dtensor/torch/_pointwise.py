"""Functions that work element by element, with PyTorch's arguments and promotion.

`SLOTS` has what Python's operators call for tensors in PyTorch's dialect.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from dtensor import _C, ops as _ops
from dtensor.ops._make.halves import is_half
from dtensor.ops.elementwise import pointwise, powers
from dtensor.torch import _logs
from dtensor.torch._cast import (
    FLOAT32,
    cast,
    cast_alike,
    floating,
    floats_alike,
    number_as,
    rounded_once,
)
from dtensor.torch._numbers import fitted
from dtensor.torch._powers import by_number, is_plain
from dtensor.torch._promotion import bare, dtype_for, promoted
from dtensor.torch._types import torch_dtype

ops: Any = _ops  # type checkers lose some of its names, in a cycle of imports

# PyTorch's name -> NumPy's ufunc
COMMON = {
    name: name
    for name in """
    bitwise_and bitwise_or bitwise_xor equal fmax fmin fmod gcd greater
    greater_equal lcm less less_equal logical_and logical_or logical_xor maximum minimum
    multiply nextafter not_equal remainder subtract floor_divide heaviside
    """.split()
} | {"bitwise_left_shift": "left_shift", "bitwise_right_shift": "right_shift"}
FLOATS = """
    arccos arccosh arcsin arcsinh arctan arctan2 arctanh copysign cos cosh deg2rad
    exp exp2 expm1 hypot log log10 log1p log2 logaddexp logaddexp2 rad2deg reciprocal
    sin sinh sqrt tan tanh
""".split()
ALIASES = {
    "acos": "arccos",
    "acosh": "arccosh",
    "asin": "arcsin",
    "asinh": "arcsinh",
    "atan": "arctan",
    "atan2": "arctan2",
    "atanh": "arctanh",
    "ge": "greater_equal",
    "gt": "greater",
    "le": "less_equal",
    "lt": "less",
    "ne": "not_equal",
}
FUNCTIONS: dict[str, Any] = {
    name: promoted(getattr(pointwise, ufunc), getattr(np, ufunc))
    for name, ufunc in COMMON.items()
}
FUNCTIONS |= {
    name: promoted(getattr(pointwise, name), getattr(np, name), floats=True)
    for name in FLOATS
}
FUNCTIONS |= {name: FUNCTIONS[ours] for name, ours in ALIASES.items()}
FUNCTIONS["neg"] = FUNCTIONS["negative"] = promoted(pointwise.negative, np.negative)

_add = promoted(pointwise.add, np.add)
_divide = promoted(pointwise.divide, np.divide, floats=True)
_power = promoted(pointwise._power, np.power)
_of_number = promoted(pointwise._power, np.power)  # the base
_of_number.in_rows = True
_raised = promoted(pointwise.float_power, np.float_power, floats=True)
globals().update(FUNCTIONS)

__all__ = [  # noqa: PLE0604
    *FUNCTIONS,
    "add",
    "angle",
    "clamp",
    "clamp_max",
    "clamp_min",
    "clip",
    "div",
    "divide",
    "eq",
    "erf",
    "erfc",
    "float_power",
    "ldexp",
    "logit",
    "mul",
    "positive",
    "pow",
    "rsqrt",
    "rsub",
    "sigmoid",
    "square",
    "sub",
    "subtract",
    "true_divide",
    "where",
    "xlogy",
]
multiply: Any = FUNCTIONS["multiply"]
mul = multiply
eq = FUNCTIONS.pop("equal")  # torch.equal is one answer for all elements
__all__.remove("equal")
log: Any = FUNCTIONS["log"]


def add(input: Any, other: Any, *, alpha: Any = 1, **options: Any) -> Any:
    """Return ``input + alpha * other``."""
    return _scaled(_add, input, other, alpha, options)


def sub(input: Any, other: Any, *, alpha: Any = 1, **options: Any) -> Any:
    """Return ``input - alpha * other``."""
    return _scaled(FUNCTIONS["subtract"], input, other, alpha, options)


def _scaled(
    function: Any, x: Any, other: Any, alpha: Any, options: dict[str, Any]
) -> Any:
    """Return a sum or difference; `other` is multiplied in its dtype."""
    if alpha == 1:
        return function(x, other, **options)
    if isinstance(other, int | float | complex):  # no array has to be multiplied
        return function(x, other * alpha, **options)
    dtype = dtype_for([x, other])
    if dtype.kind in "biu" and isinstance(alpha, float):
        raise RuntimeError(
            "For integral input tensors, argument alpha must not be a floating point "
            "number."
        )
    if isinstance(alpha, int) and alpha < 0 and dtype.kind in "bu":
        alpha = 1 if dtype.kind == "b" else alpha % (1 << 8 * dtype.itemsize)
    wide = FLOAT32 if is_half(dtype) else dtype
    x = cast(x, wide) if is_half(dtype) else x
    return cast(function(x, mul(cast(other, wide), alpha), **options), dtype)


subtract = sub


def rsub(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """Return ``other - alpha * input``."""
    return sub(other, input, alpha=alpha)


def div(
    input: Any, other: Any, *, rounding_mode: str | None = None, **options: Any
) -> Any:
    """Divide; `rounding_mode` is None, ``"floor"`` or ``"trunc"``.

    Without it integers are divided as numbers of the default floating-point dtype.
    """
    if rounding_mode is None:
        return _divide(input, other, **options)
    if rounding_mode == "floor":
        return FUNCTIONS["floor_divide"](input, other, **options)
    input, other = cast_alike(input, other)
    kinds = {x.dtype.kind for x in (input, other) if hasattr(x, "dtype")}
    if rounding_mode == "trunc" and kinds <= set("iu"):
        rest = FUNCTIONS["fmod"](input, other)
        return FUNCTIONS["floor_divide"](sub(input, rest), other, **options)
    return rounded_once(
        lambda x, y: ops.div(x, y, rounding_mode=rounding_mode, **options), input, other
    )


divide = true_divide = div


def pow(input: Any, exponent: Any, **options: Any) -> Any:
    """Raise to a power.

    Raises
    ------
    RuntimeError
        If integers are raised to a negative integer.
    NotImplementedError
        If booleans are raised to booleans, as in PyTorch: ``input | ~exponent``.
    """
    input, exponent = bare(input), bare(exponent)
    to = dtype_for([input, exponent])
    power = _power if hasattr(input, "dtype") else _of_number
    if to.kind == "b":
        if hasattr(exponent, "dtype"):
            raise NotImplementedError("\"pow\" not implemented for 'Bool'")
        return ops.logical_or(input, ops.logical_not(exponent))
    if to.kind in "ui":
        if not hasattr(exponent, "dtype") and exponent < 0:
            raise RuntimeError("Integers to negative integer powers are not allowed.")
        input = cast(np.asarray(input) if not hasattr(input, "dtype") else input, to)
        return power(input, exponent, **options)
    if getattr(input, "dtype", None) == to:
        given = isinstance(exponent, np.ndarray)
        told = not given and (type(exponent), exponent) in powers.EXPONENTS
        if is_plain(to, exponent) and (to.kind == "V" or not told):
            return by_number(input, exponent, **options)
        if to.kind == "V":
            return _power(input, exponent, **options)
        return powers.raised(input, number_as(exponent, to), **options)
    return power(input, exponent, **options)


def positive(input: Any) -> Any:
    """Return the tensor itself.

    Raises
    ------
    TypeError
        If it is no tensor.
    RuntimeError
        If it is of booleans.
    """
    if not isinstance(input, _C.Tensor):
        raise TypeError(
            "positive(): argument 'input' (position 1) must be Tensor, not "
            f"{type(input).__name__}"
        )
    if input.dtype == np.bool_:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


def square(input: Any) -> Any:
    """Return the squares, of booleans as int64."""
    return ops.square(cast(input, np.int64) if input.dtype.kind == "b" else input)


def ldexp(input: Any, other: Any) -> Any:
    """Return ``input * 2 ** other``."""
    if isinstance(other, bool | int | float):
        return mul(input, 2.0**other)
    dtype = np.dtype(getattr(input, "dtype", FLOAT32))
    power = _power(2.0, other)
    weak = dtype.kind not in "bui" and np.dtype(other.dtype).kind in "bui"
    return mul(input, cast(power, dtype) if weak else power)


def _logaddexp(input: Any, other: Any, **options: Any) -> Any:
    """Return ``log(exp(input) + exp(other))``."""
    if input.dtype.kind != "c" or other.dtype.kind != "c":
        return _log_sum(input, other, **options)
    first = ops.greater_equal(ops.real(input), ops.real(other))
    high, low = ops.where(first, input, other), ops.where(first, other, input)
    return high + ops.log(1 + ops.exp(low - high))


def _heaviside(input: Any, values: Any, **options: Any) -> Any:
    """Return 0 for negative elements, 1 for positive ones, and `values` for zeros."""
    if dtype_for([input, values]).kind not in "bui":
        return _steps(input, values, **options)
    above = cast(ops.greater(input, 0), input.dtype)
    return where(ops.equal(input, 0), values, above)


_log_sum, _steps = FUNCTIONS["logaddexp"], FUNCTIONS["heaviside"]
for _made in (_logaddexp, _heaviside):
    _made.__name__ = _made.__qualname__ = _made.__name__[1:]
    FUNCTIONS[_made.__name__] = globals()[_made.__name__] = _made


def float_power(input: Any, exponent: Any) -> Any:
    """Raise to a power, in float64 or complex128."""
    if isinstance(input, _C.Tensor) and is_plain(np.dtype(float), exponent):
        if input.dtype.kind != "c":
            return by_number(cast(input, np.float64), float(exponent))
    return ops.float_power(input, exponent)


def clamp(input: Any, min: Any = None, max: Any = None, **options: Any) -> Any:
    """Limit the elements to an interval; None: no limit.

    Raises
    ------
    RuntimeError
        If there is no limit.
    """
    min, max = bare(min), bare(max)
    limits = [x for x in (min, max) if x is not None]
    numbers = not all(hasattr(x, "dtype") for x in limits)
    input, min, max = cast_alike(input, min, max)
    if input.dtype.kind == "c" or (input.dtype.kind == "b" and numbers):
        raise RuntimeError(f"clamp is not supported for {input.dtype}")
    if input.dtype.kind == "V":  # with whom Python's numbers would be float32
        min, max = (x if x is None else cast(x, input.dtype) for x in (min, max))
    elif input.dtype.kind in "iu":  # numbers are converted, also those it never reaches
        min, max = (fitted(x, input.dtype) for x in (min, max))
    return ops.clamp(input, min, max, **options)


clip = clamp


def clamp_min(input: Any, min: Any) -> Any:
    """Return the elements, or what they are less than."""
    return clamp(input, min)


def clamp_max(input: Any, max: Any) -> Any:
    """Return the elements, or what they are greater than."""
    return clamp(input, None, max)


def where(condition: Any, input: Any = None, other: Any = None) -> Any:
    """Return elements of `input` where the condition holds, else of `other`.

    With the condition alone it is `nonzero` with ``as_tuple=True``.
    """
    if input is None and other is None:
        return tuple(ops.nonzero(ops.atleast_1d(condition)))
    if np.dtype(condition.dtype) not in (np.bool_, np.uint8):
        raise RuntimeError(
            "where expected condition to be a boolean tensor, but got a tensor with "
            f"dtype {torch_dtype(condition.dtype).legacy}"
        )
    input, other = bare(input), bare(other)
    to = dtype_for([input, other])
    return ops.where(condition, cast(input, to), cast(other, to))


def angle(input: Any) -> Any:
    """Return the angles of complex numbers; pi for negative real ones, 0 for others."""
    if input.dtype.kind != "c":
        input = input + 0  # -0.0 is not negative
    return ops.angle(input)


# --- of floating-point numbers --------------------------------------------------------


def _of_floats(function: Callable[..., Any], text: str) -> Callable[..., Any]:
    def answer(input: Any, **options: Any) -> Any:
        return function(floating(input), **options)

    answer.__name__ = answer.__qualname__ = function.__name__
    answer.__doc__ = text
    return answer


sigmoid = _of_floats(ops.sigmoid, "Return ``1 / (1 + exp(-input))``.")
rsqrt = _of_floats(ops.rsqrt, "Return 1 divided by the square root.")
erf = _of_floats(ops.erf, "Return the error function.")

erfc = _of_floats(ops.erfc, "Return ``1 - erf(input)``.")


def logit(input: Any, eps: float | None = None) -> Any:
    """Return ``log(input / (1 - input))``, of the input limited to [eps, 1 - eps]."""
    input = floating(input)
    if eps is not None:
        input = clamp(input, eps, 1 - eps)
    return log(input) - ops.log1p(-input)


def xlogy(input: Any, other: Any) -> Any:
    """Return ``input * log(other)``, 0 where the input is 0 unless `other` is NaN."""
    return _logs.xlogy(*floats_alike(input, other))


SLOTS = {
    "positive": positive,
    "negative": FUNCTIONS["negative"],
    "add": _add,
    "subtract": FUNCTIONS["subtract"],
    "multiply": mul,
    "true_divide": _divide,
    "floor_divide": FUNCTIONS["floor_divide"],
    "remainder": FUNCTIONS["remainder"],
    "power": pow,
    "bitwise_and": FUNCTIONS["bitwise_and"],
    "bitwise_or": FUNCTIONS["bitwise_or"],
    "bitwise_xor": FUNCTIONS["bitwise_xor"],
    "left_shift": FUNCTIONS["bitwise_left_shift"],
    "right_shift": FUNCTIONS["bitwise_right_shift"],
    "less": FUNCTIONS["less"],
    "less_equal": FUNCTIONS["less_equal"],
    "equal": eq,
    "not_equal": FUNCTIONS["not_equal"],
    "greater": FUNCTIONS["greater"],
    "greater_equal": FUNCTIONS["greater_equal"],
}
