"""What PyTorch's DTensor got wrong in silence, by the numbers of its reports."""

import functools
import itertools
import warnings

import numpy as np
import oracle
import pytest
from meshes import line, square

import dtensor
from dtensor import DTensor, Layout, Partial, Replicate, Shard, distribute_tensor
from dtensor._core import world as _world
from dtensor.experimental.attention import context_parallel, context_parallel_unshard
from dtensor.nn.functional import scaled_dot_product_attention
from dtensor.placement_types import _StridedShard
from dtensor.testing import run_ranks

OPS = ("sum", "avg", "max", "min")


def everywhere(body):
    """A test that every rank does, for 1 to 4 of them."""

    def test(ranks):
        ranks(body)

    test.__name__ = body.__name__
    return test


def values(*shape, dtype="d", seed=0):
    return oracle.sample(shape, dtype, np.random.default_rng(seed))


def spread(array, mesh, placements, **more):
    """A DTensor with random addends where it is Partial."""
    layout = Layout(mesh, placements, array.shape, array.dtype, **more)
    return DTensor(
        oracle.place(array, layout)[mesh.get_rank()], layout, requires_grad=False
    )


def layouts(mesh, array):
    """Every layout of an array, Partial ones too, in all orders."""
    ops = OPS if array.dtype.kind == "f" else ("sum", "max", "min")
    return oracle.layouts(mesh, array.shape, array.dtype, ops)


def whole(x):
    return np.asarray(x.full_tensor())


def sent(fn):
    """What a call gives, and the bytes that this rank sends."""
    world = _world.current()
    before = sum(c[1] for c in world.counters().values())
    result = fn()
    return result, sum(c[1] for c in world.counters().values()) - before


