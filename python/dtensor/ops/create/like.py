"""Arrays from other arrays: with their layout, or with their values."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor.ops._make.created import Placements, layout_of, made, mesh_like
from dtensor.ops._make.fallback import composed
from dtensor.ops._make.operator import implements
from dtensor.ops._make.parts import place
from dtensor.ops.index.copyto import copyto
from dtensor.ops.index.read import getitem

__all__ = ["array", "asarray", "empty_like", "full_like", "ones_like", "zeros_like"]

Array = npt.NDArray[Any]


# --- of the shape of another ----------------------------------------------------------


def _like(
    a: _C.DTensor,
    part: Callable[..., Array],
    dtype: npt.DTypeLike | None,
    shape: Any,
    device_mesh: _C.Mesh | None,
    placements: Placements,
) -> _C.DTensor:
    """Return a tensor laid out as another one, of what `part` makes for a shape."""
    dtype = a.dtype if dtype is None else dtype
    lengths = a.shape if shape is None else shape
    lengths = tuple(lengths) if np.iterable(lengths) else (lengths,)
    mesh = a.device_mesh if device_mesh is None else device_mesh
    if placements is None and lengths == a.shape and mesh == a.device_mesh:
        layout = a.layout.like(lengths, {d: d for d in range(a.ndim)}, dtype)
    else:
        layout = _C.Layout(mesh, placements, lengths, dtype)
    return made(layout, lambda own: part(own.local_shape(), own.dtype))


def _maker(function: Callable[..., Any], part: Callable[..., Array], what: str) -> Any:
    def like(
        a: Any,
        dtype: npt.DTypeLike | None = None,
        order: Any = "K",
        subok: bool = True,
        shape: Any = None,
        *,
        device: Any = None,
        device_mesh: _C.Mesh | None = None,
        placements: Placements = None,
    ) -> _C.DTensor:
        return _like(a, part, dtype, shape, device_mesh, placements)

    like.__name__ = like.__qualname__ = function.__name__
    like.__doc__ = f"""Return a tensor {what}, laid out as another one.

    Parameters
    ----------
    a : DTensor
        The model; where it is Partial the result is replicated.
    dtype : dtype_like, optional
        Default: that of `a`.
    order, subok, device : optional
        Without effect.
    shape : int or sequence of int, optional
        Default: that of `a`; for another one the result is replicated.
    device_mesh : DeviceMesh, optional
        Default: that of `a`.
    placements : sequence of Placement, optional
        Default: those of `a`.
    """
    return composed(function)(like)


zeros_like = _maker(np.zeros_like, np.zeros, "full of zeros")
ones_like = _maker(np.ones_like, np.ones, "full of ones")
empty_like = _maker(np.empty_like, np.empty, "whose elements are arbitrary")


@composed(np.full_like)
def full_like(
    a: Any,
    fill_value: Any,
    dtype: npt.DTypeLike | None = None,
    order: Any = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
    device_mesh: _C.Mesh | None = None,
    placements: Placements = None,
) -> Any:
    """Return a tensor full of a value, laid out as another one.

    Parameters
    ----------
    a : DTensor
        The model.
    fill_value : array_like
        The value, broadcast to the shape.
    dtype, order, subok, shape, device, device_mesh, placements
        As of `zeros_like`.
    """
    result = _like(a, np.zeros, dtype, shape, device_mesh, placements)
    copyto(result, fill_value, "unsafe")
    return result


def _filled(function: Callable[..., Any]) -> None:
    """Answer ``function(shape, ..., like=x)`` of NumPy."""

    @implements(function)
    def answer(
        shape: Any,
        dtype: npt.DTypeLike | None = None,
        order: Any = "C",
        *,
        device: Any = None,
        device_mesh: _C.Mesh | None = None,
        placements: Placements = None,
    ) -> _C.DTensor:
        dtype = float if dtype is None else dtype
        layout = layout_of(shape, dtype, device_mesh, placements)
        return made(layout, lambda own: function(own.local_shape(), own.dtype))


for _function in (np.zeros, np.ones, np.empty):
    _filled(_function)


@implements(np.full)
def _full(
    shape: Any,
    fill_value: Any,
    dtype: npt.DTypeLike | None = None,
    order: Any = "C",
    *,
    device: Any = None,
    device_mesh: _C.Mesh | None = None,
    placements: Placements = None,
) -> _C.DTensor:
    device_mesh = mesh_like(device_mesh, fill_value)
    if dtype is None:
        known = isinstance(fill_value, _C.Tensor)
        fill_value = fill_value if known else np.asarray(fill_value)
        dtype = fill_value.dtype
    layout = layout_of(shape, dtype, device_mesh, placements)
    result = made(layout, lambda own: np.zeros(own.local_shape(), own.dtype))
    copyto(result, fill_value, "unsafe")
    return result


# --- from values ----------------------------------------------------------------------


@implements(np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray)
def asarray(
    a: Any,
    dtype: npt.DTypeLike | None = None,
    order: Any = None,
    *,
    device: Any = None,
    copy: bool | None = None,
    device_mesh: _C.Mesh | None = None,
    placements: Placements = None,
) -> Any:
    """Return a tensor of values that every rank has.

    Not collective for arrays and numbers; nothing is sent of them.

    Parameters
    ----------
    a : array_like or DTensor
        Equal on every rank. A DTensor is returned as it is, if nothing else is asked.
    dtype : dtype_like, optional
        Default: that of `a`.
    order, device : optional
        Without effect.
    copy : bool, optional
        Whether the result has memory of its own; by default only if it must.
    device_mesh : DeviceMesh, optional
        Default: the one of the ``with mesh:`` block.
    placements : sequence of Placement, optional
        Default: Replicate on all mesh dims; of a DTensor its own.
    """
    if isinstance(a, _C.DTensor):
        x: Any = a if dtype in (None, a.dtype) else np.astype(a, dtype)  # type: ignore
        if placements is not None or device_mesh is not None:
            x = x.redistribute(device_mesh, placements)
        return np.copy(x) if copy and x is a else x
    values = np.array(a, dtype, copy=copy)
    layout = layout_of(values.shape, values.dtype, device_mesh, placements)
    return place(values, layout)


@implements(np.array)
def array(
    object: Any,
    dtype: npt.DTypeLike | None = None,
    *,
    copy: bool | None = True,
    order: Any = "K",
    subok: bool = False,
    ndmin: int = 0,
    device_mesh: _C.Mesh | None = None,
    placements: Placements = None,
) -> Any:
    """Return a new tensor of values that every rank has; parameters as of `asarray`.

    ``ndmin`` is the least number of dims: new ones come first.
    """
    if isinstance(object, _C.DTensor):
        new = (None,) * (np.array(0, ndmin=ndmin).ndim - object.ndim)
        object = getitem(object, (*new, ...)) if new else object
    else:
        object = np.array(object, dtype, ndmin=ndmin)
    return asarray(
        object, dtype, copy=copy, device_mesh=device_mesh, placements=placements
    )
