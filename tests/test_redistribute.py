"""A move changes where an array is and nothing else: against NumPy, for all layouts."""

import contextlib
import itertools

import numpy as np
import oracle
import pytest
from cases import (
    DTYPES,
    INEXACT,
    MESHES,
    OPS,
    case_of,
    every_pair,
    random_cases,
    random_layout,
    random_mesh,
    small_shapes,
)
from meshes import line
from moves import (
    Case,
    check,
    counted,
    grid,
    judge,
    local_parts,
    on_world,
    run_cases,
    spread,
)

from dtensor import (
    _C,
    Layout,
    Partial,
    Replicate,
    Shard,
    distribute_tensor,
    init_device_mesh,
    ones,
    redistribute,
)
from dtensor._core import world as _world
from dtensor.testing import run_ranks

CHUNK = 2000  # cases that are made before they are moved
IDS = ["x".join(map(str, shape)) for shape in MESHES]


@contextlib.contextmanager
def count_limit(limit):
    """Messages of at most so many elements."""
    before = _C._get_count_limit()
    _C._set_count_limit(limit or before)
    try:
        yield
    finally:
        _C._set_count_limit(before)


def chunks(cases):
    """Lists of some thousand cases."""
    cases = iter(cases)
    while chunk := list(itertools.islice(cases, CHUNK)):
        yield chunk


# --- every pair of layouts ------------------------------------------------------------


@pytest.mark.parametrize("shape", MESHES, ids=IDS)
def test_a_sample_of_all_moves_is_exact(shape):
    rng = np.random.default_rng(1)
    pairs = []
    for _ in range(60):
        lengths = tuple(rng.integers(0, 8, 2).tolist())
        layouts = oracle.layouts(grid(*shape), lengths)
        picks = rng.integers(0, len(layouts), (8, 2))
        pairs += [(layouts[i], layouts[j]) for i, j in picks]
    check([case_of(a, b, k) for k, (a, b) in enumerate(pairs)], counted)


@pytest.mark.validate
@pytest.mark.parametrize("limit", [0, 7])
@pytest.mark.parametrize("shape", MESHES, ids=IDS)
def test_every_move_is_exact(shape, limit):
    pairs = every_pair(grid(*shape), small_shapes(2))
    cases = (case_of(a, b, seed) for seed, (a, b) in enumerate(pairs))
    with count_limit(limit):
        for chunk in chunks(cases):
            check(chunk)


@pytest.mark.parametrize("ndim", [0, 1, 3])
@pytest.mark.parametrize("shape", [(3,), (2, 2), (2, 2, 2)])
def test_moves_of_other_numbers_of_dimensions_are_exact(shape, ndim):
    rng = np.random.default_rng(ndim)
    lengths = [tuple(rng.integers(0, 8, ndim).tolist()) for _ in range(3)]
    pairs = list(every_pair(grid(*shape), lengths))
    picks = rng.permutation(len(pairs))[:300]
    check([case_of(*pairs[k], seed=int(k)) for k in picks])


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype_moves_bit_by_bit(dtype):
    check(random_cases(2, 60, 4, [dtype]))


@pytest.mark.parametrize("limit", [0, 7])
def test_random_moves_are_exact(limit):
    with count_limit(limit):
        check(random_cases(3 + limit, 1000, 8), counted)


@pytest.mark.validate
@pytest.mark.parametrize("limit", [0, 7])
@pytest.mark.parametrize("size", [2, 3, 5, 6, 8])
def test_many_random_moves_are_exact(size, limit):
    for seed in range(20):
        with count_limit(limit):
            check(random_cases(100 * size + seed, CHUNK, size), counted)


@pytest.mark.mpi
@pytest.mark.parametrize("limit", [0, 7])
def test_random_moves_are_exact_between_processes(world, limit):
    between_processes(world, 150, limit)


@pytest.mark.mpi
@pytest.mark.validate
def test_many_random_moves_are_exact_between_processes(world):
    between_processes(world, 2000, 0)


def between_processes(world, count, limit):
    cases = random_cases(4, count, world.size)
    with count_limit(limit):
        parts = run_cases(cases, counted)
    for k, case in enumerate(cases):
        judge(case, gathered(world, parts[k]))


