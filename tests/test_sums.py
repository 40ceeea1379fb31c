"""One association of sums: every plan, way and dtype gives the bits of its definition.

Along a mesh dim addends are summed by a binary tree of neighbours, whose left half has
the largest power of two of them that is less than all; over mesh dims the last first.
"""

import itertools
import math

import numpy as np
import oracle
import pytest
from cases import BFLOAT16, random_cuts
from moves import counted, grid, on_world

from dtensor import DTensor, Layout, Partial, Replicate, Shard
from dtensor._core import world as _world
from dtensor.testing import run_ranks

SHAPES = [(1,), (2,), (3,), (4,), (5,), (6,), (7,), (8,)]
SHAPES += [(2, 2), (2, 3), (3, 2), (4, 2), (2, 4), (1, 3), (2, 2, 2), (2, 1, 3)]
DTYPES = [np.dtype(code) for code in "fdeF"] + BFLOAT16
OPS = ["sum", "product", "avg", "max", "min"]
FAMILIES = ["", *(f"family={k}" for k in range(1, 6))]
# ... and those that share sums out, where one mesh dim joins nodes of several ranks.
FAMILIES += [f"family={k},node_ranks={n}" for k in (4, 5) for n in (2, 4)]


# --- the definition -------------------------------------------------------------------


def combine(op, a, b):
    """Two addends, or sums of some."""
    if op == "product" and a.dtype.kind == "c":  # NumPy may fuse these operations
        out = np.empty_like(a)
        out.real = a.real * b.real - a.imag * b.imag
        out.imag = a.real * b.imag + a.imag * b.real
        return out
    return oracle.REDUCE[op](a, b)


def tree(op, addends):
    """The sum of addends along one mesh dim."""
    if len(addends) == 1:
        return addends[0]
    half = 1 << (len(addends) - 1).bit_length() - 1
    return combine(op, tree(op, addends[:half]), tree(op, addends[half:]))


def over_grid(op, addends, lengths):
    """The sum of addends in row-major order over mesh dims of these lengths."""
    if not lengths:
        return addends[0]
    step = len(addends) // lengths[0]
    rows = [
        over_grid(op, addends[k * step : (k + 1) * step], lengths[1:])
        for k in range(lengths[0])
    ]
    return tree(op, rows)


@np.errstate(all="ignore")
def reduced(op, addends, lengths):
    """The same, rounded once and divided once."""
    dtype = addends[0].dtype
    short = dtype.itemsize == 2 and op not in ("max", "min")
    if short and len(addends) > 1:
        addends = [x.astype("f") for x in addends]
    out = over_grid(op, addends, lengths)
    if op == "avg":
        real = out.real.dtype.type(math.prod(lengths))
        out = out / real if out.dtype.kind != "c" else parts_divided(out, real)
    return out.astype(dtype)


def parts_divided(array, by):
    """Complex numbers, part by part."""
    return (array.view(array.real.dtype) / by).view(array.dtype)


# --- cases ----------------------------------------------------------------------------


def random_values(shape, dtype, rng):
    """Numbers of many sizes: in another order their sums have other bits."""
    size = 2.0 ** rng.integers(-6, 7, shape)
    values = rng.standard_normal(shape) * size
    if dtype.kind == "c":
        values = values + 1j * rng.standard_normal(shape) * size
    if rng.random() < 0.3:
        values = np.where(rng.random(shape) < 0.3, -0.0, values)
    return np.asarray(values).astype(dtype)


def random_pair(rng, mesh, op, dtype, shape):
    """Layouts with something to reduce between them."""
    places = [Replicate(), Shard(0), Shard(1)]
    start, end = [], []
    for _ in mesh.shape:
        pending = rng.random() < 0.75
        start.append(Partial(op) if pending else places[rng.integers(3)])
        end.append(places[rng.integers(3)])
        if pending and rng.random() < 0.15:
            end[-1] = Partial(op)
    cuts = [
        random_cuts(rng, mesh, p, shape) if rng.random() < 0.2 else None
        for p in (start, end)
    ]
    return [
        Layout(mesh, p, shape, dtype, cuts=c or None)
        for p, c in zip((start, end), cuts, strict=True)
    ]


