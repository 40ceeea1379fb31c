"""NumPy's elementwise ufuncs: one row each.

A row says which Partial operands the ufunc accepts, in the notation of
csrc/core/rule/rule.h. It follows PyTorch's tables of pointwise operators."""

from typing import Any

import numpy as np

from dtensor.ops._make.elementwise import FLAT, conjugated, flat, ufunc
from dtensor.ops._make.operator import method
from dtensor.ops.elementwise import transcendental
from dtensor.ops.elementwise.piecewise import where_
from dtensor.ops.elementwise.transcendental import *  # noqa: F403

__all__ = [
    "abs",
    "absolute",
    "add",
    "bitwise_and",
    "bitwise_count",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "ceil",
    "conj",
    "conjugate",
    "copysign",
    "divide",
    "divmod",
    "equal",
    "fabs",
    "float_power",
    "floor",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "frexp",
    "gcd",
    "greater",
    "greater_equal",
    "heaviside",
    "invert",
    "isfinite",
    "isinf",
    "isnan",
    "isnat",
    "lcm",
    "ldexp",
    "left_shift",
    "less",
    "less_equal",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "mod",
    "modf",
    "multiply",
    "negative",
    "nextafter",
    "not_equal",
    "positive",
    "reciprocal",
    "remainder",
    "right_shift",
    "rint",
    "sign",
    "signbit",
    "spacing",
    "square",
    "subtract",
    "true_divide",
    "trunc",
]
__all__ += transcendental.__all__

# Both are monotonic, also if an operand is NaN.
MAXIMUM = "max,max->max;max,R->max;R,max->max;min,R->min;R,min->min"
MINIMUM = "min,min->min;min,R->min;R,min->min;max,R->max;R,max->max"

# Bit by bit `or` distributes over `and`, over shifts and over itself.
BITS = "bitwise_or,R->bitwise_or"
BITS_OF_EACH = f"{BITS};R,bitwise_or->bitwise_or"
UNION = f"bitwise_or,bitwise_or->bitwise_or;{BITS_OF_EACH}"

# --- arithmetic -----------------------------------------------------------------------


def _of_base(g: Any, _out: Any, x: Any, y: Any) -> Any:
    """Return the gradient of the base of a power: 0 where the exponent is 0."""
    if not hasattr(y, "dtype"):
        return g * conjugated(y * x ** (y - (y != 0)))
    y = y * 1 if np.dtype(y.dtype).kind == "b" else y
    less = np.where(y == 0, 0, y - 1)
    return g * conjugated(y * x**less)


def _of_exponent(g: Any, out: Any, x: Any, y: Any) -> Any:
    """Return the gradient of the exponent of a power: 0 where the base is 0, unless a
    negative exponent makes an infinity of it. The logarithm has the result's dtype."""
    if not hasattr(x, "dtype") and x != 0:
        return g * conjugated(out * np.log(x).item())
    one = np.ones((), np.dtype(out.dtype))
    return g * conjugated(out * np.log(np.where((x == 0) & (y.real >= 0), one, x)))


# Partial maxima and minima are not accepted: an empty part holds an infinity, and
# beside the opposite infinity the addends would be NaN.
add = ufunc(
    np.add,
    "all;avg,R->avg;R,avg->avg",
    vjp=(lambda g, _out, _x, _y: g, lambda g, _out, _x, _y: g),
)
subtract = ufunc(
    np.subtract,
    "all;avg,R->avg;R,avg->avg",
    vjp=(lambda g, _out, _x, _y: g, lambda g, _out, _x, _y: -g),
)
multiply = ufunc(
    np.multiply,
    "each;product,product->product",
    vjp=(
        lambda g, _out, _x, y: g * conjugated(y),
        lambda g, _out, x, _y: g * conjugated(x),
    ),
)
# An array may contain zeros, and addends divided by zero do not add up. Of one number
# it is known.
divide = true_divide = ufunc(
    np.divide,
    "product,product->product",
    divisor="0",
    vjp=(
        lambda g, _out, _x, y: g / conjugated(y),
        lambda g, _out, x, y: g * conjugated(x / y / -y),
    ),
)
floor_divide = ufunc(np.floor_divide, vjp=FLAT)
remainder = mod = ufunc(
    np.remainder,
    vjp=(lambda g, _out, _x, _y: g, lambda g, _out, x, y: -g * floor_divide(x, y)),
)
fmod = ufunc(
    np.fmod, vjp=(lambda g, _out, _x, _y: g, lambda g, _out, x, y: -g * trunc(x / y))
)
divmod = ufunc(
    np.divmod, vjp=(lambda g, _out, _x, _y: g[1], lambda g, out, _x, _y: -g[1] * out[0])
)
_power = ufunc(np.power, vjp=(_of_base, _of_exponent))
float_power = ufunc(np.float_power, vjp=(_of_base, _of_exponent))
negative = ufunc(np.negative, "0;decreasing;floating", vjp=lambda g, _out, _x: -g)
positive = ufunc(np.positive, "any", vjp=lambda g, _out, _x: g)
absolute = abs = ufunc(np.absolute, vjp=lambda g, _out, x: g * sign(x))
fabs = ufunc(np.fabs, vjp=lambda g, _out, x: g * sign(x))


