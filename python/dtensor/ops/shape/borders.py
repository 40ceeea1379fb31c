"""Rows of other ranks: each rank's part of a dim with those around it.

The parts of a cut dim are in a row. What each rank needs of the part j places before
its own is an array cut along that dim, and goes there by a move to other cut points:
the first j ranks then have nothing of it. Only what is needed is sent, all together.
"""

import functools
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core.device import is_meta
from dtensor.ops._make.composite import settled, within
from dtensor.ops._make.parts import inside, local, make, move, move_all
from dtensor.ops._make.routes import Range, part_number, ranges_of
from dtensor.ops._make.strict import explicit

__all__ = ["BOUNDARIES", "Border", "Rows", "bordered", "resized"]

Array = npt.NDArray[Any]

BOUNDARIES = ("none", "wrap", "reflect", "constant", "nearest")


def _overlap(a: Range, b: Range) -> Range:
    start = max(a[0], b[0])
    return start, max(start, min(a[1], b[1]))


def _length(rows: Range) -> int:
    return rows[1] - rows[0]


# --- rows of other parts --------------------------------------------------------------


class _Shift(NamedTuple):
    """Rows that each part gets from the part `by` places before it."""

    by: int
    rows: tuple[Range, ...]  # by the number of the part that has them

    def layouts(self, like: _C.Layout, dim: int) -> tuple[_C.Layout, _C.Layout]:
        """Return the layouts of these rows where they are, and where they go."""
        sizes = [_length(rows) for rows in self.rows]
        none, by = [0] * abs(self.by), self.by
        moved = none + sizes[:-by] if by > 0 else sizes[-by:] + none
        return resized(like, dim, sizes), resized(like, dim, moved)


def resized(like: _C.Layout, dim: int, sizes: Sequence[int]) -> _C.Layout:
    """Return a layout whose parts have other lengths along one dim."""
    shape, cuts = list(like.shape), dict(like.cuts or {})
    shape[dim] = sum(sizes)
    if like.is_cut(dim):
        cuts[dim] = (0, *accumulate(sizes))
    return _C.Layout(
        like.mesh,
        like.placements,
        shape,
        like.dtype,
        shard_order=dict(like.shard_order) or None,
        cuts=cuts or None,
    )


@lru_cache(256)
def _shifts(
    layout: _C.Layout, dim: int, wanted: tuple[Range, ...]
) -> tuple[_Shift, ...]:
    """Return from where each part gets the rows that it wants."""
    own = ranges_of(layout, dim)
    count = len(own)
    found = []
    for by in range(1 - count, count):
        rows = tuple(
            _overlap(wanted[q + by], own[q]) if 0 <= q + by < count else (0, 0)
            for q in range(count)
        )
        if by == 0 or any(map(_length, rows)):
            found.append(_Shift(by, rows))
    return tuple(found)


def _at(dim: int, rows: Range) -> tuple[slice, ...]:
    return (*(slice(None),) * dim, slice(*rows))


# --- a border along one dim -----------------------------------------------------------


