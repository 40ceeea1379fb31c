"""Rules of elementwise functions, and the Partial operands that they accept."""

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dtensor import _C
from dtensor._core.dtype import dtype_of
from dtensor.ops._make.halves import in_float32, is_bfloat16
from dtensor.ops._make.lists import has_lists, stacked
from dtensor.ops._make.operator import Operand, call, implements, operator
from dtensor.ops._make.parts import inside
from dtensor.ops._make.words import Answer, rule

__all__ = [
    "FLAT",
    "GRADIENTS",
    "ROWS",
    "Rows",
    "anywhere",
    "broadcast",
    "check_constant",
    "conjugated",
    "elementwise",
    "flat",
    "ufunc",
]


@dataclass(frozen=True)
class Rows:
    """Which Partial operands are accepted as they are, and for which dtypes.

    The rule itself drops rows that the dtypes of operands and result do not allow, such
    as sums of integers that become floats."""

    always: str = ""
    floats: str = ""  # an array is of real floating-point numbers, so nothing wraps
    bools: str = ""  # all arrays are of booleans
    divisor: str = ""  # the last operand has no dims, and is not 0

    def of(self, operands: Sequence[Operand]) -> str | None:
        """Return the rows for these operands."""
        arrays = {x.dtype for x in operands} - {None}  # a Python number has none
        rows = [self.always]
        if any(is_floating(dtype) for dtype in arrays):
            rows.append(self.floats)
        if arrays <= {np.dtype(bool)}:
            rows.append(self.bools)
        if is_divisor(operands[-1]):
            rows.append(self.divisor)
        return ";".join(filter(None, rows)) or None


def is_floating(dtype: np.dtype[Any]) -> bool:
    """Return whether the dtype is of real floating-point numbers."""
    return dtype.kind == "f" or dtype.name == "bfloat16"


def is_divisor(x: Operand) -> bool:
    """Return whether addends that are divided by an operand add up to the quotient.

    By 0 they do not, and a sum that is pending may be 0."""
    if x.ndim > 0 or x.zero:
        return False
    return x.layout is None or not x.layout.is_partial


def broadcast(
    operands: Iterable[Any], partial: str | None = None, results: int = 1
) -> Any:
    """Return the rule of an elementwise function.

    `operands` are all arguments; None and plain numbers are skipped."""
    operands = list(operands)
    for x in operands:
        check_constant(x)
    arrays = [x for x in operands if isinstance(x, Operand)]
    return rule([["..."]] * len(arrays), [["..."]] * results, partial)


def check_constant(x: Any) -> None:
    """Refuse a list as an operand: rules cannot see its shape; and text."""
    if isinstance(x, str | bytes):
        raise TypeError(
            f"an operand is a {type(x).__name__}: tensors hold numbers, and no text"
        )
    if not isinstance(x, Operand | int | float | complex | np.generic | None):
        raise TypeError(
            f"an operand is a {type(x).__name__}: give an array, as np.asarray makes it"
        )


def anywhere(mask: Any) -> bool:
    """Return whether any element of a mask is true; on ranks outside its mesh: False.

    Collective if the mask is distributed."""
    if isinstance(mask, _C.DTensor) and not inside(mask.layout):
        return False
    return bool(np.any(mask))


# What bfloat16 has to compute by itself: neighbours of numbers differ in float32.
BIT_BY_BIT = {np.nextafter, np.spacing}


def _are_bfloat16(dtypes: Iterable[np.dtype[Any] | None]) -> bool:
    """Return whether operands are of bfloat16, beside masks and Python numbers."""
    return {dtype.name for dtype in dtypes if dtype is not None} - {"bool"} == {
        "bfloat16"
    }