def factorizations(size, most):
    """Every shape of so many elements with at most so many dims, none of length 1."""
    yield (size,)
    for first in range(2, size):
        if most > 1 and size % first == 0:
            for rest in factorizations(size // first, most - 1):
                yield (first, *rest)


# --- views ----------------------------------------------------------------------------


@everywhere
def test_179502_a_view_of_an_array_that_is_cut_along_any_dim_is_right():
    array = values(12, 8)
    for shape in factorizations(96, 3):
        for place in (Shard(0), Shard(1), Replicate(), Partial()):
            x = spread(array, line(), [place])
            got = whole(np.reshape(x, shape))
            assert oracle.same(got, array.reshape(shape)), (shape, place)


@everywhere
def test_179502_a_view_of_an_array_that_is_cut_twice_is_right():
    array, mesh = values(6, 4), square()
    for layout in layouts(mesh, array):
        x = spread(array, mesh, layout.placements)
        for shape in ((-1, 6), (24,), (2, 3, 4), (4, 6)):
            assert oracle.same(whole(np.reshape(x, shape)), array.reshape(shape))


# --- Partial --------------------------------------------------------------------------


@everywhere
def test_163193_a_number_is_added_to_a_sum_once():
    for dtype, number in (("d", 0.5), ("f", 0.5), ("l", 55)):
        array = values(5, 7, dtype="d").astype(dtype)
        x = spread(array, line(), [Partial()])
        assert oracle.same(whole(x + number), array + number)
        assert oracle.same(whole(number - x), number - array)
        assert oracle.same(whole(x - np.asarray(number)), array - number)


@everywhere
def test_163193_a_number_is_added_to_a_sum_without_a_message():
    x = spread(values(5, 7), line(), [Partial()])
    y, size = sent(lambda: x + 10)
    assert size == 0
    assert y.placements == (Partial(),) or _world.current().size == 1


@everywhere
def test_170025_a_sum_times_a_number_sends_nothing():
    array = values(5, 7)
    for place, fn in itertools.product(
        (Partial(), Partial("avg")),
        (lambda x: x * 3, lambda x: -0.5 * x, lambda x: x / 4),
    ):
        x = spread(array, line(), [place])
        y, size = sent(functools.partial(fn, x))
        assert size == 0 and y.placements == (place,)
        assert np.allclose(whole(y), fn(array))


@everywhere
def test_162312_item_of_a_partial_is_the_reduced_value():
    for op in (*OPS, "product"):
        array = np.array(3.5)
        x = spread(array, line(), [Partial(op)])
        assert x.item() == float(x) == 3.5
        assert bool(x > 3) and not x < 3


@everywhere
def test_159856_the_norm_of_a_sum_is_that_of_the_whole():
    array = values(5, 7)
    for place in (Partial(), Partial("avg"), Shard(0), Shard(1)):
        x = spread(array, line(), [place])
        for arguments in ({}, {"axis": 0}, {"axis": 1, "ord": 1}, {"ord": np.inf}):
            expected = np.linalg.norm(array, **arguments)
            assert np.allclose(whole(np.linalg.norm(x, **arguments)), expected)


@everywhere
def test_175776_where_the_largest_is_does_not_depend_on_the_cut():
    array = values(7, 5) // 4  # many are equal: the first counts
    for place in (Shard(0), Shard(1), Partial(), Partial("max")):
        x = spread(array, line(), [place])
        for fn, axis in itertools.product((np.argmax, np.argmin), (0, 1, None)):
            assert oracle.same(whole(fn(x, axis=axis)), fn(array, axis=axis))
        assert oracle.same(whole(np.max(x, axis=0)), array.max(0))


@everywhere
def test_183794_what_may_pass_one_operator_does_not_pass_the_next():
    a, b = values(5, 7), values(5, 7, seed=1)
    x, y = (spread(v, line(), [Partial()]) for v in (a, b))
    fns = [np.add, np.multiply, np.subtract, np.maximum, np.multiply, np.add]
    for fn in fns + fns[::-1]:
        assert oracle.same(whole(fn(x, y)), fn(a, b)), fn
        assert oracle.same(whole(fn(x, b)), fn(a, b)), fn
        assert oracle.same(whole(fn(a, y)), fn(a, b)), fn


@everywhere
def test_upstream_all_is_true_only_if_it_is_so_everywhere():
    array = values(5, 7, dtype="?")
    array[:, 2], array[3] = True, True
    for place in (Shard(0), Shard(1), Partial("max"), Partial("min")):
        x = spread(array, line(), [place])
        for axis in (None, 0, 1):
            assert oracle.same(whole(np.all(x, axis=axis)), array.all(axis))
            assert oracle.same(whole(np.any(x, axis=axis)), array.any(axis))


@everywhere
def test_upstream_softmax_is_right_along_every_dim():
    array = values(4, 5, 3)
    for axis, layout in itertools.product(range(3), layouts(line(), array)):
        x = spread(array, line(), layout.placements)
        e = np.exp(array - array.max(axis, keepdims=True))
        expected = e / e.sum(axis, keepdims=True)
        assert np.allclose(whole(dtensor.softmax(x, axis=axis)), expected)


# --- values in caches -----------------------------------------------------------------


@everywhere
def test_153603_an_operator_computes_with_the_numbers_of_this_call():
    array = values(5, 7)
    x = spread(array, line(), [Shard(0)])
    mean = np.mean(x)
    for i in range(5):
        assert np.allclose(whole(mean * i), array.mean() * i)
        assert np.allclose(whole(x + i), array + i)
        assert np.allclose(whole(x[i]), array[i])
    p = spread(array, line(), [Partial()])
    assert oracle.same(whole(-5 * p), -5 * array)
    assert oracle.same(whole(2 * p), 2 * array)


# --- indices and writes ---------------------------------------------------------------


@everywhere
def test_172350_setting_elements_by_index_arrays_is_right_for_every_layout():
    array, new = values(7, 5), values(3, 5, seed=1)
    rows, columns = np.array([6, 0, 3]), np.array([1, 1, 4])
    for layout, place in itertools.product(
        layouts(line(), array), (Replicate(), Shard(0), Shard(1), Partial())
    ):
        x, v = (
            spread(array, line(), layout.placements),
            spread(new, line(), [place]),
        )
        expected = array.copy()
        x[rows], expected[rows] = v, new
        x[rows, columns], expected[rows, columns] = -1, -1
        assert oracle.same(whole(x), expected), (layout, place)
        assert x.placements == layout.placements


@everywhere
def test_139735_what_is_written_into_a_slice_is_not_lost():
    array = values(7, 5)
    for place in (Replicate(), Shard(0), Shard(1), Partial()):
        x, expected = spread(array, line(), [place]), array.copy()
        x[1:6:2] += 10
        expected[1:6:2] += 10
        x[:, 1:3] = 7
        expected[:, 1:3] = 7
        x[2] *= 2
        expected[2] *= 2
        assert oracle.same(whole(x), expected), place


# --- layouts --------------------------------------------------------------------------


@everywhere
def test_166598_operands_that_are_cut_in_another_order_are_multiplied_right():
    mesh, a, b = square(), values(6, 6), values(6, 6, seed=1)
    orders = [x for x in layouts(mesh, a) if not x.is_partial]
    for x, y in itertools.product(orders, orders):
        left = spread(a, mesh, x.placements)
        right = spread(b, mesh, y.placements)
        assert np.allclose(whole(left @ right), a @ b), (x, y)
        assert oracle.same(whole(left + right), a + b), (x, y)


@everywhere
def test_144109_parts_of_sizes_of_ones_own_are_put_together_right():
    mesh, world = line(), _world.current()
    sizes = [3 * (rank + 1) % 5 for rank in range(world.size)]
    array = values(sum(sizes), 4)
    start = sum(sizes[: world.rank])
    mine = array[start : start + sizes[world.rank]]
    x = DTensor.from_local(mine, mesh, [Shard(0)], run_check=True)
    assert x.shape == array.shape
    assert oracle.same(whole(x), array)
    assert oracle.same(whole(x + x.redistribute(placements=[Shard(1)])), 2 * array)
    assert np.allclose(whole(np.sum(x, axis=0)), array.sum(0))


@everywhere
def test_172812_the_shape_of_uneven_results_is_the_sum_of_the_parts():
    world = _world.current()
    x = distribute_tensor(values(5, 4), line(), [Shard(0)])
    part = np.asarray(x.to_local())
    y = DTensor.from_local(np.repeat(part, world.rank + 1, axis=0), line(), [Shard(0)])
    sizes = [x.layout.local_shape(k)[0] * (k + 1) for k in range(world.size)]
    assert y.shape == (sum(sizes), 4)
    assert whole(y).shape == (sum(sizes), 4)


@everywhere
def test_168134_strided_shards_of_uneven_dims_hold_every_element_once():
    mesh = line()
    for length, split in itertools.product(range(8), range(1, 5)):
        array = values(length, 3)
        x = spread(array, mesh, [_StridedShard(0, split_factor=split)])
        assert oracle.same(whole(x), array)
        assert oracle.same(whole(x * 2 + array), array * 3)
        assert np.allclose(whole(np.sum(x, axis=0)), array.sum(0))


@everywhere
def test_103306_arrays_of_every_uneven_length_survive_operators():
    for length in range(9):
        array = values(length, 3)
        x = distribute_tensor(array, line(), [Shard(0)])
        back = DTensor.from_local(x.to_local(), line(), [Shard(0)])
        assert oracle.same(whole(back), array)
        assert oracle.same(whole(x[::-1]), array[::-1])
        assert oracle.same(whole(x.T + back.T), 2 * array.T)
        assert np.allclose(whole(x.T @ x), array.T @ array)
        assert length == 0 or np.allclose(whole(np.mean(x, axis=0)), array.mean(0))


@everywhere
def test_129206_a_dim_that_the_inner_mesh_dim_cuts_first_is_gathered_right():
    mesh, array = square(), values(7, 5)
    for order in itertools.permutations((0, 1)):
        layout = Layout(mesh, [Shard(0)] * 2, array.shape, "d", shard_order={0: order})
        x = DTensor(
            oracle.place(array, layout)[mesh.get_rank()],
            layout,
            requires_grad=False,
        )
        assert oracle.same(whole(x), array)
        assert oracle.same(whole(np.exp(x) * 0 + x), array)
        assert oracle.same(whole(np.max(x, axis=0)), array.max(0))


# --- gradients ------------------------------------------------------------------------


@everywhere
def test_172932_a_detour_by_local_parts_gives_the_same_gradient():
    array = values(5, 7)
    grads = []
    for detour in (False, True):
        x = distribute_tensor(array, line(), [Shard(0)]).requires_grad_()
        y = np.sum(x * x, axis=0)
        if detour:
            y = DTensor.from_local(y.to_local(), line(), y.placements)
        np.sum(y).backward()
        grads.append(whole(x.grad))
    assert np.allclose(grads[0], 2 * array) and np.allclose(grads[1], 2 * array)


@everywhere
def test_2416_a_replicated_part_gets_the_sum_of_all_gradients_once():
    array, weight = values(5, 7), values(7, 6, seed=1)
    local = dtensor.tensor(array, requires_grad=True)
    x = DTensor.from_local(local, line(), [Replicate()])
    w = distribute_tensor(weight, line(), [Shard(1)])
    np.sum(x @ w).backward()
    expected = np.ones((5, 6)) @ weight.T
    assert np.allclose(np.asarray(local.grad), expected)


def test_2532_a_replicated_leaf_that_is_used_in_parts_is_warned_of():
    def body(given):
        w = distribute_tensor(np.ones(4), line(), [Replicate()]).requires_grad_()
        part = w.to_local(grad_placements=given)
        (part * (line().get_rank() + 1)).sum().backward()
        return w.grad.full_tensor().tolist()

    with pytest.warns(UserWarning, match="to_local of a replicated leaf"):
        run_ranks(2, body, None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert run_ranks(2, body, [Partial()]) == [[3.0] * 4] * 2


@everywhere
def test_upstream_softmax_has_the_right_gradient_along_every_dim():
    array, seed = values(4, 5), values(4, 5, seed=1)
    for axis, place in itertools.product((0, 1), (Shard(0), Shard(1), Replicate())):
        x = distribute_tensor(array, line(), [place]).requires_grad_()
        np.sum(dtensor.softmax(x, axis=axis) * seed).backward()
        e = np.exp(array - array.max(axis, keepdims=True))
        y = e / e.sum(axis, keepdims=True)
        expected = y * (seed - (seed * y).sum(axis, keepdims=True))
        assert np.allclose(whole(x.grad), expected)


@everywhere
def test_141429_163075_ring_attention_without_a_mask_has_the_gradients_of_dense():
    length = 4 * line().size() + 1
    given = [values(2, 1, length, 4, seed=k) for k in range(3)]
    found = []
    for ring in (False, True):
        q, k, v = (dtensor.tensor(x) for x in given)
        buffers = [q, k, v] if ring else []
        dims = [2] * len(buffers)
        with context_parallel(line(), buffers=buffers, buffer_seq_dims=dims):
            for x in (q, k, v):
                x.requires_grad_()
            out = scaled_dot_product_attention(q, k, v)
            out.backward(out.detach().cos())
            parts = [out.detach(), q.grad, k.grad, v.grad]
            if ring:
                parts = context_parallel_unshard(line(), parts, [2] * 4)
        found.append([np.asarray(x) for x in parts])
    for dense, ringed in zip(*found, strict=True):
        np.testing.assert_allclose(ringed, dense, rtol=1e-11, atol=1e-12)
