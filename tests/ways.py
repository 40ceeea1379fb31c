"""Ways to place the arrays of a sample: all, some by chance, and odd ones."""

import functools
import itertools
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import oracle
from cases import random_layout
from moves import grid
from rows import Sample, arrays_of, arrays_of_words

from dtensor import DeviceMesh, Layout, Partial, Replicate, Shard

SUMS = {"sum", "avg", "product"}
ONE_BY_ONE = {"atleast_2d", "broadcast_arrays", "program"}  # plain gives plain
ASKS_THE_FIRST = {"full_like", "repeat", "take"}  # NumPy looks at no other operand


class Row(NamedTuple):
    """A sample, and a layout for each of its arrays; None for one that stays plain."""

    sample: Sample
    layouts: tuple[Layout | None, ...]
    seed: int = 0

    def __str__(self) -> str:
        mesh = next(x.mesh.shape for x in self.layouts if x is not None)
        places = ", ".join(map(placed, self.layouts))
        return f"{self.sample} on {mesh}: {places}"


def placed(layout: Layout | None) -> str:
    """Placements, as short as they get."""
    if layout is None:
        return "plain"
    more = f" cut at {layout.cuts}" if layout.cuts else ""
    order = [o for _, o in layout.shard_order if list(o) != sorted(o)]
    more += f" in the order {layout.shard_order}" if order else ""
    return "[" + " ".join(map(str, layout.placements)) + "]" + more


# --- what the ranks hold --------------------------------------------------------------


def place(array: np.ndarray, layout: Layout, seed: int) -> dict[int, np.ndarray]:
    """The part of each rank; random where it is Partial, and exact together."""
    rng = np.random.default_rng(seed)
    dims = oracle.partial_dims(layout)
    parts = {(): array}  # by coordinates of the Partial mesh dims, last first
    for m in reversed(dims):
        op, n = layout.placements[m].reduce_op, layout.mesh.shape[m]
        split = {at: addends(x, op, n, rng) for at, x in parts.items()}
        parts = {(k, *at): x[k] for at, x in split.items() for k in range(n)}
    placed = {}
    for rank, where in oracle.wheres(layout).items():
        at = layout.mesh.coordinate(rank)
        placed[rank] = parts[tuple(at[m] for m in dims)][where].copy()
    return placed


@np.errstate(over="ignore", invalid="ignore")
def addends(
    array: np.ndarray, op: str, n: int, rng: np.random.Generator
) -> list[np.ndarray]:
    """`n` random arrays whose reduction is `array`, exactly. Integers wrap."""
    if op in ("max", "min"):
        return [extreme(array, op, owned, rng) for owned in owners(array.shape, n, rng)]
    if op not in ("sum", "avg") or array.dtype.kind == "b":
        return oracle.addends(array, op, n, rng)
    times = np.asarray(3 if op == "avg" else 1, array.dtype)  # to be divided by 3
    others = [np.asarray(offsets(array, rng) * times) for _ in range(n - 1)]
    last = array * np.asarray(n, array.dtype) if op == "avg" else array.copy()
    for other in others:
        last = np.asarray(last - other)
    return [*others, last.astype(array.dtype)]


