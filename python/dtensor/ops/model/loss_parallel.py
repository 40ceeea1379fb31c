"""What is particular to losses inside `dtensor.parallel.loss_parallel`."""

import threading
from typing import Any

from dtensor import _C
from dtensor.ops._make.parts import move

__all__ = [
    "as_replicated",
    "is_loss_parallel",
    "mesh_dim_of",
    "set_loss_parallel",
    "whole_on",
]


class _Mode(threading.local):
    on = False


_mode = _Mode()


def set_loss_parallel(on: bool) -> bool:
    """Set for this thread whether losses are made where classes are cut, whatever that
    costs, and return what was: see `dtensor.parallel.loss_parallel`."""
    before, _mode.on = _mode.on, on
    return before


def is_loss_parallel() -> bool:
    """Return what `set_loss_parallel` has set."""
    return _mode.on


def mesh_dim_of(x: _C.DTensor, dim: int) -> int:
    """Return the mesh dim that cuts the classes."""
    cuts = [m for m, p in enumerate(x.placements) if p._cut_dim == dim]
    if len(cuts) != 1:
        raise ValueError(
            "loss_parallel() requires exactly one mesh dim to shard tensor dimension "
            f"{dim}, but got placements {x.placements} with {len(cuts)} such mesh "
            "dim(s)."
        )
    return cuts[0]


def as_replicated(x: _C.DTensor, dim: int, of_row: Any, lacks: bool) -> Any:
    """Return a rank-local Tensor as a replicated DTensor."""
    if isinstance(of_row, _C.DTensor) or not isinstance(of_row, _C.Tensor):
        return of_row
    others = [p for p in x.placements if p._cut_dim not in (None, dim)]
    if lacks and others:
        raise ValueError(
            "loss_parallel() requires a DTensor (not a plain Tensor) where the target "
            f"is sharded as the input is: {x.placements}. Wrap it with "
            "DTensor.from_local or distribute_tensor."
        )
    whole = [_C.Replicate()] * x.device_mesh.ndim
    return _C.DTensor.from_local(of_row, x.device_mesh, whole)


def whole_on(mesh_dim: int, loss: _C.DTensor) -> _C.DTensor:
    """Return the loss replicated on the mesh dim that cuts the classes."""
    places = list(loss.placements)
    places[mesh_dim] = _C.Replicate()
    return move("cross_entropy", loss, loss.layout.with_placements(places))
