"""One parameter: sharded over the data-parallel ranks, and whole while it is needed."""

from collections.abc import Iterable, Sequence
from typing import Any
from weakref import WeakValueDictionary, ref

import numpy as np
import numpy.typing as npt

from dtensor import (
    _C,
    DeviceMesh,
    DTensor,
    Layout,
    Partial,
    Placement,
    Replicate,
    Tensor,
)
from dtensor._C import hooks_of
from dtensor._core import world
from dtensor._core.device import empty, is_meta
from dtensor.nn import Module, Parameter

__all__ = ["Sharded", "Spread", "check_new", "compare", "reduced_placements"]

Owners = list[tuple[Module, str]]


class Spread:
    """How the ranks of data parallelism hold parameters.

    Parameters
    ----------
    mesh : DeviceMesh
        A mesh of one dim; or of two: the parameters are replicated along the first.
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
        """Return the layout of a parameter; under tensor parallelism it is cut twice.

        Raises
        ------
        ValueError
            If it is a DTensor on a mesh that is not a slice of the same root mesh as
            ours, or a module that shares it is sharded in another way.
        """
        twin = _twin(whole)
        if twin is not None:
            return self._same(twin).layout
        if not isinstance(whole, DTensor):
            return Layout(self.mesh, self.placements, whole.shape, whole.dtype)
        mesh = _joined(self.mesh, whole.device_mesh)
        return nested(mesh, self.placements, whole.layout)

    def _same(self, twin: "Sharded") -> "Sharded":
        theirs = twin.spread
        if (theirs.mesh, theirs.placements) != (self.mesh, self.placements):
            module, name = twin.owners[0]
            raise ValueError(
                f"fully_shard: a parameter is shared with {type(module).__name__}."
                f"{name}, sharded as {theirs.placements} over {theirs.mesh!r}, "
                f"and cannot also be {self.placements} over {self.mesh!r}: pass both "
                "modules to one call, fully_shard([a, b])"
            )
        return twin


def _joined(outer: DeviceMesh, inner: DeviceMesh) -> DeviceMesh:
    """Return the mesh of the dims of both, which are slices of one root mesh.

    The root of `inner` is not used: equal meshes may be one object even if their roots
    differ.
    """
    root = outer._get_root_mesh()
    mine, others = outer.mesh_dim_names or (), inner.mesh_dim_names or ()
    known = set(root.mesh_dim_names or ()) - set(mine)
    if not others or not known.issuperset(others) or root[others] != inner:
        raise ValueError(
            "fully_shard: a parameter that is a DTensor must be on a mesh sliced, "
            f"by name, from the same mesh as the mesh of fully_shard: {inner!r} and "
            f"{outer!r}"
        )
    if root.mesh_dim_names == mine + others:
        return root
    return outer._cut((*outer._dims, *root[others]._dims), mine + others)


def nested(mesh: DeviceMesh, mine: Sequence[Placement], inner: Layout) -> Layout:
    """Return the layout of a parameter that is cut twice: the inner layout cuts first.

    Parameters
    ----------
    mesh : DeviceMesh
        First the dims of data parallelism, then those of `inner`.
    mine : sequence of Placement
        The placements along the first dims of the mesh.
    inner : Layout
        The layout of tensor parallelism.
    """
    order = {dim: tuple(m + len(mine) for m in dims) for dim, dims in inner.shard_order}
    cuts = dict(inner.cuts or {})
    for m, placement in enumerate(mine):
        if placement._cut_dim is not None:
            dim = placement._cut_dim % inner.ndim
            order[dim] = (*order.get(dim, ()), m)
            if dim in cuts:
                cuts[dim] = _cut_again(cuts[dim], mesh.shape[m])
    return Layout(
        mesh,
        (*mine, *inner.placements),
        inner.shape,
        inner.dtype,
        shard_order=order or None,
        cuts=cuts or None,
    )


def _cut_again(cuts: Sequence[int], count: int) -> tuple[int, ...]:
    """Return the boundaries of chunks of the parts between `cuts`."""
    starts = [
        min(start + part * -((start - stop) // count), stop)
        for start, stop in zip(cuts, cuts[1:], strict=False)
        for part in range(count)
    ]
    return (*starts, cuts[-1])


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
        The parameter that the user sees and optimizers update.
    full : Tensor or DTensor
        What the module computes with: a separate leaf that has memory only while the
        parameter is gathered. Without memory it has no data; using it then raises, or
        gives a result without data.
    """

    def __init__(
        self, owners: Owners, whole: Any, spread: Spread, dtype: npt.DTypeLike | None
    ) -> None:
        self.owners = owners
        self.spread = spread
        self.outer = spread.mesh.ndim
        self.layout = spread.layout(whole)
        twin = _twin(whole)
        self.inner = whole.layout if isinstance(whole, DTensor) else None
        if twin is not None:  # each group has a full form and gradients, which add up
            self.inner = twin.inner
        self.gathered = self.spread_over(self.layout.mesh, [Replicate()] * self.outer)
        self.sharded: Any = (
            Parameter(self._part_of(whole), whole.requires_grad)
            if twin is None
            else twin.sharded
        )
        self._whole = ref(whole)
        _known[id(whole)] = _known[id(self.sharded)] = self
        self._dtype = dtype
        self.compute_dtype = np.dtype(self.sharded.dtype if dtype is None else dtype)
        self._gathered_at = 0, False  # the version of `sharded`, and `requires_grad`
        self.waiting: Any = None  # gradients that are not reduced yet
        self.watched = False
        self.held: Any = None  # between forward and backward, sharded over fewer ranks
        self._empty()
        self.full: Any = Parameter(self._hollow.detach(), whole.requires_grad)
        self.show(self.sharded)

    def spread_over(self, mesh: DeviceMesh, placements: Sequence[Placement]) -> Layout:
        """Return the layout with these placements along the first dims of a mesh."""
        if self.inner is not None:
            return nested(mesh, placements, self.inner)
        return Layout(mesh, placements, self.layout.shape, self.layout.dtype)

    def _part_of(self, whole: Any) -> DTensor:
        """Return this rank's part of what is equal on all ranks; nothing is sent."""
        if is_meta(whole):
            local = empty(self.layout.local_shape(), whole.dtype, "meta")
            part = _C.of_part(local, self.layout)
            return _C.into_torch(part) if _C.is_torch(whole) else part
        data = whole.detach()
        local = data.to_local() if isinstance(data, DTensor) else data
        part = _C.of_part(local, self.gathered).redistribute(placements=self.layout)
        if np.shares_memory(part.to_local(), local):  # not so on all ranks
            part = part.copy()
        return _C.arrived(part)

    def show(self, parameter: Any) -> None:
        """Put the parameter in this form into the modules that own it."""
        for module, name in self.owners:
            module._parameters[name] = parameter

    def _empty(self) -> None:
        """Make what the full form is while it has no memory."""
        hollow = empty((), self.compute_dtype, "meta")
        self._hollow = self._wrap(hollow.expand(self.gathered.local_shape()))

    def follow_owner(self) -> None:
        """Adopt the tensor that ``load_state_dict(assign=True)`` set, and its flag.

        Without a policy's dtype the full form follows casts like ``model.to(dtype)``.
        """
        module, name = self.owners[0]
        if module._parameters[name] is not self.sharded:
            self.sharded = module._parameters[name]
            self.show(self.sharded)
        if self.full.requires_grad != self.sharded.requires_grad:
            self.full.requires_grad_(self.sharded.requires_grad)
        if self._dtype is None and self.compute_dtype != self.sharded.dtype:
            self.compute_dtype = np.dtype(self.sharded.dtype)
            self._empty()
            self.drop()

    # --- memory -----------------------------------------------------------------------

    def _wrap(self, local: Tensor, source: DTensor | None = None) -> Any:
        """Return an array gathered from `source` as the type that the module had."""
        if self.inner is not None:
            layout = self.inner.with_dtype(self.compute_dtype)
            local = _C.made_of(_C.of_part(local, layout), source)
        return _C.into_torch(local) if _C.is_torch(self.sharded) else local

    def is_stale(self) -> bool:
        """Return whether it was changed since its gather began."""
        now = self.sharded._version, self.sharded.requires_grad
        return now != self._gathered_at

    def begin(self) -> None:
        """Note what is gathered: from now on it may be read."""
        self.follow_owner()
        self._gathered_at = self.sharded._version, self.full.requires_grad

    def fill(self, gathered: DTensor) -> None:
        """Use the memory of the gathered array."""
        self.full.data = self._wrap(gathered.to_local().detach(), gathered)

    def follow_full(self) -> None:
        """Adopt what was said of the full form while modules had it."""
        if self.full.requires_grad != self._gathered_at[1]:
            self.sharded.requires_grad_(self.full.requires_grad)

    def drop(self) -> None:
        """Free the memory of the full form."""
        self.full.data = self._hollow

    def cut(self, layout: Layout) -> DTensor:
        """Return the full form, which is equal on all ranks, in another layout."""
        local = self.full.detach()
        local = local.to_local() if isinstance(local, DTensor) else local
        gathered = self.gathered.with_dtype(self.compute_dtype)
        whole = _C.of_part(local, gathered)
        return whole.redistribute(placements=layout.with_dtype(self.compute_dtype))

    def write_back(self) -> None:
        """Copy this rank's part of the full form back to the parameter."""
        part = self.cut(self.layout)
        self.sharded.detach()[...] = part

    # --- gradients --------------------------------------------------------------------

    def keep_gradient(self, dtype: npt.DTypeLike | None) -> None:
        """Add the gradient of the full form to the waiting ones, in a dtype."""
        grad = self.full.grad
        self.full.grad = None
        if grad is not None:
            grad = grad if dtype is None else grad.astype(dtype)
            self.waiting = grad if self.waiting is None else self.waiting + grad

    def take_gradient(self, op: str) -> DTensor:
        """Return the waiting gradients as addends, and forget them."""
        grad, self.waiting = self.waiting, None
        inner = () if self.inner is None else grad.placements
        local = grad.to_local() if isinstance(grad, DTensor) else grad
        placements = reduced_placements(
            (*self.layout.placements[: self.outer], *inner), self.outer, op
        )
        layout = self.gathered.with_placements(placements).with_dtype(grad.dtype)
        x = _C.of_part(local.detach(), layout)
        return _C.made_of(x, "a gradient", self.sharded)

    def add_gradient(self, grad: DTensor) -> None:
        """Add the reduced gradient to the one that the user sees; call its hooks."""
        if grad.dtype != self.sharded.dtype:
            grad = grad.astype(self.sharded.dtype)
        have = self.sharded.grad
        if _C.is_torch(self.sharded):
            grad = _C.into_torch(grad)
        self.sharded.grad = grad if have is None else have + grad
        for _, kind, hook in tuple(hooks_of(self.sharded)):
            if kind == "accumulated":
                hook(self.sharded)


