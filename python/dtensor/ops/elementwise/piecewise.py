"""Elementwise choices: where, clip, select, choose."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor.ops._make.direct import Maybe, in_front
from dtensor.ops._make.elementwise import anywhere, broadcast
from dtensor.ops._make.halves import weak_call
from dtensor.ops._make.lists import has_lists, stacked
from dtensor.ops._make.operator import (
    Operand,
    broadcasts_out,
    call,
    implements,
    method,
    operator,
)
from dtensor.ops._make.reduction import MISSING, OPS
from dtensor.ops._make.words import Answer

__all__ = ["choose", "clip", "select", "where"]

Array = npt.NDArray[Any]

# --- where ----------------------------------------------------------------------------

# If the condition is not Partial, the other two may stay Partial.
_CHOICE = ";".join(f"R,{op},{op}->{op}" for op in OPS)


@operator(operands=3, name="where")
def where_(condition: Operand, x: Any, y: Any) -> Answer | Callable[..., Any]:
    if has_lists((x, y)):
        return _where_of_lists
    return broadcast([condition, x, y], _CHOICE), weak_call(np.where, condition, x, y)


def _where_of_lists(condition: Any, x: Any, y: Any) -> Any:
    return where_(condition, stacked(x), stacked(y))


where_.vjp(
    None,
    lambda g, _out, condition, _x, _y: where_(condition, g, 0),
    lambda g, _out, condition, _x, _y: where_(condition, 0, g),
)


@implements(np.where)
def where(condition: Any, x: Any = None, y: Any = None, /) -> Any:
    """Choose from `x` where the condition is true, else from `y`: see `numpy.where`.

    All three are broadcast. With `condition` alone it is `numpy.nonzero`.

    Raises
    ------
    ValueError
        If only one of `x` and `y` is given.
    """
    if x is None and y is None:
        return np.nonzero(condition)
    if x is None or y is None:
        raise ValueError("either both or neither of x and y should be given")
    if condition is None:
        raise TypeError("where: argument 1 is None, and no array")
    return where_(condition, x, y)


# --- limits ---------------------------------------------------------------------------


@broadcasts_out
@operator(operands=3, name="clip")
def _clip(a: Operand, low: Any = None, high: Any = None, **options: Any) -> Answer:
    rows = "increasing" if not options else None
    limits = [x for x in (low, high) if x is not None]
    if options:
        made = call(np.clip, a, low, high, **options)
    elif limits and a.dtype is not None and a.dtype.kind in "fc":
        made = call(_CLIPS[low is None, high is None], a, *limits)  # as numpy.clip does
    else:
        made = weak_call(np.clip, a, low, high)
    return broadcast([a, low, high], rows), made


_core: Any = getattr(np, "_core")  # noqa: B009
# By whether there is no lower limit, and no upper one.
_CLIPS: dict[tuple[bool, bool], Any] = {
    (False, False): _core.umath.clip,
    (True, False): np.minimum,
    (False, True): np.maximum,
}


def _of_clip(
    needs: Any, g: Any, _out: Any, a: Any, low: Any = None, high: Any = None
) -> tuple[Any, ...]:
    """The gradients of the limits: where they cross, the upper one gets it."""
    inside, under, over = True, False, False
    if low is not None:
        inside, under = a >= low, a < low
    if high is not None:
        inside, over = inside & (a <= high), a > high
        if low is not None:
            under, over = under & np.less(low, high), over | np.less(high, low)
    cases = [inside, *([under] * (low is not None)), *([over] * (high is not None))]
    return tuple(
        where_(case, g, 0) if wanted else None
        for case, wanted in zip(cases, needs, strict=True)
    )


_clip.vjp_all(_of_clip)


def clip_row(x: Any, min: Any, max: Any) -> Maybe:
    """Return the row of functions of limits, of which the upper one may be missing."""
    if not isinstance(x, Operand) or min is MISSING or (min is None and max is MISSING):
        return None
    return _clip, 2 if max is MISSING else 3


def _row(a: Any, a_min: Any = MISSING, a_max: Any = MISSING, out: None = None) -> Maybe:
    return None if a_max is MISSING else clip_row(a, a_min, a_max)


@in_front(_row, operands=3)
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
        The array that the result is written to.
    min, max : array_like, optional
        Other names of the limits; one of them is enough.
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


def _row_of_method(
    x: Any, min: Any = None, max: Any = MISSING, out: None = None
) -> Maybe:
    return clip_row(x, min, max)


@in_front(_row_of_method, operands=3, name="clip")
@method(name="clip")
def _clip_method(
    x: Any, min: Any = None, max: Any = None, out: Any = None, **options: Any
) -> Any:
    """Limit the elements to an interval: see `clip`."""
    low, high = (None if limit is MISSING else limit for limit in (min, max))
    if out is not None:
        options["out"] = out
    return _clip(x, low, high, **options)


# --- one of several -------------------------------------------------------------------


@operator(operands=0, name="select")
def _select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any) -> Answer:
    return (
        broadcast([*condlist, *choicelist, default]),
        call(np.select, list(condlist), list(choicelist), default),
    )


def _of_select(
    needs: Any, g: Any, _out: Any, condlist: Any, _choicelist: Any, default: Any
) -> tuple[Any, ...]:
    taken = []
    for condition in condlist:
        taken.append(where_(condition, g, 0))
        g = where_(condition, 0, g)
    grads = (*(None for _ in condlist), *taken, g)
    return grads[: len(needs)]


_select.vjp_all(_of_select)


def _arrays(values: Any) -> list[Any]:
    """Return lists as arrays."""
    number = (int, float, complex, np.generic)
    return [
        x if hasattr(x, "shape") or isinstance(x, number) else np.asarray(x)
        for x in values
    ]


@implements(np.select)
def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """Choose by the first condition that is true: see `numpy.select`.

    Conditions, choices and `default` are broadcast."""
    (default,) = _arrays([default])
    return _select(_arrays(condlist), _arrays(choicelist), default)


@operator(name="choose")
def _choose(a: Operand, choices: Sequence[Any], mode: Any) -> Answer:
    first = np.zeros(1, np.intp)  # elements of `a` may be out of range
    dtype = np.choose(first, [_like(x) for x in choices]).dtype
    return broadcast([a, *choices]), call(np.choose, a, choices, mode=mode), dtype


def _like(x: Any) -> Any:
    """Return an array, or Python's number, which promotes as an operand does."""
    if not isinstance(x, Operand):
        return x
    return np.ones(1, x.dtype) if x.number is None else x.number(1)