def gathered(world, part):
    """The parts of all ranks."""
    shapes = world.share(np.array([part.ndim, *part.shape, 0, 0, 0][:4]).tobytes())
    shapes = [np.frombuffer(s, np.int64) for s in shapes]
    shapes = [tuple(s[1 : 1 + s[0]].tolist()) for s in shapes]
    room = max(int(np.prod(s)) for s in shapes) * part.itemsize
    raw = world.share(part.tobytes().ljust(room, b"\0"))
    return [
        np.frombuffer(r[: int(np.prod(s)) * part.itemsize], part.dtype).reshape(s)
        for r, s in zip(raw, shapes, strict=True)
    ]


# --- reductions -----------------------------------------------------------------------


@pytest.mark.parametrize("op", OPS)
def test_partial_values_reduce_as_numpy_does(op):
    rng = np.random.default_rng(5)
    cases = []
    for dtype, shape in itertools.product(DTYPES, [(3,), (2, 2), (2, 3)]):
        if not oracle.reduces(op, dtype):
            continue
        for k in range(4):
            mesh = grid(*shape)
            start = Layout(mesh, [Partial(op)] * mesh.ndim, (5, 4), dtype)
            end = random_layout(rng, mesh, (5, 4), dtype, op)
            cases.append(case_of(start, end, k))
    check(cases, counted)


@pytest.mark.parametrize("op", ["max", "min"])
def test_a_nan_wins_every_comparison(op):
    rng = np.random.default_rng(6)
    cases = []
    for dtype in INEXACT:
        array = oracle.sample((6, 5), dtype, rng)
        array[rng.random((6, 5)) < 0.3] = np.nan
        for end in ([Replicate()], [Shard(0)], [Shard(1)], [Partial(op)]):
            mesh = grid(4)
            start = Layout(mesh, [Partial(op)], (6, 5), dtype)
            end = Layout(mesh, end, (6, 5), dtype)
            cases += [Case(array, start, end, seed) for seed in range(4)]
    check(cases)


def test_different_operators_are_applied_from_the_left():
    cases = []
    for first, second, dtype in itertools.product(OPS, OPS, ("float64", "int64")):
        both = oracle.reduces(first, dtype) and oracle.reduces(second, dtype)
        if first == second or not both:
            continue
        start = Layout(grid(2, 2), [Partial(first), Partial(second)], (5, 4), dtype)
        for end in ([Replicate()] * 2, [Shard(0), Shard(1)], [Shard(1), Replicate()]):
            cases.append(case_of(start, start.with_placements(end), len(cases)))
    check(cases)


def test_a_sum_has_the_same_bits_on_every_rank():
    rng = np.random.default_rng(7)
    mesh = grid(5)
    start = Layout(mesh, [Partial()], (40, 3), "float32")
    end = Layout(mesh, [Replicate()], (40, 3), "float32")
    case = Case(rng.standard_normal((40, 3)).astype("f"), start, end)
    values = {r: rng.standard_normal((40, 3)).astype("f") for r in range(5)}
    results = [mine[0] for mine in run_ranks(5, run_cases, [case], counted, [values])]
    assert all(oracle.same_bits(results[0], other) for other in results)
    np.testing.assert_allclose(results[0], sum(values.values()), atol=1e-5)


# --- ways to move ---------------------------------------------------------------------


def asynchronous(cases, parts):
    """All moves are under way before the first is waited for, in any order."""
    xs = [
        spread(case, part, on_world(case.start))
        for case, part in zip(cases, parts, strict=True)
    ]
    ends = [on_world(case.end) for case in cases]
    moves = [
        _C._redistribute_any(x, placements=end, async_op=True)
        for x, end in zip(xs, ends, strict=True)
    ]
    order = np.random.default_rng(_world.current().rank).permutation(len(cases))
    out = {int(k): np.asarray(moves[k].to_local()).copy() for k in order}
    return [out[k] for k in range(len(cases))]


@pytest.mark.parametrize("size", [1, 2, 4, 6])
def test_asynchronous_moves_may_be_waited_for_in_any_order(size):
    cases = random_cases(12, 200, size)
    parts = [local_parts(case) for case in cases]
    results = run_ranks(size, asynchronous, cases, parts)
    for k, case in enumerate(cases):
        judge(case, [mine[k] for mine in results])


