"""Every rank sends something to every other one."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core import world
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


def all_to_all_single(
    self: Any,
    output_split_sizes: Sequence[int] | None,
    input_split_sizes: Sequence[int] | None,
    group: Group,
    tag: str = "",
) -> _C.Tensor:
    """Cut the tensor along dim 0, send a piece to each rank, and join what they send.

    The gradient goes back the same ways.

    Parameters
    ----------
    self : Tensor or array_like
        Of one dtype, and of shapes that differ in dim 0 at most.
    output_split_sizes : sequence of int or None
        How many rows come from each rank of the group.
    input_split_sizes : sequence of int or None
        How many go to each. With None for both, pieces are equal.
    group, tag
        As in `all_reduce`.

    Returns
    -------
    Tensor
        The pieces in the order of the ranks that they come from.

    Raises
    ------
    AssertionError
        If one of the sizes is None, or they are not one for each rank, or without them
        dim 0 is no multiple of the number of ranks: on every rank.
    ValueError
        If sizes do not add up, or a rank expects another number of rows than the other
        one sends: on every rank.
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
    # A tensor for each rank that rows go to: on all ranks before, on that one after.
    matrix = _everybodys_sizes(mine, mesh)
    ends = np.cumsum(mine[0])
    pieces = [x[end - rows : end] for end, rows in zip(ends, mine[0], strict=True)]
    return move(pieces, [_sending(x, mesh, j, matrix[:, j]) for j in range(n)])[
        mesh.get_local_rank()
    ]


def shard_dim_alltoall(
    self: Any, gather_dim: int, shard_dim: int, group: Group, tag: str = ""
) -> _C.Tensor:
    """Join the parts of all ranks along one dim, and cut what comes along another.

    What `all_gather_tensor`, and a part of its result, would be. The gradient goes back
    the same ways.

    Parameters
    ----------
    self : Tensor or array_like
        Of one dtype, and of shapes that differ in `gather_dim` at most.
    gather_dim, shard_dim : int
        The dims: parts of the second are those of ``torch.chunk``.
    group, tag
        As in `all_reduce`.

    Returns
    -------
    Tensor
        This rank's part.

    Raises
    ------
    ValueError, RuntimeError
        If the tensors do not fit together: on every rank.
    IndexError
        If there is no such dim: on every rank.
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
    """Return the move of so many rows from each rank to one of them."""
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
    """Return what this rank sends and gets; None: equal pieces."""
    if x.ndim == 0:
        raise ValueError("all_to_all_single cuts dim 0, which a scalar lacks")
    if all(each is None for each in sizes):
        if x.shape[0] % n:
            raise AssertionError(
                f"all_to_all_single: dim 0 has length {x.shape[0]}, which is no "
                f"multiple of the {n} ranks: give the sizes"
            )
        return None
    if any(each is None or len(each) != n for each in sizes):
        raise AssertionError(
            "all_to_all_single: output_split_sizes and input_split_sizes have an entry "
            f"for each of the {n} ranks, or both are None"
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
    shared = world.current().share(mine.tobytes(), mesh)
    sizes = np.array([np.frombuffer(each, np.int64) for each in shared])
    sent, got = np.moveaxis(sizes.reshape(len(shared), 2, -1), 1, 0)
    wrong = np.argwhere(sent != got.T)
    if len(wrong):
        i, j = wrong[0]
        raise ValueError(
            f"all_to_all_single: place {i} of the group sends {sent[i, j]} rows to "
            f"place {j}, which expects {got[j, i]}"
        )
    return sent
