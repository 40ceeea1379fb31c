"""Arrays over grids: coordinates, indices, powers."""

import operator as op
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor.ops._make.composite import composite
from dtensor.ops._make.created import Placements, layout_of, made
from dtensor.ops._make.fallback import composed, on_mesh, replicated
from dtensor.ops._make.halves import is_bfloat16, weak_call
from dtensor.ops._make.operator import (
    Operand,
    Rule,
    call,
    implements,
    letters,
    operator,
)
from dtensor.ops._make.parts import positions
from dtensor.ops._make.words import hollow
from dtensor.ops.index.read import getitem
from dtensor.ops.linalg.adjoint import conj

__all__ = [
    "diag_indices",
    "diag_indices_from",
    "fromfunction",
    "indices",
    "meshgrid",
    "tril_indices",
    "tril_indices_from",
    "triu_indices",
    "triu_indices_from",
    "vander",
]

Array = npt.NDArray[Any]


@implements(np.vander)
@composite
def vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:
    """Return the powers of numbers, a row for each.

    Parameters
    ----------
    x : array_like, shape (n,)
        The numbers; may be cut.
    N : int, optional
        How many powers; default: n.
    increasing : bool, default False
        Whether they go up.
    """
    if np.ndim(x) != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    return _vander(x, len(x) if N is None else op.index(N), increasing)


@operator(name="vander")
def _vander(x: Operand, count: int, increasing: bool) -> Any:
    dtype = x.dtype if is_bfloat16(x.dtype) else np.promote_types(x.dtype, int)
    return Rule(f"a->a {count}"), weak_call(_powers, x, count, increasing, dtype), dtype


def _of_powers(grad: Any, _out: Any, x: Any, count: int, increasing: bool) -> Any:
    powers = np.arange(count)[:: 1 if increasing else -1]
    slopes = powers * np.expand_dims(conj(x), 1) ** np.maximum(powers - 1, 0)
    return np.sum(grad * slopes, axis=1)


def _powers(x: Any, count: int, increasing: bool, dtype: np.dtype[Any]) -> Any:
    powers = np.vander(x, count, increasing)
    return powers.astype(dtype) if is_bfloat16(dtype) else powers


_vander.vjp(_of_powers)


@implements(np.meshgrid)
@composite
def meshgrid(
    *xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy"
) -> tuple[Any, ...]:
    """Return the coordinates of a grid, from those along each dim.

    Parameters
    ----------
    *xi : array_like, shape (n,)
        Coordinates along each dim; the results are cut where they are.
    copy : bool, default True
        Whether results that are not repeated are no views of `xi`. The others, without
        `sparse`, are arrays of their own in any case, where NumPy gives views.
    sparse : bool, default False
        Whether the results have length 1 along the other dims.
    indexing : {"xy", "ij"}
        Whether the first two dims change places.
    """
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    mesh = next((x.device_mesh for x in xi if isinstance(x, _C.DTensor)), None)
    lines = [np.ravel(x if mesh is None else on_mesh(x, mesh)) for x in xi]
    order = list(range(len(lines)))
    if indexing == "xy" and len(lines) > 1:
        order[:2] = [1, 0]
    if not sparse:
        return tuple(_meshgrid(lines, indexing, tuple(order)))
    every = slice(None)
    grids = (
        getitem(line, tuple(every if k == dim else None for k in order))
        for dim, line in enumerate(lines)
    )
    return tuple(np.copy(grid) if copy else grid for grid in grids)


@operator(name="meshgrid")
def _meshgrid(xi: list[Operand], indexing: str, order: tuple[int, ...]) -> Any:
    names = letters(len(xi))
    grid = " ".join(names[k] for k in order)
    text = f"{','.join(names)}->{','.join([grid] * len(xi))}"
    return Rule(text), call(_grid, xi, indexing), tuple(x.dtype for x in xi)


def _of_coordinates(
    needs: Sequence[bool],
    grad: Any,
    _out: Any,
    _xi: Any,
    _indexing: str,
    order: tuple[int, ...],
) -> tuple[Any, ...]:
    return tuple(
        np.sum(grad[k], axis=tuple(d for d, line in enumerate(order) if line != k))
        if need
        else None
        for k, need in enumerate(needs)
    )


_meshgrid.vjp_all(_of_coordinates)


def _grid(xi: list[Array], indexing: Any) -> tuple[Array, ...]:
    return tuple(np.meshgrid(*xi, indexing=indexing))


def _index_grid(own: _C.Layout, dims: range, first: int) -> list[Array]:
    """Return this rank's indices along dims, `first` dims further on in its layout."""
    return [
        positions(own, first + dim).reshape([-1 if d == dim else 1 for d in dims])
        for dim in dims
    ]


