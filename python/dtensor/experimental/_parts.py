"""The nodes of one rank's program, and the collectives between them."""

from collections.abc import Callable, Mapping, Sequence, Set
from itertools import count
from typing import Any

import numpy as np

from dtensor import _C
from dtensor._export import Node, Ref, Result
from dtensor.device_mesh import DeviceMesh
from dtensor.placement_types import Placement

__all__ = ["Parts"]

# What adds nothing; the addends of other reductions may all be the value.
NEUTRAL = {
    row.name: np.ones if row.identity == "one" else np.zeros
    for row in _C.REDUCE_OPS
    if not row.idempotent
}


class Parts:
    """The nodes made so far, and the layouts that their results are parts of.

    Attributes
    ----------
    mesh : DeviceMesh
        A mesh of one dimension.
    rank : int
        The rank whose program this is.
    nodes : list of Node
        The nodes in the order in which they run.
    layouts : dict of Ref to Layout
        The layouts of all results so far.
    constants : dict of str to Tensor
        The constants of the program.
    """

    def __init__(
        self,
        mesh: DeviceMesh,
        rank: int,
        names: Set[str],
        constants: Mapping[str, _C.Tensor],
    ) -> None:
        self.mesh, self.rank = mesh, rank
        self.nodes: list[Node] = []
        self.layouts: dict[Ref, _C.Layout] = {}
        self.constants = dict(constants)
        self._names = set(names)
        self._moved: dict[tuple[Ref, _C.Layout], Ref] = {}

    def add(
        self,
        node: Node,
        layouts: Sequence[_C.Layout],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
        operands: tuple[_C.Layout, ...] | None = None,
    ) -> None:
        """Add a node with other arguments, whose results have these layouts."""
        results = tuple(
            Result(layout.local_shape((self.rank,)), layout.dtype, layout)
            for layout in layouts
        )
        new = (args, kwargs or {}, results, operands)
        self.nodes.append(Node(node.name, node.kind, node.target, *new))
        self.layouts[Ref(node.name)] = layouts[0]
        for k, layout in enumerate(layouts):
            self.layouts[Ref(node.name, k)] = layout

    def rows(self, layout: _C.Layout) -> tuple[slice, ...]:
        """Return the indices of this rank's part in the whole."""
        ((start, size),) = layout.boxes((self.rank,))
        return tuple(slice(a, a + n) for a, n in zip(start, size, strict=True))

    def whole(self, ref: Ref) -> Ref:
        """Return the result of a node, gathered."""
        return self.move(ref, self.layouts[ref].with_placements(None))

    def move(self, ref: Ref, to: _C.Layout) -> Ref:
        """Return the result of a node in another layout, with collectives if needed."""
        source = self.layouts[ref]
        if source == to:
            return ref
        if (ref, to) not in self._moved:
            (a,), (b,) = source.placements, to.placements
            step = MOVES[_kind(a), _kind(b)]
            # Collectives return chunks; other parts are sliced from the gathered array.
            chunks = _C.Layout(self.mesh, [b], to.shape, to.dtype)
            if to != chunks and not a._is_whole:
                step = Parts._by_whole
            self._moved[ref, to] = step(self, ref, to)
        return self._moved[ref, to]

    # --- moves

    def _new(self, name: str, kind: str, target: str, to: _C.Layout, *args: Any) -> Ref:
        """Add a node that the program did not have."""
        numbered = (f"{name}_{k}" if k else name for k in count())
        name = next(each for each in numbered if each not in self._names)
        self._names.add(name)
        self.add(Node(name, kind, target or name), [to], args)
        return Ref(name)

    def _collective(self, name: str, ref: Ref, to: _C.Layout, *args: Any) -> Ref:
        ranks = list(range(self.mesh.size()))
        return self._new(name, "collective", name, to, ref, *args, ranks)

    def _gather(self, ref: Ref, to: _C.Layout) -> Ref:
        return self._collective("all_gather_tensor", ref, to, _dim(self.layouts[ref]))

    def _reduce(self, ref: Ref, to: _C.Layout) -> Ref:
        return self._collective("all_reduce", ref, to, _reduction(self.layouts[ref]))

    def _reduce_scatter(self, ref: Ref, to: _C.Layout) -> Ref:
        args = _reduction(self.layouts[ref]), _dim(to)
        return self._collective("reduce_scatter_tensor", ref, to, *args)

    def _exchange(self, ref: Ref, to: _C.Layout) -> Ref:
        args = _dim(self.layouts[ref]), _dim(to)
        return self._collective("shard_dim_alltoall", ref, to, *args)

    def _slice(self, ref: Ref, to: _C.Layout) -> Ref:
        return self._new("part", "call", "read.getitem", to, ref, self.rows(to))

    def _addend(self, ref: Ref, to: _C.Layout) -> Ref:
        """Rank 0 keeps the value, others the identity; max, min, avg keep it on all."""
        neutral = NEUTRAL.get(_reduction(to))
        if self.rank == 0 or neutral is None:
            return ref
        new = self._new("addend", "constant", "", to)
        self.constants[new.node] = _C.Tensor(neutral(to.shape, to.dtype))
        return new

    def _by_whole(self, ref: Ref, to: _C.Layout) -> Ref:
        return self.move(self.whole(ref), to)


Step = Callable[[Parts, Ref, _C.Layout], Ref]

MOVES: dict[tuple[str, str], Step] = {
    ("S", "R"): Parts._gather,
    ("S", "S"): Parts._exchange,
    ("P", "R"): Parts._reduce,
    ("P", "S"): Parts._reduce_scatter,
    ("R", "S"): Parts._slice,
    ("R", "P"): Parts._addend,
    ("S", "P"): Parts._by_whole,
    ("P", "P"): Parts._by_whole,
}


def _kind(placement: Placement) -> str:
    return "R" if placement._is_whole else "P" if placement._is_pending else "S"


def _dim(layout: _C.Layout) -> int:
    (placement,) = layout.placements
    assert placement._cut_dim is not None
    return placement._cut_dim


def _reduction(layout: _C.Layout) -> str:
    (placement,) = layout.placements
    assert placement._pending_op is not None
    return placement._pending_op
