"""The calls whose dispatch is timed: one text each, run by all sides on their arrays.

Names in the texts: `a` and `b` are cut along dim 0, `w` is replicated, and each rank
has 8 x 8 elements of each; `rows` is the length of dim 0 as the side sees it; `sin` is
the side's function, `fresh` yields pairs of arrays of shapes that were never seen yet.
"""

import itertools
from collections.abc import Iterator
from typing import NamedTuple

SIDE = 8  # of the array that each rank has


class Row(NamedTuple):
    """A call, and what differs from side to side; None: the side lacks it."""

    name: str
    ours: str | None
    numpy: str | None = "same"
    torch: str | None = "same"
    operators: int = 1
    protocol: bool = False  # by way of NumPy's own dispatch

    def text(self, side: str) -> str | None:
        """What a side runs."""
        given: str | None = getattr(self, side)
        return self.ours if given == "same" else given

    @property
    def fresh(self) -> bool:
        """Whether every call is on new shapes."""
        return "fresh" in (self.ours or "")


CHAIN = (
    "x = a + b; x = x * 2; x = x - b; x = x @ w; x = sin(x); x = x * a; "
    "x = x[:, 1:7]; x = x.T; x = x.reshape(2, 3, rows); x = x.sum(0)"
)

CALLS = [
    Row("a + b", "a + b"),
    Row("a * 2", "a * 2"),
    Row("a @ w", "a @ w"),
    Row("a.sum(0)", "a.sum(0)"),
    Row("a.sum(1)", "a.sum(1)"),
    Row("a[:, 1:3]", "a[:, 1:3]"),
    Row("a.reshape", "a.reshape(rows, 4, 2)"),
    Row("a.T", "a.T"),
    Row("dtensor.sin(a)", "sin(a)"),
    Row("np.sin(a)", "np.sin(a)", torch="sin(a)", protocol=True),
    Row("10 operators", CHAIN, operators=10),
]

BORDERS = [
    Row("from_local", "DTensor.from_local(part, mesh, cut)", None),
    Row("redistribute, no-op", "a.redistribute(placements=cut)", None),
    Row("to_local", "a.to_local()", None),
    Row("a + b, new shapes", "x, y = next(fresh); x + y"),
    Row("a.sum(0), new shapes", "x, y = next(fresh); x.sum(0)"),
]

# NumPy's dispatch to a handler that does nothing.
EMPTY = Row("np.sin(empty)", None, "np.sin(empty)", None)

ROWS = {row.name: row for row in [*CALLS, *BORDERS, EMPTY]}


def shapes() -> Iterator[tuple[int, int]]:
    """Yield small shapes of one rank's part, each once."""
    for total in itertools.count(2):
        for rows in range(1, total):
            if (rows, total - rows) != (SIDE, SIDE):
                yield rows, total - rows
