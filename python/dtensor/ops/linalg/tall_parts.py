"""QR factors of tall and narrow matrices whose rows are cut: parts in, parts out.

Each rank factors its rows, the small factors are gathered, and every rank factors the
stack of them (TSQR: Demmel, Grigori, Hoemmen, Langou, "Communication-optimal parallel
and sequential QR and LU factorizations", 2012).
"""

import math
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core.device import is_meta
from dtensor.ops._make.composite import as_dtype, settled
from dtensor.ops._make.kernel import inexact
from dtensor.ops._make.operator import Operand
from dtensor.ops._make.parts import inside, local, make, move, parts_of, spans

__all__ = ["Factors", "by_rows", "common_dtype", "is_tall", "is_wide"]

Array = npt.NDArray[Any]

# Smaller matrices are gathered: it takes fewer messages.
LEAST_BYTES = 1 << 16
# What is factored at once: it stays in the cache, and LAPACK's copies of it are small.
BLOCK_BYTES = 1 << 20

# --- which matrices -------------------------------------------------------------------


def is_tall(a: Operand) -> bool:
    """Return whether a matrix is to be factored in parts: it is cut, not small, and
    each rank can have as many rows as there are columns."""
    return a.ndim == 2 and _is_long(a, *a.shape)


def is_wide(a: Operand) -> bool:
    """Return whether the transpose of a matrix is to be factored in parts."""
    return a.ndim == 2 and _is_long(a, *a.shape[::-1])


def _is_long(a: Operand, rows: int, columns: int) -> bool:
    if a.layout is None or a.dtype.kind == "V" or inexact(a.dtype).char not in "fdFD":
        return False
    layout = a.layout.settled()
    parts = math.prod(layout.mesh.shape[m] for m in _cutting(layout))
    large = a.size * a.dtype.itemsize > LEAST_BYTES
    return parts > 1 and large and rows // parts >= columns


def _cutting(layout: _C.Layout) -> set[int]:
    """Return the mesh dims that cut a matrix."""
    return {*layout.cut_by(0), *layout.cut_by(1)}


def common_dtype(a: Any, b: Any) -> np.dtype[Any]:
    """Return in which dtype numpy.linalg computes with two matrices, each of them of
    float64 if it has integers; raise its error of dtypes it does not know."""
    one, other = (np.ones((1, 1), x.dtype) for x in (a, b))
    return np.dtype(np.linalg.solve(one, other).dtype)


def by_rows(name: str, x: _C.DTensor) -> _C.DTensor:
    """Return a matrix of floating-point numbers that is cut by rows only: what cuts
    columns cuts rows instead, by one all_to_all."""
    x = settled(name, as_dtype(x, inexact(x.dtype)))
    layout = x.layout
    if not layout.cut_by(1) and not layout.is_strided(0):
        return x
    cutting = _cutting(layout)
    placements = [
        _C.Shard(0) if m in cutting else p for m, p in enumerate(x.placements)
    ]
    return move(name, x, layout.with_placements(placements))


# --- the factors of one part ----------------------------------------------------------


