"""Large matrices in blocks of columns, dealt to the parts in turn.

So every rank has work until the end of a factorization that goes from left to right
(Dongarra, van de Geijn, Walker, "Scalability issues affecting the design of a dense
linear algebra library", 1994). A block that is done is shared with all.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor.ops._make.copies import copy
from dtensor.ops._make.kernel import inexact
from dtensor.ops._make.operator import Operand
from dtensor.ops._make.parts import inside, local, make, move, positions
from dtensor.ops.linalg.tall_parts import by_rows

__all__ = ["Blocks", "Dealt", "is_large"]

Array = npt.NDArray[Any]

# Up to this size a matrix is gathered: all ranks do the whole work.
LEAST_BYTES = 64 << 20
# Columns of a block.
WIDTH = 64


def is_large(a: Operand) -> bool:
    """Return whether a matrix is cut and takes more than 64 MiB."""
    layout = getattr(a, "layout", None)
    if a.ndim != 2 or layout is None or a.dtype.kind == "V":
        return False
    dtype, layout = inexact(a.dtype), layout.settled()
    cutting = {*layout.cut_by(0), *layout.cut_by(1)}
    parts = math.prod(layout.mesh.shape[m] for m in cutting)
    large = math.prod(a.shape) * dtype.itemsize > LEAST_BYTES
    return dtype.char in "fdFD" and parts > 1 and large


class Blocks:
    """Who has which of the blocks of some columns.

    Parameters
    ----------
    like : Layout
        Of a matrix whose rows are cut; so are the columns now.
    columns : int
        How many.

    Attributes
    ----------
    number : int
        Of the caller's part; 0 outside the mesh.
    count : int
        Parts.
    mine : int
        Blocks of each part.
    width : int
        Columns of a block.
    """

    def __init__(self, like: _C.Layout, columns: int) -> None:
        self.like, self.columns = like, columns
        self.count = math.prod(like.mesh.shape[m] for m in like.cut_by(0))
        self.width = max(1, min(WIDTH, -(-columns // (4 * self.count))))
        self.mine = -(-columns // (self.count * self.width))
        at = positions(self.layout(1), 2)
        self.number = int(at[0]) if len(at) else 0

    def layout(self, rows: int) -> _C.Layout:
        """Return the layout of a matrix (rows, blocks of each, parts, width)."""
        shape = (rows, self.mine, self.count, self.width)
        placements = self._cut(2)
        return _C.Layout(self.like.mesh, placements, shape, self.like.dtype)

    def _cut(self, dim: int) -> list[_C.Placement]:
        cutting = self.like.cut_by(0)
        ndim = self.like.mesh.ndim
        return [_C.Shard(dim) if m in cutting else _C.Replicate() for m in range(ndim)]

    def start(self, k: int) -> int:
        """Return the first column of the caller's block `k`."""
        return (k * self.count + self.number) * self.width

    def after(self, block: int) -> int:
        """Return which of the caller's blocks is the first one after a block."""
        return (block - self.number) // self.count + 1

    def where(self, block: int) -> tuple[bool, slice]:
        """Return whether the caller has a block, and its columns in the array."""
        k, owner = divmod(block, self.count)
        is_mine = owner == self.number and inside(self.like)
        return is_mine, slice(k * self.width, (k + 1) * self.width)

    def share(self, name: str, block: int, panel: Array | None, shape: Any) -> Array:
        """Return an array that the part with a block has, on every rank."""
        owner = block % self.count
        cuts = (0,) * (owner + 1) + (shape[0],) * (self.count - owner)
        here = _C.Layout(
            self.like.mesh, self._cut(0), shape, self.like.dtype, cuts={0: cuts}
        )
        if panel is None:
            panel = np.empty((0, shape[1]), self.like.dtype)
        own = make(np.ascontiguousarray(panel), here)
        return local(move(name, own, here.whole(0)))

    def gathered(self, name: str, array: Array) -> Any:
        """Return the matrix of these columns, its rows cut."""
        rows = len(array)
        dealt = make(array.reshape(rows, self.mine, 1, self.width), self.layout(rows))
        cut = move(name, dealt, dealt.layout.with_placements(self._cut(0)))
        matrix: Any = np.reshape(cut, (rows, self.mine * self.count * self.width))
        if matrix.shape[1] != self.columns:
            matrix = copy(matrix[:, : self.columns])
        # Of a matrix of one row, the rank that has it may have been given a column.
        return move(name, matrix, matrix.layout.with_placements(self._cut(0)))


class Dealt:
    """A matrix in blocks of columns.

    Sent: one part. Memory: one part, and another one meanwhile if columns are padded.

    Parameters
    ----------
    name : str
        Of the function, for messages.
    x : DTensor
        The matrix, not recorded.

    Attributes
    ----------
    array : array
        The caller's blocks, side by side; its own.
    blocks : Blocks
        Which these are.
    """

    def __init__(self, name: str, x: Any) -> None:
        x = by_rows(name, x)
        self.blocks = blocks = Blocks(x.layout, x.shape[1])
        rows = x.shape[0]
        width = blocks.mine * blocks.count * blocks.width
        if width > x.shape[1]:
            x = np.pad(x, [(0, 0), (0, width - x.shape[1])])
        to = blocks.layout(rows)
        blocked: Any = np.reshape(x, to.shape)
        dealt = move(name, blocked, to)
        width = blocks.mine * blocks.width
        # What has moved belongs to nobody else.
        array = local(dealt) if inside(to) else np.empty((rows, width), x.dtype)
        self.array = array.reshape(rows, width)