def _of_sign(g: Any, out: Any, x: Any) -> Any:
    """The result depends only on a complex number's direction."""
    if x.dtype.kind != "c":
        return flat(g, out)
    across = g - out * (conjugated(out) * g).real
    return where_(x == 0, 0, across / absolute(where_(x == 0, 1, x)))


sign: Any = ufunc(np.sign, "increasing", vjp=_of_sign)
reciprocal = ufunc(
    np.reciprocal,
    floats="product->product",
    vjp=lambda g, out, _x: -g * conjugated(out * out),
)
square = ufunc(
    np.square, "product->product", vjp=lambda g, _out, x: g * (conjugated(x) * 2)
)
conjugate = conj = ufunc(np.conjugate, "any", vjp=lambda g, _out, _x: conjugated(g))
gcd = ufunc(np.gcd)
lcm = ufunc(np.lcm)


# --- bits and truth -------------------------------------------------------------------

bitwise_and = ufunc(np.bitwise_and, BITS_OF_EACH, bools=MINIMUM)
bitwise_or = ufunc(np.bitwise_or, UNION, bools=MAXIMUM)
bitwise_xor = ufunc(np.bitwise_xor)
bitwise_count = ufunc(np.bitwise_count)
invert = bitwise_not = bitwise_invert = ufunc(np.invert, "decreasing")
left_shift = bitwise_left_shift = ufunc(np.left_shift, BITS)
right_shift = bitwise_right_shift = ufunc(np.right_shift, BITS)
logical_and = ufunc(np.logical_and, f"{MINIMUM};{BITS_OF_EACH}")
logical_or = ufunc(np.logical_or, f"{MAXIMUM};{UNION}")
logical_xor = ufunc(np.logical_xor)
logical_not = ufunc(np.logical_not, "decreasing")
equal = ufunc(np.equal)
not_equal = ufunc(np.not_equal)
less = ufunc(np.less)
less_equal = ufunc(np.less_equal)
greater = ufunc(np.greater)
greater_equal = ufunc(np.greater_equal)

# --- floating-point numbers -----------------------------------------------------------
# Equal operands of a maximum share its gradient; of fmax the first one gets all of it.
# A NaN in a Partial makes it NaN, which fmax and fmin would ignore.

maximum = ufunc(
    np.maximum,
    MAXIMUM,
    vjp=(
        lambda g, _out, x, y: where_(x == y, g / 2, where_(x < y, 0, g)),
        lambda g, _out, x, y: where_(x == y, g / 2, where_(y < x, 0, g)),
    ),
)
minimum = ufunc(
    np.minimum,
    MINIMUM,
    vjp=(
        lambda g, _out, x, y: where_(x == y, g / 2, where_(x > y, 0, g)),
        lambda g, _out, x, y: where_(x == y, g / 2, where_(y > x, 0, g)),
    ),
)
fmax = ufunc(
    np.fmax,
    vjp=(
        lambda g, _out, x, y: where_((x >= y) | (y != y), g, 0),
        lambda g, _out, x, y: where_((x >= y) | (y != y), 0, g),
    ),
)
fmin = ufunc(
    np.fmin,
    vjp=(
        lambda g, _out, x, y: where_((x <= y) | (y != y), g, 0),
        lambda g, _out, x, y: where_((x <= y) | (y != y), 0, g),
    ),
)
floor = ufunc(np.floor, "increasing", vjp=flat)
ceil = ufunc(np.ceil, "increasing", vjp=flat)
trunc: Any = ufunc(np.trunc, "increasing", vjp=flat)
rint = ufunc(np.rint, "increasing", vjp=flat)
isfinite = ufunc(np.isfinite)
isinf = ufunc(np.isinf)
isnan = ufunc(np.isnan)
isnat = ufunc(np.isnat)
signbit = ufunc(np.signbit)
copysign = ufunc(
    np.copysign, vjp=(lambda g, out, x, _y: g * (sign(x) * sign(out)), flat)
)
nextafter = ufunc(np.nextafter, vjp=(lambda g, _out, x, y: where_(x == y, 0, g), flat))
spacing = ufunc(np.spacing)
heaviside = ufunc(np.heaviside, vjp=(flat, lambda g, _out, x, _y: where_(x == 0, g, 0)))
# A number is its mantissa times a power of 2.
ldexp: Any = ufunc(
    np.ldexp, "0;max,R->max;min,R->min", vjp=lambda g, _out, _x, n: ldexp(g, n)
)
frexp = ufunc(np.frexp, vjp=lambda g, out, _x: ldexp(g[0], -out[1]))
modf = ufunc(np.modf, vjp=lambda g, _out, _x: g[0])

method(conjugate)
method(conjugate, name="conj")