class _Part:
    """QR factors of an array, q in blocks of rows.

    Attributes
    ----------
    r : array
        As many rows as the array has, at most as many as it has columns.
    """

    def __init__(self, array: Array, wants_q: bool) -> None:
        rows, columns = array.shape
        least = max(4 * columns, BLOCK_BYTES // (columns * array.itemsize))
        edges = np.linspace(0, rows, max(1, rows // least) + 1).astype(int)
        self.blocks = [slice(start, stop) for start, stop in pairwise(edges.tolist())]
        self.q = np.empty((rows if wants_q else 0, min(rows, columns)), array.dtype)
        found = [self._factor(array, block, wants_q) for block in self.blocks]
        self.inner: Array | None = None
        self.r = found[0]
        if len(found) > 1:
            self.inner, self.r = np.linalg.qr(np.concatenate(found))

    def _factor(self, array: Array, block: slice, wants_q: bool) -> Array:
        if not wants_q:
            return np.asarray(np.linalg.qr(array[block], mode="r"))
        self.q[block], r = np.linalg.qr(array[block])
        return r

    def times(self, w: Array) -> Array:
        """Return the product of q, which is overwritten, and a matrix."""
        q, self.q = self.q, np.empty((0, 0), self.q.dtype)
        out = q if q.shape[1] == w.shape[1] else np.empty((len(q), w.shape[1]), q.dtype)
        for k, block in enumerate(self.blocks):
            mine = w
            if self.inner is not None:
                mine = self.inner[k * len(w) : (k + 1) * len(w)] @ w
            out[block] = q[block] @ mine
        return out


# --- the factors of all ---------------------------------------------------------------


@lru_cache(256)
def _stack(layout: _C.Layout) -> _C.Layout:
    """Return the layout of the factors r of all parts, one below the other."""
    columns = layout.shape[1]
    heights = [min(count, columns) for _, count in parts_of(layout, 0) or ()]
    edges = (0, *accumulate(heights))
    order = dict(layout.shard_order) or None
    return _C.Layout(
        layout.mesh,
        layout.placements,
        (edges[-1], columns),
        layout.dtype,
        shard_order=order,
        cuts={0: edges},
    )


class Factors:
    """QR factors of a tall matrix; r is whole, q is known by its parts.

    Sent: the factor r of each part, to all others. Memory: one part for q, and blocks.

    Parameters
    ----------
    name : str
        Of the function, for messages.
    x : DTensor
        From `by_rows`, not recorded.
    wants_q : bool
        Whether there will be products with q.

    Attributes
    ----------
    r : DTensor
        On every rank.
    """

    def __init__(self, name: str, x: _C.DTensor, wants_q: bool = True) -> None:
        self.layout, self.is_meta = x.layout, is_meta(x)
        columns = x.shape[1]
        whole = x.layout.like((columns, columns), {}, x.dtype)
        stack = _stack(x.layout)
        if self.is_meta:
            move(name, _C.without_data(stack), stack.whole(0))
            self.r = _C.without_data(whole)
            return
        r = np.empty((0, columns), x.dtype)
        if inside(x.layout):
            self._part = _Part(local(x), wants_q)
            r = self._part.r
        rows = local(move(name, make(r, stack), stack.whole(0)))
        if inside(x.layout):
            inner, r = np.linalg.qr(rows)
            start, count = next(iter(spans(stack, 0)), (0, 0))
            self._inner = inner[start : start + count]
        self.r = make(r, whole)

    def times(self, w: _C.DTensor | None = None) -> _C.DTensor:
        """Return q, or q times a square matrix that is whole, cut as the rows were;
        once."""
        if self.is_meta:
            return _C.without_data(self.layout)
        if not inside(self.layout):
            return make(np.empty(0, self.layout.dtype), self.layout)
        inner = self._inner if w is None else self._inner @ local(w)
        return make(self._part.times(inner), self.layout)

    def reduced(self, name: str) -> tuple[_C.DTensor, _C.DTensor]:
        """Return q and r with the signs of LAPACK's."""
        q = self.times()
        top = q[: self.r.shape[1]]
        top = move(name, top, top.layout.whole((0, 1)))
        if not self.is_meta and inside(self.layout):
            signs = _signs(local(top), np.diag(local(self.r)))
            np.multiply(local(q), signs, out=local(q))
            np.multiply(local(self.r), signs[:, None], out=local(self.r))
        return q, self.r


def _signs(top: Array, diagonal: Array) -> Array:
    """Return by what LAPACK's factors differ, 1 or -1 for each column.

    A reflection makes an element of r whose sign is opposite to that on the diagonal.
    Those of q are known from its first rows, as in Ballard et al., "Reconstructing
    Householder vectors from tall-skinny QR", 2014. Where that is 0, LAPACK's of r is
    negative.
    """
    left = top.copy()
    found = np.ones(len(left), np.finfo(left.dtype).dtype)
    rounding = 8 * np.finfo(left.dtype).eps
    for k in range(len(left)):
        pivot = left[k, k]
        found[k] = 1 if (pivot or diagonal[k]).real < 0 else -1
        if abs(abs(pivot) - 1) < rounding:  # nothing is left to be reflected
            found[k] = -found[k]
            continue
        column = left[k + 1 :, k] / (pivot - found[k])
        left[k + 1 :, k + 1 :] -= np.outer(column, left[k, k + 1 :])
    return found
