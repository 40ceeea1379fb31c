"""Reshaping and adding dims; permute.py permutes dims.

Nothing moves between ranks if the cut dims stay in one piece. Results are views of the
parts where NumPy returns views. Partial tensors stay Partial.
"""

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor.ops._make.as_whole import raveling, reshaping
from dtensor.ops._make.axes import normalize_axis_index, normalize_axis_tuple
from dtensor.ops._make.numbers import has_operands, python_numbers_of
from dtensor.ops._make.operator import (
    LOCAL_SHAPE,
    Operand,
    Rule,
    axes_of,
    call,
    implements,
    letters,
    method,
    operator,
)
from dtensor.ops._make.reduction import MISSING
from dtensor.ops._make.words import Answer, Shape, factored, hollow, method_of, rule
from dtensor.ops.index.read import getitem
from dtensor.ops.shape import permute as _permute
from dtensor.ops.shape.permute import *  # noqa: F403

__all__ = [
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "expand_dims",
    "flatten",
    "ravel",
    "reshape",
    "squeeze",
    "unflatten",
    "unsqueeze",
]
__all__ += _permute.__all__

# --- reshape --------------------------------------------------------------------------


def _refactored(old: Shape, new: Shape, order: str) -> Rule:
    """Return the rule of a reshape. "A" and "K" depend on memory, and are "C" here."""
    if order == "F":  # row-major, the other way round
        before, after, lengths = factored(old[::-1], new[::-1])
        return rule([before[::-1]], [after[::-1]], "any", lengths)
    before, after, lengths = factored(old, new)
    return rule([before], [after], "any", lengths)


def _reshaped(a: Operand, shape: Any, order: str, copy: bool | None) -> Answer:
    """Return the answer of a reshape."""
    order = {"A": "C"}.get(order, order)
    new = np.reshape(hollow(a.shape), shape).shape  # -1 filled in, NumPy's errors
    settings: dict[str, Any] = {} if copy is None else {"copy": copy}
    if order != "C":
        settings["order"] = order
    plain = call(method_of("reshape", a), a, LOCAL_SHAPE, **settings)
    kernel = reshaping(a, new, order, copy) or plain
    return _refactored(a.shape, new, order), kernel, a.dtype


@implements(np.reshape)
@operator(view=True)
def reshape(
    a: Operand, /, shape: Any, order: str = "C", *, copy: bool | None = None
) -> Answer | Callable[..., Any]:
    """Reshape an array.

    Parameters
    ----------
    a : array
    shape : int or sequence of int
        With the same number of elements; one length may be -1 and is computed.
    order : {"C", "F", "A"}
        The order in which elements are counted; "A" means "C".
    copy : bool, optional
        Whether parts are copied; None: only if needed.

    Returns
    -------
    array
        Cut where the factors of both shapes allow: (6, 4) cut along dim 0 becomes (24,)
        or (3, 2, 4) where it is.

    Raises
    ------
    ValueError
        If the number of elements differs.
    """
    if has_operands(shape):
        return _reshape_by_arrays
    return _reshaped(a, shape, order, copy)


def _reshape_by_arrays(
    a: Any, /, shape: Any, order: str = "C", *, copy: bool | None = None
) -> Any:
    """Reshape to lengths that are arrays; these become constants."""
    return reshape(a, python_numbers_of("reshape", shape), order, copy=copy)


def _method_by_arrays(a: Any, /, *shape: Any, **options: Any) -> Any:
    return _reshape_by_arrays(a, shape[0] if len(shape) == 1 else shape, **options)


def _back(grad: Any, _out: Any, _a: Any, *_: Any, order: Any = "C", **__: Any) -> Any:
    """The gradient of reshapes."""
    return reshape(grad, _a.shape, order="F" if order == "F" else "C")


def _back_in(grad: Any, _out: Any, _a: Any, *order: Any, **named: Any) -> Any:
    """The same, where the order may be the last argument by place."""
    placed = {"order": order[-1]} if order and isinstance(order[-1], str) else {}
    return _back(grad, _out, _a, **placed, **named)


reshape.vjp(_back_in)


