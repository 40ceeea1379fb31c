"""The collectives of ``torch.distributed``, as redistributions of a DTensor."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dtensor import _C
from dtensor.api import DTensor, distribute_tensor
from dtensor.autograd import no_grad
from dtensor.placement_types import Partial, Placement, Replicate, Shard
from dtensor.torch.distributed._groups import Group, mesh_of
from dtensor.torch.distributed._world import get_group_rank
from dtensor.torch.futures import Future

__all__ = [
    "ReduceOp",
    "Work",
    "all_gather",
    "all_gather_into_tensor",
    "all_reduce",
    "barrier",
    "broadcast",
    "monitored_barrier",
    "reduce_scatter_tensor",
]


class _Names(type):
    """Torch's names, from the table of reductions."""

    def __getattr__(cls, name: str) -> str:
        for row in _C.REDUCE_OPS:
            if row.torch.upper() == name:
                return row.name
        raise AttributeError(f"{cls.__name__} has no attribute {name!r}")

    def __dir__(cls) -> list[str]:
        return [*super().__dir__(), *(row.torch.upper() for row in _C.REDUCE_OPS)]


class ReduceOp(metaclass=_Names):
    """The reductions: SUM is what `Partial` takes as "sum", and so on."""


class Work:
    """What a collective with ``async_op=True`` returns; it has already finished.

    Parameters
    ----------
    *outputs : Tensor
        What it has written.
    """

    def __init__(self, *outputs: Any) -> None:
        self._outputs = list(outputs)

    def wait(self, timeout: Any = None) -> bool:
        """Return True."""
        return True

    def is_completed(self) -> bool:
        """Return True."""
        return True

    def result(self) -> list[Any]:
        """Return the tensors that were written."""
        return self._outputs

    def get_future(self) -> Future[list[Any]]:
        """Return a future whose value is the list of `result`."""
        future: Future[list[Any]] = Future()
        future.set_result(self._outputs)
        return future


def _done(async_op: bool, *outputs: Any) -> Work | None:
    return Work(*outputs) if async_op else None


def _moved(
    tensor: Any, group: Group, source: Placement, target: Placement
) -> _C.Tensor | None:
    """Return this rank's part after a move; None on ranks that are not in the group."""
    mesh = mesh_of(group)
    if mesh.get_coordinate() is None:
        return None
    with no_grad():
        x = DTensor.from_local(tensor, mesh, [source])
        return x.redistribute(placements=[target]).to_local()


def _write(tensor: Any, value: Any) -> None:
    if value is not None:
        with no_grad():
            np.copyto(tensor, value)


def all_reduce(
    tensor: Any, op: str = ReduceOp.SUM, group: Group = None, async_op: bool = False
) -> Work | None:
    """Reduce the tensors of all ranks, in place.

    Collective over the group, like all functions here.

    Parameters
    ----------
    tensor : Tensor or ndarray
        It must have the same shape on all ranks.
    op : str
        A member of `ReduceOp`.
    group : optional
        The ranks: what `new_group` or ``mesh.get_group()`` returns, or a mesh of one
        dimension; default: all.
    async_op : bool, default False
        Whether to return a `Work`. The collective has finished in any case.

    Raises
    ------
    ValueError
        If the shapes differ, on all ranks.
    """
    _write(tensor, _moved(tensor, group, Partial(op), Replicate()))
    return _done(async_op, tensor)


def broadcast(
    tensor: Any,
    src: int | None = None,
    group: Group = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """Copy the tensor of one rank to all, in place.

    Parameters
    ----------
    tensor, group, async_op
        As for `all_reduce`.
    src : int, optional
        The source rank, among all ranks.
    group_src : int, optional
        The source rank, within the group; exactly one of the two must be given.

    Raises
    ------
    ValueError
        If neither or both are given, or the rank is not in the group.
    """
    if (src is None) == (group_src is None):
        raise ValueError("Must specify either src or group_src")
    mesh = mesh_of(group)
    if src is not None:
        group_src = get_group_rank(mesh, src)
    if mesh.get_coordinate() is not None:
        with no_grad():
            x = distribute_tensor(tensor, mesh, [Replicate()], src_data_rank=group_src)
            _write(tensor, x.to_local())
    return _done(async_op, tensor)


def all_gather(
    tensor_list: Sequence[Any], tensor: Any, group: Group = None, async_op: bool = False
) -> Work | None:
    """Copy the tensors of all ranks into a list, one for each rank.

    Parameters
    ----------
    tensor_list : sequence of Tensor or ndarray
        The outputs: one for each rank, in the shape of `tensor`.
    tensor, group, async_op
        As for `all_reduce`.
    """
    whole = _moved(np.expand_dims(tensor, 0), group, Shard(0), Replicate())
    if whole is not None:
        for out, part in zip(tensor_list, whole, strict=True):
            _write(out, part)
    return _done(async_op, *tensor_list)


def all_gather_into_tensor(
    output_tensor: Any, input_tensor: Any, group: Group = None, async_op: bool = False
) -> Work | None:
    """Copy the tensors of all ranks into one: joined along the first dim, or stacked.

    Parameters
    ----------
    output_tensor : Tensor or ndarray
        The output.
    input_tensor, group, async_op
        As for `all_reduce`.
    """
    if np.ndim(output_tensor) > np.ndim(input_tensor):
        input_tensor = np.expand_dims(input_tensor, 0)
    _write(output_tensor, _moved(input_tensor, group, Shard(0), Replicate()))
    return _done(async_op, output_tensor)


def reduce_scatter_tensor(
    output: Any,
    input: Any,
    op: str = ReduceOp.SUM,
    group: Group = None,
    async_op: bool = False,
) -> Work | None:
    """Reduce the tensors of all ranks, and give each rank one part of the result.

    Parameters
    ----------
    output : Tensor or ndarray
        The output: this rank's part along the first dim.
    input, op, group, async_op
        As for `all_reduce`.
    """
    part = np.expand_dims(output, 0) if np.ndim(input) > np.ndim(output) else output
    _write(part, _moved(input, group, Partial(op), Shard(0)))
    return _done(async_op, output)


def barrier(
    group: Group = None, async_op: bool = False, device_ids: Any = None
) -> Work | None:
    """Wait until all ranks of the group have made this call."""
    mesh = mesh_of(group)
    world = _C.World.current()
    if world is not None and mesh.get_coordinate() is not None:
        world.agree(b"", "barrier", None, mesh)
    return _done(async_op)


def monitored_barrier(
    group: Group = None, timeout: Any = None, wait_all_ranks: bool = False
) -> None:
    """Wait until all ranks of the group have made this call: see `barrier`.

    Which rank is missing, each error says; `timeout` and `wait_all_ranks` are ignored.
    """
    barrier(group)
