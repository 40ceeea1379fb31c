"""Collectives of lists of tensors, with one message for each pair of ranks."""

from collections.abc import Sequence
from typing import Any

from dtensor import _C
from dtensor._core.told import told
from dtensor.device_mesh import DeviceMesh
from dtensor.functional_collectives._collectives import (
    gathering,
    reducing,
    scattering,
    tensor_of,
)
from dtensor.functional_collectives._group import Group, mesh_of
from dtensor.functional_collectives._moves import move, together

__all__ = [
    "all_gather_into_tensor_coalesced",
    "all_reduce_coalesced",
    "reduce_scatter_tensor_coalesced",
]


def _given(
    what: str, several: Sequence[Any], group: Group, count: int | None = None
) -> tuple[list[_C.Tensor], DeviceMesh]:
    """Return the tensors and the ranks of a call; raise on all ranks if one is bad."""
    mesh = mesh_of(group)

    def tensors() -> list[_C.Tensor]:
        if count is not None and count != len(several):
            raise AssertionError(f"got {count} scatter dims for {len(several)} tensors")
        return [tensor_of(x) for x in several]

    return together(what, mesh, tensors), mesh


@told
def all_reduce_coalesced(
    self: Sequence[Any], reduceOp: str, group: Group, tag: str = ""
) -> list[_C.Tensor]:
    """Return `all_reduce` of each tensor of a list, as one collective.

    Parameters
    ----------
    self : sequence of Tensor
        The tensors: the same number on all ranks.
    reduceOp, group, tag
        As in `all_reduce`.

    Returns
    -------
    list of Tensor
        One result for each tensor.

    Raises
    ------
    RuntimeError, ValueError, TypeError
        As `all_reduce`.
    """
    tensors, mesh = _given("all_reduce_coalesced", self, group)
    if not tensors or mesh.get_coordinate() is None:
        return tensors
    routes = together(
        "all_reduce_coalesced",
        mesh,
        lambda: [reducing(x, reduceOp, mesh) for x in tensors],
    )
    return move(tensors, routes)


@told
def all_gather_into_tensor_coalesced(
    self: Sequence[Any], group: Group, tag: str = ""
) -> list[_C.Tensor]:
    """Return `all_gather_tensor` along dim 0 of each tensor, as one collective.

    Parameters
    ----------
    self : sequence of Tensor
        The tensors: the same number on all ranks.
    group, tag
        As in `all_reduce`.

    Returns
    -------
    list of Tensor
        One result for each tensor.

    Raises
    ------
    RuntimeError, ValueError
        As `all_gather_tensor`.
    """
    tensors, mesh = _given("all_gather_into_tensor_coalesced", self, group)
    if not tensors or mesh.get_coordinate() is None:
        return tensors
    return move(tensors, [gathering(x, 0, mesh) for x in tensors])


@told
def reduce_scatter_tensor_coalesced(
    inputs: Sequence[Any],
    reduceOp: str,
    scatter_dim: Sequence[int],
    group: Group,
    tag: str = "",
) -> list[_C.Tensor]:
    """Return `reduce_scatter_tensor` of each tensor of a list, as one collective.

    Parameters
    ----------
    inputs : sequence of Tensor
        The tensors: the same number on all ranks.
    reduceOp, group, tag
        As in `all_reduce`.
    scatter_dim : sequence of int
        One dim for each tensor.

    Returns
    -------
    list of Tensor
        One result for each tensor.

    Raises
    ------
    AssertionError
        If there are more or fewer dims than tensors. On every rank.
    RuntimeError, ValueError, IndexError
        As `reduce_scatter_tensor`.
    """
    tensors, mesh = _given(
        "reduce_scatter_tensor_coalesced", inputs, group, len(scatter_dim)
    )
    if not tensors or mesh.get_coordinate() is None:
        return tensors
    routes = together(
        "reduce_scatter_tensor_coalesced",
        mesh,
        lambda: [
            scattering(x, reduceOp, dim, mesh)
            for x, dim in zip(tensors, scatter_dim, strict=True)
        ],
    )
    return move(tensors, routes)