def _of_choose(
    _needs: Any, g: Any, _out: Any, a: Any, _choices: Any, mode: Any
) -> tuple[Any, ...]:
    count = len(_choices)
    number = a % count if mode == "wrap" else np.clip(a, 0, count - 1)
    return None, *(where_(number == k, g, 0) for k in range(count))


_choose.vjp_all(_of_choose)


@method
@implements(np.choose)
def choose(a: Any, choices: Any, out: Any = None, mode: Any = "raise") -> Any:
    """Choose by index, element by element: see `numpy.choose`.

    Parameters
    ----------
    a : array_like of int
        The indices.
    choices : sequence of array_like
        They are broadcast against `a`.
    out : DTensor, optional
        The array that the result is written to.
    mode : {"raise", "wrap", "clip"}
        How to treat indices out of range. With "raise", all ranks learn whether there
        are any.

    Raises
    ------
    ValueError
        If an index is out of range; on every rank.
    TypeError
        If `out` has another shape than the result.
    """
    options = {} if out is None else {"out": out}
    (a,), arrays = _arrays([a]), _arrays(choices)
    shape = np.broadcast_shapes(*map(np.shape, [a, *arrays]))
    if out is not None and np.shape(out) != shape:
        raise TypeError("choose: invalid shape for output array.")
    if mode == "raise" and np.result_type(a).kind in "iu":
        if anywhere((a < 0) | (a >= len(arrays))):
            raise ValueError("invalid entry in choice array")
    return _choose(a, arrays, mode, **options)
