"""Cases for moves: all of a kind, or random ones of every kind."""

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import oracle
from moves import Case, grid

from dtensor import DeviceMesh, Layout, Partial, Replicate, Shard
from dtensor.placement_types import _StridedShard

try:
    import ml_dtypes
except ImportError:
    BFLOAT16 = []
else:
    BFLOAT16 = [np.dtype(ml_dtypes.bfloat16)]

DTYPES = [np.dtype(c) for c in "?bhilBHILefdgFDG"] + BFLOAT16
INEXACT = [dtype for dtype in DTYPES if dtype.kind in "fcV"]
OPS = list(oracle.REDUCE)
MESHES = [(1,), (2,), (3,), (4,), (2, 2), (2, 3), (3, 2), (2, 2, 2)]


def every_pair(
    mesh: DeviceMesh, shapes: Sequence[tuple[int, ...]]
) -> Iterator[tuple[Layout, Layout]]:
    """Every pair of layouts of a mesh, in all orders, for each of these shapes."""
    for shape in shapes:
        yield from itertools.product(oracle.layouts(mesh, shape), repeat=2)


def small_shapes(ndim: int, longest: int = 7) -> list[tuple[int, ...]]:
    """Every shape with lengths from 0 to `longest`."""
    return list(itertools.product(range(longest + 1), repeat=ndim))


def case_of(start: Layout, end: Layout, seed: int) -> Case:
    """A case with random values."""
    array = oracle.sample(start.shape, start.dtype, np.random.default_rng(seed))
    return Case(array, start, end, seed)


def random_mesh(rng: np.random.Generator, size: int) -> DeviceMesh:
    """Some of `size` ranks, in any order, in up to four dimensions."""
    shape: list[int] = []
    room = int(rng.integers(1, size + 1))
    while room > 1 and len(shape) < 3:
        shape.append(int(rng.integers(1, room + 1)))
        room //= shape[-1]
    shape = shape or [1]
    if rng.random() < 0.2:
        shape.insert(int(rng.integers(0, len(shape) + 1)), 1)
    ranks = rng.permutation(size) if rng.random() < 0.5 else np.arange(size)
    return grid(*shape, ranks=ranks[: math.prod(shape)].tolist())


def random_cuts(
    rng: np.random.Generator, mesh: DeviceMesh, placements: Sequence[Any], shape: Any
) -> dict[int, list[int]]:
    """The user's own cut points for some of the dimensions that are sharded."""
    cuts = {}
    for d, length in enumerate(shape):
        parts = math.prod(
            n for n, p in zip(mesh.shape, placements, strict=True) if p.is_shard(d)
        )
        if any(p.is_shard(d) for p in placements) and rng.random() < 0.5:
            inner = sorted(rng.integers(0, length + 1, parts - 1).tolist())
            cuts[d] = [0, *inner, length]
    return cuts


def random_layout(
    rng: np.random.Generator,
    mesh: DeviceMesh,
    shape: Sequence[int],
    dtype: Any,
    op: str | None = None,
    partial: bool = True,
) -> Layout:
    """A layout of any kind; `partial`: it may have Partial placements."""
    op = op or str(rng.choice([o for o in OPS if oracle.reduces(o, dtype)]))
    choices = [Replicate(), *map(Shard, range(len(shape)))]
    choices += [Partial(op)] * partial
    placements = [choices[int(rng.integers(len(choices)))] for _ in mesh.shape]
    strided = rng.random() < 0.15
    if strided:
        placements = [
            _StridedShard(p.dim, split_factor=int(rng.integers(1, 5)))
            if p.is_shard() and rng.random() < 0.7
            else p
            for p in placements
        ]
        return Layout(mesh, placements, shape, dtype)
    order = []
    for d in range(len(shape)):
        dims = [m for m, p in enumerate(placements) if p.is_shard(d)]
        if dims:
            order.append((d, rng.permutation(dims).tolist()))
    cuts = random_cuts(rng, mesh, placements, shape) if rng.random() < 0.25 else None
    return Layout(mesh, placements, shape, dtype, shard_order=order, cuts=cuts)


def random_case(rng: np.random.Generator, size: int, dtypes: Sequence[Any]) -> Case:
    """A move of any kind on up to `size` ranks, onto another mesh now and then."""
    dtype = dtypes[int(rng.integers(len(dtypes)))]
    shape = tuple(rng.integers(0, 8, int(rng.integers(0, 4))).tolist())
    mesh = random_mesh(rng, size)
    other = random_mesh(rng, size) if rng.random() < 0.25 else mesh
    start = random_layout(rng, mesh, shape, dtype)
    end = random_layout(rng, other, shape, dtype)
    return case_of(start, end, int(rng.integers(2**31)))


def random_cases(seed: int, count: int, size: int, dtypes: Any = DTYPES) -> list[Case]:
    """The same list for the same arguments, on every rank."""
    rng = np.random.default_rng(seed)
    return [random_case(rng, size, dtypes) for _ in range(count)]
