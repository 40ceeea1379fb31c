"""Who holds what: an array cut into cells, each held whole by some ranks."""

import bisect
import itertools
from dataclasses import dataclass

from dtensor import _C

__all__ = ["MOST_RANKS", "Cell", "Grid", "grid_of", "span"]

MOST_RANKS = 1024  # of a mesh that is drawn, at most
Range = tuple[int, int]  # first index, and one past the last


@dataclass(frozen=True)
class Cell:
    """A box of elements."""

    index: tuple[int, ...]
    """Its index in the grid."""
    holders: tuple[tuple[int, ...], ...]
    """The ranks of each replica; several ranks in one hold addends of the array."""


@dataclass(frozen=True)
class Grid:
    """All cells of a layout."""

    ranges: tuple[tuple[Range, ...], ...]
    """The ranges of each dimension that the cells have."""
    cells: dict[tuple[int, ...], Cell]
    """Cells by index, without those that no rank holds."""


def grid_of(layout: _C.Layout) -> Grid:
    """Cut an array wherever the part of a rank begins or ends. Not collective.

    Raises
    ------
    ValueError
        If the mesh has more than `MOST_RANKS` ranks.
    """
    mesh = layout.mesh
    ranks = mesh.ranks.ravel().tolist()
    if len(ranks) > MOST_RANKS:
        raise ValueError(
            f"cannot draw a mesh of {len(ranks)} ranks: at most {MOST_RANKS} are drawn"
        )
    boxes = {rank: [box for box in layout.boxes(rank) if all(box[1])] for rank in ranks}
    points: list[set[int]] = [set() for _ in layout.shape]
    for start, lengths in itertools.chain.from_iterable(boxes.values()):
        for dim, (first, length) in enumerate(zip(start, lengths, strict=True)):
            points[dim] |= {first, first + length}
    edges = [sorted(found) for found in points]
    held: dict[tuple[int, ...], dict[tuple[int, ...], list[int]]] = {}
    for rank in ranks:
        replica = _replica(layout, rank)
        for start, lengths in boxes[rank]:
            places = [
                range(bisect.bisect_left(e, s), bisect.bisect_left(e, s + n))
                for e, s, n in zip(edges, start, lengths, strict=True)
            ]
            for index in itertools.product(*places):
                held.setdefault(index, {}).setdefault(replica, []).append(rank)
    cells = {
        index: Cell(index, tuple(map(tuple, replicas.values())))
        for index, replicas in held.items()
    }
    ranges = tuple(tuple(itertools.pairwise(found)) for found in edges)
    return Grid(ranges, cells)


def _replica(layout: _C.Layout, rank: int) -> tuple[int, ...]:
    """Return the rank's coordinate without the mesh dimensions that hold addends."""
    at = layout.mesh.coordinate(rank) or ()
    pairs = zip(at, layout.placements, strict=True)
    return tuple(k for k, placement in pairs if not placement._is_pending)


def span(part: Range) -> str:
    """Return a range as text, both ends included: "0-3", "4"."""
    first, end = part
    return str(first) if end - first == 1 else f"{first}-{end - 1}"