def together(groups, parts):
    """Lists of arrays that move from one mesh to another with one message per peer."""
    out = []
    for cases, theirs in zip(groups, parts, strict=True):
        xs = [
            spread(case, part, on_world(case.start))
            for case, part in zip(cases, theirs, strict=True)
        ]
        ends = [on_world(case.end) for case in cases]
        moved = _C._redistribute_any(xs, placements=ends)
        out += [np.asarray(y.to_local()).copy() for y in moved]
    return out


def test_a_list_of_arrays_moves_together():
    rng = np.random.default_rng(13)
    groups = []
    for k in range(60):
        a, b = random_mesh(rng, 6), random_mesh(rng, 6)
        b = a if k % 2 else b
        cases = []
        for _ in range(int(rng.integers(1, 6))):
            shape, dtype = rng.integers(0, 8, 2).tolist(), DTYPES[int(rng.integers(17))]
            start = random_layout(rng, a, shape, dtype)
            end = random_layout(rng, b, shape, dtype)
            cases.append(case_of(start, end, int(rng.integers(1 << 30))))
        groups.append(cases)
    parts = [[local_parts(case) for case in cases] for cases in groups]
    results = run_ranks(6, together, groups, parts)
    for k, case in enumerate(itertools.chain(*groups)):
        judge(case, [mine[k] for mine in results])


def test_arrays_that_move_together_need_one_message_for_each_pair_of_ranks(ranks):
    def body():
        mesh, world = line(), _world.current()
        xs = [ones((6, 8), device_mesh=mesh, placements=[Shard(0)]) for _ in range(5)]
        before = world.counters()
        redistribute(xs, placements=[Shard(1)])
        messages = sum(c[2] for c in world.counters().values())
        messages -= sum(c[2] for c in before.values())
        assert messages <= mesh.size() - 1

    ranks(body)


@pytest.mark.parametrize("size", [2, 4])
@pytest.mark.parametrize("bound", [1 << 8, 1 << 12])
def test_a_bound_on_scratch_memory_changes_no_value(size, bound):
    rng = np.random.default_rng(14)
    cases = []
    for k in range(60):
        mesh, shape = random_mesh(rng, size), (37, 29)
        start = random_layout(rng, mesh, shape, "float64", partial=False)
        end = random_layout(rng, mesh, shape, "float64", partial=False)
        cases.append(case_of(start, end, k))
    start = Layout(grid(size), [Partial()], (37, 29), "float64")
    for end in (Replicate(), Shard(0), Shard(1)):
        cases.append(case_of(start, start.with_placements([end]), len(cases)))

    def bounded(x, end):
        y = _C._redistribute_any(x, placements=end, max_bytes=bound)
        return np.asarray(y.to_local())

    check(cases, bounded)


def test_a_move_may_be_in_another_dtype(ranks):
    def body():
        mesh = line()
        array = np.random.default_rng(15).standard_normal((7, 5))
        x = distribute_tensor(array, mesh, [Shard(0)])
        y = x.redistribute(placements=[Replicate()], forward_dtype="float32")
        assert y.dtype == np.float32 and x.dtype == np.float64
        assert oracle.same_bits(np.asarray(y.to_local()), array.astype("float32"))

    ranks(body)


def test_equal_placements_share_memory_and_send_nothing(ranks):
    def body():
        mesh, world = line(), _world.current()
        x = distribute_tensor(np.arange(10.0), mesh, [Shard(0)])
        before = world.counters()
        y = x.redistribute(placements=[Shard(0)])
        assert world.counters() == before
        mine = np.asarray(x.to_local())
        assert mine.size == 0 or np.shares_memory(mine, np.asarray(y.to_local()))
        assert x.redistribute().placements == (Replicate(),)

    ranks(body)


def test_a_mesh_dimension_of_length_1_sends_nothing():
    def body():
        mesh = init_device_mesh("cpu", (1, _world.current().size))
        x = distribute_tensor(np.arange(12.0).reshape(3, 4), mesh, [Shard(0), Shard(1)])
        before = _world.current().counters()
        y = x.redistribute(placements=[Replicate(), Shard(1)])
        assert _world.current().counters() == before
        assert y.to_local().shape == x.to_local().shape

    run_ranks(3, body)
