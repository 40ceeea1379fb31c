"""Collectives of one tensor."""

from collections.abc import Sequence
from typing import Any

from dtensor import _C
from dtensor._core.told import told
from dtensor.device_mesh import DeviceMesh
from dtensor.functional_collectives._group import Group, mesh_of, of_ranks
from dtensor.functional_collectives._moves import Move, layout_of, move, together
from dtensor.placement_types import Partial, Replicate, Shard

__all__ = [
    "all_gather_tensor",
    "all_reduce",
    "broadcast",
    "gathering",
    "given",
    "permute_tensor",
    "reduce_scatter_tensor",
    "reducing",
    "reshaped",
    "scattering",
    "tensor_of",
    "wait_tensor",
    "with_dim",
]

REDUCTIONS = {"prod": "product"} | {
    name: row.name for row in _C.REDUCE_OPS for name in (row.name, row.torch)
}


def tensor_of(x: Any) -> _C.Tensor:
    """Return an argument as a Tensor; TypeError for a DTensor."""
    if isinstance(x, _C.DTensor):
        raise TypeError(
            "a functional collective takes what one rank holds, not a DTensor: pass "
            "x.to_local(), or use x.redistribute(...)"
        )
    return x if isinstance(x, _C.Tensor) else _C.as_tensor(x)


def reshaped(x: _C.Tensor, shape: tuple[int, ...]) -> _C.Tensor:
    """Return a tensor in another shape."""
    result: _C.Tensor = x.reshape(shape)
    return result


def with_dim(x: _C.Tensor) -> _C.Tensor:
    """Return a tensor of at least one dim."""
    return x if x.ndim else reshaped(x, (1,))


def given(what: str, x: Any, group: Group) -> tuple[_C.Tensor, DeviceMesh]:
    """Return the tensor and the ranks of a call; raise on all ranks if one is bad."""
    mesh = mesh_of(group)
    return together(what, mesh, lambda: tensor_of(x)), mesh


def _partial(reduce_op: str) -> Partial:
    name = REDUCTIONS.get(str(reduce_op).lower())
    if name is None:
        raise ValueError(
            f"Invalid ReduceOp: {reduce_op!r}; use one of {', '.join(REDUCTIONS)}"
        )
    return Partial(name)


# --- which move it is -----------------------------------------------------------------


def reducing(x: _C.Tensor, reduce_op: str, mesh: DeviceMesh) -> Move:
    """Return the move of all_reduce."""
    return layout_of(x, mesh, _partial(reduce_op)), layout_of(x, mesh, Replicate())


def scattering(x: _C.Tensor, reduce_op: str, dim: int, mesh: DeviceMesh) -> Move:
    """Return the move of reduce_scatter."""
    return layout_of(x, mesh, _partial(reduce_op)), layout_of(x, mesh, Shard(dim))


def gathering(x: _C.Tensor, dim: int, mesh: DeviceMesh) -> Move:
    """Return the move of all_gather; the ranks exchange their sizes."""
    source = _C.DTensor.from_local(x.detach(), mesh, [Shard(dim)]).layout
    return source, source.with_placements([Replicate()])


# --- the functions --------------------------------------------------------------------


def wait_tensor(tensor: Any) -> _C.Tensor:
    """Return the tensor once it is complete; results of these functions always are."""
    return tensor_of(tensor).wait()


@told
def all_reduce(self: Any, reduceOp: str, group: Group, tag: str = "") -> _C.Tensor:
    """Reduce the tensors of all ranks, element by element; every rank gets the result.

    Collective over the group, as all functions here. The gradient is the sum (or
    average) of the gradients on all ranks: as in torch, these count as parts of one
    gradient.

    Parameters
    ----------
    self : Tensor or array_like
        This rank's tensor. All ranks must have the same shape and dtype.
    reduceOp : str
        A `reduce_op` of `Partial`, or torch's name for it, in upper or lower case.
    group : DeviceMesh, (DeviceMesh, mesh dim), communicator of mpi4py, list of ranks
        The ranks. A mesh must have one dimension. Of several lists of ranks, the one
        with this rank is used.
    tag : str
        Ignored.

    Returns
    -------
    Tensor, shape ``self.shape``
        The same bits on all ranks.

    Raises
    ------
    RuntimeError
        If calls, shapes or dtypes differ between ranks: on every rank. In backward, if
        `reduceOp` has no gradient.
    ValueError
        If there is no such reduction, or this rank is not in the group.
    TypeError
        If `group` is not a group, `self` is a DTensor, or the dtype does not support
        the reduction.
    """
    x, mesh = given("all_reduce", self, group)
    if mesh.get_coordinate() is None:
        return x
    route = together("all_reduce", mesh, lambda: reducing(x, reduceOp, mesh))
    return move([x], [route])[0]


