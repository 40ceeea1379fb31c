"""NumPy's ufuncs, element by element: a row each.

Which Partial operands a ufunc passes stands in its row, in the words of
csrc/core/rule.h; after tables of PyTorch's pointwise operators."""

from collections.abc import Callable
from typing import Any

import numpy as np

from dtensor.ops._elementwise import Rows, anywhere, elementwise
from dtensor.ops._operator import implements, method

__all__ = [
    "abs",
    "absolute",
    "acos",
    "acosh",
    "add",
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
    "bitwise_and",
    "bitwise_count",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "cbrt",
    "ceil",
    "conj",
    "conjugate",
    "copysign",
    "cos",
    "cosh",
    "deg2rad",
    "degrees",
    "divide",
    "divmod",
    "equal",
    "exp",
    "exp2",
    "expm1",
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
    "hypot",
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
    "log",
    "log10",
    "log1p",
    "log2",
    "logaddexp",
    "logaddexp2",
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
    "pow",
    "power",
    "rad2deg",
    "radians",
    "reciprocal",
    "remainder",
    "right_shift",
    "rint",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "spacing",
    "sqrt",
    "square",
    "subtract",
    "tan",
    "tanh",
    "true_divide",
    "trunc",
]

# Both grow with their operands, also where a NaN is among them.
MAXIMUM = "max,max->max;max,R->max;R,max->max;min,R->min;R,min->min"
MINIMUM = "min,min->min;min,R->min;R,min->min;max,R->max;R,max->max"

# The rows of a ufunc, which its `outer` has as well.
ROWS: dict[np.ufunc, Rows] = {}


def _ufunc(
    function: np.ufunc,
    always: str = "",
    *,
    floats: str = "",
    bools: str = "",
    scalar: str = "",
) -> Any:
    rows = ROWS[function] = Rows(always, floats, bools, scalar)
    answer: Callable[..., Any] = elementwise(function, rows)
    return implements(function)(answer)


# --- arithmetic -----------------------------------------------------------------------

add = _ufunc(np.add, "all;avg,R->avg;R,avg->avg;increasing;floating")
subtract = _ufunc(
    np.subtract,
    "all;avg,R->avg;R,avg->avg",
    floats="max,R->max;min,R->min;R,max->min;R,min->max",
)
multiply = _ufunc(np.multiply, "each;product,product->product")
# An array has a zero sooner or later, and addends divided by it do not add up.
divide = true_divide = _ufunc(np.divide, "product,product->product", scalar="0")
floor_divide = _ufunc(np.floor_divide)
remainder = mod = _ufunc(np.remainder)
fmod = _ufunc(np.fmod)
divmod = _ufunc(np.divmod)
_power = _ufunc(np.power)
float_power = _ufunc(np.float_power)
negative = _ufunc(np.negative, "0;decreasing;floating")
positive = _ufunc(np.positive, "any")
absolute = abs = _ufunc(np.absolute)
fabs = _ufunc(np.fabs)
sign = _ufunc(np.sign, "increasing")
reciprocal = _ufunc(np.reciprocal, floats="product->product")
square = _ufunc(np.square, "product->product")
conjugate = conj = _ufunc(np.conjugate, "any")
gcd = _ufunc(np.gcd)
lcm = _ufunc(np.lcm)


@implements(np.power)
def power(x1: Any, x2: Any, /, **options: Any) -> Any:
    """Raise to a power, element by element: see `numpy.power`.

    Collective where integers are raised to integers that are spread over ranks.

    Raises
    ------
    ValueError
        If an integer is raised to a negative one; on every rank.
    """
    if not options and _is_negative_power(x1, x2):
        raise ValueError("Integers to negative integer powers are not allowed.")
    return _power(x1, x2, **options)


def _is_negative_power(x1: Any, x2: Any) -> bool:
    if isinstance(x2, int | float | complex):
        if type(x2) is not int or x2 >= 0:
            return False
    elif not hasattr(x2, "dtype") or x2.dtype.kind != "i":
        return False
    if np.result_type(*(getattr(x, "dtype", x) for x in (x1, x2))).kind != "i":
        return False
    return anywhere(x2 < 0) and np.size(x1) > 0


pow = power

# --- exponents and logarithms ---------------------------------------------------------
# A square root or logarithm does not grow where it is NaN.

