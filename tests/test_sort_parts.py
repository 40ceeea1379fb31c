"""Sorts along cut dims, against NumPy; and what they send."""

import itertools
import re

import numpy as np
import pytest
from meshes import line, square
from order_parts import all_in_parts, is_chunked, same, sent_parts, strewn, values
from placed import layouts, placed

from dtensor import (
    _C,
    DeviceMesh,
    DTensor,
    Layout,
    Partial,
    Replicate,
    Shard,
    autograd,
    distribute_tensor,
    tensor,
    topk,
)
from dtensor.debug import simulate
from dtensor.ops.order.runs import stable_order
from dtensor.placement_types import _StridedShard


@pytest.fixture
def in_parts(monkeypatch):
    """Arrays of any size are treated in parts."""
    all_in_parts(monkeypatch)


@pytest.mark.parametrize("dtype", [*"dfegFDG?lbBQh"])
def test_cut_lines_are_sorted_as_numpys_for_every_dtype(ranks, in_parts, dtype):
    def body():
        for n in (3, 50):
            array = values((n,), dtype)
            if array.dtype.kind in "fc":
                array = strewn(array, np.nan, 0.0, -0.0, np.inf, -np.inf)
            x, whole = placed(array, line(), [Shard(0)])
            y = np.sort(x, stable=True)
            same(y, np.sort(whole, stable=True))
            assert n < x.device_mesh.size() or is_chunked(y)
            same(np.sort(x), np.sort(whole))
            if array.dtype.kind == "f":
                same(np.signbit(y), np.signbit(np.sort(whole, stable=True)))
            same(np.argsort(x, stable=True), np.argsort(whole, stable=True))
            same(np.sort_complex(x), np.sort_complex(whole))

    ranks(body)


@pytest.mark.parametrize(("shape", "axis"), [((1, 23), 1), ((30, 2), 0)])
def test_sorts_are_numpys_in_every_layout(ranks, in_parts, shape, axis):
    def body():
        mesh = square()
        for placements in layouts(len(shape), mesh.ndim):
            x, whole = placed(strewn(values(shape, "d"), np.nan), mesh, placements)
            for dim in (axis, None):
                same(np.sort(x, dim), np.sort(whole, dim))
                want = np.argsort(whole, dim, stable=True)
                same(np.argsort(x, dim, stable=True), want)
                same(np.partition(x, 7, dim)[..., :1], np.sort(whole, dim)[..., :1])

    ranks(body)


@pytest.mark.parametrize("dtype", [*"ilqILQfd"])
def test_the_order_of_many_equal_elements_is_stable(dtype):
    rng = np.random.default_rng(0)
    for high in (2, 40, 10**6):
        lines = rng.integers(0, high, (3, 700)).astype(dtype)
        if lines.dtype.kind == "f":
            lines = strewn(lines, np.nan, 0.0, -0.0, np.inf)
            lines[1] = np.nan
        want = np.argsort(lines, -1, kind="stable")
        np.testing.assert_array_equal(stable_order(lines), want)


def test_sorts_in_place_keep_the_layout(ranks, in_parts):
    def body():
        x, whole = placed(values((45,), "d"), line(), [Shard(0)])
        before = x.layout
        x.sort()
        assert x.layout == before
        same(x, np.sort(whole))

    ranks(body)


@pytest.mark.parametrize(("shape", "axis"), [((24,), 0), ((12, 2), 0), ((8, 3), None)])
def test_gradients_of_sorts_are_those_of_whole_ones(ranks, in_parts, shape, axis):
    def body():
        mesh = line()
        array = values(shape, "d")
        weights = np.arange(array.size) / 3
        grads = []
        for placement in (Replicate(), Shard(0), Partial()):
            x, _ = placed(array, mesh, [placement])
            x.requires_grad_()
            y = np.reshape(np.sort(x, axis), (-1,)) * weights
            (first,) = autograd.grad(np.sum(y * y), [x], create_graph=True)
            (second,) = autograd.grad(np.sum(first**3), [x])
            if placement != Partial():
                both = (first.detach(), second)
                grads.append([np.asarray(g.full_tensor()) for g in both])
        assert np.allclose(grads[0], grads[1])

    ranks(body)


def test_a_sort_sends_one_part_and_an_argsort_two(ranks):
    def body():
        array = np.random.default_rng(0).normal(size=100_000)
        x, whole = placed(array, line(), [Shard(0)])
        assert sent_parts(np.sort, x) <= 1.6
        assert sent_parts(np.argsort, x) <= 2.6
        same(np.sort(x), np.sort(whole))
        same(np.argsort(x), np.argsort(whole))

    ranks(body)


@pytest.mark.parametrize("kind", ["normal", "ties", "equal", "rising", "falling"])
def test_long_lines_are_sorted_as_numpys_whatever_their_order(ranks, kind):
    def body():
        n = 40_001
        rng = np.random.default_rng(5)
        array = {
            "normal": rng.normal(size=n),
            "ties": rng.integers(0, 5, n) * 1.0,
            "equal": np.zeros(n),
            "rising": np.arange(n) * 1.0,
            "falling": np.arange(n)[::-1] * 1.0,
        }[kind]
        x, whole = placed(array, square(), [Shard(0), Shard(0)])
        same(np.sort(x), np.sort(whole))
        same(np.argsort(x, stable=True), np.argsort(whole, stable=True))
        same(np.quantile(x, [0.01, 0.5]), np.quantile(whole, [0.01, 0.5]))

    ranks(body)