@functools.cache
def elementwise(function: np.ufunc, rows: Rows = Rows()) -> Any:  # noqa: B008
    """Return the operator of an elementwise ufunc.

    Parameters
    ----------
    function : numpy.ufunc
        NumPy's, or that of another library.
    rows : Rows
        Which Partial operands are accepted.

    Raises
    ------
    TypeError
        If the ufunc works on vectors or matrices.
    """
    if function.signature is not None:
        raise TypeError(f"{function.__name__} does not work element by element")

    def of_lists(*xs: Any, **options: Any) -> Any:
        return answer(*map(stacked, xs), **options)

    def make(
        *xs: Any, where: Any = True, **options: Any
    ) -> Answer | Callable[..., Any]:
        if has_lists(xs):
            return of_lists
        if len(xs) != function.nin:
            raise TypeError(
                f"{function.__name__}() takes {function.nin} positional arguments "
                f"but {len(xs)} were given"
            )
        plain = where is True and not {"dtype", "signature", "sig"} & options.keys()
        if where is not True:
            options["where"] = where
            if function.nout > 1:  # results are written into `out` afterwards
                options["out"] = (None,) * function.nout
        if isinstance(options.get("dtype"), str):
            options["dtype"] = dtype_of(options["dtype"])
        for x in (*xs, where):
            check_constant(x)
        if any(x is None for x in xs):
            raise TypeError(
                f"{function.__name__}: an operand is None, which is no array of numbers"
            )
        partial = rows.of(xs) if plain else None
        kernel: Callable[..., Any] = function
        floats = (xs[0], where) if function is np.ldexp else (*xs, where)
        arrays = {x.dtype for x in floats if isinstance(x, Operand)}
        if plain and function not in BIT_BY_BIT and _are_bfloat16(arrays):
            kernel = in_float32(function, *(x for x in arrays if is_bfloat16(x)))
        return (
            broadcast([*xs, where], partial, function.nout),
            call(kernel, *xs, **options),
        )

    def of_one(x: Any, /, out: None = None, **options: Any) -> Any:
        return make(x, **options)

    def of_two(x1: Any, x2: Any, /, out: None = None, **options: Any) -> Any:
        return make(x1, x2, **options)

    # `out` may be given by position.
    shapes: dict[tuple[int, int], Any] = {(1, 1): of_one, (2, 1): of_two}
    shown = shapes.get((function.nin, function.nout), make)
    shown.__name__ = function.__name__
    shown.ufunc = function  # its signature is shown
    shown.__doc__ = f"""Element by element: see `numpy.{function.__name__}`.

    Parameters
    ----------
    {"x" if function.nin == 1 else "x1, x2"} : array_like
        Broadcast against each other, if there are several.
    where : array_like of bool, optional
        Where False, the result keeps the values of `out`, or is undefined.
    out : DTensor, optional
        The array that the result is written to.
    dtype, casting, order, subok, signature
        As of `numpy.ufunc`.
    """
    answer = operator(shown, operands=function.nin)
    answer.divides = bool(rows.divisor)
    return answer


# --- a row of the tables --------------------------------------------------------------

Gradient = Callable[..., Any]

# What each ufunc of the tables has; its `outer` has the same.
ROWS: dict[np.ufunc, Rows] = {}
GRADIENTS: dict[np.ufunc, tuple[Gradient, ...]] = {}


def ufunc(
    function: np.ufunc,
    always: str = "",
    *,
    floats: str = "",
    bools: str = "",
    divisor: str = "",
    vjp: Gradient | tuple[Gradient, ...] = (),
) -> Any:
    """Return the operator that implements a ufunc of NumPy's.

    Parameters
    ----------
    function : numpy.ufunc
    always, floats, bools, divisor : str, optional
        Which Partial operands are accepted: see `Rows`.
    vjp : callable or tuple of callable, optional
        The gradient of each operand: a function of the gradient of the result, the
        result and the operands. Default: it has none.
    """
    rows = ROWS[function] = Rows(always, floats, bools, divisor)
    answer = elementwise(function, rows)
    GRADIENTS[function] = vjp if isinstance(vjp, tuple) else (vjp,)
    if GRADIENTS[function]:
        answer.vjp(*GRADIENTS[function])
    return implements(function)(answer)


def conjugated(x: Any) -> Any:
    """Return the complex conjugate; a real tensor, array or number itself."""
    real = hasattr(x, "dtype") and x.dtype.kind != "c"
    return x if real else x.conjugate()


@operator(name="zeros_like")
def _zeros(x: Operand) -> Answer:
    return broadcast([x]), call(np.zeros_like, x)


_zeros.vjp(None)


def flat(grad: Any, _out: Any, *_operands: Any, **_options: Any) -> Any:
    """Return zeros, the gradient of a piecewise constant function."""
    return _zeros(grad)


FLAT = (flat, flat)
