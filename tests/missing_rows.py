"""Rows that a rule could have: local calls would be right, and the operator moves data.

A row of one mesh dimension is a placement for each operand and each result. It is right
if NumPy, called on what each rank holds, gives what the results' placements say: for
2 and 3 ranks, for several arrays and several ways to be Partial, and where no operand
is a sum also for infinities. Found by trying all.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import oracle
from moves import grid
from rows import BITS, VALUE, Sample, arrays_of, told, with_infinities
from validator import bound, check
from ways import SUMS, Row, choices, place

from dtensor import DeviceMesh, Layout, Partial, Replicate, Shard

SIZES = (2, 3)
TURNS = 3  # and as many with infinities
MOST = 400  # rows of a sample that are tried
ULP = {"nextafter", "spacing"}  # what they change is less than the bound


class Missing(NamedTuple):
    """A row that is right, and costs bytes."""

    sample: Sample
    operands: tuple[Any, ...]
    results: tuple[Any, ...]

    def __str__(self) -> str:
        sides = (", ".join(map(str, side)) for side in (self.operands, self.results))
        return f"{self.sample}: {' -> '.join(sides)}"


def worth_trying(sample: Sample) -> bool:
    """Whether every dim is long enough that a cut means something."""
    arrays = arrays_of(sample)
    return (
        not sample.changes
        and sample.name not in (*ULP, "program")
        and not any(x.dtype.kind == "b" for x in arrays)
        and all(n >= 2 * max(SIZES) - 2 for x in arrays for n in x.shape)
        and not isinstance(sample.expected(arrays), Exception)
        and len(list(operands_of(arrays))) <= MOST
    )


def operands_of(arrays: Sequence[np.ndarray]) -> Iterator[tuple[Any, ...]]:
    """Placements of all operands on one mesh dim, except all replicated.

    Partial integers, which may wrap, are left to the samples.
    """
    ways = [
        [p for p in choices(x) if not p.is_partial() or x.dtype.kind in "fc"]
        for x in arrays
    ]
    for places in itertools.product(*ways):
        if not all(p.is_replicate() for p in places):
            yield places


def flat(result: Any) -> list[Any]:
    """Every array and number of a result."""
    if isinstance(result, tuple | list):
        return [x for part in result for x in flat(part)]
    return [result]


def local_results(
    sample: Sample, arrays: Sequence[np.ndarray], layouts: Sequence[Layout], seed: int
) -> list[list[np.ndarray]] | None:
    """What NumPy makes of each rank's parts: by result, then by rank."""
    pairs = zip(arrays, layouts, strict=True)
    parts = [place(x, y, seed * 8 + k) for k, (x, y) in enumerate(pairs)]
    ranks = layouts[0].mesh.ranks.ravel().tolist()
    by_rank = []
    for rank in ranks:
        result = sample.expected([part[rank] for part in parts])
        if isinstance(result, Exception):
            return None
        by_rank.append([np.asarray(x) for x in flat(result)])
    if len({len(each) for each in by_rank}) > 1:
        return None
    return [list(each) for each in zip(*by_rank, strict=True)]


def meaning(
    row: Row, whole: np.ndarray, parts: list[np.ndarray], mesh: DeviceMesh
) -> set[Any]:
    """The placements with which these parts are the whole array."""
    found = set()
    floats = whole.dtype.kind in "fc"
    exact = row.sample.mode in (BITS, VALUE) and not any(
        oracle.reductions(x) & SUMS for x in row.layouts
    )
    atol = bound(row, whole) if floats and not exact else 0
    ways = [Replicate(), *map(Shard, range(whole.ndim))]
    ways += map(Partial, ["sum", "max", "min"] + ["avg"] * floats)
    for way in ways:
        layout = Layout(mesh, [way], whole.shape, whole.dtype)
        try:
            got = oracle.assemble(dict(enumerate(parts)), layout)
        except AssertionError:
            continue
        close = np.isclose(got, whole, rtol=0, atol=atol, equal_nan=True)
        if (close if floats else got == whole).all():
            found.add(way)
    return found


