"""Reflections that make elements of a vector 0, and products of many of them; in which
order ranks take rows.

Those of a panel are ``1 - v^T t conj(v)`` with a vector in each line of v (Schreiber,
Van Loan, "A storage-efficient WY representation for products of Householder
transformations", 1989).
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor.ops.linalg.line import Line
from dtensor.ops.linalg.panels import less_product

__all__ = ["Dealt", "compact", "reflect", "reflection"]

Array = npt.NDArray[Any]

# Vectors whose elements are put in order at once.
LINES = 32


class Dealt:
    """In which order rows are taken: one of each rank in turn, so that all have work
    until the end.

    Attributes
    ----------
    order : array of int
        The numbers of rows, as they are taken.
    of : list of array of int
        When those of each rank are taken; ascending.
    mine : array of int
        When the caller's are.
    """

    def __init__(self, line: Line, count: int) -> None:
        edges = np.array(line.edges(count))
        starts, lengths = edges[:-1], np.diff(edges)
        owners = np.repeat(np.arange(line.count), lengths)
        self.order = np.lexsort((owners, np.arange(count) - starts[owners]))
        self.of = [np.flatnonzero(owners[self.order] == k) for k in range(line.count)]
        self.mine = self.of[line.number]

    def first(self, k: int) -> int:
        """Return which of the caller's is the first one from a time on."""
        return int(np.searchsorted(self.mine, k))

    def joined(self, line: Line, piece: Array, start: int, stop: int) -> Array:
        """Return the rows that are taken in a time, in this order, of which each rank
        has its own."""
        spans = [np.searchsorted(each, (start, stop)) for each in self.of]
        when = [each[a:b] for each, (a, b) in zip(self.of, spans, strict=True)]
        found = line.gathered(piece, [len(each) for each in when])
        result = np.empty_like(found)
        result[np.concatenate(when) - start] = found
        return result

    def back(self, lines: Array) -> Array:
        """Return vectors, one in each line, with their elements in the order of rows;
        they are overwritten."""
        for some in range(0, len(lines), LINES):
            block = lines[some : some + LINES]
            block[:, self.order] = block.copy()
        return lines


def reflection(first: Any, rest: float) -> tuple[float, Any, Any]:
    """Return what an element becomes when all below it become 0, by which scale they
    become those of v, whose first one is 1, and the scale t of ``1 - t v v^H``, whose
    adjoint does it.

    Of a matrix whose elements are about 1 those are 0 of which the squares are not
    known to rounding.

    Parameters
    ----------
    first : number
        The element; a scalar of NumPy's.
    rest : float
        The norm of those below.
    """
    real, imaginary = float(first.real), float(first.imag)
    info = np.finfo(first.dtype)
    if rest < float(info.tiny) ** 0.5 / float(info.eps):
        rest = 0.0
    if rest == 0 and imaginary == 0:
        return real, 0.0, 0.0
    size = float(np.hypot(np.hypot(real, imaginary), rest))
    beta = -size if real >= 0 else size
    value = complex(first) if np.iscomplexobj(first) else real
    return beta, 1 / (value - beta) if rest else 0.0, (beta - value) / beta


def compact(lines: Array, scales: Array) -> Array:
    """Return t of the reflections with these v, in this order."""
    inner = np.conj(lines) @ lines.T
    t = np.zeros(inner.shape, lines.dtype)
    for k, scale in enumerate(scales):
        t[k, k] = scale
        t[:k, k] = -scale * (t[:k, :k] @ inner[:k, k])
    return t


def reflect(some: Array, v: Array, t: Array) -> None:
    """Apply reflections to columns, of which one is in each line."""
    less_product(some, (some @ np.conj(v.T)) @ t.T, v)
