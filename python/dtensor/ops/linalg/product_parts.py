"""Products of large matrices that are cut: one panel of an operand at a time.

As in van de Geijn and Watts, "SUMMA: scalable universal matrix multiplication", 1997:
those who hold a panel give it to those who need it, and everybody adds its product to
the part of the result that it holds. Nothing is gathered, and no sum is pending.
"""

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core.device import is_meta
from dtensor.ops._make.operator import Operand
from dtensor.ops._make.parts import inside, local, make, move, parts_of, spans

__all__ = ["in_panels", "multiply"]

Array = npt.NDArray[Any]

# What an operand that would be gathered, or a pending sum, may take on each rank.
LEAST_BYTES = 64 << 20
# What is multiplied at once, beside the result.
SCRATCH_BYTES = 16 << 20


def in_panels(x1: Operand, x2: Operand) -> bool:
    """Return whether two matrices are to be multiplied by panels: else one of them
    would be gathered or the result be a pending sum, and either is large."""
    left, right = x1.layout, x2.layout
    if left is None or right is None or left.ndim != 2 or right.ndim != 2:
        return False
    if left.mesh != right.mesh or left.is_partial or right.is_partial:
        return False
    if any(layout.is_strided(dim) for layout in (left, right) for dim in (0, 1)):
        return False
    if any(x.dtype.kind == "V" or x.dtype.char == "e" for x in (left, right)):
        return False  # sums of several products would be rounded more than once
    rows, columns = {*left.cut_by(0)}, {*right.cut_by(1)}
    above, beside = {*right.cut_by(0)}, {*left.cut_by(1)}
    if not (above <= rows and beside <= columns) or not (
        above or beside or rows & columns
    ):
        return False
    count = left.mesh.shape
    itemsize = np.result_type(left.dtype, right.dtype).itemsize

    def bytes_of(shape: tuple[int, ...], cut: set[int]) -> int:
        parts = math.prod(count[m] for m in cut)
        return math.prod(shape) * itemsize // parts if parts else 0

    gathered = []
    if above or rows & columns:
        gathered.append(bytes_of(right.shape, columns - rows))
    if beside or rows & columns:
        gathered.append(bytes_of(left.shape, rows - columns))
    one_of_two = bool(rows & columns) and not above and not beside
    pending = bytes_of(
        (left.shape[0], right.shape[1]), (rows | columns) - above - beside
    )
    large = (min if one_of_two else max)(gathered)
    return min(large, pending) > LEAST_BYTES


def multiply(x1: _C.DTensor, x2: _C.DTensor, **_: Any) -> _C.DTensor:
    """Return the product, its rows cut as those of `x1`, its columns as those of `x2`.

    Sent: the parts that others need, each once; first, where one mesh dim cuts rows and
    columns, one all_to_all. Memory: beside the result a panel, of at most one part.
    """
    both = [m for m in x2.layout.cut_by(1) if m in x1.layout.cut_by(0)]
    if both:  # these cut the rows of the result
        placements = [
            _C.Shard(0) if m in both else p for m, p in enumerate(x2.placements)
        ]
        x2 = move("matmul", x2, x2.layout.with_placements(placements))
    to = _product(x1.layout, x2.layout)
    result = np.empty(to.local_shape() if inside(to) else 0, to.dtype)
    has_data = inside(to) and not (is_meta(x1) or is_meta(x2))
    for start, stop in _panels(x1.layout, x2.layout):
        left, right = _panel(x1, 1, start, stop), _panel(x2, 0, start, stop)
        if has_data:
            _add(result, local(left), local(right), start == 0)
    if is_meta(x1) or is_meta(x2):
        return _C.without_data(to)
    return make(result, to)


def _product(left: _C.Layout, right: _C.Layout) -> _C.Layout:
    """Return the layout of the product."""
    placements: list[_C.Placement] = [_C.Replicate()] * left.mesh.ndim
    order, cuts = {}, {}
    for dim, of in enumerate((left, right)):
        for m in of.cut_by(dim):
            placements[m] = _C.Shard(dim)
        if dim in dict(of.shard_order):
            order[dim] = dict(of.shard_order)[dim]
        if dim in (of.cuts or {}):
            cuts[dim] = (of.cuts or {})[dim]
    return _C.Layout(
        left.mesh,
        placements,
        (left.shape[0], right.shape[1]),
        np.result_type(left.dtype, right.dtype),
        shard_order=order or None,
        cuts=cuts or None,
    )


def _panels(left: _C.Layout, right: _C.Layout) -> Iterator[tuple[int, int]]:
    """Yield ranges of the dim that is summed over: each in one part of both operands,
    and no larger than half of what may be gathered."""
    length = left.shape[1]
    edges = {0, length}
    for layout, dim in ((left, 1), (right, 0)):
        edges |= {start for start, count in parts_of(layout, dim) or () if count}
    longer = max(left.shape[0], right.shape[1]) * max(
        left.dtype.itemsize, right.dtype.itemsize
    )
    width = max(1, LEAST_BYTES // 2 // max(longer, 1))
    for first, last in pairwise(sorted(edges)):
        count = -(-(last - first) // width)
        points = np.linspace(first, last, count + 1).astype(int).tolist()
        yield from pairwise(points)
    if length == 0:
        yield 0, 0


def _panel(x: _C.DTensor, dim: int, start: int, stop: int) -> _C.DTensor:
    """Return a range of a dim, which lies in one part, whole for all."""
    layout = x.layout
    shape = list(layout.shape)
    shape[dim] = stop - start
    cuts = dict(layout.cuts or {})
    cuts.pop(dim, None)
    if layout.is_cut(dim):
        parts = parts_of(layout, dim) or ()
        owner = next(
            (k for k, (s, n) in enumerate(parts) if s <= start and stop <= s + n and n),
            0,
        )
        cuts[dim] = (0,) * (owner + 1) + (stop - start,) * (len(parts) - owner)
    here = _C.Layout(
        layout.mesh,
        layout.placements,
        shape,
        layout.dtype,
        shard_order=dict(layout.shard_order) or None,
        cuts=cuts or None,
    )
    if is_meta(x):
        return move("matmul", _C.without_data(here), here.whole(dim))
    mine = np.empty(0, layout.dtype)
    if inside(layout):
        first, count = next(iter(spans(layout, dim)), (0, 0))
        low, high = max(start, first), min(stop, first + count)
        index = slice(low - first, high - first) if low < high else slice(0)
        mine = np.ascontiguousarray(local(x)[(slice(None),) * dim + (index,)])
    return move("matmul", make(mine, here), here.whole(dim))


def _add(result: Array, left: Array, right: Array, is_first: bool) -> None:
    """Add a product to the result, some rows at a time; the first one is written."""
    if is_first:
        np.matmul(left, right, out=result)
        return
    width = max(1, result.shape[1] * result.itemsize)
    rows = min(len(result), max(1, SCRATCH_BYTES // width))
    scratch = np.empty((rows, result.shape[1]), result.dtype)
    for start in range(0, len(result), max(rows, 1)):
        block = slice(start, start + rows)
        some = np.matmul(left[block], right, out=scratch[: len(left[block])])
        np.add(result[block], some, out=result[block])
