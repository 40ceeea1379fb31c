"""One parameter: spread over the data-parallel ranks, and whole while it is needed."""

from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import DeviceMesh, DTensor, Layout, Partial, Placement, Replicate, Tensor
from dtensor._device import empty, is_meta
from dtensor.nn import Module, Parameter

__all__ = ["Sharded", "Spread", "reduced_placements"]

Owners = list[tuple[Module, str]]


class Spread:
    """How the ranks of data parallelism hold parameters.

    Parameters
    ----------
    mesh : DeviceMesh
        Of one dim, or of two: the parameters are replicated along the first.
    placement : Placement
        Along the last dim: a Shard, or Replicate for plain data parallelism.
    """

    def __init__(self, mesh: DeviceMesh, placement: Placement) -> None:
        self.mesh = mesh
        self.placements: tuple[Placement, ...] = (
            *[Replicate()] * (mesh.ndim - 1),
            placement,
        )

    def layout(self, whole: Any) -> Layout:
        """Return how a parameter is held: with tensor parallelism, cut a second time.

        Raises
        ------
        ValueError
            If it is a DTensor on a mesh that is not cut from the same mesh as ours.
        """
        if not isinstance(whole, DTensor):
            return Layout(self.mesh, self.placements, whole.shape, whole.dtype)
        inner = whole.device_mesh
        mesh = _joined(self.mesh, inner)
        placements = (*self.placements, *whole.placements)
        order = {  # tensor parallelism cuts first
            dim: (*(m + self.mesh.ndim for m in dims), *mine)
            for dim, dims in _cuts(whole.placements, whole.ndim).items()
            if (mine := _cuts(self.placements, whole.ndim).get(dim))
        }
        return Layout(
            mesh, placements, whole.shape, whole.dtype, shard_order=order or None
        )


def _joined(outer: DeviceMesh, inner: DeviceMesh) -> DeviceMesh:
    """Return the mesh of the dims of both, which are cut from one root.

    That of `inner` is not asked: equal meshes may be one object, whatever their roots.
    """
    root = outer._get_root_mesh()
    mine, others = outer.mesh_dim_names or (), inner.mesh_dim_names or ()
    known = set(root.mesh_dim_names or ())
    if not others or not known.issuperset(mine + others) or root[others] != inner:
        raise ValueError(
            "fully_shard: a parameter that is a DTensor must be on a mesh that is cut, "
            f"by names, from the same mesh as that of fully_shard: {inner!r} and "
            f"{outer!r}"
        )
    return root if root.mesh_dim_names == mine + others else root[mine + others]


def _cuts(placements: tuple[Placement, ...], ndim: int) -> dict[int, tuple[int, ...]]:
    """Return the mesh dims that cut each dim."""
    cuts: dict[int, tuple[int, ...]] = {}
    for m, placement in enumerate(placements):
        if placement.is_shard():
            dim = placement.dim % ndim  # type: ignore[attr-defined]
            cuts[dim] = (*cuts.get(dim, ()), m)
    return cuts


def reduced_placements(
    placements: tuple[Placement, ...], count: int, op: str
) -> list[Placement]:
    """Return `placements` with addends along the first `count` mesh dims."""
    return [*[Partial(op)] * count, *placements[count:]]


