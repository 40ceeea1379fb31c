"""Flat and multi-dimensional indices: unravel_index, ravel_multi_index and ix_."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core import world
from dtensor.ops._make.composite import settled
from dtensor.ops._make.fallback import composed, mesh_of, on_mesh
from dtensor.ops._make.operator import Operand, Rule, call, letters, operator
from dtensor.ops._make.parts import alone, inside, local
from dtensor.ops.index.read import getitem

__all__ = ["ix_", "ravel_multi_index", "unravel_index"]

Array = npt.NDArray[Any]
INDEX = np.dtype(np.intp)


def _checked(name: str, x: _C.DTensor, check: Callable[[Array], object]) -> None:
    """Check this rank's part; if a check fails, every rank raises. Collective.

    One rank that has all needs no check: the function raises."""
    if alone(x.layout):
        return
    error = None
    try:
        if inside(x.layout):
            check(local(x))
    except (ValueError, TypeError) as problem:
        error = problem
    if not x.layout.is_replicated:
        world.current().agree(b"", name, error, x.device_mesh)
    if error is not None:
        raise error


@composed(np.unravel_index)
def unravel_index(indices: Any, shape: Any, order: Any = "C") -> tuple[Any, ...]:
    """Return the indices along each dim from flat indices.

    Parameters
    ----------
    indices : DTensor of int
        Indices into the flattened array; the results are cut like them.
    shape : int or tuple of int
        Of the array.
    order : {"C", "F"}
        Whether the last or the first index varies fastest.

    Returns
    -------
    tuple of DTensor of int64
    """
    shape = tuple(shape) if np.iterable(shape) else (shape,)
    indices = settled("unravel_index", indices)
    _checked("unravel_index", indices, lambda part: np.unravel_index(part, shape))
    if not shape:
        return ()
    found = _unravel_index(indices, shape, order)
    return tuple(found) if len(shape) > 1 else (found,)


@operator(name="unravel_index")
def _unravel_index(indices: Operand, shape: tuple[int, ...], order: Any) -> Any:
    names = " ".join(letters(indices.ndim))
    count = len(shape)
    text = f"{names}->{','.join([names] * count)}"
    return Rule(text), call(_unraveled, indices, shape, order), (INDEX,) * count


def _unraveled(indices: Array, shape: tuple[int, ...], order: Any) -> Any:
    found = np.unravel_index(indices, shape, order)
    return found if len(shape) > 1 else found[0]


@composed(np.ravel_multi_index)
def ravel_multi_index(
    multi_index: Any, dims: Any, mode: Any = "raise", order: Any = "C"
) -> Any:
    """Return flat indices from the indices along each dim.

    Parameters
    ----------
    multi_index : sequence of array_like of int
        The indices for each dim, broadcast against each other.
    dims : tuple of int
        The shape of the array.
    mode : {"raise", "wrap", "clip"}, or a tuple with one for each dim
        What to do with indices that are out of range.
    order : {"C", "F"}
        Whether the last or the first index runs fastest.

    Returns
    -------
    DTensor of int64
    """
    mesh = mesh_of(multi_index)
    given = [settled("ravel_multi_index", on_mesh(x, mesh)) for x in multi_index]
    dims = tuple(dims) if np.iterable(dims) else (dims,)
    modes = mode if isinstance(mode, tuple) else (mode,) * len(dims)
    if len(given) == len(dims) == len(modes):
        for x, n, how in zip(given, dims, modes, strict=True):
            check = functools.partial(_in_range, (n,), how)
            _checked("ravel_multi_index", x, check)
    return _ravel_multi_index(given, dims, mode, order)


def _in_range(dims: tuple[int, ...], mode: Any, part: Array) -> None:
    np.ravel_multi_index((part,), dims, mode)  # or NumPy's error


@operator(name="ravel_multi_index")
def _ravel_multi_index(given: list[Operand], dims: Any, mode: Any, order: Any) -> Any:
    if len(given) != len(dims):
        np.ravel_multi_index((0,) * len(given), dims, mode, order)  # raises
    text = f"{','.join(['...'] * len(given))}->..."
    return Rule(text), call(_raveled, given, dims, mode, order), INDEX


def _raveled(given: list[Array], dims: Any, mode: Any, order: Any) -> Any:
    return np.ravel_multi_index(tuple(given), dims, mode, order)


@composed(np.ix_)
def ix_(*args: Any) -> tuple[Any, ...]:
    """Return the indices of an open grid from those along each dim.

    Parameters
    ----------
    *args : array_like of int or bool, shape (n,)
        Booleans select the indices where they are true.

    Returns
    -------
    tuple of DTensor
        Each has as many dims as there are arguments, all of length 1 except its own.
    """
    mesh = mesh_of(args)
    found = []
    for dim, x in enumerate(args):
        if not isinstance(x, np.ndarray | _C.Tensor) and np.size(x) == 0:
            x = np.asarray(x, np.intp)
        x = on_mesh(x, mesh)
        if x.ndim != 1:
            raise ValueError("Cross index must be 1 dimensional")
        x = np.nonzero(x)[0] if x.dtype == bool else x
        found.append(
            getitem(
                x, tuple(slice(None) if d == dim else None for d in range(len(args)))
            )
        )
    return tuple(found)