@method(name="reshape")
@operator(name="reshape", view=True)
def _reshape_method(
    a: Operand, /, *shape: Any, order: str = "C", copy: bool | None = None
) -> Answer | Callable[..., Any]:
    """Reshape an array: see `dtensor.ops.reshape`."""
    if has_operands(shape):
        return _method_by_arrays
    return _reshaped(a, shape[0] if len(shape) == 1 else shape, order, copy)


_reshape_method.vjp(_back)


@method
@implements(np.ravel)
@operator(view=True)
def ravel(a: Operand, order: str = "C") -> Answer:
    """Flatten an array; orders "A" and "K" mean "C"."""
    order = {"A": "C", "K": "C"}.get(order, order)
    return _refactored(a.shape, (a.size,), order), raveling(a, order)


ravel.vjp(_back_in)


@method
@operator
def flatten(
    a: Operand,
    start_dim: int | str | None = None,
    end_dim: int | None = None,
    *,
    order: str = "C",
) -> Answer:
    """Return a flattened copy.

    Parameters
    ----------
    a : array
    start_dim, end_dim : int, optional
        As in torch: only the dims from `start_dim` to `end_dim` become one.
    order : {"C", "F", "A", "K"}
        As in NumPy, where it may come first; "A" and "K" are "C".
    """
    given, first = (
        (start_dim, None) if isinstance(start_dim, str) else (order, start_dim)
    )
    if first is None and end_dim is None:
        order = {"A": "C", "K": "C"}.get(given, given)
        kernel = call(np.ndarray.flatten, a, order)
        return _refactored(a.shape, (a.size,), order), kernel
    start = normalize_axis_index(first or 0, max(a.ndim, 1))
    end = normalize_axis_index(-1 if end_dim is None else end_dim, max(a.ndim, 1)) + 1
    if start >= end:
        raise RuntimeError(
            "flatten() has invalid args: start_dim cannot come after end_dim"
        )
    shape = (*a.shape[:start], math.prod(a.shape[start:end]), *a.shape[end:])
    return _reshaped(a, shape, "C", None)


flatten.vjp(_back_in)


@method
@operator(view=True)
def unflatten(a: Operand, axis: int, sizes: Any) -> Answer:
    """Split a dim into several, as torch does.

    Parameters
    ----------
    a : array
    axis : int
    sizes : sequence of int
        Lengths of the new dims; one may be -1.

    Raises
    ------
    ValueError
        If their product is not the length of the dim.
    """
    dim = normalize_axis_index(axis, a.ndim)
    new = np.reshape(hollow(a.shape[dim : dim + 1]), sizes).shape
    return _reshaped(a, (*a.shape[:dim], *new, *a.shape[dim + 1 :]), "C", None)


unflatten.vjp(_back)


@method
@operator(view=True)
def view(
    a: Operand, /, *shape: Any, dtype: npt.DTypeLike | None = MISSING
) -> Answer | Callable[..., Any]:
    """View the elements as another dtype (as in NumPy) or shape (as in torch).

    Parameters
    ----------
    a : array
    *shape : int, sequence of int, or dtype
        Integers are a shape, anything else a dtype; a dtype of another size makes the
        last dim longer or shorter.

    Raises
    ------
    ValueError
        If the elements do not fit.
    """
    given = shape[0] if len(shape) == 1 else shape
    is_dtype = isinstance(given, str | type | np.dtype | None)
    if (dtype is None or dtype is MISSING) and shape and not is_dtype:
        return _reshaped(a, given, "C", None)
    return _in_dtype


def _in_dtype(a: Any, /, *given: Any, dtype: npt.DTypeLike | None = MISSING) -> Any:
    if dtype is MISSING:
        dtype = given[0] if given else a.dtype  # None that is given is float64
    return _seen(a, np.dtype(dtype))


@operator(name="view", view=True)
def _seen(a: Operand, new: np.dtype[Any]) -> Answer:
    """See elements as another dtype."""
    np.empty(a.shape[-1:], a.dtype).view(new)  # NumPy's errors
    names = letters(a.ndim)
    before, after = names[:], names[:]
    if a.dtype.itemsize > new.itemsize:
        after[-1] = f"({names[-1]} {a.dtype.itemsize // new.itemsize})"
    elif a.dtype.itemsize < new.itemsize:
        before[-1] = f"({names[-1]} {new.itemsize // a.dtype.itemsize})"
    return rule([before], [after]), call(np.ndarray.view, a, new), new


