"""Collectives between one rank and all, all and all, and those of objects."""

import pickle
from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from dtensor import functional_collectives as _functional
from dtensor._core import world as _world
from dtensor._core.told import told
from dtensor.api import DTensor, distribute_tensor
from dtensor.autograd import no_grad
from dtensor.placement_types import Partial, Shard
from dtensor.torch.distributed._collectives import (
    ReduceOp,
    Work,
    _done,
    _moved,
    _write,
    all_gather,
    all_gather_into_tensor,
    all_reduce,
    reduce_scatter_tensor,
)
from dtensor.torch.distributed._groups import Group, mesh_of

__all__ = [
    "all_gather_coalesced",
    "all_gather_object",
    "all_gather_single",
    "all_reduce_coalesced",
    "all_to_all",
    "all_to_all_single",
    "broadcast_object_list",
    "gather",
    "gather_object",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_single",
    "scatter",
    "scatter_object_list",
]

all_gather_single = all_gather_into_tensor
reduce_scatter_single = reduce_scatter_tensor


def _root(
    name: str, rank: int | None, group: Group, group_rank: int | None, default: bool
) -> int:
    """Return the place in a group of a rank that is given in one of two ways."""
    if rank is not None and group_rank is not None:
        raise ValueError(f"Can't specify both group_{name} and {name}")
    if group_rank is not None:
        return group_rank
    if rank is None and not default:
        raise ValueError(f"Must specify either {name} or group_{name}")
    ranks = mesh_of(group).ranks.ravel().tolist()
    return int(ranks.index(rank or 0))


