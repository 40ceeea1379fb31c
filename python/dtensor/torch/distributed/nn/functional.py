"""``torch.distributed.nn.functional``: collectives that backward goes through.

Collective over the group, in backward too. Results are new tensors; they are those of
`dtensor.functional_collectives`.
"""

from collections.abc import Sequence
from typing import Any

from dtensor import functional_collectives as _functional, ops
from dtensor.torch.distributed._collectives import ReduceOp
from dtensor.torch.distributed._world import Group, get_group_rank, mesh_of

__all__ = [
    "all_gather",
    "all_reduce",
    "all_to_all_single",
    "broadcast",
    "reduce_scatter",
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
