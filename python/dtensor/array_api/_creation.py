"""The functions that make arrays: operators with the signatures of the standard.

In addition to the standard's arguments they take `device_mesh` (default: that of the
innermost ``with mesh:``, else a mesh of all ranks) and `placements` (default: all
replicated). All ranks must pass the same arguments; nothing is communicated.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core import world
from dtensor._core.dtype import dtype_of
from dtensor._core.open_meshes import current_mesh
from dtensor.device_mesh import DeviceMesh
from dtensor.ops.create import arrays, like
from dtensor.ops.elementwise import functions
from dtensor.ops.methods.array_api import check_device
from dtensor.placement_types import Placement

__all__ = [
    "arange",
    "asarray",
    "empty",
    "empty_like",
    "eye",
    "fftfreq",
    "from_dlpack",
    "full",
    "full_like",
    "linspace",
    "ones",
    "ones_like",
    "rfftfreq",
    "zeros",
    "zeros_like",
]

DType = npt.DTypeLike | None
Shape = int | Sequence[int]
Placements = Sequence[Placement] | None


def _where(
    device: str | None, mesh: DeviceMesh | None, placements: Placements
) -> dict[str, Any]:
    """Return the keywords for the layout of a new array."""
    check_device(device)
    if mesh is None:
        try:
            mesh = current_mesh()
        except RuntimeError:
            ranks = range(world.current().size)
            mesh = DeviceMesh("cpu", ranks, _init_backend=False)
    return {"device_mesh": mesh, "placements": placements}


# --- from existing arrays -------------------------------------------------------------


def _values(obj: Any, dtype: DType, copy: bool | None) -> npt.NDArray[Any]:
    """Return an array of an object that is not a tensor; it may hold 0-d DTensors."""
    try:
        return np.array(obj, dtype, copy=copy)
    except RuntimeError:  # one of them is on another rank
        return np.array(_gathered(obj), dtype, copy=copy)


def _gathered(obj: Any) -> Any:
    """Return nested sequences with the values of 0-d DTensors. Collective."""
    if isinstance(obj, list | tuple):
        return [_gathered(item) for item in obj]
    if isinstance(obj, _C.DTensor) and obj.ndim == 0:
        return np.asarray(obj.full_tensor())
    return obj


def asarray(
    obj: Any,
    /,
    *,
    dtype: DType = None,
    device: str | None = None,
    copy: bool | None = None,
    device_mesh: DeviceMesh | None = None,
    placements: Placements = None,
) -> Any:
    """Return numbers, nested sequences of them or an array as an array.

    A DTensor keeps its layout unless `device_mesh` or `placements` is given, and a
    Tensor stays a Tensor of this rank. Anything else becomes a DTensor, which shares
    memory with a given array if it is not sharded. Collective if there are 0-d DTensors
    among the numbers.

    Parameters
    ----------
    obj : array_like
        It must be the same on all ranks, unless it is a Tensor.
    dtype : dtype_like, optional
        Default: that of the array, or the one that NumPy chooses for the numbers.
    device : str, optional
        "cpu".
    copy : bool, optional
        True: always copy. False: ValueError if a copy is needed.
    device_mesh, placements
        See this module.

    Returns
    -------
    DTensor or Tensor
    """
    if not isinstance(obj, _C.Tensor):
        where = _where(device, device_mesh, placements)
        values = _values(obj, dtype, copy)
        return like.asarray(values, **where)
    check_device(device)
    if dtype is not None and obj.dtype != dtype:
        if copy is False:
            raise ValueError(f"{obj.dtype} cannot become {dtype} without a copy")
        obj = functions.astype(obj, dtype_of(dtype))
    elif copy:
        obj = functions.copy(obj)
    if isinstance(obj, _C.DTensor) and not (device_mesh is None is placements):
        return obj.redistribute(device_mesh, placements or obj.placements)
    return obj


def from_dlpack(
    x: Any,
    /,
    *,
    device: str | None = None,
    copy: bool | None = None,
    device_mesh: DeviceMesh | None = None,
    placements: Placements = None,
) -> Any:
    """Return another library's array, by default sharing its memory; see `asarray`."""
    check_device(device)
    if not isinstance(x, _C.Tensor):
        x = np.from_dlpack(x, copy=copy)
        copy = None
    return asarray(x, copy=copy, device_mesh=device_mesh, placements=placements)