@implements(np.indices)
def indices(
    dimensions: Any,
    dtype: npt.DTypeLike = int,
    sparse: bool = False,
    *,
    device_mesh: _C.Mesh | None = None,
    placements: Placements = None,
) -> Any:
    """Return the indices of the elements of a grid.

    Parameters
    ----------
    dimensions : sequence of int
        The shape of the grid.
    dtype : dtype_like, default int
    sparse : bool, default False
        Whether to return an array for each dim, of length 1 along the others.
    device_mesh : DeviceMesh, optional
        Default: the one of the ``with mesh:`` block.
    placements : sequence of Placement, optional
        Of the result; with `sparse` of an array of shape `dimensions`, so that each
        result is cut where it has that dim.

    Returns
    -------
    DTensor, shape ``(len(dimensions), *dimensions)``, or tuple of DTensor
    """
    shape = tuple(dimensions)
    dims = range(len(shape))
    if sparse:
        grid = layout_of(shape, dtype, device_mesh, placements)
        return tuple(_sparse(grid, dim) for dim in dims)
    layout = layout_of((len(shape), *shape), dtype, device_mesh, placements)

    def part(own: _C.Layout) -> Array:
        grid = np.broadcast_arrays(*_index_grid(own, dims, 1), *[np.zeros(1, int)])
        chosen = positions(own, 0).tolist()
        return (
            np.stack([grid[k] for k in chosen])
            if chosen
            else np.empty(own.local_shape(), own.dtype)
        )

    return made(layout, part)


def _sparse(grid: _C.Layout, dim: int) -> _C.DTensor:
    shape = [n if d == dim else 1 for d, n in enumerate(grid.shape)]
    layout = grid.like(shape, {dim: dim}, grid.dtype)
    return made(layout, lambda own: positions(own, dim).reshape(own.local_shape()))


@implements(np.fromfunction)
def fromfunction(
    function: Callable[..., Any],
    shape: Any,
    *,
    dtype: npt.DTypeLike = float,
    device_mesh: _C.Mesh | None = None,
    placements: Placements = None,
    **kwargs: Any,
) -> Any:
    """Return what a function makes of the indices of a grid.

    Parameters
    ----------
    function : callable
        Gets a DTensor of shape `shape` for each dim, with the indices along it.
    shape : sequence of int
        The shape of the grid.
    dtype : dtype_like, default float
        Of the indices.
    device_mesh : DeviceMesh, optional
        Default: the one of the ``with mesh:`` block.
    placements : sequence of Placement, optional
        Of the indices.
    **kwargs
        Passed on to the function.
    """
    layout = layout_of(shape, dtype, device_mesh, placements)
    dims = range(layout.ndim)
    grids = [
        made(
            layout,
            lambda own, dim=dim: np.broadcast_to(  # type: ignore[misc]
                _index_grid(own, dims, 0)[dim], own.local_shape()
            ),
        )
        for dim in dims
    ]
    return function(*grids, **kwargs)


def _on_mesh(found: tuple[Array, ...], device_mesh: _C.Mesh | None) -> tuple[Any, ...]:
    mesh = layout_of((), float, device_mesh, None).mesh
    return tuple(replicated(part, mesh) for part in found)


def diag_indices(
    n: int, ndim: int = 2, *, device_mesh: _C.Mesh | None = None
) -> tuple[Any, ...]:
    """Return the indices of the main diagonal, replicated: see `numpy.diag_indices`."""
    return _on_mesh(np.diag_indices(n, ndim), device_mesh)


def tril_indices(
    n: int, k: int = 0, m: int | None = None, *, device_mesh: _C.Mesh | None = None
) -> tuple[Any, ...]:
    """Return the indices of a lower triangle, replicated: see `numpy.tril_indices`."""
    return _on_mesh(np.tril_indices(n, k, m), device_mesh)


def triu_indices(
    n: int, k: int = 0, m: int | None = None, *, device_mesh: _C.Mesh | None = None
) -> tuple[Any, ...]:
    """Return the indices of an upper triangle, replicated: see `numpy.triu_indices`."""
    return _on_mesh(np.triu_indices(n, k, m), device_mesh)


@composed(np.diag_indices_from)
def diag_indices_from(arr: Any) -> tuple[Any, ...]:
    """Return the indices of the main diagonal of a tensor, replicated."""
    return _on_mesh(np.diag_indices_from(hollow(arr.shape)), arr.device_mesh)


@composed(np.tril_indices_from)
def tril_indices_from(arr: Any, k: int = 0) -> tuple[Any, ...]:
    """Return the indices of the lower triangle of a tensor, replicated."""
    return _on_mesh(np.tril_indices_from(hollow(arr.shape), k), arr.device_mesh)


@composed(np.triu_indices_from)
def triu_indices_from(arr: Any, k: int = 0) -> tuple[Any, ...]:
    """Return the indices of the upper triangle of a tensor, replicated."""
    return _on_mesh(np.triu_indices_from(hollow(arr.shape), k), arr.device_mesh)
