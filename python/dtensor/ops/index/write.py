"""x[index] = value: every rank writes the elements it holds; the layout stays."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from types import EllipsisType, NoneType
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor.ops._make import routes
from dtensor.ops._make.composite import within
from dtensor.ops._make.parts import (
    alone,
    find,
    from_zero,
    inside,
    key_of,
    local,
    move,
    place,
    plain,
    values_of,
)
from dtensor.ops._make.refusal import in_dialect
from dtensor.ops.index import written
from dtensor.ops.index.basic import basic, held, whole, window
from dtensor.ops.index.fetched import (
    cut_alike,
    fetched_layout,
    rows_to_owners,
    spread_index,
    spreads,
    way_to_owners,
)
from dtensor.ops.index.pick import everywhere
from dtensor.ops.index.read import getitem
from dtensor.ops.index.selected import is_selection, result_of, write_selected
from dtensor.ops.index.terms import (
    At,
    Gap,
    Mask,
    Pick,
    Span,
    Term,
    check_bounds,
    is_basic,
    parse,
)
from dtensor.ops.index.written import PICK, Value, brought, fitted, shown, write_view

__all__ = ["setitem", "writing"]

Array = npt.NDArray[Any]


def setitem(x: Any, index: Any, value: Any) -> None:
    """Set ``x[index] = value`` in place, for every index that NumPy accepts.

    The tensor keeps its layout and its memory; the value is moved to where the elements
    are. If the tensor is Partial, coordinate 0 gets the value and the others the
    neutral element. Collective, unless the value and all indices are numbers or arrays.

    Parameters
    ----------
    x : DTensor or Tensor
        What is written into.
    index : object
        As for `getitem`.
    value : array_like or DTensor
        Of a shape that broadcasts to that of ``x[index]``; cast to the dtype of `x` as
        NumPy's assignment does. In PyTorch's dialect a tensor of one element is a
        number, whatever its dims.

    Raises
    ------
    IndexError, ValueError
        As NumPy raises; on every rank, before anything is written.
    """
    try:
        if _is_one(value) and _C.is_torch(x):
            value = getitem(value, (0,) * value.ndim)
        if _C.is_grad_enabled() and (x.requires_grad or _requires_grad(value)):
            _set_recorded(x, index, value)
        else:
            _set_plain(x, index, value)
    except (ValueError, IndexError, OverflowError) as error:
        if (other := in_dialect(error, "setitem", x, index, value)) is not None:
            raise other from error.__cause__
        raise


def _is_one(value: Any) -> bool:
    return isinstance(value, _C.Tensor) and value.ndim > 0 and value.numel() == 1


def _set_plain(x: Any, index: Any, value: Any) -> None:
    with writing(x):
        try:
            _write(x, index, value)
        except (ArithmeticError, MemoryError):
            _C.not_written(x, "setitem", (x, "setitem", index, value))
            raise
        _C.written(x, "setitem", index, value)


def _requires_grad(value: Any) -> bool:
    return isinstance(value, _C.Tensor) and value.requires_grad


def _set_recorded(x: Any, index: Any, value: Any) -> None:
    """Write, and record that these elements now come from the value."""
    wants, shape = (x.requires_grad, _requires_grad(value)), np.shape(value)
    _C.check_write("setitem", x, (x, value))
    with writing(x):
        before = _C.set_recording(False)
        try:
            _write(x, index, value.detach() if isinstance(value, _C.Tensor) else value)
        except (ArithmeticError, MemoryError):
            _C.not_written(x, "setitem", "setitem", (x, value), index)
            raise
        finally:
            _C.set_recording(before)

        def back(grad: Any) -> tuple[Any, Any]:
            rest = None
            if wants[0]:
                rest = grad * 1
                setitem(rest, index, 0)
            return rest, _of_value(grad, index, shape) if wants[1] else None

        _C.record_write("setitem", back, (x, value), index)


def _of_value(grad: Any, index: Any, shape: tuple[int, ...]) -> Any:
    """Return the gradient of a value, with the leading dims of length 1 that it has."""
    found = getitem(grad, index)
    return (
        found[(None,) * (len(shape) - found.ndim)] if len(shape) > found.ndim else found
    )


def _write(x: Any, index: Any, value: Any) -> None:
    if x.device == "meta":
        written.move_only(x, index, value)
    elif isinstance(x, _C.DTensor):
        _set(x, index, value)
    else:
        value = value.detach() if isinstance(value, _C.Tensor) else value
        np.asarray(x.detach())[whole(index)] = whole(value)


class writing:
    """Write into a tensor, and record that, in the block.

    A copy that knows where its elements came from is written back at the end, which is
    recorded too, and of what its lineage is by then.
    """

    __slots__ = ("due", "tensor")

    def __init__(self, x: Any) -> None:
        self.tensor = x

    def __enter__(self) -> None:
        x = self.tensor
        distributed = isinstance(x, _C.DTensor) and x.device != "meta"
        self.due = distributed and _C.begin_write(x)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self.due:
            _C.end_write(self.tensor, kind is None)


def _set(x: _C.DTensor, index: Any, value: Any) -> None:
    """Set ``x[index] = value`` of a tensor that may be written into."""
    value = _value(x, index, value)
    forward = _forward(x, index, value)
    if forward is not None and _write_through(x, forward, value):
        return
    if alone(x.layout):
        local(x)[whole(index)] = whole(value)
        return
    terms = check_bounds("setitem", x.shape, parse("setitem", x.shape, x.dtype, index))
    if any(_is_odd(x, term) for term in terms):
        _write_whole(x, index, value)
    elif not any(isinstance(term, Pick | Mask) for term in terms):
        write_view(x, terms, value)
    elif is_selection(terms):
        write_selected(x, terms, value)
    else:
        _write_picked(x, terms, value)


def _value(x: _C.DTensor, index: Any, value: Any) -> Value:
    """Return a value as an array or DTensor; numbers in the dtype of `x`, or
    NumPy's errors: it takes its own as Python's in basic indices, as arrays in others.
    """
    if isinstance(value, _C.DTensor):
        return value
    if isinstance(value, np.ndarray | np.generic | _C.Tensor):
        if type(value) is not np.ndarray and _is_narrowed(x, index, value):
            number: Array = np.empty((), x.dtype)
            number[()] = value
            return number
        array = plain("setitem", value)
        # A value that cannot be converted fails here, also on ranks that hold no part.
        return array if array.dtype.kind in "biufcV" else array.astype(x.dtype)
    return np.asarray(value, x.dtype)


def _is_narrowed(x: _C.DTensor, index: Any, value: Any) -> bool:
    """Return whether a value is a number of NumPy's that it may refuse to write."""
    return isinstance(value, np.generic) and value.dtype != x.dtype and is_basic(index)


