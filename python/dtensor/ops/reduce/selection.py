"""Order statistics of lines that are cut: found by samples, sent by the dozen.

Each rank sorts its part. Where the first k elements of a whole line end in each part is
narrowed down in rounds: in each one the ranks tell each other a few elements of every
part, evenly spaced, from where it may be. Equal elements count in the order of parts,
so the answer is exact. A round leaves a few gaps between samples of each part (after
Frederickson and Johnson, "The complexity of selection and ranking in X + Y and matrices
with sorted columns", 1982).
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor.ops._make.blocks import stacked
from dtensor.ops._make.operator import Operand
from dtensor.ops._make.parts import inside, key_of, local, make, move, positions

__all__ = [
    "Lines",
    "cut_points",
    "is_selected",
    "numbers_of",
    "others_of",
    "selected",
    "sorted_lines",
    "told",
    "told_of",
    "values_at",
]

Array = npt.NDArray[Any]
Integers = npt.NDArray[np.int64]

# Shorter lines are gathered: it takes fewer messages.
LEAST_LENGTH = 1 << 14

# About how many samples a round has of all parts, and how many of each at least.
SAMPLES, LEAST_SAMPLES = 1024, 16


def others_of(ndim: int, axes: Sequence[int]) -> list[int]:
    """Return the dims that are not among some axes."""
    return [dim for dim in range(ndim) if dim not in axes]


def is_selected(a: Operand, axes: Sequence[int]) -> bool:
    """Return whether it takes fewer bytes to find some elements along cut axes than to
    make the axes whole."""
    if a.layout is None:
        return False
    cutting = {m for dim in axes for m in a.layout.settled().cut_by(dim)}
    if math.prod(a.layout.mesh.shape[m] for m in cutting) == 1:
        return False
    lines = math.prod(a.shape[dim] for dim in others_of(a.ndim, axes))
    length = math.prod(a.shape[dim] for dim in axes)
    return lines > 0 and length > 0 and lines * LEAST_LENGTH <= length


class Lines(NamedTuple):
    """Lines of which each rank has a sorted part. Parts are numbered from 0 on."""

    name: str
    """Of the function, for messages."""
    rows: _C.Layout
    """Of one row for each part: (parts, *dims that tell the lines apart)."""
    part: Array
    """Of this rank, of shape (its lines, elements)."""
    counts: Integers
    """How many elements the parts of the lines have: of shape (lines, parts)."""

    @property
    def mine(self) -> int:
        """The number of this rank's part; 0 on ranks outside the mesh."""
        return int(positions(self.rows, 0)[0]) if inside(self.rows) else 0

    @property
    def held(self) -> Integers:
        """The lines that this rank has parts of."""
        rest = self.rows.shape[1:]
        numbers = np.arange(math.prod(rest)).reshape(rest)
        found: Integers = numbers[key_of(self.rows)[1:]].ravel()
        return found

    def without_nan(self) -> "Lines":
        """Return the lines without NaN, which are the last elements of each part.

        Collective."""
        own = np.isnan(self.part).sum(1)[:, None]
        return self._replace(counts=self.counts - told(self, own)[:, :, 0].T)


def sorted_lines(name: str, x: _C.DTensor, axes: Sequence[int], part: Array) -> Lines:
    """Return the lines of a tensor along some axes.

    Collective: the ranks tell each other how many elements they have.

    Parameters
    ----------
    name : str
        Of the function, for messages.
    x : DTensor
        Neither Partial nor without data.
    axes : sequence of int
        Their elements make a line.
    part : array, shape (lines, elements)
        This rank's part, each line sorted.
    """
    rows = stacked(x.layout, axes)
    lines = Lines(name, rows, part, np.empty(0, np.int64))
    own = np.full((len(part), 1), part.shape[1], np.int64)
    return lines._replace(counts=told(lines, own)[:, :, 0].T)


