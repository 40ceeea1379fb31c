"""Collectives in which every rank sends to every other one."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core import world
from dtensor._core.told import told
from dtensor.device_mesh import DeviceMesh
from dtensor.functional_collectives._collectives import (
    gathering,
    given,
    reshaped,
    with_dim,
)
from dtensor.functional_collectives._group import Group
from dtensor.functional_collectives._moves import Move, layout_of, move, together
from dtensor.placement_types import Shard

__all__ = ["all_to_all_single", "shard_dim_alltoall"]


@told
def all_to_all_single(
    self: Any,
    output_split_sizes: Sequence[int] | None,
    input_split_sizes: Sequence[int] | None,
    group: Group,
    tag: str = "",
) -> _C.Tensor:
    """Split the tensor along dim 0, send a piece to each rank, and join those received.

    The gradient takes the same paths back.

    Parameters
    ----------
    self : Tensor or array_like
        This rank's tensor. The ranks must agree on the dtype, and on the shape except
        for dim 0.
    output_split_sizes : sequence of int or None
        How many rows this rank receives from each rank of the group.
    input_split_sizes : sequence of int or None
        How many rows it sends to each. If both are None, the pieces are equal.
    group, tag
        As in `all_reduce`.

    Returns
    -------
    Tensor
        The received pieces, in the order of their source ranks.

    Raises
    ------
    AssertionError
        If only one of the two is None, there is not one size for each rank, or without
        sizes the length of dim 0 is not a multiple of the number of ranks. On every
        rank.
    ValueError
        If sizes do not add up, or a rank expects a number of rows that the other one
        does not send. On every rank.
    """
    x, mesh = given("all_to_all_single", self, group)
    if mesh.get_coordinate() is None:
        return x
    sizes = (input_split_sizes, output_split_sizes)
    n = mesh.size()
    mine = together("all_to_all_single", mesh, lambda: _split_sizes(x, sizes, n))
    if mine is None:
        rows, rest = x.shape[0] // n, x.shape[1:]
        shape = (n, n, rows, *rest)
        route = layout_of(x, mesh, Shard(0), shape), layout_of(x, mesh, Shard(1), shape)
        return reshaped(move([reshaped(x, (1, *shape[1:]))], [route])[0], x.shape)
    # One move for each destination: from rows on all ranks to rows on that one.
    matrix = _everybodys_sizes(mine, mesh)
    ends = np.cumsum(mine[0])
    pieces = [x[end - rows : end] for end, rows in zip(ends, mine[0], strict=True)]
    return move(pieces, [_sending(x, mesh, j, matrix[:, j]) for j in range(n)])[
        mesh.get_local_rank()
    ]


@told
def shard_dim_alltoall(
    self: Any, gather_dim: int, shard_dim: int, group: Group, tag: str = ""
) -> _C.Tensor:
    """Join the parts of all ranks along one dim, and shard the result along another.

    The result is the same as this rank's part of `all_gather_tensor`. The gradient
    takes the same paths back.

    Parameters
    ----------
    self : Tensor or array_like
        This rank's tensor. The ranks must agree on the dtype, and on the shape except
        for `gather_dim`.
    gather_dim, shard_dim : int
        The two dims. `shard_dim` is split as ``torch.chunk`` does.
    group, tag
        As in `all_reduce`.

    Returns
    -------
    Tensor
        This rank's part.

    Raises
    ------
    ValueError, RuntimeError
        If the tensors do not match. On every rank.
    IndexError
        If there is no such dim. On every rank.
    """
    x, mesh = given("shard_dim_alltoall", self, group)
    x = with_dim(x)
    if mesh.get_coordinate() is None:
        return x
    source, whole = gathering(x, gather_dim, mesh)
    target = together(
        "shard_dim_alltoall", mesh, lambda: whole.with_placements([Shard(shard_dim)])
    )
    return move([x], [(source, target)])[0]


def _sending(x: _C.Tensor, mesh: DeviceMesh, to: int, rows: npt.NDArray[Any]) -> Move:
    """Return the move that sends so many rows from each rank to one of them."""
    ends = np.cumsum(rows)
    whole = (int(ends[-1]), *x.shape[1:])
    from_all = {0: [0, *ends.tolist()]}
    to_one = {0: [0] * (to + 1) + [whole[0]] * (len(rows) - to)}
    source, target = (
        _C.Layout(mesh, [Shard(0)], whole, x.dtype, cuts=cuts)
        for cuts in (from_all, to_one)
    )
    return source, target


def _split_sizes(
    x: _C.Tensor, sizes: tuple[Sequence[int] | None, ...], n: int
) -> npt.NDArray[np.int64] | None:
    """Return how many rows this rank sends and receives; None: equal pieces."""
    if x.ndim == 0:
        raise ValueError("all_to_all_single splits dim 0, but the tensor is a scalar")
    if all(each is None for each in sizes):
        if x.shape[0] % n:
            raise AssertionError(
                f"all_to_all_single: dim 0 has length {x.shape[0]}, which is not a "
                f"multiple of the {n} ranks: give the split sizes"
            )
        return None
    if any(each is None or len(each) != n for each in sizes):
        raise AssertionError(
            "all_to_all_single: output_split_sizes and input_split_sizes must both "
            f"have an entry for each of the {n} ranks, or both be None"
        )
    mine = np.array(sizes, np.int64)
    if (mine < 0).any() or mine[0].sum() != x.shape[0]:
        raise ValueError(
            f"all_to_all_single: input_split_sizes {mine[0].tolist()} do not add up to "
            f"the length {x.shape[0]} of dim 0"
        )
    return mine


def _everybodys_sizes(
    mine: npt.NDArray[np.int64], mesh: DeviceMesh
) -> npt.NDArray[np.int64]:
    """Return how many rows go from each rank (first index) to each."""
    shared = world.current().share(mine.tobytes(), mesh, "all_to_all_single")
    sizes = np.array([np.frombuffer(each, np.int64) for each in shared])
    sent, got = np.moveaxis(sizes.reshape(len(shared), 2, -1), 1, 0)
    wrong = np.argwhere(sent != got.T)
    if len(wrong):
        i, j = wrong[0]
        raise ValueError(
            f"all_to_all_single: rank {i} of the group sends {sent[i, j]} rows to "
            f"rank {j}, which expects {got[j, i]}"
        )
    return sent