def _seen_back(grad: Any, _out: Any, _a: Any, *_: Any, **__: Any) -> Any:
    if grad.dtype == _a.dtype:
        return grad
    if {grad.dtype.kind, _a.dtype.kind} != {"f", "c"}:
        raise NotImplementedError(f"no gradient of {_a.dtype} seen as {grad.dtype}")
    return _seen(np.copy(grad, "C"), _a.dtype)  # pairs of numbers, or of such pairs


_seen.vjp(_seen_back)
view.vjp(_back)

for _reshapes in (reshape, _reshape_method, ravel, flatten, unflatten, view):
    _reshapes.copies = True


@method
def view_as(a: Any, other: Any) -> Any:
    """View the elements in the shape of another array."""
    return reshape(a, tuple(other.shape))


method(view_as, name="reshape_as")

# --- dims of length 1 -----------------------------------------------------------------


@method
@implements(np.squeeze)
@operator(view=True)
def squeeze(a: Operand, axis: Any = None) -> Answer | Callable[..., Any]:
    """Remove dims of length 1.

    A dim that is cut, as that of ``x[:1]`` may be, is indexed with 0: its element
    moves, and what is written to the result is sent back.

    Parameters
    ----------
    a : array
    axis : int or tuple of int, optional
        Which; default: all.

    Raises
    ------
    ValueError
        If a named dim has another length than 1.
    """
    if axis is None:
        axes = tuple(dim for dim, length in enumerate(a.shape) if length == 1)
    else:
        axes = axes_of(axis, a.ndim)
    names = letters(a.ndim)
    if a.layout is not None and any(map(a.layout.is_cut, axes)):
        if all(a.shape[dim] == 1 for dim in axes):
            return functools.partial(_first, axes)
    before = ["1" if dim in axes else name for dim, name in enumerate(names)]
    after = [name for dim, name in enumerate(names) if dim not in axes]
    return rule([before], [after], "any"), call(method_of("squeeze", a), a, axes)


def _first(axes: tuple[int, ...], a: Any, axis: Any = None) -> Any:
    return getitem(a, (*(0 if d in axes else slice(None) for d in range(a.ndim)), ...))


squeeze.vjp(_back)


@method(name="unsqueeze")
@implements(np.expand_dims)
@operator(view=True)
def expand_dims(a: Operand, axis: Any) -> Answer:
    """Insert dims of length 1.

    Parameters
    ----------
    a : array
    axis : int or tuple of int
        Where they are in the result.
    """
    count = len(axis) if isinstance(axis, tuple | list) else 1
    places = normalize_axis_tuple(axis, a.ndim + count)
    names = letters(a.ndim)
    rest = iter(names)
    after = ["1" if dim in places else next(rest) for dim in range(a.ndim + count)]
    kernel = call(method_of("reshape", a), a, LOCAL_SHAPE)
    return rule([names], [after], "any"), kernel, a.dtype


expand_dims.vjp(_back)
unsqueeze = expand_dims


def _at_least(ndim: int, places: tuple[tuple[int, ...], ...]) -> Callable[..., Any]:
    """Return atleast_<ndim>d: `places` are the new dims of 0-d, 1-d, ... arrays."""

    def atleast(*arys: Any) -> Any:
        arrays = [x if hasattr(x, "ndim") else np.asanyarray(x) for x in arys]
        grown = [
            np.expand_dims(x, places[x.ndim]) if x.ndim < ndim else x for x in arrays
        ]
        return grown[0] if len(grown) == 1 else tuple(grown)

    name = atleast.__name__ = f"atleast_{ndim}d"
    atleast.__doc__ = f"""Give arrays at least {ndim} dims: see `numpy.{name}`.

    Returns
    -------
    array or tuple of arrays
        One array if one is given.
    """
    return implements(getattr(np, name))(atleast)


atleast_1d = _at_least(1, ((0,),))
atleast_2d = _at_least(2, ((0, 1), (0,)))
atleast_3d = _at_least(3, ((0, 1, 2), (0, 2), (2,)))
