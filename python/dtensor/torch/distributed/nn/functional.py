"""``torch.distributed.nn.functional``: collectives that backward goes through.

Collective over the group, in backward too. Results are new tensors; they are those of
`dtensor.functional_collectives`.
"""

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dtensor import functional_collectives as _functional, ops
from dtensor.torch.distributed._collectives import ReduceOp
from dtensor.torch.distributed._groups import Group, mesh_of
from dtensor.torch.distributed._world import get_group_rank

__all__ = [
    "all_gather",
    "all_reduce",
    "all_to_all",
    "all_to_all_single",
    "broadcast",
    "gather",
    "reduce",
    "reduce_scatter",
    "scatter",
]


def all_reduce(tensor: Any, op: str = ReduceOp.SUM, group: Group = None) -> Any:
    """Return the sum, or the like, of the tensors of all ranks.

    The gradient is the sum of those of all ranks.
    """
    return _functional.all_reduce(tensor, op, mesh_of(group))


def all_gather(tensor: Any, group: Group = None) -> tuple[Any, ...]:
    """Return the tensors of all ranks, which have one shape.

    The gradient of a rank's tensor is the sum of those that all ranks have for it.
    """
    mesh = mesh_of(group)
    joined = _functional.all_gather_tensor(ops.expand_dims(tensor, 0), 0, mesh)
    return tuple(joined[k] for k in range(mesh.size()))


def reduce_scatter(
    output: Any, input_list: Sequence[Any], op: str = ReduceOp.SUM, group: Group = None
) -> Any:
    """Return what is reduced for this rank; `output` is ignored."""
    whole = ops.stack(list(input_list))
    return _functional.reduce_scatter_tensor(whole, op, 0, mesh_of(group))[0]


def broadcast(tensor: Any, src: int, group: Group = None) -> Any:
    """Return the tensor of one rank, which gets the sum of the gradients.

    `src` is its number among all ranks; ValueError if it is not in the group.
    """
    return _functional.broadcast(tensor, get_group_rank(group, src), mesh_of(group))


def reduce(tensor: Any, dst: int, op: str = ReduceOp.SUM, group: Group = None) -> Any:
    """Return what is reduced on rank `dst`, and the tensor itself on the others.

    The gradient of all ranks is that of `dst`.
    """
    mesh, place = mesh_of(group), get_group_rank(group, dst)
    found = _functional.all_reduce(tensor, op, mesh)
    mine = mesh.get_local_rank() == place
    return ops.where(np.bool_(mine), found, tensor.detach())


def gather(tensor: Any, dst: int = 0, group: Group = None) -> tuple[Any, ...]:
    """Return the tensors of all ranks on rank `dst`, zeros on the others.

    They have one shape. Each rank gets its gradient back from `dst`.
    """
    mesh, place = mesh_of(group), get_group_rank(group, dst)
    there, n = mesh.get_local_rank() == place, mesh.size()
    sizes = [int(there)] * n, [int(k == place) for k in range(n)]
    row = ops.expand_dims(tensor, 0)
    rows = _functional.all_to_all_single(row, *sizes, mesh)
    if there:
        return tuple(rows[k] for k in range(n))
    zeros = ops.zeros_like(tensor) + ops.sum(rows)  # of nothing: backward goes there
    return tuple(zeros for _ in range(n))


def scatter(tensors: Sequence[Any], src: int = 0, group: Group = None) -> Any:
    """Return what rank `src` has for this one.

    Others give tensors of the same shape; the gradients go to those of `src`.
    """
    mesh, place = mesh_of(group), get_group_rank(group, src)
    here, n = mesh.get_local_rank() == place, mesh.size()
    sizes = [int(k == place) for k in range(n)], [int(here)] * n
    rows = ops.stack(list(tensors))
    return _functional.all_to_all_single(rows if here else rows[:0], *sizes, mesh)[0]


def all_to_all(
    output_tensor_list: Sequence[Any],
    input_tensor_list: Sequence[Any],
    group: Group = None,
) -> tuple[Any, ...]:
    """Return what each rank has for this one, in the shapes of `output_tensor_list`."""
    shapes = [tuple(x.shape) for x in output_tensor_list]
    sent = [ops.ravel(x) for x in input_tensor_list]
    got, gone = [math.prod(shape) for shape in shapes], [int(x.shape[0]) for x in sent]
    found = _functional.all_to_all_single(
        ops.concatenate(sent), got, gone, mesh_of(group)
    )
    ends = list(itertools.accumulate(got, initial=0))
    return tuple(
        ops.reshape(found[begin:end], shape)
        for begin, end, shape in zip(ends, ends[1:], shapes, strict=False)
    )


def all_to_all_single(
    output: Any,
    input: Any,
    output_split_sizes: Sequence[int] | None = None,
    input_split_sizes: Sequence[int] | None = None,
    group: Group = None,
) -> Any:
    """Return what the ranks have for this one, joined; `output` is ignored."""
    sizes = output_split_sizes, input_split_sizes
    return _functional.all_to_all_single(input, *sizes, mesh_of(group))