@told
def all_gather_tensor(
    self: Any, gather_dim: int, group: Group, tag: str = ""
) -> _C.Tensor:
    """Join the tensors of all ranks along a dim, in the order of the group.

    The gradient is summed over the ranks, and each rank gets its part of the sum.

    Parameters
    ----------
    self : Tensor or array_like
        This rank's tensor. The ranks must agree on the dtype, and on the shape except
        for `gather_dim`.
    gather_dim : int
        The dim. A scalar counts as a tensor of one dim of length 1.
    group, tag
        As in `all_reduce`.

    Returns
    -------
    Tensor
        The joined tensor, on all ranks.

    Raises
    ------
    ValueError, RuntimeError
        If the tensors do not match. On every rank.
    IndexError
        If there is no such dim. On every rank.
    """
    x, mesh = given("all_gather_tensor", self, group)
    x = with_dim(x)
    if mesh.get_coordinate() is None:
        return x
    return move([x], [gathering(x, gather_dim, mesh)])[0]


@told
def reduce_scatter_tensor(
    self: Any, reduceOp: str, scatter_dim: int, group: Group, tag: str = ""
) -> _C.Tensor:
    """Reduce the tensors of all ranks, and give each rank a part along a dim.

    The parts are those of ``torch.chunk``: if the length is not a multiple of the
    number of ranks (an error in torch), the last ones are shorter or empty. The
    gradient is gathered.

    Parameters
    ----------
    self : Tensor or array_like
        This rank's tensor. All ranks must have the same shape and dtype.
    reduceOp : str
        A `reduce_op` of `Partial`, or torch's name for it, in upper or lower case.
    scatter_dim : int
        The dim that is split.
    group, tag
        As in `all_reduce`.

    Returns
    -------
    Tensor
        This rank's part.

    Raises
    ------
    RuntimeError
        If calls, shapes or dtypes differ between ranks. On every rank.
    IndexError
        If there is no such dim. On every rank.
    """
    x, mesh = given("reduce_scatter_tensor", self, group)
    x = with_dim(x)
    if mesh.get_coordinate() is None:
        return x
    route = together(
        "reduce_scatter_tensor",
        mesh,
        lambda: scattering(x, reduceOp, scatter_dim, mesh),
    )
    return move([x], [route])[0]


@told
def broadcast(self: Any, src: int, group: Group, tag: str = "") -> _C.Tensor:
    """Give every rank the tensor of one rank.

    The gradients of all ranks are summed on that rank; the others get zeros.

    Parameters
    ----------
    self : Tensor or array_like
        This rank's tensor. All ranks must have the same shape and dtype.
    src : int
        The index in the group of the rank whose tensor is sent.
    group, tag
        As in `all_reduce`.

    Returns
    -------
    Tensor, shape ``self.shape``
        The tensor of rank `src`.

    Raises
    ------
    RuntimeError
        If calls, shapes or dtypes differ between ranks. On every rank.
    ValueError
        If `src` is not an index in the group. On every rank.
    """
    x, mesh = given("broadcast", self, group)
    if mesh.get_coordinate() is None:
        return x

    def route() -> Move:
        if not 0 <= src < mesh.size():
            raise ValueError(
                f"broadcast: a group of {mesh.size()} ranks has no rank {src}"
            )
        root = of_ranks([int(mesh.ranks[src])], mesh)
        return layout_of(x, root, Replicate()), layout_of(x, mesh, Replicate())

    return move([x], [together("broadcast", mesh, route)])[0]


@told
def permute_tensor(
    self: Any, src_dst: Sequence[int], group: Group, tag: str = ""
) -> _C.Tensor:
    """Send the tensor of each rank to another one.

    The gradient takes the same paths back.

    Parameters
    ----------
    self : Tensor or array_like
        This rank's tensor. The ranks must agree on the dtype, and on the shape except
        for the first dim.
    src_dst : sequence of int
        A permutation: rank ``m`` of the group sends to rank ``src_dst[m]``.
    group, tag
        As in `all_reduce`.

    Returns
    -------
    Tensor
        The tensor that this rank receives.

    Raises
    ------
    ValueError
        If `src_dst` is not a permutation of the group's ranks, or the tensors differ in
        another dim. On every rank.
    RuntimeError
        If calls or dtypes differ between ranks. On every rank.
    """
    x, mesh = given("permute_tensor", self, group)
    if mesh.get_coordinate() is None:
        return x

    def check() -> DeviceMesh:
        if sorted(src_dst) != list(range(mesh.size())):
            raise ValueError(
                f"permute_tensor: src_dst must be a permutation of 0 .. "
                f"{mesh.size() - 1}, not {list(src_dst)}"
            )
        return of_ranks(mesh.ranks[list(src_dst)].tolist(), mesh)

    there = together("permute_tensor", mesh, check)
    part = with_dim(x)
    source, _ = gathering(part, 0, mesh)
    target = _C.Layout(
        there, source.placements, source.shape, source.dtype, cuts=source.cuts
    )
    result = move([part], [(source, target)])[0]
    return result if x.ndim else reshaped(result, ())