class Border(NamedTuple):
    """Rows before and after each part of a dim, and what is beyond the array's ends."""

    dim: int
    before: int
    after: int
    boundary: str
    value: Any

    def check(self, layout: _C.Layout) -> None:
        """Raise ValueError if a layout cannot have this border."""
        length, most = layout.shape[self.dim], max(self.before, self.after)
        if layout.is_strided(self.dim):
            raise ValueError(
                f"halo: dim {self.dim} of {layout} is cut into strides; redistribute "
                f"it to Shard({self.dim}) first"
            )
        has = {"wrap": length, "reflect": length - 1, "nearest": most * (length > 0)}
        if most > has.get(self.boundary, most):
            raise ValueError(
                f"halo: boundary={self.boundary!r} has no {most} rows for a dim of "
                f"length {length}"
            )

    def windows(self, layout: _C.Layout) -> tuple[tuple[Range, ...], ...]:
        """Return which rows each part gets: those before the array's begin, its own and
        its neighbours', and those after the end."""
        length = layout.shape[self.dim]
        ends = [
            (a - self.before, b + self.after) for a, b in ranges_of(layout, self.dim)
        ]
        left = tuple(self._beyond(max(0, -a), length, False) for a, _ in ends)
        right = tuple(self._beyond(max(0, b - length), length, True) for _, b in ends)
        return left, tuple(_overlap(end, (0, length)) for end in ends), right

    def _beyond(self, count: int, length: int, after: bool) -> Range:
        """Return the rows that stand for `count` rows beyond an end."""
        if count == 0 or self.boundary in ("none", "constant"):
            return 0, 0
        if self.boundary == "wrap":
            return (0, count) if after else (length - count, length)
        if self.boundary == "reflect":
            return (length - 1 - count, length - 1) if after else (1, 1 + count)
        return (length - 1, length) if after else (0, 1)

    def counts(self, layout: _C.Layout, q: int) -> tuple[int, int, int]:
        """Return how many rows part `q` has before the array's begin, within it, and
        after its end."""
        start, stop = ranges_of(layout, self.dim)[q]
        length = layout.shape[self.dim]
        left = max(0, self.before - start) if self.boundary != "none" else 0
        right = max(0, stop + self.after - length) if self.boundary != "none" else 0
        return left, _length(self.windows(layout)[1][q]), right

    def rows_before(self, layout: _C.Layout) -> int:
        """Return how many rows this rank has before its part."""
        start = ranges_of(layout, self.dim)[part_number(layout, self.dim)][0]
        return min(self.before, start) if self.boundary == "none" else self.before

    def layout(self, layout: _C.Layout) -> _C.Layout:
        """Return the layout of the parts with their borders."""
        sizes = [
            sum(self.counts(layout, q)) for q in range(len(ranges_of(layout, self.dim)))
        ]
        return resized(layout, self.dim, sizes)

    def spread(self, rows: Array, count: int) -> Array:
        """Return `count` rows beyond an end, of those that stand for them."""
        if self.boundary == "reflect":
            return np.flip(rows, self.dim)
        if self.boundary == "wrap" or count == 0:
            return rows
        shape = list(rows.shape)
        shape[self.dim] = count
        if self.boundary == "nearest":
            return np.broadcast_to(rows, shape)
        return np.full(shape, self.value, rows.dtype)

    def linear(self) -> "Border":
        """Return what gives the gradient of the gradient: rows of a value have none."""
        return self._replace(value=0)

    def gathered(self, grad: Array) -> Array:
        """Return the gradient of the rows that `spread` was given."""
        if self.boundary == "reflect":
            return np.flip(grad, self.dim)
        if self.boundary == "wrap" or grad.shape[self.dim] == 0:
            return grad
        if self.boundary == "nearest":
            return np.add.reduce(grad, self.dim, keepdims=True)
        return grad[_at(self.dim, (0, 0))]


class Rows(NamedTuple):
    """Any rows of the array for each part of a dim, as a border that has no ends."""

    dim: int
    wanted: tuple[Range, ...]  # of each part

    def check(self, layout: _C.Layout) -> None:
        """Raise ValueError if there are not as many ranges as parts."""
        if len(self.wanted) != len(ranges_of(layout, self.dim)):
            raise ValueError(f"rows: {len(self.wanted)} ranges for {layout}")

    def windows(self, layout: _C.Layout) -> tuple[tuple[Range, ...], ...]:
        """Return which rows each part gets, as `Border.windows` does."""
        none = ((0, 0),) * len(self.wanted)
        return none, self.wanted, none

    def counts(self, layout: _C.Layout, q: int) -> tuple[int, int, int]:
        """Return how many rows part `q` has, as `Border.counts` does."""
        return 0, _length(self.wanted[q]), 0

    def layout(self, layout: _C.Layout) -> _C.Layout:
        """Return the layout of the parts with these rows."""
        return resized(layout, self.dim, [*map(_length, self.wanted)])

    def spread(self, rows: Array, count: int) -> Array:
        """Return what is beyond an end: nothing."""
        return rows

    def gathered(self, grad: Array) -> Array:
        """Return the gradient of what is beyond an end."""
        return grad

    def linear(self) -> "Rows":
        """Return what gives the gradient of the gradient."""
        return self


# --- the moves ------------------------------------------------------------------------


class _Piece(NamedTuple):
    """Rows that every part has for another one, or for itself."""

    side: int  # 0: before the array's begin, 1: within it, 2: after its end
    by: int  # from the part so many places before
    rows: tuple[Range, ...]  # of each part that has them
    here: _C.Layout
    there: _C.Layout


class _Plan(NamedTuple):
    border: Border | Rows
    layout: _C.Layout  # of the tensor
    result: _C.Layout
    own: list[Range]
    pieces: list[_Piece]

    @property
    def moving(self) -> list[_Piece]:
        return [piece for piece in self.pieces if piece.by]

    def number(self) -> int:
        """Return the number of this rank's part."""
        return part_number(self.layout, self.border.dim)

    def part(self, x: Array, rows: Range) -> Array:
        """Return rows of the whole that are in this rank's part."""
        start = self.own[self.number()][0]
        return x[_at(self.border.dim, (rows[0] - start, rows[1] - start))]