def offsets(array: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Numbers of either sign with few bits, no whole ones; any integers at all."""
    if array.dtype.kind in "iu":
        return oracle.sample(array.shape, array.dtype, rng)
    step = 2 if array.dtype.kind == "V" else 8  # bfloat16
    values = rng.integers(-8 * step, 8 * step + 1, array.shape) / step
    if array.dtype.kind == "c":
        values = values + 1j * rng.integers(-64, 65, array.shape) / 8
    return np.asarray(values).astype(array.dtype)


def owners(
    shape: tuple[int, ...], n: int, rng: np.random.Generator
) -> list[np.ndarray]:
    """Where each of `n` addends has the true value: one everywhere, two in places."""
    owner, twice = rng.integers(0, n, shape), rng.random(shape) < 0.3
    twice = twice & (not np.all(twice))
    return [(owner == k) | (twice & ((owner + 1) % n == k)) for k in range(n)]


def extreme(
    array: np.ndarray, op: str, owned: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """The array where it is owned; elsewhere less, for a maximum, or more.

    Now and then that is what an empty part has: an infinity, or the last integer.
    (Not where it is complex: NumPy's own sums and averages of infinities are NaN.)
    """
    if array.dtype.kind == "b":
        return np.where(owned, array, op == "min")
    off = rng.integers(1, 48, array.shape)
    if array.dtype.kind in "fcV":
        last = np.asarray(-np.inf if op == "max" else np.inf).astype(array.dtype)
        step = np.asarray(off / 8).astype(array.dtype)
        other = array - step if op == "max" else array + step
        # NaN and the other infinity are on some ranks only.
        other = np.where(np.isfinite(array) | (array == last), other, step)
        last = other if array.dtype.kind == "c" else last
    else:
        limits = np.iinfo(array.dtype)
        last = np.asarray(limits.min if op == "max" else limits.max, array.dtype)
        room = array - limits.min if op == "max" else limits.max - array
        off = np.minimum(off, room.astype(f"u{array.itemsize}")).astype(array.dtype)
        other = array - off if op == "max" else array + off
    other = np.where(rng.random(array.shape) < 0.2, last, other)
    return np.asarray(np.where(owned, array, other))


def adds_up(array: np.ndarray) -> bool:
    """Whether addends of it can be found that give it back bit by bit.

    None for infinities: finite addends are all that a sum promises to be right for.
    """
    if array.dtype.kind not in "fc":
        return True
    parts = array.view(array.real.dtype) if array.ndim else np.array([array.real])
    ordinary = np.isfinite(parts) & (parts != 0)
    steps = parts[ordinary].astype("g") * 1024
    signed = (parts == 0) & np.signbit(parts)
    whole = bool((steps == np.rint(steps)).all())
    return whole and not signed.any() and not np.isinf(parts).any()


# --- rows -----------------------------------------------------------------------------


def choices(array: np.ndarray) -> list[Any]:
    """Every placement on one mesh dimension."""
    ops = ["sum"] * adds_up(array) + ["max", "min"]
    ops += ["avg"] * (array.dtype.kind in "fc" and adds_up(array))
    ops += [op for op in oracle.BITWISE if oracle.reduces(op, array.dtype)]
    return [Replicate(), *map(Shard, range(array.ndim)), *map(Partial, ops)]


@functools.lru_cache(maxsize=10_000)
def choices_of(words: str) -> list[list[Any]]:
    """The same for each of the arrays that words name."""
    return [choices(array) for array in arrays_of_words(words)]


def every_row(sample: Sample, mesh: DeviceMesh) -> Iterator[Row]:
    """All placements of all arrays."""
    ways = [
        [
            Layout(mesh, places, array.shape, array.dtype)
            for places in itertools.product(ways, repeat=mesh.ndim)
        ]
        for array, ways in zip(
            arrays_of_words(sample.arrays), choices_of(sample.arrays), strict=True
        )
    ]
    for layouts in itertools.product(*ways):
        yield Row(sample, layouts)


def some_rows(sample: Sample, mesh: DeviceMesh, count: int, seed: int) -> list[Row]:
    """`count` different ones at most, by chance."""
    rng = np.random.default_rng(seed)
    words, rows = sample.arrays, {}
    for _ in range(count):
        layouts = []
        for array, ways in zip(arrays_of_words(words), choices_of(words), strict=True):
            picks = rng.integers(0, len(ways), mesh.ndim)
            places = [ways[k] for k in picks]
            layouts.append(Layout(mesh, places, array.shape, array.dtype))
        rows[tuple(layouts)] = Row(sample, tuple(layouts))
    return list(rows.values())


def odd_rows(sample: Sample, mesh: DeviceMesh, count: int, seed: int) -> list[Row]:
    """Cut points of one's own, strided shards, other orders, products, plain arrays."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(count):
        layouts = [
            random_layout(
                rng, mesh, array.shape, array.dtype, None if adds_up(array) else "max"
            )
            for array in arrays_of_words(sample.arrays)
        ]
        method = sample.name.startswith(("x[", "x."))
        first = int(method or sample.name in ASKS_THE_FIRST)
        plain = not sample.changes and sample.name not in ONE_BY_ONE
        if len(layouts) > 1 and plain and rng.random() < 0.3:
            layouts[int(rng.integers(first, len(layouts)))] = None  # not whose method
        rows.append(Row(sample, tuple(layouts)))
    return rows


def number_of_rows(sample: Sample, mesh: DeviceMesh) -> int:
    """How many `every_row` gives."""
    return math.prod(len(ways) ** mesh.ndim for ways in choices_of(sample.arrays))


def rows_of(
    sample: Sample, mesh: DeviceMesh, most: int, odd: int, seed: int
) -> list[Row]:
    """All rows if they are no more than `most`, else some; and odd ones."""
    if number_of_rows(sample, mesh) <= most:
        rows = list(every_row(sample, mesh))
    else:
        rows = some_rows(sample, mesh, most, seed)
    return rows + odd_rows(sample, mesh, odd, seed + 1)


def rows_alike(sample: Sample, mesh: DeviceMesh) -> list[Row]:
    """All rows of one mesh dimension with operands of one kind, and replicated ones."""
    arrays = arrays_of(sample)
    rows = {}
    for kind in {kind_of(p) for x in arrays for p in choices(x)}:
        ways = [
            [
                Layout(mesh, [p], x.shape, x.dtype)
                for p in choices(x)
                if p.is_replicate() or kind_of(p) == kind
            ]
            for x in arrays
        ]
        rows |= {layouts: Row(sample, layouts) for layouts in itertools.product(*ways)}
    return list(rows.values())


def kind_of(placement: Any) -> str:
    """A placement in a word: "S" for all shards."""
    return "S" if placement.is_shard() else str(placement)


def meshes_of(*shapes: tuple[int, ...]) -> list[DeviceMesh]:
    """Meshes that have no world yet."""
    return [grid(*shape) for shape in shapes]