# --- the short way --------------------------------------------------------------------


@lru_cache(256)
def _kinds(layout: _C.Layout) -> tuple[type, ...]:
    """Return the keys of an index whose result is a view of every part."""
    if layout.is_partial or any(map(layout.is_strided, range(layout.ndim))):
        return ()
    whole = layout.is_replicated
    return (slice, EllipsisType, NoneType, int) if whole else (slice, EllipsisType)


def _forward(x: _C.DTensor, index: Any, value: Value) -> tuple[Any, ...] | None:
    """Return an index as forward slices if possible, else None.

    If the value is a number, an integer can be a slice of length 1.
    """
    kinds = _kinds(x.layout)
    if not kinds:
        return None
    forward: list[Any] = []
    for dim, item in enumerate(index if isinstance(index, tuple) else (index,)):
        kind = type(item)
        if kind is slice and (item.step is None or item.step > 0) and kind in kinds:
            forward.append(item)
        elif kind is not slice and kind in kinds:
            forward.append(item)
        elif kind is int and value.ndim == 0 and ... not in forward:
            length = x.shape[dim] if dim < x.ndim else 0
            if not -length <= item < length:
                return None
            forward.append(slice(item % length, item % length + 1))
        else:
            return None
    return tuple(forward)


def _write_through(x: _C.DTensor, index: tuple[Any, ...], value: Value) -> bool:
    """Write to the view that an index gives, if the value is a number or fits it."""
    view = getitem(x, index if ... in index else (*index, ...))
    spread = isinstance(value, _C.DTensor)
    if value.shape != view.shape and (value.ndim or spread):
        return False
    if isinstance(value, _C.DTensor):
        value = written.received(value, view.layout.with_dtype(value.dtype))
    elif value.ndim and inside(view.layout):
        value = value[key_of(view.layout)]
    local(view)[...] = value
    return True


# --- writing --------------------------------------------------------------------------


def _is_odd(x: _C.DTensor, term: Term) -> bool:
    """Return whether a term is a lone boolean, or takes a part of a strided dim."""
    if isinstance(term, Mask):
        return bool(term.mask.ndim == 0)
    if isinstance(term, Span) and term.size == x.shape[term.dim]:
        return False
    return isinstance(term, Span | At) and x.layout.is_strided(term.dim)