@lru_cache(256)
def _plan(layout: _C.Layout, border: Border | Rows) -> _Plan:
    pieces = [
        _Piece(side, shift.by, shift.rows, *shift.layouts(layout, border.dim))
        for side, wanted in enumerate(border.windows(layout))
        for shift in _shifts(layout, border.dim, wanted)
    ]
    result = border.layout(layout)
    return _Plan(border, layout, result, ranges_of(layout, border.dim), pieces)


def _with_border(x: _C.DTensor, plan: _Plan) -> _C.DTensor:
    """Send rows to the parts that they border on."""
    dim, moving = plan.border.dim, plan.moving
    there = [piece.there for piece in moving]
    if is_meta(x) or not inside(plan.layout):
        empty = _C.without_data if is_meta(x) else functools.partial(make, ())
        move_all("halo", [empty(piece.here) for piece in moving], there)
        return empty(plan.result)
    q, part = plan.number(), local(x)
    sent = [make(plan.part(part, piece.rows[q]), piece.here) for piece in moving]
    come = iter(move_all("halo", sent, there))
    sides: list[list[Array]] = [[], [], []]
    for side, by, rows, *_ in plan.pieces:
        sides[side].append(local(next(come)) if by else plan.part(part, rows[q]))
    # The part furthest before comes first.
    before, within_, after = (np.concatenate(side[::-1], dim) for side in sides)
    left, _, right = plan.border.counts(plan.layout, q)
    spread = plan.border.spread
    whole = [spread(before, left), within_, spread(after, right)]
    return make(np.concatenate(whole, dim), plan.result)


def _added(grad: _C.DTensor, plan: _Plan) -> _C.DTensor:
    """Bring the gradients of rows back to the parts that have them, and add them up."""
    dim, moving = plan.border.dim, plan.moving
    here = [piece.here.with_dtype(grad.dtype) for piece in moving]
    there = [piece.there.with_dtype(grad.dtype) for piece in moving]
    to = plan.layout.with_dtype(grad.dtype)
    if is_meta(grad) or not inside(plan.layout):
        empty = _C.without_data if is_meta(grad) else functools.partial(make, ())
        move_all("halo", [empty(layout) for layout in there], here)
        return empty(to)
    q = plan.number()
    ends = np.cumsum(plan.border.counts(plan.layout, q))
    parts = np.split(local(grad), ends[:2], dim)
    gathered = plan.border.gathered
    sides = [gathered(parts[0]), parts[1], gathered(parts[2])]
    # The rows of each side are in the order of the parts that have them.
    shares: dict[tuple[int, int], Array] = {}
    for side, rows in enumerate(sides):
        first = 0
        for piece in reversed(plan.pieces):  # the part furthest before comes first
            source = q - piece.by
            if piece.side == side:
                exists = 0 <= source < len(plan.own)
                last = first + (_length(piece.rows[source]) if exists else 0)
                shares[side, piece.by] = rows[_at(dim, (first, last))]
                first = last
    result = np.zeros(to.local_shape(), grad.dtype)
    sent = [
        make(shares[piece.side, piece.by], layout)
        for piece, layout in zip(moving, there, strict=True)
    ]
    come = iter(move_all("halo", sent, here))
    for side, by, held, *_ in plan.pieces:
        into = plan.part(result, held[q])
        into += local(next(come)) if by else shares[side, by]
    return make(result, to)


def _asked_for(border: Border | Rows) -> AbstractContextManager[object]:
    """Borders are what the program asks for; rows are what an operator needs."""
    return explicit() if isinstance(border, Border) else nullcontext()


def bordered(x: _C.DTensor, border: Border | Rows) -> _C.DTensor:
    """Return a tensor whose parts have a border along one dim, or other rows; these are
    in several parts."""
    border.check(x.layout)
    plan = _plan(x.layout.settled(), border)
    with within("halo", x, *border), _asked_for(border):
        result = _with_border(settled("halo", x.detach()), plan)

    def back(grad: Any) -> Any:
        return _without_border(grad, plan)

    _C.record_function("halo", back, (x,), (result,))
    return result


def _without_border(grad: _C.DTensor, plan: _Plan) -> _C.DTensor:
    with within("halo_backward", grad, *plan.border), _asked_for(plan.border):
        at = plan.result.with_dtype(grad.dtype)
        result = _added(move("halo", grad.detach(), at), plan)
    linear = plan.border.linear()

    def back(twice: Any) -> Any:
        to = result.layout.with_dtype(twice.dtype)
        return bordered(move("halo", twice, to), linear)

    _C.record_function("halo_backward", back, (grad,), (result,))
    return result
