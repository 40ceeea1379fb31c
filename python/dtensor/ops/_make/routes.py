"""Dims that are cut into one range for each part, and elements on their way between
parts: to those that own what they name, and back with an answer."""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor.ops._make.parts import local, make, move, move_all, parts_of

__all__ = [
    "LEAST_SIZE",
    "Range",
    "Route",
    "exchanged",
    "part_number",
    "ranges_of",
    "reachable",
    "route_to",
    "rows_of",
]

Array = npt.NDArray[Any]
Integers = npt.NDArray[np.int64]
# Smaller arrays are gathered: it takes fewer messages. Read as `routes.LEAST_SIZE`.
LEAST_SIZE = 1 << 14

Range = tuple[int, int]  # first row, and the one after the last


# --- ranges ---------------------------------------------------------------------------


@lru_cache(256)
def reachable(layout: _C.Layout | None, dim: int) -> bool:
    """Return whether a dim is cut, and each rank has one range of it, in the order of
    the mesh dims."""
    if layout is None or not layout.is_cut(dim):
        return False
    orders = [layout.cut_by(d) for d in range(layout.ndim)]
    ordered = all([*order] == sorted(order) for order in orders)
    strided = any(layout.is_strided(d) for d in range(layout.ndim))
    return ordered and not (strided or layout.is_partial)


def ranges_of(layout: _C.Layout, dim: int) -> list[Range]:
    """Return the first row of each part of a dim, and the one after its last."""
    return [(start, start + count) for start, count in parts_of(layout, dim) or ()]


def part_number(layout: _C.Layout, dim: int) -> int:
    """Return the number of this rank's part of a dim."""
    at = layout.mesh.get_coordinate() or [0] * layout.mesh.ndim
    number = 0
    for m in layout.cut_by(dim):
        number = number * layout.mesh.shape[m] + at[m]
    return number


# --- sending --------------------------------------------------------------------------


def exchanged(
    name: str, rows: _C.Layout, own: Sequence[Array], sizes: Integers, mine: int
) -> list[Array]:
    """Return what this rank's part gets from all parts, joined.

    Collective; one exchange.

    Parameters
    ----------
    name : str
        Of the function, for messages.
    rows : Layout
        Of one row for each part, which says who has which: dim 0 is cut into them, and
        no other dim.
    own : sequence of arrays, shape (elements,)
        What this part has for the others, one after the other. The arrays are sent
        together.
    sizes : array of int, shape (parts, parts)
        How many elements each part sends to each.
    mine : int
        The number of this part.
    """
    parts = len(sizes)
    ends = np.cumsum(sizes[mine]).tolist()
    tensors, targets = [], []
    for array in own:
        for to in range(parts):
            there = [0, *np.cumsum(sizes[:, to]).tolist()]
            alone = [0] * (to + 1) + there[-1:] * (parts - to)
            source, target = (
                _C.Layout(
                    rows.mesh, rows.placements, there[-1:], array.dtype, cuts={0: c}
                )
                for c in (there, alone)
            )
            run = array[ends[to] - sizes[mine, to] : ends[to]]
            tensors.append(make(run, source))
            targets.append(target)
    moved = move_all(name, tensors, targets)
    return [local(moved[k * parts + mine]) for k in range(len(own))]


class Route(NamedTuple):
    """Which of this rank's elements go to which part, and which come here."""

    name: str
    """Of the function, for messages."""
    rows: _C.Layout
    """Of one row for each part."""
    mine: int
    """The number of this rank's part."""
    order: Integers
    """In which order this rank's elements are sent."""
    sizes: Integers
    """How many elements each part sends to each: (parts, parts)."""

    def there(self, own: Array) -> Array:
        """Return what comes here of arrays of shape (elements, ...): of each part in
        the order in which it has them. Collective; one exchange."""
        return self._sent(own[self.order], self.sizes)

    def back(self, answers: Array) -> Array:
        """Return the answers to this rank's elements, of shape (elements, ...), from
        what each rank has for all that came to it. Collective; one exchange."""
        came = self._sent(answers, self.sizes.T)
        result = np.empty_like(came)
        result[self.order] = came
        return result

    def _sent(self, own: Array, sizes: Integers) -> Array:
        rest = own.shape[1:]
        each = math.prod(rest)
        (came,) = exchanged(
            self.name, self.rows, [own.reshape(-1)], sizes * each, self.mine
        )
        return came.reshape(int(sizes[:, self.mine].sum()), *rest)


def rows_of(layout: _C.Layout, dim: int) -> _C.Layout:
    """Return the layout of one row for each part of a dim, which has it."""
    count = len(parts_of(layout, dim) or ())
    cutting = layout.cut_by(dim)
    by = [
        _C.Shard(0) if m in cutting else _C.Replicate() for m in range(layout.mesh.ndim)
    ]
    cuts = {0: tuple(range(count + 1))}
    return _C.Layout(layout.mesh, by, (count,), np.int64, cuts=cuts)


def route_to(name: str, layout: _C.Layout, dim: int, owner: Integers) -> Route:
    """Return the way from this rank's elements to the parts of a dim that own them.

    Collective: the ranks of the mesh tell each other how many elements they send. Ranks
    that hold the same part give the same elements.

    Parameters
    ----------
    name : str
        Of the function, for messages.
    layout : Layout
        This rank has a part.
    owner : array of int, shape (elements,)
        The number of the part for each of this rank's elements, counted in the order of
        the mesh dims.
    """
    rows = rows_of(layout, dim)
    (count,) = rows.shape
    table = _C.Layout(
        rows.mesh, rows.placements, (count, count), np.int64, cuts=rows.cuts
    )
    sent = np.bincount(owner, minlength=count).astype(np.int64)
    sizes = local(move(name, make(sent[None], table), table.with_placements(None)))
    order = np.argsort(owner, kind="stable")
    return Route(name, rows, part_number(rows, 0), order, sizes)