# --- from numbers ---------------------------------------------------------------------


def arange(
    start: float,
    /,
    stop: float | None = None,
    step: float = 1,
    *,
    dtype: DType = None,
    device: str | None = None,
    device_mesh: DeviceMesh | None = None,
    placements: Placements = None,
) -> Any:
    """Return numbers from `start` to `stop`, without `stop`; one number is `stop`."""
    where = _where(device, device_mesh, placements)
    return arrays.arange(start, stop, step, dtype, **where)


def linspace(
    start: complex,
    stop: complex,
    /,
    num: int,
    *,
    dtype: DType = None,
    device: str | None = None,
    endpoint: bool = True,
    device_mesh: DeviceMesh | None = None,
    placements: Placements = None,
) -> Any:
    """Return `num` evenly spaced numbers from `start` to `stop`."""
    where = _where(device, device_mesh, placements)
    return arrays.linspace(start, stop, num, endpoint, dtype=dtype, **where)


def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: int = 0,
    dtype: DType = None,
    device: str | None = None,
    device_mesh: DeviceMesh | None = None,
    placements: Placements = None,
) -> Any:
    """Return a matrix with ones on diagonal `k` and zeros elsewhere."""
    where = _where(device, device_mesh, placements)
    return arrays.eye(
        n_rows, n_cols, k, np.float64 if dtype is None else dtype, **where
    )


def full(
    shape: Shape,
    fill_value: complex,
    *,
    dtype: DType = None,
    device: str | None = None,
    device_mesh: DeviceMesh | None = None,
    placements: Placements = None,
) -> Any:
    """Return an array of one value; the default dtype depends on its kind."""
    where = _where(device, device_mesh, placements)
    dtype = np.asarray(fill_value).dtype if dtype is None else dtype
    return _C.full(shape, fill_value, dtype=dtype, **where)


def _of_shape(factory: Callable[..., Any], doc: str) -> Callable[..., Any]:
    def created(
        shape: Shape,
        *,
        dtype: DType = None,
        device: str | None = None,
        device_mesh: DeviceMesh | None = None,
        placements: Placements = None,
    ) -> Any:
        where = _where(device, device_mesh, placements)
        return factory(shape, dtype=np.float64 if dtype is None else dtype, **where)

    created.__name__ = created.__qualname__ = factory.__name__
    created.__doc__ = doc
    return created


empty = _of_shape(_C.empty, "Return an array of uninitialized elements.")
ones = _of_shape(_C.ones, "Return an array of ones.")
zeros = _of_shape(_C.zeros, "Return an array of zeros.")


def _frequencies(function: Callable[..., Any], doc: str) -> Callable[..., Any]:
    def created(
        n: int,
        /,
        *,
        d: float = 1.0,
        dtype: DType = None,
        device: str | None = None,
        device_mesh: DeviceMesh | None = None,
        placements: Placements = None,
    ) -> Any:
        x = function(n, d, **_where(device, device_mesh, placements))
        return x if dtype is None else functions.astype(x, dtype, copy=False)

    created.__name__ = created.__qualname__ = function.__name__
    created.__doc__ = doc
    return created


_OF = "Return the frequencies of the elements of"
fftfreq = _frequencies(arrays.fftfreq, f"{_OF} ``fft`` of a signal of length `n`.")
rfftfreq = _frequencies(arrays.rfftfreq, f"{_OF} ``rfft`` of a signal of length `n`.")

# --- like another ---------------------------------------------------------------------


def full_like(
    x: Any,
    /,
    fill_value: complex,
    *,
    dtype: DType = None,
    device: str | None = None,
    **where: Any,
) -> Any:
    """Return an array of one value, by default in the dtype and layout of another."""
    check_device(device)
    return like.full_like(x, fill_value, dtype, **where)


def _of_array(alike: Callable[..., Any], what: str) -> Callable[..., Any]:
    def created(
        x: Any, /, *, dtype: DType = None, device: str | None = None, **where: Any
    ) -> Any:
        check_device(device)
        return alike(x, dtype, **where)

    created.__name__ = created.__qualname__ = alike.__name__
    created.__doc__ = f"Return {what}, by default in the dtype and layout of another."
    return created


empty_like = _of_array(like.empty_like, "an array of uninitialized elements")
ones_like = _of_array(like.ones_like, "an array of ones")
zeros_like = _of_array(like.zeros_like, "an array of zeros")
