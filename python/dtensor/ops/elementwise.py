"""What works element by element and is no ufunc."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor.ops._elementwise import Rows, anywhere, broadcast
from dtensor.ops._operator import Operand, call, implements, letters, method, operator
from dtensor.ops._reduction import MISSING
from dtensor.ops._words import Answer, rule

__all__ = [
    "angle",
    "around",
    "astype",
    "choose",
    "clip",
    "copy",
    "fix",
    "i0",
    "imag",
    "interp",
    "iscomplex",
    "isclose",
    "isneginf",
    "isposinf",
    "isreal",
    "nan_to_num",
    "real",
    "real_if_close",
    "round",
    "select",
    "sinc",
    "unwrap",
    "where",
]

# --- one operand ----------------------------------------------------------------------


def _unary(function: Callable[..., Any], rows: Rows = Rows()) -> Any:  # noqa: B008
    def make(x: Any, **options: Any) -> Answer:
        return broadcast([x], rows.of([x])), call(function, x, **options)

    make.__name__ = function.__name__
    make.__doc__ = f"""Element by element: see `numpy.{function.__name__}`.

    Parameters
    ----------
    x : array_like
        Of any shape.
    **options
        Further parameters of NumPy's function, by name.
    """
    return implements(function)(operator(make))


fix = _unary(np.fix, Rows("increasing"))
i0 = _unary(np.i0)
imag = _unary(np.imag, Rows("0"))
iscomplex = _unary(np.iscomplex)
isneginf = _unary(np.isneginf)
isposinf = _unary(np.isposinf)
isreal = _unary(np.isreal)
real = _unary(np.real, Rows("any"))
sinc = _unary(np.sinc)


@implements(np.angle)
@operator
def angle(z: Operand, deg: bool = False) -> Answer:
    """Return the angles of complex numbers: see `numpy.angle`."""
    return broadcast([z]), call(np.angle, z, deg)


@implements(np.nan_to_num)
@operator
def nan_to_num(
    x: Operand,
    copy: bool = True,
    nan: Any = 0.0,
    posinf: Any = None,
    neginf: Any = None,
) -> Answer:
    """Replace NaN and infinities: see `numpy.nan_to_num`.

    The three replacements may be arrays. Without `copy`, `x` itself is changed where it
    is not Partial."""
    more = (nan, posinf, neginf)
    return broadcast([x, *more]), call(np.nan_to_num, x, copy, *more)


@method
@implements(np.round)
@operator
def round(a: Operand, decimals: int = 0, out: None = None) -> Answer:
    """Round to a number of decimals: see `numpy.round`."""
    rows = Rows(floats="increasing").of([a])
    return broadcast([a], rows), call(np.round, a, decimals)


around = implements(np.around)(round)


@implements(np.unwrap)
@operator
def unwrap(
    p: Operand,
    discont: float | None = None,
    axis: int = -1,
    *,
    period: float = math.tau,
) -> Answer:
    """Add periods where neighbours differ by more: see `numpy.unwrap`.

    The dim `axis` is not cut while this is done."""
    names = letters(p.ndim, whole=[axis % max(p.ndim, 1)])
    return (
        rule([names], [names]),
        call(np.unwrap, p, discont, axis, period=period),
    )


# --- dtype and copies -----------------------------------------------------------------


@method
@operator
def astype(
    x: Operand,
    dtype: npt.DTypeLike,
    order: Any = "K",
    casting: Any = "unsafe",
    subok: bool = True,
    copy: bool = True,
) -> Answer:
    """Return the tensor in another dtype.

    Parameters
    ----------
    x : DTensor
        Of any shape. A Partial stays one where no addend is rounded.
    dtype : dtype_like
        Of the result.
    order, casting, subok
        As for `numpy.ndarray.astype`.
    copy : bool
        With False the result shares memory with `x` where the dtype is the same.

    Raises
    ------
    TypeError
        If `casting` forbids it.
    """
    dtype = np.dtype(dtype)
    return (
        broadcast([x], "any"),
        call(np.ndarray.astype, x, dtype, order, casting, subok, copy),
        dtype if casting == "unsafe" else None,
    )


@implements(np.astype)
def _astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    if device not in (None, "cpu"):
        raise ValueError(f'Device not understood. Only "cpu" is allowed, not {device}')
    return astype(x, dtype, copy=copy)


@implements(np.copy)
@operator
def copy(a: Operand, order: Any = "K", subok: bool = False) -> Answer:
    """Return a copy in the same layout: see `numpy.copy`."""
    return broadcast([a], "any"), call(np.array, a, order=order, subok=subok)


@method(name="copy")
def _copy(x: Any, order: Any = "C") -> Any:
    """Return a copy with memory of its own, in the same layout."""
    return copy(x, order)


@implements(np.real_if_close)
def real_if_close(a: Any, tol: float = 100) -> Any:
    """Return the real part if all imaginary parts are about 0: see
    `numpy.real_if_close`. Collective: all ranks learn whether they are."""
    if a.dtype.kind != "c":
        return a
    if tol > 1:
        tol = float(np.finfo(a.dtype).eps) * tol
    return real(a) if bool(np.all(np.absolute(imag(a)) < tol)) else a


# --- several operands -----------------------------------------------------------------


@operator(operands=3)
def _clip(a: Operand, low: Any, high: Any, **options: Any) -> Answer:
    rows = "increasing" if not options else None
    return broadcast([a, low, high], rows), call(np.clip, a, low, high, **options)


@implements(np.clip)
def clip(
    a: Any,
    a_min: Any = MISSING,
    a_max: Any = MISSING,
    out: Any = None,
    *,
    min: Any = MISSING,
    max: Any = MISSING,
    **options: Any,
) -> Any:
    """Limit the values: see `numpy.clip`.

    Parameters
    ----------
    a : array_like
    a_min, a_max : array_like or None
        The limits, both of them; they are broadcast against `a`.
    out : DTensor, optional
        What the result is written to.
    min, max : array_like, optional
        Other names of the limits, of which one is enough.
    **options
        Keywords of ufuncs.

    Returns
    -------
    DTensor
    """
    if a_min is MISSING and a_max is MISSING:
        return _clip_method(a, min, max, out, **options)
    for name, limit in (("a_min", a_min), ("a_max", a_max)):
        if limit is MISSING:
            raise TypeError(f"clip() missing 1 required positional argument: {name!r}")
    if min is not MISSING or max is not MISSING:
        raise ValueError(
            "Passing `min` or `max` keyword argument when `a_min` and `a_max` are "
            "provided is forbidden."
        )
    return _clip_method(a, a_min, a_max, out, **options)


@method(name="clip")
def _clip_method(
    x: Any, min: Any = None, max: Any = None, out: Any = None, **options: Any
) -> Any:
    """Limit the elements to an interval: see `clip`."""
    low, high = (None if limit is MISSING else limit for limit in (min, max))
    if out is not None:
        options["out"] = out
    return _clip(x, low, high, **options)


# Where the condition is known, the other two may wait for their reductions.
_CHOICE = ";".join(
    f"R,{op},{op}->{op}" for op in ("sum", "avg", "product", "max", "min")
)


@operator(operands=3)
def where_(condition: Operand, x: Any, y: Any) -> Answer:
    return broadcast([condition, x, y], _CHOICE), call(np.where, condition, x, y)


@implements(np.where)
def where(condition: Any, x: Any = None, y: Any = None, /) -> Any:
    """Choose from `x` where the condition holds, else from `y`: see `numpy.where`.

    The three are broadcast. With `condition` alone it is `numpy.nonzero`.

    Raises
    ------
    ValueError
        If only one of `x` and `y` is given.
    """
    if x is None and y is None:
        return np.nonzero(condition)
    if x is None or y is None:
        raise ValueError("either both or neither of x and y should be given")
    return where_(condition, x, y)


@implements(np.isclose)
@operator(operands=4)
def isclose(
    a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False
) -> Answer:
    """Compare within a tolerance, element by element: see `numpy.isclose`."""
    arguments = (a, b, rtol, atol)
    return broadcast(arguments), call(np.isclose, *arguments, equal_nan)


@implements(np.interp)
@operator(operands=3)
def interp(
    x: Operand,
    xp: Operand,
    fp: Operand,
    left: complex | None = None,
    right: complex | None = None,
    period: float | None = None,
) -> Answer:
    """Interpolate between points: see `numpy.interp`.

    Parameters
    ----------
    x : array_like
        Where; of any shape, and cut in any way.
    xp, fp : array_like, shape (n,)
        The points, which every rank gets whole.
    left, right, period
        As NumPy's.
    """
    names = letters(x.ndim)
    points = letters(1, whole=[0], skip=x.ndim)
    text = rule([names, points, points], [names])
    return text, call(np.interp, x, xp, fp, left, right, period)


@implements(np.select)
@operator(operands=0)
def select(
    condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0
) -> Answer:
    """Choose by the first condition that holds: see `numpy.select`.

    Conditions, choices and `default` are broadcast."""
    return (
        broadcast([*condlist, *choicelist, default]),
        call(np.select, list(condlist), list(choicelist), default),
    )


@operator
def _choose(a: Operand, choices: Sequence[Any], mode: Any) -> Answer:
    return broadcast([a, *choices]), call(np.choose, a, choices, mode=mode)


@implements(np.choose)
def choose(a: Any, choices: Any, out: Any = None, mode: Any = "raise") -> Any:
    """Choose by number, element by element: see `numpy.choose`.

    Parameters
    ----------
    a : array_like of int
        The numbers.
    choices : sequence of array_like
        They are broadcast against `a`.
    out : DTensor, optional
        What the result is written to.
    mode : {"raise", "wrap", "clip"}
        What numbers out of range mean. To raise, all ranks learn whether there are any.

    Raises
    ------
    ValueError
        If a number is out of range; on every rank.
    """
    options = {} if out is None else {"out": out}
    number = (int, float, complex, np.generic)
    arrays = [
        c if hasattr(c, "shape") or isinstance(c, number) else np.asarray(c)
        for c in choices
    ]
    if mode == "raise" and a.dtype.kind in "iu":
        if anywhere((a < 0) | (a >= len(arrays))):
            raise ValueError("invalid entry in choice array")
    return _choose(a, arrays, mode, **options)