def _write_picked(x: _C.DTensor, terms: Sequence[Term], value: Value) -> None:
    """Write to the elements that arrays pick: each rank writes those that it holds.

    On each rank the dims of the arrays are moved to the front, both of its part and of
    the value; then a cut dim only decides which of the elements are on this rank.
    """
    fetched = _fetched(x, terms, value)
    if fetched is not None:
        _write_to_owners(x, *fetched, value)
        return
    terms = list(_without_masks(terms))
    picks = [t for t in terms if isinstance(t, At | Pick)]
    arrays = _broadcast([_positive(x, t) for t in picks])
    new = [Span(-1, 0, n, 1) for n in arrays[0].shape]
    result, at, dims = result_of(terms, new)
    whole_value = fitted(value, result, PICK)
    windows = [_window_of(x, t) for t in terms if isinstance(t, Span | At | Pick)]
    part = brought(whole_value, basic(x, windows).layout, dims, x.dtype)
    if not inside(x.layout):
        return
    here = local(x)[tuple(held(x.layout, w)[0] for w in windows)]
    here = np.moveaxis(here, [t.dim for t in picks], range(len(picks)))
    part = np.moveaxis(part, range(at, at + len(new)), range(len(new)))
    part = np.broadcast_to(part, arrays[0].shape + here.shape[len(picks) :])
    found = [find(x.layout, t.dim, a) for t, a in zip(picks, arrays, strict=True)]
    mine = np.logical_and.reduce([m for _, m in found])
    if mine.all():
        here[tuple(a for a, _ in found)] = part
    else:
        here[tuple(a[mine] for a, _ in found)] = part[mine]


def _fetched(
    x: _C.DTensor, terms: Sequence[Term], value: Value
) -> tuple[int, _C.DTensor] | None:
    """Return the dim and the one index of the elements to whose owners a value is sent;
    None if all ranks get the index."""
    picks = [t for t in terms if not isinstance(t, Gap)]
    one = [t for t in picks if isinstance(t, Pick)]
    whole = all(
        isinstance(t, Span) and t == Span(t.dim, 0, x.shape[t.dim], 1)
        for t in picks
        if not isinstance(t, Pick)
    )
    if len(one) != 1 or not whole:
        return None
    dim, index = one[0]
    shape = (*x.shape[:dim], *index.shape, *x.shape[dim + 1 :])
    alike = isinstance(value, _C.DTensor) and value.shape == shape
    known = everywhere(index)
    if known is not None:  # what is written says whether it is worth it
        cut = isinstance(value, _C.DTensor) and not value.layout.is_replicated
        goes = cut and alike and spreads(x.layout, dim, known)
        return (dim, spread_index(x.layout, dim, known)) if goes else None
    if not cut_alike(x.layout, dim, index) or index.numel() < routes.LEAST_SIZE:
        return None
    return (dim, index) if value.ndim == 0 or alike else None


def _write_to_owners(x: _C.DTensor, dim: int, index: _C.DTensor, value: Value) -> None:
    """Send indices, and what belongs to them, to the ranks that have the elements."""
    if isinstance(value, _C.DTensor) and value.ndim:
        to = fetched_layout(x.layout.with_dtype(value.dtype), dim, index)
        value = move("setitem", value, to)
    else:
        value = values_of("setitem", value)
    if not inside(x.layout):
        return
    with within("setitem", x, dim, index, value):
        if isinstance(value, _C.DTensor):
            part, at = rows_to_owners("setitem", value, dim, index, x.layout)
        else:
            part, (_, at) = value, way_to_owners("setitem", x.layout, dim, index)
        np.moveaxis(local(x), dim, 0)[at] = part


def _broadcast(arrays: list[Array]) -> Sequence[Array]:
    try:
        return np.broadcast_arrays(*arrays)
    except ValueError:
        shapes = "".join(f"{shown(a.shape)} " for a in arrays)
        raise IndexError(
            "shape mismatch: indexing arrays could not be broadcast together with "
            f"shapes {shapes}"
        ) from None


def _window_of(x: _C.DTensor, term: Span | At | Pick) -> Span:
    return (
        window(term)
        if isinstance(term, Span)
        else Span(term.dim, 0, x.shape[term.dim], 1)
    )


def _positive(x: _C.DTensor, term: At | Pick) -> npt.NDArray[np.int64]:
    """Return the whole index for one dim, without negative numbers."""
    if isinstance(term, At):
        return np.asarray(term.at)
    return from_zero(values_of("setitem", term.index), x.shape[term.dim])


def _without_masks(terms: Sequence[Term]) -> Iterator[Term]:
    """Yield terms with an array of integers for each dim of a mask."""
    for term in terms:
        if isinstance(term, Mask):
            found = values_of("setitem", term.mask).nonzero()
            yield from (Pick(term.dim + k, index) for k, index in enumerate(found))
        else:
            yield term


def _write_whole(x: _C.DTensor, index: Any, value: Value) -> None:
    """Write to the gathered array, and keep this rank's part of it."""
    array = values_of("setitem", x).copy()
    array[whole(index)] = whole(value)
    if x.layout.is_partial:
        local(x)[...] = local(place(array, x.layout))
    elif inside(x.layout):
        local(x)[...] = array[key_of(x.layout)]