def reduce(
    tensor: Any,
    dst: int | None = None,
    op: str = ReduceOp.SUM,
    group: Group = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """Reduce the tensors of all ranks, in place on one of them.

    Parameters
    ----------
    tensor, op, group, async_op
        As of `all_reduce`.
    dst, group_dst : int
        The rank, among all ranks or within the group; one of both is to be given.
    """
    root = _root("dst", dst, group, group_dst, False)
    mesh = mesh_of(group)
    if mesh.get_coordinate() is not None:
        with no_grad():
            x = DTensor.from_local(tensor, mesh, [Partial(op)])
            _write(tensor, x.full_tensor(root=root))
    return _done(async_op, tensor)


@told
def gather(
    tensor: Any,
    gather_list: Sequence[Any] | None = None,
    dst: int | None = None,
    group: Group = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """Copy the tensors of all ranks into a list of one rank.

    Parameters
    ----------
    tensor, group, async_op
        As of `all_reduce`.
    gather_list : sequence of Tensor or ndarray
        The outputs: on the rank `dst`, and there alone.
    dst, group_dst : int
        That rank, among all ranks or within the group; default: 0.

    Raises
    ------
    ValueError
        If the list is not given where it is needed.
    """
    root = _root("dst", dst, group, group_dst, True)
    mesh = mesh_of(group)
    here = mesh.get_coordinate()
    if here is None:
        return _done(async_op)
    _check_list("gather_list", gather_list, here[0] == root, "destination", "gather")
    with no_grad():
        x = DTensor.from_local(np.expand_dims(tensor, 0), mesh, [Shard(0)])
        whole: Any = x.full_tensor(root=root)
        for out, part in zip(
            gather_list or (), whole if here[0] == root else (), strict=True
        ):
            _write(out, part)
    return _done(async_op, *(gather_list or ()))


def _check_list(name: str, given: Any, wanted: bool, what: str, of: str) -> None:
    if wanted and not given:
        raise ValueError(f"Argument ``{name}`` must be specified on {what} rank.")
    if given and not wanted:
        raise ValueError(
            f"Argument ``{name}`` must NOT be specified on non-{what} ranks."
        )


@told
def scatter(
    tensor: Any,
    scatter_list: Sequence[Any] | None = None,
    src: int | None = None,
    group: Group = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """Give each rank one tensor of a list of one rank.

    Parameters
    ----------
    tensor : Tensor or ndarray
        The output.
    scatter_list : sequence of Tensor or ndarray
        On the rank `src`, and there alone: one for each rank, in one shape.
    src, group_src : int
        That rank, among all ranks or within the group; default: 0.
    group, async_op
        As of `all_reduce`.

    Raises
    ------
    ValueError
        If the list is not given where it is needed.
    """
    root = _root("src", src, group, group_src, True)
    mesh = mesh_of(group)
    here = mesh.get_coordinate()
    if here is None:
        return _done(async_op, tensor)
    _check_list("scatter_list", scatter_list, here[0] == root, "source", "scatter")
    with no_grad():
        whole = None if scatter_list is None else np.stack(list(scatter_list))
        x = distribute_tensor(whole, mesh, [Shard(0)], src_data_rank=root)
        _write(tensor, x.to_local()[0])
    return _done(async_op, tensor)


@told
def reduce_scatter(
    output: Any,
    input_list: Sequence[Any],
    op: str = ReduceOp.SUM,
    group: Group = None,
    async_op: bool = False,
) -> Work | None:
    """Reduce lists of tensors, one for each rank, and give each rank its own.

    Parameters
    ----------
    output : Tensor or ndarray
    input_list : sequence of Tensor or ndarray
        All in the shape of `output`.
    op, group, async_op
        As of `all_reduce`.
    """
    whole = np.stack(list(input_list))
    _write(np.expand_dims(output, 0), _moved(whole, group, Partial(op), Shard(0)))
    return _done(async_op, output)


@told
def all_to_all_single(
    output: Any,
    input: Any,
    output_split_sizes: Sequence[int] | None = None,
    input_split_sizes: Sequence[int] | None = None,
    group: Group = None,
    async_op: bool = False,
) -> Work | None:
    """Send a part of the tensor to each rank, and join those that come.

    Parameters
    ----------
    output : Tensor or ndarray
    input : Tensor or ndarray
        Split along its first dim, in equal parts if no sizes are given.
    output_split_sizes, input_split_sizes : sequence of int, optional
        How many rows come from each rank, and go to each.
    group, async_op
        As of `all_reduce`.
    """
    mesh = mesh_of(group)
    if mesh.get_coordinate() is not None:
        sizes = output_split_sizes or None, input_split_sizes or None
        if sizes[0] is None and sizes[1] is not None:
            sizes = [len(output) // len(sizes[1])] * len(sizes[1]), sizes[1]
        if sizes[1] is None and sizes[0] is not None:
            sizes = sizes[0], [len(input) // len(sizes[0])] * len(sizes[0])
        with no_grad():
            _write(output, _functional.all_to_all_single(input, *sizes, mesh))
    return _done(async_op, output)


@told
def all_to_all(
    output_tensor_list: Sequence[Any],
    input_tensor_list: Sequence[Any],
    group: Group = None,
    async_op: bool = False,
) -> Work | None:
    """Send each rank one tensor of a list, and receive one from each.

    Parameters
    ----------
    output_tensor_list, input_tensor_list : sequence of Tensor or ndarray
        One for each rank; they may have different shapes.
    group, async_op
        As of `all_reduce`.
    """
    mesh = mesh_of(group)
    if mesh.get_coordinate() is not None:
        flat = np.concatenate([np.ravel(x) for x in input_tensor_list])
        sizes: Any = [
            [int(np.size(x)) for x in each]
            for each in (output_tensor_list, input_tensor_list)
        ]
        with no_grad():
            found: Any = _functional.all_to_all_single(flat, sizes[0], sizes[1], mesh)
            ends = np.cumsum(sizes[0])
            for out, end, n in zip(output_tensor_list, ends, sizes[0], strict=True):
                _write(out, np.reshape(found[end - n : end], np.shape(out)))
    return _done(async_op, *output_tensor_list)


def all_reduce_coalesced(
    tensors: Sequence[Any],
    op: str = ReduceOp.SUM,
    group: Group = None,
    async_op: bool = False,
) -> Work | None:
    """Reduce several tensors in place: see `all_reduce`."""
    for tensor in tensors:
        all_reduce(tensor, op, group)
    return _done(async_op, *tensors)


def all_gather_coalesced(
    output_tensor_lists: Sequence[Sequence[Any]],
    input_tensor_list: Sequence[Any],
    group: Group = None,
    async_op: bool = False,
) -> Work | None:
    """Gather several tensors: the outputs are one list for each rank."""
    for k, tensor in enumerate(input_tensor_list):
        all_gather([each[k] for each in output_tensor_lists], tensor, group)
    return _done(async_op, *chain.from_iterable(output_tensor_lists))


# --- objects --------------------------------------------------------------------------


def _shared(obj: Any, group: Group, what: str) -> list[Any] | None:
    """Return the objects of all ranks of a group; None outside of it."""
    mesh = mesh_of(group)
    if mesh.get_coordinate() is None:
        return None
    found = _world.current().share(pickle.dumps(obj), mesh, what)
    return [pickle.loads(data) for data in found]


@told
def all_gather_object(object_list: list[Any], obj: Any, group: Group = None) -> None:
    """Copy a picklable object of each rank into a list of as many.

    Collective over the group. Objects come from ranks of the same job.
    """
    found = _shared(obj, group, "all_gather_object")
    if found is not None:
        object_list[:] = found


@told
def gather_object(
    obj: Any,
    object_gather_list: list[Any] | None = None,
    dst: int | None = None,
    group: Group = None,
    group_dst: int | None = None,
) -> None:
    """Copy a picklable object of each rank into a list of one: see `gather`."""
    root = _root("dst", dst, group, group_dst, True)
    here = mesh_of(group).get_coordinate()
    if here is None:
        return
    is_root = here[0] == root
    name = "object_gather_list"
    _check_list(name, object_gather_list, is_root, "destination", "gather_object")
    found = _shared(obj, group, "gather_object")
    if object_gather_list is not None and found is not None:
        object_gather_list[:] = found


def _of_root(objects: Any, root: int, group: Group, what: str) -> Any:
    here = mesh_of(group).get_coordinate()
    given = list(objects) if here is not None and here[0] == root else None
    found = _shared(given, group, what)
    return None if found is None else found[root]


@told
def broadcast_object_list(
    object_list: list[Any],
    src: int | None = None,
    group: Group = None,
    device: Any = None,
    group_src: int | None = None,
) -> None:
    """Copy the picklable objects in a list of one rank into the lists of all.

    Collective over the group; `device` is ignored. The rank: see `broadcast`.
    """
    root = _root("src", src, group, group_src, False)
    found = _of_root(object_list, root, group, "broadcast_object_list")
    if found is not None:
        object_list[:] = found


@told
def scatter_object_list(
    scatter_object_output_list: list[Any],
    scatter_object_input_list: Sequence[Any] | None = None,
    src: int | None = None,
    group: Group = None,
    group_src: int | None = None,
) -> None:
    """Put one object of a list of one rank first in the list of each: see `scatter`.

    Raises
    ------
    ValueError
        If the output list is empty.
    """
    if not scatter_object_output_list:
        raise ValueError(
            "Expected argument scatter_object_output_list to be a list of size at "
            "least 1."
        )
    root = _root("src", src, group, group_src, True)
    given = scatter_object_input_list or ()
    found = _of_root(given, root, group, "scatter_object_list")
    here = mesh_of(group).get_coordinate()
    if here is not None:
        scatter_object_output_list[0] = found[here[0]]