class Sum:
    """Addends, where they are, and what each rank must have of their sum."""

    def __init__(self, seed, mesh, dtype):
        rng = np.random.default_rng(seed)
        self.op = OPS[rng.integers(len(OPS))]
        shape = tuple(rng.integers(0, 9, 2).tolist()) if seed % 3 else (37, 29)
        self.start, self.end = random_pair(rng, mesh, self.op, dtype, shape)
        dims = oracle.partial_dims(self.start)
        stays = [m for m in dims if self.end.placements[m].is_partial()]
        goes = [m for m in dims if m not in stays]
        addends = {
            at: random_values(shape, dtype, rng)
            for at in itertools.product(*(range(mesh.shape[m]) for m in dims))
        }
        lengths = [mesh.shape[m] for m in goes]
        sums = {}
        for at in itertools.product(*(range(mesh.shape[m]) for m in stays)):
            fixed = dict(zip(stays, at, strict=True))
            chosen = [
                x
                for where, x in addends.items()
                if fixed.items() <= dict(zip(dims, where, strict=True)).items()
            ]
            sums[at] = reduced(self.op, chosen, lengths) if goes else chosen[0]
        self.before, self.after = {}, {}
        for rank, where in oracle.wheres(self.start).items():
            at = mesh.coordinate(rank)
            self.before[rank] = addends[tuple(at[m] for m in dims)][where].copy()
        for rank, where in oracle.wheres(self.end).items():
            at = mesh.coordinate(rank)
            self.after[rank] = sums[tuple(at[m] for m in stays)][where].copy()

    def check(self):
        """The sum on this rank is that of the definition, bit by bit."""
        world = _world.current()
        x = DTensor(self.before[world.rank], on_world(self.start), requires_grad=False)
        out = counted(x, on_world(self.end))
        assert oracle.same_bits(out, self.after[world.rank]), f"{self} by {world.costs}"

    def __str__(self):
        return f"{self.start!r} -> {self.end!r}"


def check_sums(shape, dtype, count, seed):
    """All families give what the definition says, bit by bit."""
    mesh = grid(*shape)
    cases = [Sum(seed + k, mesh, dtype) for k in range(count)]
    size = math.prod(shape)

    def program():
        for family in FAMILIES:
            _world.current().set_costs(family)
            for case in cases:
                case.check()

    run_ranks(size, program)


@pytest.mark.parametrize("way", ["read", "messages", "tree", "carry"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_plan_and_way_adds_by_the_same_tree(monkeypatch, shape, dtype, way):
    monkeypatch.setenv("DTENSOR_WAY", way)
    check_sums(shape, dtype, 12, 1)


@pytest.mark.validate
@pytest.mark.parametrize("way", ["read", "messages", "tree", "carry"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_many_sums_are_those_of_the_tree(monkeypatch, shape, dtype, way):
    monkeypatch.setenv("DTENSOR_WAY", way)
    check_sums(shape, dtype, 400, 1000)


def wider(x):
    """The same elements in rows that lie apart."""
    out = np.empty((*x.shape[:-1], 2 * x.shape[-1]), x.dtype)[..., : x.shape[-1]]
    out[...] = x
    return out


def backwards(x):
    """The same elements, the last first in memory."""
    return x[::-1, ..., ::-1].copy()[::-1, ..., ::-1]


ORDERS = [np.copy, wider, backwards, np.asfortranarray, lambda x: wider(x.T).T]
ORDERS += [lambda x: wider(x.swapaxes(0, 1)).swapaxes(0, 1)]


@pytest.mark.parametrize("way", ["read", "messages"])
@pytest.mark.parametrize("op", ["sum", "avg", "max"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_addends_lie_in_memory_as_they_like(monkeypatch, dtype, op, way):
    """In short rows and long ones, of arrays of three dims, each rank's otherwise."""
    monkeypatch.setenv("DTENSOR_WAY", way)
    rng = np.random.default_rng(5)
    cases = []
    for shape in [(4, 5, 300), (6, 70, 2), (3, 1, 257), (2, 130, 0), (300, 3, 5)]:
        addends = [random_values(shape, dtype, rng) for _ in range(3)]
        orders = [ORDERS[k] for k in rng.integers(len(ORDERS), size=(12, 3)).flat]
        cases.append((addends, orders, reduced(op, addends, [3])))

    def program():
        world = _world.current()
        for addends, orders, whole in cases:
            for k, place in enumerate([Replicate(), Shard(0), Shard(1), Shard(2)] * 3):
                start = Layout(grid(3), [Partial(op)], whole.shape, dtype)
                end = Layout(grid(3), [place], whole.shape, dtype)
                mine = orders[3 * k + world.rank](addends[world.rank])
                x = DTensor(mine, on_world(start), requires_grad=False)
                out = counted(x, on_world(end))
                there = oracle.wheres(end)[world.rank]
                assert oracle.same_bits(out, whole[there].copy()), (
                    f"{whole.shape} {place}"
                )

    run_ranks(3, program)


def test_the_tree_is_not_a_row():
    """The cases tell associations apart, or they would prove nothing."""
    rng = np.random.default_rng(0)
    addends = [random_values((100,), np.dtype("f"), rng) for _ in range(6)]
    row = addends[0]
    for x in addends[1:]:
        row = row + x
    assert np.any(row != reduced("sum", addends, [6]))
    assert np.any(reduced("sum", addends, [2, 3]) != reduced("sum", addends, [6]))
    assert np.any(reduced("sum", addends, [2, 3]) != reduced("sum", addends, [3, 2]))
