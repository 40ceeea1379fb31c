"""Collectives as redistributions of a DTensor, and their gradients.

The parts that the ranks hold are read as a tensor in one layout and returned in
another, so the move is planned, compared, counted and run like any redistribute. The
gradient moves back between the transposed layouts: Replicate is the transpose of
Partial, and a Shard is its own transpose.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from dtensor import _C
from dtensor._core import world
from dtensor._core.device import is_meta
from dtensor.autograd import Function
from dtensor.device_mesh import DeviceMesh
from dtensor.placement_types import Partial, Placement, Replicate

__all__ = ["Move", "layout_of", "move", "moved", "together"]

Move = tuple[_C.Layout, _C.Layout]  # from, to
T = TypeVar("T")
LINEAR = [row.name for row in _C.REDUCE_OPS if row.linear]


def layout_of(
    x: _C.Tensor,
    mesh: DeviceMesh,
    placement: Placement,
    shape: Sequence[int] | None = None,
) -> _C.Layout:
    """Return a layout on a mesh of one dimension, with the dtype of `x`."""
    return _C.Layout(mesh, [placement], x.shape if shape is None else shape, x.dtype)


def together(what: str, mesh: DeviceMesh, prepare: Callable[[], T]) -> T:
    """Return ``prepare()``; what it raises on one rank is raised on all.

    The other ranks are already in the collective that this rank would have called, and
    receive the error there.
    """
    try:
        return prepare()
    except Exception as error:
        if mesh.get_coordinate() is not None:
            world.current().agree(b"", what, error, mesh)
        raise


def moved(tensors: Sequence[Any], moves: Sequence[Move]) -> list[_C.Tensor]:
    """Return this rank's parts after the moves, which run together; not recorded.

    The tensor of a rank outside the source mesh is ignored; a rank outside the target
    mesh gets zeros.
    """
    wholes = []
    for x, (source, _) in zip(tensors, moves, strict=True):
        inside = source.mesh.get_coordinate() is not None
        part = x.detach() if inside else np.empty(0, source.dtype)
        wholes.append(_C.of_part(part, source))
    targets = [target for _, target in moves]
    results = _C.redistribute(wholes, targets[0].mesh, targets)
    if targets[0].mesh.get_coordinate() is None:
        return [_C.Tensor(np.zeros(to.shape, to.dtype)) for to in targets]
    parts = []
    for result, x in zip(results, tensors, strict=True):
        part = _own(result.to_local(), x)
        parts.append(_C.into_torch(part) if _C.is_torch(x) else part)
    return parts


def move(tensors: Sequence[_C.Tensor], moves: Sequence[Move]) -> list[_C.Tensor]:
    """Return this rank's parts after the moves, which run together. Differentiable."""
    return list(_Moved.apply(tuple(moves), *tensors))


class _Moved(Function):
    @staticmethod
    def forward(ctx: Any, moves: tuple[Move, ...], *tensors: Any) -> Any:
        ctx.moves = moves
        return tuple(moved(tensors, moves))

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        back, scaled = [], []
        for (source, target), grad in zip(ctx.moves, grads, strict=True):
            average = source.placements[0]._pending_op == "avg"
            scaled.append(grad / source.mesh.size() if average else grad)
            back.append((_transposed(target), _transposed(source)))
        return None, *_Moved.apply(tuple(back), *scaled)


def _transposed(layout: _C.Layout) -> _C.Layout:
    """Return the layout that the gradient of a tensor in `layout` has."""
    mesh, (placement,) = layout.mesh, layout.placements
    if placement._is_whole:  # on one rank they are the same
        return layout.with_placements([Partial("sum")] if mesh.size() > 1 else None)
    if not placement._is_pending:
        return layout
    if placement._pending_op not in LINEAR:
        raise RuntimeError(
            "a collective has a gradient only if it reduces by "
            f"{' or '.join(LINEAR)}, not by {placement._pending_op}"
        )
    return layout.with_placements([Replicate()])


def _own(result: _C.Tensor, x: Any) -> _C.Tensor:
    """Return a result that shares no memory with its operand."""
    if is_meta(result) or is_meta(x):
        return result
    if np.may_share_memory(result.numpy(force=True), x.numpy(force=True)):
        return _C.Tensor(result.numpy(force=True).copy())
    return result
