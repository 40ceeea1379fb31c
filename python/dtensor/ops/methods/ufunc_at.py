"""`ufunc.at`: work in place at indices.

Indices and values that are cut stay where they are: those for a replicated array are
reduced on each rank first, those for a cut one are sent to the ranks that have the
elements."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core.device import is_meta
from dtensor.ops._make import routes
from dtensor.ops._make.composite import settled, within
from dtensor.ops._make.parts import (
    alone,
    find,
    from_zero,
    inside,
    key_of,
    local,
    make,
    move,
    place,
    values_of,
)
from dtensor.ops._make.reduction import highest, kind_of, lowest
from dtensor.ops._make.routes import reachable
from dtensor.ops.index.fetched import cut_alone, spread_index, way_to_owners
from dtensor.ops.index.pick import everywhere
from dtensor.ops.index.terms import checked_index
from dtensor.ops.index.write import writing

__all__ = ["RAISES", "at_of", "is_recorded"]

Array = npt.NDArray[Any]

# What a loop may raise because of the elements of one part: an integer that is raised
# to a negative one.
RAISES: dict[np.ufunc, type[Exception]] = {np.power: ValueError}

# How the gradient of what is written comes to the values.
_INTO: dict[np.ufunc, Callable[[Any], Any]] = {
    np.add: lambda g: g,
    np.subtract: lambda g: -g,
}


def at_of(ufunc: np.ufunc) -> Callable[..., None]:
    """Return what answers ``ufunc.at``."""
    name = f"{ufunc.__name__}.at"

    def at(a: Any, indices: Any, *values: Any) -> None:
        """Work in place at indices: see `numpy.ufunc.at`. Collective.

        A DTensor of integers for the first dim, of one dim itself, stays where it is,
        and so do values beside it: for a replicated array each rank reduces its own,
        and the ranks their results (additions, products, extremes and the like); for
        an array that is cut along that dim alone they go to the ranks that have the
        elements. So do 2^14 values or more that are cut, at integers that all ranks
        have. Other integers for the first dim, and their values, are made whole;
        for any other index the array is gathered and written back.

        Raises
        ------
        NotImplementedError
            If an operand wants a gradient and the ufunc is not add or subtract.
        """
        if not isinstance(a, _C.Tensor):  # the others are made arrays on every rank
            like = next(x for x in (indices, *values) if isinstance(x, _C.Tensor))
            ufunc.at(a, *(_known(name, x, like) for x in (indices, *values)))
            return
        if is_recorded(a, *values) and ufunc not in _INTO:
            raise NotImplementedError(f"derivative for {name} is not implemented")
        _C.check_write(name, a, values)
        cut = _cut_beside(a, indices, values)
        if (
            isinstance(a, _C.DTensor)
            and _in_parts(ufunc, a, cut, values)
            and not any(_is_partial(x) for x in values)
        ):
            indices = cut
            kinds = (np.ones(1, getattr(x, "dtype", type(x))) for x in values)
            ufunc.at(np.ones(1, a.dtype), [0], *kinds)
            with writing(a):
                _at_parts(name, ufunc, a.detach(), indices.detach(), values)
                _C.record_write(
                    name, lambda g: (g, _INTO[ufunc](g[indices])), (a, *values), indices
                )
            return
        index, *arrays = (_known(name, x, a) for x in (indices, *values))
        ones = (np.ones(1, np.asarray(x).dtype) for x in arrays)
        ufunc.at(np.ones(1, a.dtype), [0], *ones)  # an error of dtypes comes first
        with within(name, a, index, *arrays), writing(a):
            _write_at(name, ufunc, a.detach(), index, arrays)
            _C.record_write(
                name, lambda g: (g, _INTO[ufunc](g[index])), (a, *values), index
            )

    return at


def _is_partial(x: Any) -> bool:
    """Return whether sums, or the like, of a tensor's parts are its values."""
    return isinstance(x, _C.DTensor) and x.layout.is_partial