def told(lines: Lines, own: Array) -> Array:
    """Return what all ranks say of their lines: of shape (parts, lines, things)."""
    shape = (*lines.rows.shape, own.shape[-1])
    cuts = lines.rows.cuts
    to = _C.Layout(lines.rows.mesh, lines.rows.placements, shape, own.dtype, cuts=cuts)
    said = make(np.ascontiguousarray(own).reshape(to.local_shape()), to)
    whole = local(move(lines.name, said, to.with_placements(None)))
    return whole.reshape(shape[0], math.prod(shape[1:-1]), shape[-1])


# --- where the first elements end -----------------------------------------------------


class _Window(NamedTuple):
    """Between which elements of each part the first `first` ones of a line end."""

    line: int
    first: int
    low: Integers
    high: Integers

    def samples(self, most: int) -> Integers:
        """Return elements of each part, evenly spaced: of shape (parts, samples). Of a
        window with fewer elements these go beyond it."""
        size = (self.high - self.low)[:, None]
        number = min(most, int(size.max()))
        step = np.arange(number)
        apart = (2 * step + 1) * size // max(2 * number, 1)
        return self.low[:, None] + np.where(size > number, apart, step)


def cut_points(lines: Lines, wanted: Sequence[tuple[int, int]]) -> Integers:
    """Return where the first elements of lines end in each of their parts.

    Collective. Sends about a thousand elements in each of a few rounds.

    Parameters
    ----------
    lines : Lines
    wanted : sequence of (int, int)
        Numbers of lines, and of how many elements of each: from 0 to all.

    Returns
    -------
    array of int64, shape (wanted, parts)
        How many of the first elements are in each part.
    """
    windows = []
    for line, count in wanted:
        have = lines.counts[line]
        low = np.maximum(count - (have.sum() - have), 0)
        windows.append(_Window(line, count, low, np.minimum(have, count)))
    parts = lines.counts.shape[1]
    most = max(SAMPLES // max(len(windows) * parts, 1), LEAST_SAMPLES)
    while True:
        still = [k for k, w in enumerate(windows) if (w.low < w.high).any()]
        if not still:
            return np.reshape([w.low for w in windows], (len(windows), parts))
        where = [windows[k].samples(most) for k in still]
        found = values_at(lines, [windows[k].line for k in still], where)
        for k, places, values in zip(still, where, found, strict=True):
            windows[k] = _narrowed(windows[k], places, values)


def values_at(
    lines: Lines, which: Sequence[int], where: Sequence[Integers]
) -> list[Array]:
    """Return elements of sorted parts; those that are not there are arbitrary.

    Collective.

    Parameters
    ----------
    lines : Lines
    which : sequence of int
        Numbers of lines.
    where : sequence of arrays, shape (parts, elements)
        Places in their parts, for each of them.
    """
    groups: dict[int, list[int]] = {line: [] for line in range(len(lines.counts))}
    for k, line in enumerate(which):
        groups[line].append(k)
    sizes = [places.shape[1] for places in where]
    longest = max(sum(sizes[k] for k in group) for group in groups.values())
    own = np.zeros((len(lines.part), longest), lines.part.dtype)
    length = lines.part.shape[1]
    for row, line in enumerate(lines.held.tolist() if length else []):
        places = [where[k][lines.mine] for k in groups[line]]
        if places:
            at = np.minimum(np.concatenate(places), length - 1)
            own[row, : at.size] = lines.part[row, at]
    every = told(lines, own)
    found = [np.empty(0)] * len(which)
    for line, group in groups.items():
        ends = np.cumsum([sizes[k] for k in group])
        for k, end in zip(group, ends.tolist(), strict=True):
            found[k] = every[:, line, end - sizes[k] : end]
    return found


def _narrowed(window: _Window, where: Integers, values: Array) -> _Window:
    """Return the window that samples at some places of each part leave."""
    line, count, low, high = window
    parts = np.arange(len(where))
    valid = where < high[:, None]
    owner = np.broadcast_to(parts[:, None], where.shape)[valid]
    place, value = where[valid], values[valid]
    order = np.argsort(value, kind="stable")  # equal ones by part, then by place
    owner, place = owner[order], place[order]
    own = owner == parts[:, None]  # of shape (parts, samples)
    # How many elements of each part come before each sample: at least, at most.
    least = np.maximum.accumulate(np.where(own, place + 1, low[:, None]), axis=1)
    least = np.concatenate([low[:, None], least[:, :-1]], axis=1)
    most = np.where(own, place, high[:, None])[:, ::-1]
    most = np.minimum.accumulate(most, axis=1)[:, ::-1]
    least = np.where(own, place, least)
    least_of_all, most_of_all = least.sum(0), most.sum(0)
    last = int(np.searchsorted(most_of_all, count, "left")) - 1
    if last >= 0:  # the last sample that is one of the first
        low = np.maximum(low, least[:, last])
        low[owner[last]] = place[last] + 1
    upto = int(np.searchsorted(most_of_all, count, "right")) - 1
    if upto >= 0:
        low = np.maximum(low, least[:, upto])
    after = int(np.searchsorted(least_of_all, count, "left"))
    if after < len(owner):  # the first sample that is not
        high = np.minimum(high, most[:, after])
    return _Window(line, count, low, high)


# --- elements -------------------------------------------------------------------------


def selected(
    lines: Lines, wanted: Sequence[tuple[int, int, int]]
) -> list[tuple[Array, Integers, Integers]]:
    """Return elements of sorted lines.

    Collective. Sends about a thousand elements in each of a few rounds.

    Parameters
    ----------
    lines : Lines
    wanted : sequence of (int, int, int)
        Numbers of lines, of the first element in each, and how many there are to be.

    Returns
    -------
    list of (array, array, array)
        The elements, whose parts they are of, and their places there.
    """
    starts = cut_points(lines, [(line, first) for line, first, _ in wanted])
    where = [
        start[:, None] + np.arange(number)
        for start, (_, _, number) in zip(starts, wanted, strict=True)
    ]
    values = values_at(lines, [line for line, _, _ in wanted], where)
    found = []
    for (line, _, number), places, candidates in zip(
        wanted, where, values, strict=True
    ):
        valid = places < lines.counts[line][:, None]
        owner = np.broadcast_to(np.arange(len(places))[:, None], places.shape)[valid]
        first = np.argsort(candidates[valid], kind="stable")[:number]
        found.append((candidates[valid][first], owner[first], places[valid][first]))
    return found


# --- where they were ------------------------------------------------------------------


def numbers_of(layout: _C.Layout, axes: Sequence[int]) -> Integers:
    """Return where in the whole line the elements of this rank's part are, in the order
    of its array with the axes last."""
    grid = np.ix_(*(positions(layout, dim) for dim in axes))
    shape = [layout.shape[dim] for dim in axes]
    if not axes:
        return np.zeros(1, np.int64)
    return np.ravel_multi_index(np.broadcast_arrays(*grid), shape).ravel()


def told_of(
    lines: Lines, which: Sequence[tuple[Sequence[int], Sequence[int]]], own: Integers
) -> list[Integers]:
    """Return what the owners of elements have in their places.

    Collective.

    Parameters
    ----------
    lines : Lines
    which : sequence of (sequence of int, sequence of int)
        For each line whose parts have the elements, and their places there.
    own : array of int64, shape (this rank's lines, elements)
        What this rank has in the places of its part.
    """
    longest = max((len(owners) for owners, _ in which), default=0)
    said = np.zeros((len(own), longest), np.int64)
    for row, line in enumerate(lines.held.tolist()):
        for k, (owner, place) in enumerate(zip(*which[line], strict=True)):
            if owner == lines.mine:
                said[row, k] = own[row, place]
    every = told(lines, said)
    return [
        every[owners, line, range(len(owners))]
        for line, (owners, _) in enumerate(which)
    ]