class Sharded:
    """A parameter of a module under `fully_shard`.

    Attributes
    ----------
    sharded : DTensor
        The parameter that the user sees and optimizers change.
    full : Tensor or DTensor
        What the module computes with: a leaf of its own, whose memory comes and goes.
    """

    def __init__(
        self, owners: Owners, whole: Any, spread: Spread, dtype: npt.DTypeLike | None
    ) -> None:
        self.owners = owners
        self.spread = spread
        self.outer = spread.mesh.ndim
        self.layout = spread.layout(whole)
        self.inner = whole.layout if isinstance(whole, DTensor) else None
        self.sharded: Any = Parameter(_shard(whole, self.layout), whole.requires_grad)
        self.compute_dtype = np.dtype(whole.dtype if dtype is None else dtype)
        gathered = [Replicate()] * self.outer + list(self.layout.placements)[
            self.outer :
        ]
        self.gathered = self.layout.with_placements(gathered)
        self._gathered_at = 0  # the version of `sharded`
        self.waiting: Any = None  # gradients that are to be reduced
        self.watched = False
        self.held: Any = None  # between forward and backward, spread over fewer ranks
        self.full: Any = Parameter(self._wrap(self._hollow()), whole.requires_grad)
        self.show(self.sharded)

    def show(self, parameter: Any) -> None:
        """Make the modules that own the parameter have it in this form."""
        for module, name in self.owners:
            module._parameters[name] = parameter

    def follow_owner(self) -> None:
        """Take what ``load_state_dict(assign=True)`` has put there, and its flag."""
        module, name = self.owners[0]
        if module._parameters[name] is not self.sharded:
            self.sharded = module._parameters[name]
            self.show(self.sharded)
        if self.full.requires_grad != self.sharded.requires_grad:
            self.full.requires_grad_(self.sharded.requires_grad)

    # --- memory -----------------------------------------------------------------------

    def _hollow(self) -> npt.NDArray[Any]:
        """Return an array of the full form that takes no memory."""
        shape = self.gathered.local_shape()
        return np.broadcast_to(np.zeros((), self.compute_dtype), shape)

    def _wrap(self, local: Any) -> Any:
        """Return the gathered array as what the module had before."""
        if is_meta(self.sharded) and not isinstance(local, Tensor):
            local = empty((), self.compute_dtype, "meta").expand(local.shape)
        if self.inner is None:
            return local if isinstance(local, Tensor) else Tensor(local)
        layout = self.inner.with_dtype(self.compute_dtype)
        return DTensor(local, layout, requires_grad=False)

    def is_stale(self) -> bool:
        """Return whether the parameter was written to since it was gathered."""
        return bool(self.sharded._version != self._gathered_at)

    def fill(self, gathered: DTensor) -> None:
        """Take the memory of what was gathered."""
        self._gathered_at = self.sharded._version
        self.full.data = self._wrap(gathered.to_local().detach())

    def drop(self) -> None:
        """Give the memory of the full form back."""
        self.full.data = self._wrap(self._hollow())

    def write_back(self) -> None:
        """Take this rank's part of what was written to the full form."""
        local = self.full.detach()
        local = local.to_local() if isinstance(local, DTensor) else local
        layout = self.gathered.with_dtype(self.compute_dtype)
        whole = DTensor(local, layout, requires_grad=False)
        part = whole.redistribute(placements=self.layout.with_dtype(self.compute_dtype))
        self.sharded.detach()[...] = part

    # --- gradients --------------------------------------------------------------------

    def keep_gradient(self, dtype: npt.DTypeLike | None) -> None:
        """Add the gradient of the full form to those that wait, in a dtype."""
        grad = self.full.grad
        self.full.grad = None
        if grad is not None:
            grad = grad if dtype is None else grad.astype(dtype)
            self.waiting = grad if self.waiting is None else self.waiting + grad

    def take_gradient(self, op: str) -> DTensor:
        """Return the gradients that wait, as addends, and forget them."""
        grad, self.waiting = self.waiting, None
        inner = () if self.inner is None else grad.placements
        local = grad.to_local() if isinstance(grad, DTensor) else grad
        placements = reduced_placements(
            (*self.layout.placements[: self.outer], *inner), self.outer, op
        )
        layout = self.gathered.with_placements(placements).with_dtype(grad.dtype)
        return DTensor(local.detach(), layout, requires_grad=False)

    def add_gradient(self, grad: DTensor) -> None:
        """Add what was reduced to the gradient that the user sees."""
        if grad.dtype != self.sharded.dtype:
            grad = grad.astype(self.sharded.dtype)
        have = self.sharded.grad
        self.sharded.grad = grad if have is None else have + grad


def _shard(whole: Any, layout: Layout) -> DTensor:
    """Return this rank's part of what all ranks have alike; nothing is sent."""
    if is_meta(whole):
        local = empty(layout.local_shape(), whole.dtype, "meta")
        return DTensor(local, layout, requires_grad=False)
    data = whole.detach()
    local = data.to_local() if isinstance(data, DTensor) else data
    gathered = layout.with_placements(
        [
            Replicate() if m < len(layout.placements) - _inner(whole) else p
            for m, p in enumerate(layout.placements)
        ]
    )
    part = DTensor(local, gathered, requires_grad=False).redistribute(placements=layout)
    return part.copy() if np.shares_memory(part.to_local(), local) else part


def _inner(whole: Any) -> int:
    return whole.device_mesh.ndim if isinstance(whole, DTensor) else 0