def is_recorded(*operands: Any) -> bool:
    return _C.is_grad_enabled() and any(
        isinstance(x, _C.Tensor) and x.requires_grad for x in operands
    )


def _known(name: str, x: Any, like: Any) -> Any:
    """Return an index, or values, with arrays in the place of tensors."""
    if isinstance(x, tuple):
        return tuple(_known(name, item, like) for item in x)
    if not isinstance(x, _C.Tensor):
        return x
    x = x.detach()
    return values_of(name, x) if isinstance(like, _C.DTensor) else np.asarray(x)


def _write_at(
    name: str, ufunc: np.ufunc, a: Any, index: Any, values: Sequence[Any]
) -> None:
    if not isinstance(a, _C.DTensor) or alone(a.layout):
        whole = local(a) if isinstance(a, _C.DTensor) else np.asarray(a)
        ufunc.at(whole, index, *values)
    elif _is_first(index) and not a.layout.is_partial and _is_box(a.layout):
        _at_own(ufunc, a, np.asarray(index), [*map(np.asarray, values)])
    else:
        array = np.array(values_of(name, a))
        ufunc.at(array, index, *values)
        if inside(a.layout):
            np.copyto(local(a), local(place(array, a.layout)))


def _is_first(index: Any) -> bool:
    """Return whether an index is integers for the first dim."""
    if isinstance(index, tuple) or index is None or isinstance(index, slice):
        return False
    array = np.asarray(index)
    return array.dtype.kind in "iu"


def _is_box(layout: _C.Layout) -> bool:
    """Return whether the part of every rank, not only of this one, is a box."""
    return layout.ndim > 0 and not any(
        layout.is_strided(dim) for dim in range(layout.ndim)
    )


def _at_own(
    ufunc: np.ufunc,
    a: _C.DTensor,
    index: npt.NDArray[Any],
    arrays: list[npt.NDArray[Any]],
) -> None:
    """Work on what this rank holds; all ranks know all indices and values."""
    probe = np.broadcast_to(np.zeros((), bool), a.shape)
    shape = probe[index].shape  # or NumPy's IndexError, on every rank
    values = [np.broadcast_to(array, shape) for array in arrays]
    if ufunc in RAISES:
        ufunc(np.ones(1, a.dtype), *arrays)  # what it raises, it raises on every rank
    if not inside(a.layout):
        return
    where, held = find(a.layout, 0, from_zero(index, a.shape[0]))
    rest = (slice(None), *key_of(a.layout)[1:])
    ufunc.at(local(a), where[held], *(value[held][rest] for value in values))


# --- of cut indices -------------------------------------------------------------------


def _in_parts(
    ufunc: np.ufunc, a: _C.DTensor, index: Any, values: Sequence[Any]
) -> bool:
    """Return whether indices, and one array of values for them, are to stay cut."""
    if not isinstance(index, _C.DTensor):
        return False
    fits = index.ndim == 1 and index.dtype.kind in "iu" and index.layout.is_cut(0)
    if not fits or len(values) != 1 or ufunc.nin != 2 or is_meta(a):
        return False
    (value,) = values
    shape = (index.shape[0], *a.shape[1:])
    alone = not isinstance(value, _C.Tensor) and np.ndim(value) == 0
    same = isinstance(value, _C.DTensor) and tuple(value.shape) == shape
    known = a.device_mesh == index.device_mesh and not a.layout.is_partial
    if not known or not (alone or same) or a.ndim == 0:
        return False
    if a.layout.is_replicated:
        return _neutral(ufunc, a.dtype) is not None and reachable(index.layout, 0)
    return cut_alone(a.layout, 0) and ufunc not in RAISES


# What changes no element, of the dtype of the array.
_NEUTRAL: dict[np.ufunc, Callable[[np.dtype[Any]], Any]] = {
    np.add: lambda dtype: -0.0 if dtype.kind in "fc" else 0,
    np.subtract: lambda dtype: 0,
    np.multiply: lambda dtype: 1,
    np.maximum: lowest,
    np.minimum: highest,
    np.bitwise_or: lambda dtype: 0,
    np.logical_or: lambda dtype: 0,
    np.logical_and: lambda dtype: 1,
}