exp = _ufunc(np.exp, "increasing")
exp2 = _ufunc(np.exp2, "increasing")
expm1 = _ufunc(np.expm1, "increasing")
log = _ufunc(np.log)
log2 = _ufunc(np.log2)
log10 = _ufunc(np.log10)
log1p = _ufunc(np.log1p)
logaddexp = _ufunc(np.logaddexp, "increasing;floating")
logaddexp2 = _ufunc(np.logaddexp2, "increasing;floating")
sqrt = _ufunc(np.sqrt)
cbrt = _ufunc(np.cbrt, "increasing")
hypot = _ufunc(np.hypot)

# What ``**`` does in NumPy with these exponents of Python's; bits may differ.
_EXPONENTS = {(int, 2): square, (int, -1): reciprocal, (float, 0.5): sqrt}


def raised(x1: Any, x2: Any, /, **options: Any) -> Any:
    """Return ``x1 ** x2``: `power`, or what is faster and does the same."""
    if isinstance(x2, int | float):
        function = _EXPONENTS.get((type(x2), x2))
        if function is not None and x1.dtype.kind in ("bfciu" if x2 == 2 else "fc"):
            return function(x1, **options)
    return power(x1, x2, **options)


# --- angles ---------------------------------------------------------------------------

sin = _ufunc(np.sin)
cos = _ufunc(np.cos)
tan = _ufunc(np.tan)
arcsin = asin = _ufunc(np.arcsin)
arccos = acos = _ufunc(np.arccos)
arctan = atan = _ufunc(np.arctan, "increasing")
arctan2 = atan2 = _ufunc(np.arctan2)
sinh = _ufunc(np.sinh, "increasing")
cosh = _ufunc(np.cosh)
tanh = _ufunc(np.tanh, "increasing")
arcsinh = asinh = _ufunc(np.arcsinh, "increasing")
arccosh = acosh = _ufunc(np.arccosh)
arctanh = atanh = _ufunc(np.arctanh)
degrees = _ufunc(np.degrees, "0;increasing")
radians = _ufunc(np.radians, "0;increasing")
rad2deg = _ufunc(np.rad2deg, "0;increasing")
deg2rad = _ufunc(np.deg2rad, "0;increasing")

# --- bits and truth -------------------------------------------------------------------

bitwise_and = _ufunc(np.bitwise_and, bools=MINIMUM)
bitwise_or = _ufunc(np.bitwise_or, bools=MAXIMUM)
bitwise_xor = _ufunc(np.bitwise_xor)
bitwise_count = _ufunc(np.bitwise_count)
invert = bitwise_not = bitwise_invert = _ufunc(np.invert, "decreasing")
left_shift = bitwise_left_shift = _ufunc(np.left_shift)
right_shift = bitwise_right_shift = _ufunc(np.right_shift)
logical_and = _ufunc(np.logical_and, MINIMUM)
logical_or = _ufunc(np.logical_or, MAXIMUM)
logical_xor = _ufunc(np.logical_xor)
logical_not = _ufunc(np.logical_not, "decreasing")
equal = _ufunc(np.equal)
not_equal = _ufunc(np.not_equal)
less = _ufunc(np.less)
less_equal = _ufunc(np.less_equal)
greater = _ufunc(np.greater)
greater_equal = _ufunc(np.greater_equal)

# --- floating-point numbers -----------------------------------------------------------
# A NaN in a Partial makes it NaN, which fmax and fmin would ignore.

maximum = _ufunc(np.maximum, MAXIMUM)
minimum = _ufunc(np.minimum, MINIMUM)
fmax = _ufunc(np.fmax)
fmin = _ufunc(np.fmin)
floor = _ufunc(np.floor, "increasing")
ceil = _ufunc(np.ceil, "increasing")
trunc = _ufunc(np.trunc, "increasing")
rint = _ufunc(np.rint, "increasing")
isfinite = _ufunc(np.isfinite)
isinf = _ufunc(np.isinf)
isnan = _ufunc(np.isnan)
isnat = _ufunc(np.isnat)
signbit = _ufunc(np.signbit)
copysign = _ufunc(np.copysign)
nextafter = _ufunc(np.nextafter)
spacing = _ufunc(np.spacing)
heaviside = _ufunc(np.heaviside)
ldexp = _ufunc(np.ldexp, "0;max,R->max;min,R->min")
frexp = _ufunc(np.frexp)
modf = _ufunc(np.modf)

method(conjugate)
method(conjugate, name="conj")
