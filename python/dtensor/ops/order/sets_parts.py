"""Two large arrays of which each rank has parts: equal elements meet on one rank.

Each rank sends the unique elements of its parts of both, with a mark of whose they are,
to where their range is. There it is known which are in both.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor.ops._make.composite import settled
from dtensor.ops._make.parts import local, make, move
from dtensor.ops._make.routes import exchanged
from dtensor.ops.order.unique_parts import as_result, line_of, ranges_of, rows_of
from dtensor.ops.reduce.selection import numbers_of, sorted_lines

__all__ = ["Meeting", "cut_by_all", "is_among"]

Array = npt.NDArray[Any]
ONE, TWO = 1, 2


def cut_by_all(name: str, *tensors: _C.DTensor) -> list[_C.DTensor]:
    """Return tensors that are cut by each mesh dim that cuts one of them, so that the
    ranks that hold parts are the same; for that nothing is sent."""
    tensors = tuple(settled(name, x).detach() for x in tensors)
    orders = [[x.layout.cut_by(dim) for dim in range(x.ndim)] for x in tensors]
    cutting = {m for order in orders for mesh_dims in order for m in mesh_dims}
    found = []
    for x, order in zip(tensors, orders, strict=True):
        new = [m for m in sorted(cutting) if x.placements[m]._is_whole]
        if not new:
            found.append(x)
            continue
        if x.ndim == 0:
            x, order = x.reshape(1), [()]
        placements = [
            _C.Shard(0) if m in new else p for m, p in enumerate(x.placements)
        ]
        orders_of = {d: mesh_dims for d, mesh_dims in enumerate(order) if mesh_dims}
        orders_of[0] = (*order[0], *new)
        to = _C.Layout(
            x.device_mesh, placements, x.shape, x.dtype, shard_order=orders_of
        )
        found.append(_C._redistribute_any(x, placements=to))
    return found


class Meeting(NamedTuple):
    """Elements of a range that have come to this rank, and whose they are."""

    name: str
    """Of the function, for messages."""
    rows: _C.Layout
    """Of one row for each part."""
    values: Array
    """Sorted and unique; NaN is the last, if there is one."""
    inside: tuple[Array, Array]
    """Whether they are in the first array, and in the second."""
    first: tuple[Array, Array]
    """Where in the flattened arrays they are first, if that is asked for."""

    @classmethod
    def of(
        cls, name: str, one: _C.DTensor, two: _C.DTensor, indexed: bool = False
    ) -> "Meeting":
        """Let the elements of two tensors meet. Collective."""
        met, _, _ = _met(name, cut_by_all(name, one, two), indexed)
        return met

    def result(self, times: Array, indexed: bool = False) -> Any:
        """Return the values, each as often as said; and where they are in each of the
        two arrays. Collective."""
        arrays = [self.values, *(self.first if indexed else ())]
        chosen = [np.repeat(array, times) for array in arrays]
        results = as_result(self.name, self.rows, chosen)
        return tuple(results) if indexed else results[0]

    @property
    def nan(self) -> Array:
        """Which values are NaN, which equals nothing."""
        return np.asarray(self.values != self.values)


def is_among(element: _C.DTensor, tests: _C.DTensor, invert: bool) -> _C.DTensor:
    """Return for each element whether it is in another tensor. Collective.

    Sent: the unique elements of each part of both, and an answer for each of these. The
    result is cut as the elements are.
    """
    shape, layout = element.shape, element.layout.settled().with_dtype(bool)
    element, tests = cut_by_all("isin", element, tests)
    met, ways, back = _met("isin", [element, tests], False)
    rows, mine, sizes, marks = ways
    answer = (met.inside[1] & ~met.nan)[back[0]]
    (known,) = exchanged("isin", rows, [answer], sizes.T, mine)
    found = known[marks == ONE][back[1]]
    found = np.logical_not(found) if invert else found
    to = element.layout.with_dtype(bool)
    result = make(found.reshape(to.local_shape()), to)
    return move("isin", result, layout) if shape else result.reshape(())


def _met(
    name: str, pair: list[_C.DTensor], indexed: bool
) -> tuple[Meeting, tuple[Any, ...], tuple[Array, Array]]:
    """Return the meeting, how elements were sent, and the numbers of those that came
    among the values, and of the first array's own among what it sent."""
    dtype = np.result_type(*(x.dtype for x in pair))
    own = []
    for x in pair:
        part = local(x).ravel()
        values, first, inverse = np.unique(part, True, True)
        if indexed and part.size:
            first = numbers_of(x.layout, range(x.ndim))[first]
        own.append((values.astype(dtype), first, inverse.ravel()))
    values = np.concatenate([each[0] for each in own])
    marks = np.repeat(np.array([ONE, TWO], np.uint8), [each[0].size for each in own])
    order = np.argsort(values, kind="stable")
    values, marks = values[order], marks[order]
    sent = [values, marks]
    if indexed:
        sent.append(np.concatenate([each[1] for each in own])[order])
    lines = sorted_lines(name, line_of(pair[0], values), [0], values[None])
    sizes, rows = ranges_of(lines), rows_of(lines)
    came = exchanged(name, rows, sent, sizes, lines.mine)
    values, group = np.unique(came[0], return_inverse=True)
    inside: list[Array] = []
    firsts: list[Array] = []
    for mark in (ONE, TWO):
        its = came[1] == mark
        held = np.zeros(values.size, bool)
        held[group[its]] = True
        inside.append(held)
        place = np.full(values.size, np.iinfo(np.intp).max)
        if indexed:
            np.minimum.at(place, group[its], came[2][its])
        firsts.append(place)
    met = Meeting(name, rows, values, (inside[0], inside[1]), (firsts[0], firsts[1]))
    return met, (rows, lines.mine, sizes, marks), (group, own[0][2])