def _cut_beside(a: Any, index: Any, values: Sequence[Any]) -> Any:
    """Return an index that all ranks have, of large values that are cut, cut as these
    are; any other as it is."""
    value = values[0] if len(values) == 1 else None
    if not isinstance(value, _C.DTensor) or value.numel() < routes.LEAST_SIZE:
        return index
    if a.layout is not None and a.layout.is_replicated and a.numel() > value.numel():
        return index  # its sums would be more than the values
    if not isinstance(index, list | np.ndarray | _C.DTensor):
        return index
    known = everywhere(index if isinstance(index, _C.DTensor) else np.asarray(index))
    if known is None or known.shape != value.shape[:1] or known.dtype.kind not in "iu":
        return index
    return spread_index(value.layout, 0, known) if reachable(value.layout, 0) else index


def _neutral(ufunc: np.ufunc, dtype: np.dtype[Any]) -> Any:
    """Return what leaves an element of an array as it is; None: not known."""
    known = _NEUTRAL.get(ufunc)
    kind = kind_of(np.add if ufunc is np.subtract else ufunc, dtype)
    if known is None or kind is None:
        return None
    booleans = ufunc in (np.logical_or, np.logical_and)
    ordered = known not in (lowest, highest) or dtype.kind != "c"
    if not ordered or booleans != (dtype.kind == "b"):
        return None
    return np.asarray(known(dtype)).astype(dtype)


def _at_parts(
    name: str, ufunc: np.ufunc, a: _C.DTensor, index: _C.DTensor, values: Sequence[Any]
) -> None:
    (value,) = values
    value = value.detach() if isinstance(value, _C.DTensor) else value
    with within(name, a, index, value):
        checked = checked_index(name, index, a.shape, 0)
        if a.layout.is_replicated:
            _at_replicated(name, ufunc, a, checked, value)
        else:
            _at_cut(name, ufunc, a, checked, value)


def _beside(name: str, value: Any, to: _C.Layout) -> Any:
    """Return this rank's values for its indices, or the one value for all."""
    if not isinstance(value, _C.DTensor):
        return value
    rows = to.like(value.shape, {0: 0}, value.dtype)
    return local(move(name, settled(name, value), rows))


def _at_replicated(
    name: str, ufunc: np.ufunc, a: _C.DTensor, index: _C.DTensor, value: Any
) -> None:
    """Reduce what each rank has for each element, then this over the ranks."""
    joining = np.add if ufunc is np.subtract else ufunc
    kind = kind_of(joining, a.dtype)
    cutting = index.layout.cut_by(0)
    adding = [
        _C.Partial(kind.op) if m in cutting and kind else _C.Replicate()
        for m in range(a.device_mesh.ndim)
    ]
    to = a.layout.with_placements(adding)
    rows = _beside(name, value, index.layout)
    total: Array = np.empty(0, a.dtype)
    if inside(to):
        total = np.full(a.shape, _neutral(ufunc, a.dtype), a.dtype)
        joining.at(total, local(index), rows)
    whole = move(name, make(total, to), a.layout)
    if inside(to):
        ufunc(local(a), local(whole), out=local(a), casting="same_kind")


def _at_cut(
    name: str, ufunc: np.ufunc, a: _C.DTensor, index: _C.DTensor, value: Any
) -> None:
    """Send each index, and what belongs to it, to the rank that has the element."""
    to = a.layout.like(index.shape, {0: 0}, index.dtype)
    index = move(name, index, to)
    rows = _beside(name, value, to)
    if not inside(to):
        return
    # Equal indices stay in their order.
    route, here = way_to_owners(name, a.layout, 0, index)
    if isinstance(value, _C.DTensor):
        rows = route.there(rows)
    ufunc.at(local(a), here, rows)
