"""NumPy's ufuncs, element by element: a row each.

Which Partial operands a ufunc passes stands in its row, in the words of
csrc/core/rule.h; after tables of PyTorch's pointwise operators."""

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dtensor import _C
from dtensor.ops._operator import Operand, call, implements, method, operator
from dtensor.ops._parts import inside
from dtensor.ops._words import Answer, rule

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


@dataclass(frozen=True)
class Rows:
    """Which Partial operands pass, and for which dtypes that is true.

    What no dtype of operands and result allows, as sums of integers that become floats,
    is left out by the rule itself."""

    always: str = ""
    floats: str = ""  # an array is of real floating-point numbers, so nothing wraps
    bools: str = ""  # all arrays are of booleans
    scalar: str = ""  # the last operand has no dims

    def of(self, operands: Sequence[Operand]) -> str | None:
        """Return the rows for these operands."""
        arrays = {x.dtype for x in operands} - {None}  # a Python number has none
        rows = [self.always]
        if any(is_floating(dtype) for dtype in arrays):
            rows.append(self.floats)
        if arrays <= {np.dtype(bool)}:
            rows.append(self.bools)
        if operands[-1].ndim == 0:
            rows.append(self.scalar)
        return ";".join(filter(None, rows)) or None


def is_floating(dtype: np.dtype[Any]) -> bool:
    """Return whether the dtype is of real floating-point numbers."""
    return dtype.kind == "f" or dtype.name == "bfloat16"


def broadcast(
    operands: Iterable[Any], partial: str | None = None, results: int = 1
) -> Any:
    """Return the rule of what is done element by element.

    `operands` are all arguments; None and numbers that are no operands do not count."""
    operands = list(operands)
    for x in operands:
        check_constant(x)
    arrays = [x for x in operands if isinstance(x, Operand)]
    return rule([["..."]] * len(arrays), [["..."]] * results, partial)


def check_constant(x: Any) -> None:
    """Refuse an array that is written as a list: no rule sees its shape."""
    if not isinstance(x, Operand | int | float | complex | np.generic | None):
        raise TypeError(
            f"an operand is a {type(x).__name__}: give an array, as np.asarray makes it"
        )


def anywhere(mask: Any) -> bool:
    """Return whether a mask holds somewhere; on ranks outside its mesh: no.

    Collective where the mask is spread over ranks."""
    if isinstance(mask, _C.DTensor) and not inside(mask.layout):
        return False
    return bool(np.any(mask))


@functools.cache
def elementwise(function: np.ufunc, rows: Rows = Rows()) -> Any:  # noqa: B008
    """Return the operator of any ufunc that works element by element.

    Parameters
    ----------
    function : numpy.ufunc
        NumPy's, or that of another library.
    rows : Rows
        Which Partial operands pass.

    Raises
    ------
    TypeError
        If it works on vectors or matrices.
    """
    if function.signature is not None:
        raise TypeError(f"{function.__name__} does not work element by element")

    def make(*xs: Any, where: Any = True, **options: Any) -> Answer:
        if len(xs) != function.nin:
            raise TypeError(
                f"{function.__name__}() takes {function.nin} positional arguments "
                f"but {len(xs)} were given"
            )
        plain = where is True and not {"dtype", "signature", "sig"} & options.keys()
        if where is not True:
            options["where"] = where
        for x in (*xs, where):
            check_constant(x)
        partial = rows.of(xs) if plain else None
        return (
            broadcast([*xs, where], partial, function.nout),
            call(function, *xs, **options),
        )

    make.__name__ = function.__name__
    make.__doc__ = f"""Element by element: see `numpy.{function.__name__}`.

    Parameters
    ----------
    *xs : array_like
        {function.nin} operands, which are broadcast.
    where : array_like of bool, optional
        Where not, the result has the values of `out`, or any.
    out : DTensor, optional
        What the result is written to.
    **options
        Further keywords of `numpy.ufunc`: dtype, casting, order, subok, signature.
    """
    return operator(make, operands=function.nin)


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
        if function is not None and x1.dtype.kind in ("fciu" if x2 == 2 else "fc"):
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