def compare(what: str, tensors: Iterable[Any]) -> None:
    """Let ranks of tensor parallelism compare what their DTensors are made of.

    What is made of these on more mesh dims has a lineage of its own, since ranks of
    data parallelism may differ. Collective over their meshes; nothing moves.
    """
    meshes: dict[DeviceMesh, list[DTensor]] = {}
    for x in tensors:
        if isinstance(x, DTensor) and not is_meta(x):
            meshes.setdefault(x.device_mesh, []).append(x)
    for mesh, alike in meshes.items():
        made_of = np.array([_C.lineage(x) for x in alike], np.uint64)
        text = f"comparing tensor-parallel {what}"
        world.current().agree(made_of.tobytes(), text, None, mesh)


_known: WeakValueDictionary[int, Sharded] = WeakValueDictionary()


def check_new(parameter: Any, owners: Owners) -> None:
    """Raise ValueError if a group has the parameter as one of the same module."""
    twin = _twin(parameter)
    for module, name in () if twin is None else twin.owners:
        if any(module is mine and name == own for mine, own in owners):
            raise ValueError(
                f"fully_shard: {type(module).__name__}.{name} is sharded with an outer "
                "module already: call fully_shard on inner modules first, and on the "
                "module that has them last"
            )


def _twin(parameter: Any) -> Sharded | None:
    """Return another group's record of a parameter that several modules share."""
    twin = _known.get(id(parameter))
    if twin is None or parameter is twin.sharded or parameter is twin._whole():
        return twin
    return None  # the id belonged to a tensor that is gone