def fits_of(
    sample: Sample,
    places: Sequence[Any],
    arrays: Sequence[np.ndarray],
    wholes: Sequence[np.ndarray],
    mesh: DeviceMesh,
    turn: int,
) -> list[set[Any]]:
    """The placements that fit each result; none where NumPy refuses the parts."""
    pairs = zip(places, arrays, strict=True)
    layouts = [Layout(mesh, [p], x.shape, x.dtype) for p, x in pairs]
    results = local_results(sample, arrays, layouts, turn)
    if results is None or len(results) != len(wholes):
        return []
    row = Row(sample, tuple(layouts))
    pairs = zip(wholes, results, strict=True)
    return [meaning(row, whole, parts, mesh) for whole, parts in pairs]


def arrays_at(sample: Sample, turn: int) -> list[np.ndarray]:
    """The arrays of a turn."""
    arrays = arrays_of(sample, turn)
    if turn < TURNS:
        return arrays
    rng = np.random.default_rng(turn)  # one, or all have infinities in one place
    return [with_infinities(x, rng) for x in arrays]


def is_sum(places: Sequence[Any]) -> bool:
    """Whether some operand is a sum, whose addends are finite."""
    return any(p.is_partial() and p.reduce_op in SUMS for p in places)


def rights(sample: Sample) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    """Every row that is right: placements of the operands -> those of the results."""
    found: dict[tuple[Any, ...], list[set[Any]]] = {}
    values: set[bytes] = set()
    for size, turn in itertools.product(SIZES, range(2 * TURNS)):
        arrays = arrays_at(sample, turn)
        expected = sample.expected(arrays)
        if isinstance(expected, Exception) and turn >= TURNS:
            continue
        if isinstance(expected, Exception):
            return {}
        wholes = [np.asarray(x) for x in flat(expected)]
        values.update(x.tobytes() for whole in wholes for x in whole.ravel())
        now = {}
        first = (size, turn) == (SIZES[0], 0)
        for places in operands_of(arrays) if first else found:
            if turn >= TURNS and is_sum(places):
                now[places] = found[places]
                continue
            fits = fits_of(sample, places, arrays, wholes, grid(size), turn)
            both = [a & b for a, b in zip(found.get(places, fits), fits, strict=False)]
            if both and all(both):
                now[places] = both
        found = now
    if len(values) < 2:
        return {}  # a constant is right with any placement
    return {
        operands: tuple(sorted(ways, key=str)[0] for ways in results)
        for operands, results in found.items()
    }


def candidates(samples: Iterable[Sample]) -> list[Missing]:
    """The rows that are right for all samples of a kind.

    What a rule knows is the operator, dtypes, and for shards the arguments and numbers
    of dims, too: a row that another sample of the same contradicts is no row.
    """
    found: dict[Any, Missing] = {}
    contradicted = set()
    for sample in filter(worth_trying, samples):
        right, arrays = rights(sample), arrays_of(sample)
        for operands in operands_of(arrays):
            cut = any(p.is_shard() for p in operands)
            kind = [(x.ndim * cut, x.dtype.kind) for x in arrays]
            row = (sample.name, told(sample.fn) * cut, tuple(kind), operands)
            each = Missing(sample, operands, right.get(operands, ()))
            if each.results != found.setdefault(row, each).results or not each.results:
                contradicted.add(row)
    return [each for row, each in found.items() if row not in contradicted]


def missing(samples: Iterable[Sample]) -> list[Missing]:
    """The rows that are right and cost bytes, of these samples."""
    found = candidates(samples)
    costly = [0] * len(found)
    for size in SIZES:
        rows = []
        for each in found:
            arrays = zip(each.operands, arrays_of(each.sample), strict=True)
            layouts = [Layout(grid(size), [p], x.shape, x.dtype) for p, x in arrays]
            rows.append(Row(each.sample, tuple(layouts)))
        for k, verdict in enumerate(check(rows) if rows else []):
            costly[k] += any(heard.sent for heard in verdict.heard if heard)
    return [each for k, each in enumerate(found) if costly[k] == len(SIZES)]
