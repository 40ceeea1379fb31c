"""What layouts mean, in NumPy: the other half of every comparison.

Written from torch's words, not from the C code: a dimension is a list of indices, which
the mesh dimensions that shard it cut one after the other by torch.chunk.
"""

import functools
import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import Layout, Partial, Replicate, Shard

Array = npt.NDArray[Any]

# Every reduction: what it does with two addends, and the kinds of dtype that have it
# (V: bfloat16).
REDUCE = {
    "sum": np.add,
    "avg": np.add,
    "product": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
    "bitwise_or": np.bitwise_or,
}
BITWISE = [op for op in REDUCE if op.startswith("bitwise")]
KINDS = dict.fromkeys(REDUCE, "biufcV") | dict.fromkeys(BITWISE, "biu") | {"avg": "fcV"}


def reduces(op: str, dtype: Any) -> bool:
    """Whether a dtype has a reduction."""
    return np.dtype(dtype).kind in KINDS[op]


def chunk(index: Array, count: int) -> list[Array]:
    """torch.chunk, with empty chunks at the end where there are too few."""
    size = -(-len(index) // count)
    return [index[k * size : (k + 1) * size] for k in range(count)]


def indices(layout: Layout, dim: int, coordinate: Sequence[int]) -> Array:
    """The indices along `dim` that the rank at `coordinate` holds, in local order."""
    index = np.arange(layout.shape[dim])
    order = dict(layout.shard_order).get(dim, ())
    cuts = (layout.cuts or {}).get(dim)
    if cuts is not None:
        part = 0
        for m in order:
            part = part * layout.mesh.shape[m] + coordinate[m]
        return index[cuts[part] : cuts[part + 1]]
    for m in order:
        # A split tells an order that is not left to right, else what it says itself.
        splits = getattr(layout.placements[m], "split_factor", 1)
        pieces = chunk(index, splits if list(order) == sorted(order) else 1)
        length = layout.mesh.shape[m]
        index = np.concatenate([chunk(p, length)[coordinate[m]] for p in pieces])
    return index


@functools.lru_cache(maxsize=100_000)
def boxes(layout: Layout) -> dict[int, tuple[Array, ...]]:
    """The indices that each rank of the mesh holds, dimension by dimension."""
    coordinates = itertools.product(*map(range, layout.mesh.shape))
    return {
        rank: tuple(indices(layout, d, at) for d in range(len(layout.shape)))
        for rank, at in zip(layout.mesh.ranks.flat, coordinates, strict=True)
    }


@functools.lru_cache(maxsize=100_000)
def wheres(layout: Layout) -> dict[int, tuple[Any, ...]]:
    """The same as indices of the array."""
    return {rank: (*np.ix_(*box), ...) for rank, box in boxes(layout).items()}


def take(array: Array, box: tuple[Array, ...]) -> Array:
    """The part of an array that a box names."""
    return array[np.ix_(*box)] if box else array.copy()


def partial_dims(layout: Layout) -> list[int]:
    """The mesh dimensions with Partial placements."""
    return [m for m, p in enumerate(layout.placements) if p.is_partial()]


def reductions(layout: Layout) -> set[str]:
    """The operators of its Partial placements."""
    return {layout.placements[m].reduce_op for m in partial_dims(layout)}


@np.errstate(over="ignore")  # integers wrap
def addends(array: Array, op: str, n: int, rng: np.random.Generator) -> list[Array]:
    """`n` random arrays whose reduction is `array`, exactly."""
    kind = "f" if array.dtype.kind == "V" else array.dtype.kind  # bfloat16
    shape = (n - 1, *array.shape)
    if op in ("max", "min"):
        return _bounded(array, op, n, rng)
    if op == "bitwise_or":
        return _bits(array, n, rng)
    if kind == "b":
        others = rng.integers(0, 2, shape).astype(bool)
        last = array & True
        if op == "sum":
            return [*(others & array), last]
        return [*(others | array), last]
    if op == "product":
        choice = [1, -1] if kind in "iu" else [1, -1, 2, 0.5]
        factors = rng.choice(np.array(choice), shape).astype(array.dtype)
        last = array
        for factor in factors:
            last = last * factor if kind in "iu" else last / factor
        return [*factors, last.astype(array.dtype)]
    others = rng.integers(-8, 9, shape).astype(array.dtype)
    last = array * np.asarray(n, array.dtype) if op == "avg" else array
    for other in others:
        last = last - other
    return [*others, last.astype(array.dtype)]


def _bits(array: Array, n: int, rng: np.random.Generator) -> list[Array]:
    """Each bit that is set in one place at least, and no other bit."""
    some = [sample(array.shape, array.dtype, rng) & array for _ in range(n)]
    missing = array & ~np.bitwise_or.reduce(some, axis=0)
    return [*some[:-1], np.asarray(some[-1] | missing)]


def _bounded(array: Array, op: str, n: int, rng: np.random.Generator) -> list[Array]:
    """Values beyond `array` nowhere, and equal to it in one place at least."""
    out = [array.copy() for _ in range(n)]
    extremes = np.sort(array.ravel())
    extremes = extremes[extremes == extremes]
    worst = extremes[:1] if op == "max" else extremes[-1:]
    owner = rng.integers(0, n, array.shape)
    for k in range(n):
        keep = (owner == k) | (rng.integers(0, 2, array.shape) == 0)
        if worst.size:
            out[k] = np.where(keep, array, worst[0]).astype(array.dtype)
    return out


def place(array: Array, layout: Layout, seed: int = 0) -> dict[int, Array]:
    """The local array of each rank of the mesh; random addends where it is Partial."""
    rng = np.random.default_rng(seed)
    parts = {(): array}  # by coordinates of the Partial mesh dimensions, last first
    for m in reversed(partial_dims(layout)):
        op, n = layout.placements[m].reduce_op, layout.mesh.shape[m]
        split = {at: addends(a, op, n, rng) for at, a in parts.items()}
        parts = {(k, *at): a[k] for at, a in split.items() for k in range(n)}
    dims = partial_dims(layout)
    coordinates = itertools.product(*map(range, layout.mesh.shape))
    return {
        rank: parts[tuple(at[m] for m in dims)][where].copy()
        for (rank, where), at in zip(wheres(layout).items(), coordinates, strict=True)
    }


@np.errstate(invalid="ignore", over="ignore")
def assemble(parts: dict[int, Array], layout: Layout) -> Array:
    """The array that local arrays stand for; replicas are equal, nothing is missing."""
    dims = partial_dims(layout)
    sizes = [layout.mesh.shape[m] for m in dims]
    addend = np.zeros((*sizes, *layout.shape), layout.dtype)
    seen = np.zeros((*sizes, *layout.shape), bool)
    coordinates = itertools.product(*map(range, layout.mesh.shape))
    for (rank, where), at in zip(wheres(layout).items(), coordinates, strict=True):
        one = (*(at[m] for m in dims), ...)
        mine, known = addend[one], seen[one]
        part, old = np.asarray(parts[rank]), mine[where]
        shape = old.shape
        assert part.shape == shape, f"rank {rank} has shape {part.shape}, not {shape}"
        assert part.dtype == layout.dtype, f"rank {rank} has dtype {part.dtype}"
        assert same(np.where(known[where], old, part), part), (
            f"rank {rank} has another replica"
        )
        mine[where], known[where] = part, True
    assert seen.all(), "no rank holds some elements"
    narrow = addend.itemsize == 2 and addend.dtype.kind in "fV"
    dtype = np.dtype("f4") if narrow else np.dtype(layout.dtype)  # rounded once
    addend = addend.astype(dtype, copy=False)
    for m, n in zip(dims, sizes, strict=True):
        op = layout.placements[m].reduce_op
        addend = REDUCE[op].reduce(addend, axis=0, dtype=dtype)
        if op == "avg":
            addend = (addend / np.asarray(n, dtype)).astype(dtype)
    return addend.astype(layout.dtype, copy=False)


def same(a: Array, b: Array) -> bool:
    """The same values, where NaN is NaN and -0.0 is 0.0."""
    a, b = np.asarray(a), np.asarray(b)
    return a.shape == b.shape and bool(((a == b) | ((a != a) & (b != b))).all())


def same_bits(a: Array, b: Array) -> bool:
    """The same bytes; long doubles have some without meaning, which do not count."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.dtype.char in "gG":
        return same(a, b)
    return a.tobytes() == b.tobytes()


def sample(shape: Sequence[int], dtype: Any, rng: np.random.Generator) -> Array:
    """Random values of which sums and products of a few are exact."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu":
        raw = rng.integers(0, 256, (math.prod(shape), dtype.itemsize), np.uint8)
        return raw.view(dtype).reshape(shape)
    values = rng.integers(-8, 9, shape).astype(dtype)
    if dtype.kind == "c":
        values = values + 1j * rng.integers(-8, 9, shape).astype(dtype)
    return values.astype(dtype)


def layouts(
    mesh: Any,
    shape: Sequence[int],
    dtype: Any = "float64",
    ops: Sequence[str] = ("sum",),
) -> list[Layout]:
    """Every layout that the mesh has for a shape: all placements, in all orders."""
    choices = [Replicate(), *map(Shard, range(len(shape))), *map(Partial, ops)]
    out = []
    for placements in itertools.product(choices, repeat=mesh.ndim):
        orders = []
        for d in range(len(shape)):
            dims = [m for m, p in enumerate(placements) if p.is_shard(d)]
            orders.append([(d, order) for order in itertools.permutations(dims)])
        out += [
            Layout(
                mesh, placements, shape, dtype, shard_order=[o for o in order if o[1]]
            )
            for order in itertools.product(*orders)
        ]
    return list(dict.fromkeys(out))