@pytest.mark.parametrize(("shape", "axis"), [((31,), 0), ((1, 23), 1), ((30, 2), 0)])
def test_the_largest_elements_of_cut_lines_are_those_of_whole_ones(
    ranks, in_parts, shape, axis
):
    def body():
        mesh = square()
        array = strewn(values(shape, "d"), np.nan)
        for k, largest in itertools.product((0, 3, shape[axis]), (False, True)):
            want = topk(tensor(array), k, axis, largest)
            for placements in layouts(len(shape), mesh.ndim):
                if Partial() in placements:
                    continue
                x, _ = placed(array, mesh, placements)
                for got, right in zip(topk(x, k, axis, largest), want, strict=True):
                    same(got, np.asarray(right))

    ranks(body)


def test_gradients_of_the_largest_elements_stay_where_they_are(ranks, in_parts):
    def body():
        array = values((24,), "d")
        grads = []
        for placement in (Replicate(), Shard(0)):
            x, _ = placed(array, line(), [placement])
            x.requires_grad_()
            y = topk(x, 5).values
            (first,) = autograd.grad(np.sum(y**3), [x], create_graph=True)
            assert x.device_mesh.size() == 1 or first.placements == (placement,)
            (second,) = autograd.grad(np.sum(first**2), [x])
            both = (first.detach(), second)
            grads.append([np.asarray(g.full_tensor()) for g in both])
        assert np.allclose(grads[0], grads[1])

    ranks(body)


@pytest.mark.parametrize("shape", [(40,), (20, 2)])
def test_several_keys_sort_cut_lines_as_numpys(ranks, in_parts, shape):
    def body():
        mesh = line()
        keys = [values(shape, dtype, seed) for seed, dtype in enumerate("dbD")]
        spread = tuple(placed(key, mesh, [Shard(0)])[0] for key in keys)
        same(np.lexsort(spread, 0), np.lexsort(keys, 0))
        same(np.lexsort((keys[0], *spread[1:]), 0), np.lexsort(keys, 0))
        assert mesh.size() == 1 or is_chunked(np.lexsort(spread, 0))

    ranks(body)


def test_partitions_out_of_range_raise_numpys_errors(ranks, in_parts):
    def body():
        x, whole = placed(values((40,), "d"), line(), [Shard(0)])
        for kth in (40, -41, [3, 99], 1.5):
            for fn in (np.partition, np.argpartition):
                with pytest.raises((ValueError, TypeError)) as raised:
                    fn(whole, kth)
                with pytest.raises(raised.type, match=re.escape(str(raised.value))):
                    fn(x, kth)
        found = np.asarray(np.partition(x, [3, -5]).full_tensor())
        assert np.array_equal(found[[3, -5]], np.sort(whole)[[3, -5]])

    ranks(body)


# --- other layouts --------------------------------------------------------------------


def test_parts_in_any_order_uneven_and_empty_are_sorted_as_numpys(ranks, in_parts):
    def body():
        array = values((50,), "d")
        mesh = square()
        x, _ = placed(array, mesh, [Shard(0), Shard(0)])
        turned = Layout(mesh, x.placements, x.shape, "d", shard_order={0: (1, 0)})
        strided = [_StridedShard(0, split_factor=mesh.shape[0]), Shard(0)]
        others = [x.redistribute(placements=turned)]
        others.append(distribute_tensor(array, mesh, strided))
        row = line()
        ends = [0, 0, 20, 21, 50][: row.size()] + [50]
        at = row.get_coordinate()[0]
        own = array[ends[at] : ends[at + 1]]
        others.append(DTensor.from_local(own, row, [Shard(0)]))
        for y in others:
            same(np.sort(y), np.sort(array))
            same(np.argsort(y, stable=True), np.argsort(array, stable=True))
            same(np.median(y), np.median(array))
            same(np.unique(y), np.unique(array))
            same(topk(y, 3).values, np.sort(array)[:-4:-1])

    ranks(body)


def test_ranks_outside_the_mesh_sort_nothing(ranks, in_parts):
    def body():
        count = line().size()
        mesh = DeviceMesh("cpu", list(range((count + 1) // 2)))
        array = values((50,), "d")
        x = distribute_tensor(array, mesh, [Shard(0)]).requires_grad_()
        y = np.sort(x)
        np.sum(y * np.arange(50)).backward()
        assert y.shape == (50,) and topk(x, 3)[0].shape == (3,)
        same(y.detach(), np.sort(array))
        same(np.argsort(x.detach(), stable=True), np.argsort(array, stable=True))
        same(np.lexsort((x.detach(),)), np.argsort(array, stable=True))
        same(np.unique(x.detach(), True)[1], np.unique(array, True)[1])

    ranks(body)


def test_sorts_without_data_have_shapes_and_layouts(in_parts):
    def program(mesh):
        x = distribute_tensor(_C.without_data((100,), np.float32), mesh, [Shard(0)])
        found = [np.sort(x), np.argsort(x), np.lexsort((x, x)), topk(x, 5).values]
        found.append(np.quantile(x, [0.1, 0.2], keepdims=True))
        shapes = [y.shape for y in found]
        assert shapes == [(100,), (100,), (100,), (5,), (2, 1)]
        assert all(y.placements == (Shard(0),) for y in found[:3])
        np.sum(np.sort(x.requires_grad_())).backward()
        return lambda: None

    simulate(4, program)
