"""Which entries of a vector the parts need of each other, and their exchange.

What each part has for the part `by` places after it is an array that is cut along its
first dim, and goes there by a move to other cut points. Only distances that something
goes over are moved, all together: a band matrix has two, however many ranks there are.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core import world
from dtensor.functional_collectives._moves import together
from dtensor.ops._make.parts import local, make, move_all, parts_of
from dtensor.ops._make.routes import part_number
from dtensor.ops.shape.borders import resized

__all__ = ["Pattern"]

Array = npt.NDArray[Any]


class Pattern:
    """The entries that the parts of a vector give each other.

    Collective: the ranks tell each other how many entries they need of whom (a number
    for each pair of ranks), and each asks for its entries by their indices.

    Parameters
    ----------
    name : str
        Of the function, for messages.
    vector : Layout
        Of a vector that is cut along all mesh dims; this rank holds a part.
    needed : array of int
        The indices that this part needs, rising.
    """

    def __init__(self, name: str, vector: _C.Layout, needed: Array) -> None:
        self.vector, self.mine = vector, part_number(vector, 0)
        self.layouts: dict[Any, _C.Layout] = {}
        spans = parts_of(vector, 0) or ()
        starts = [start for start, _ in spans] + [vector.shape[0]]
        self.ends, there = together(
            name,
            vector.mesh,
            lambda: (np.searchsorted(needed, starts), needed.astype(np.int64)),
        )
        told = world.current().share(np.diff(self.ends).tobytes(), vector.mesh, name)
        # How many entries each part (first index) gives to each.
        self.counts = np.array([np.frombuffer(each, np.int64) for each in told]).T
        n = len(self.counts)
        self.distances = [
            by
            for by in range(1 - n, n)
            if by and np.diagonal(self.counts, by).any()  # from q to q + by
        ]
        self.start, self.length = spans[self.mine]
        asked = needed[self.ends[self.mine] : self.ends[self.mine + 1]]
        self.given = {0: asked - self.start}
        for by, came in self._moved(name, there, back=True):
            self.given[by] = came - self.start

    def needed(self, name: str, part: Array) -> Array:
        """Return the entries that this part needs, of all the parts of a vector.

        Collective; one exchange. Further dims go along.
        """
        result = np.empty((self.ends[-1], *part.shape[1:]), part.dtype)
        result[self._of(0)] = part[self.given[0]]
        for by, came in self._moved(name, part, back=False):
            result[self._of(by)] = came
        return result

    def added(self, name: str, entries: Array) -> Array:
        """Return this part of the sums of what all parts have for the entries that they
        need: the transpose of `needed`.

        Collective; one exchange. The sums are made in the order of the parts.
        """
        pieces = dict(self._moved(name, entries, back=True))
        pieces[0] = entries[self._of(0)]
        result = np.zeros((self.length, *entries.shape[1:]), entries.dtype)
        for by in sorted(pieces):
            result[self.given[by]] += pieces[by]
        return result

    def _of(self, by: int) -> slice:
        """Return which of the needed entries are those of the part `by` before."""
        at = self.mine - by
        if not 0 <= at < len(self.counts):
            return slice(0, 0)
        return slice(self.ends[at], self.ends[at + 1])

    def _moved(self, name: str, array: Array, back: bool) -> list[tuple[int, Array]]:
        """Return what comes over each distance."""
        rest = array.shape[1:]
        sent, targets = [], []
        for by in self.distances:
            there, here = (self._layout(by, at, rest, array.dtype) for at in (0, by))
            if back:
                there, here = here, there
                piece = array[self._of(by)]
            else:
                piece = array[self.given.get(by, slice(0))]
            sent.append(make(piece, there))
            targets.append(here)
        moved = move_all(name, sent, targets)
        return list(zip(self.distances, map(local, moved), strict=True))

    def _layout(self, by: int, at: int, rest: tuple[int, ...], dtype: Any) -> _C.Layout:
        """Return the layout of what goes over a distance: where it is, or, if `at` is
        the distance, where it goes."""
        key = by, at, rest, np.dtype(dtype)
        if key not in self.layouts:
            self.layouts[key] = self._made(*key)
        return self.layouts[key]

    def _made(self, by: int, at: int, rest: tuple[int, ...], dtype: Any) -> _C.Layout:
        count = np.diagonal(self.counts, by)
        first = max(0, -by) + at
        sizes = np.zeros(len(self.counts), np.int64)
        sizes[first : first + len(count)] = count
        like = self.vector.with_dtype(dtype)
        if rest:
            like = _C.Layout(like.mesh, like.placements, (0, *rest), dtype)
        return resized(like, 0, sizes.tolist())
