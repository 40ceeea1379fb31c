"""Arrays of indices, and values to search for, that are cut as what they name: against
NumPy; and what is sent."""

import itertools

import numpy as np
import pytest
from meshes import line, square
from placed import layouts, placed
from slow import slow

import dtensor
from dtensor import Replicate, Shard, distribute_tensor
from dtensor.debug import CommDebugMode
from dtensor.ops._make import routes

TYPES = ["f8", slow("f4"), slow("c16"), slow("i2"), slow("?"), slow("u8"), slow("f2")]


@pytest.fixture(autouse=True)
def of_any_size(monkeypatch):
    monkeypatch.setattr(routes, "LEAST_SIZE", 1)


def numbers(shape, dtype="f8"):
    rng = np.random.default_rng([*shape])
    return rng.integers(0, 9, shape).astype(dtype)


def indices(length, shape):
    return np.random.default_rng(length).integers(-length, length, shape)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("of", [(1,), (4,), (11,), slow((2, 3)), (5, 2)])
@pytest.mark.parametrize("shape, dim", [((7,), 0), ((6, 3), 0), ((2, 9, 3), 1)])
def test_elements_are_those_of_numpy_in_all_layouts(ranks, shape, dim, of, dtype):
    array, index = numbers(shape, dtype), indices(shape[dim], of)
    key = (*(slice(None),) * dim, index)

    def body():
        for mesh in (line(), square()):
            every = itertools.product(
                layouts(array.ndim, mesh.ndim), layouts(index.ndim, mesh.ndim)
            )
            for at, by in every:
                if any(p.is_partial() for p in (*by, *at)) and (
                    dtype != "f8" or any(p.is_partial() for p in by)
                ):
                    continue
                x, whole = placed(array, mesh, at)
                i, _ = placed(index, mesh, by)
                found = x[(*key[:-1], i)]
                np.testing.assert_array_equal(found.full_tensor(), whole[key])
                some = numbers(whole[key].shape, dtype)
                for value in (3, some, placed(some, mesh, by)[0]):
                    y = x.clone()
                    y[(*key[:-1], i)] = value
                    other = whole.copy()
                    other[key] = getattr(value, "full_tensor", lambda v=value: v)()
                    np.testing.assert_array_equal(y.full_tensor(), other)

    ranks(body)


@pytest.mark.parametrize("count", [0, 1, 5])
@pytest.mark.parametrize("length", [1, 3, 13])
def test_parts_may_have_any_lengths(ranks, length, count):
    array, index = numbers((length, 2)), indices(length, (count,))

    def body():
        mesh = line()
        n, rank = mesh.size(), mesh.get_local_rank()
        ends = [0, *sorted(k * k % (length + 1) for k in range(1, n)), length]
        stops = [0, *sorted(k * k % (count + 1) for k in range(1, n)), count]
        x = dtensor.DTensor.from_local(
            array[ends[rank] : ends[rank + 1]], mesh, [Shard(0)]
        ).requires_grad_()
        part = index[stops[rank] : stops[rank + 1]]
        i = dtensor.DTensor.from_local(part, mesh, [Shard(0)])
        weights = numbers(array[index].shape)
        wanted = np.zeros_like(array)
        np.add.at(wanted, index, weights)
        for of in (i, index):
            x.grad = None
            y = x[of]
            np.testing.assert_array_equal(y.detach().full_tensor(), array[index])
            assert of is index or y.placements == x.placements
            (y * weights).sum().backward()
            np.testing.assert_array_equal(x.grad.full_tensor(), wanted)

    ranks(body)


@pytest.mark.parametrize("dim", [0, 1])
def test_gradients_are_added_where_the_elements_are(ranks, dim):
    array, index = numbers((8, 9)), indices(8, (6, 2))
    key = (*(slice(None),) * dim, index)

    def body():
        for mesh in (line(), square()):
            at = [Shard(dim)] + [Replicate()] * (mesh.ndim - 1)
            of = [Shard(0)] + [Replicate()] * (mesh.ndim - 1)
            x = distribute_tensor(array, mesh, at).requires_grad_()
            for i in (distribute_tensor(index, mesh, of), index):
                of_gradients(x, i, dim)

    def of_gradients(x, i, dim):
        mesh = x.device_mesh
        y = x[(*key[:-1], i)]
        weights = numbers(y.shape)
        (grad,) = dtensor.autograd.grad((y * y * weights).sum(), x, retain_graph=True)
        wanted = np.zeros_like(array)
        np.add.at(wanted, key, 2 * array[key] * weights)
        np.testing.assert_array_equal(grad.full_tensor(), wanted)
        cut = x.layout.is_cut(dim)
        if cut if i is index else mesh.ndim == 1 and mesh.size() > 2:
            assert grad.placements == x.placements
        # Once more: the gradient of the gradient.
        g = distribute_tensor(weights, mesh, y.placements).requires_grad_()
        (back,) = dtensor.autograd.grad((y * g).sum(), x, create_graph=True)
        (again,) = dtensor.autograd.grad((back * array).sum(), g)
        np.testing.assert_array_equal(again.detach().full_tensor(), array[key])

    ranks(body)


def test_rows_in_another_order_are_cut_as_rows(ranks, monkeypatch):
    monkeypatch.setattr(routes, "LEAST_SIZE", 1 << 14)
    order = np.random.default_rng(0).permutation(20_000)

    def body():
        for mesh in (line(), square()):
            at = [Shard(0)] + [Replicate()] * (mesh.ndim - 1)
            for array in (np.arange(20_000.0), np.arange(60_000.0).reshape(-1, 3)):
                x = distribute_tensor(array, mesh, at)
                for index in (order, order.reshape(2, -1), order.tolist()):
                    y = x[index]
                    assert y.placements == x.placements or not x.layout.is_cut(0)
                    np.testing.assert_array_equal(y.full_tensor(), array[index])
            few = x[order[:5]]
            assert few.placements != x.placements or not x.layout.is_cut(0)
            np.testing.assert_array_equal(few.full_tensor(), array[order[:5]])

    ranks(body)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("types", ["f8 f8", "i4 f8", "f4 i8", "c16 f4"])
def test_values_are_found_where_numpy_finds_them(ranks, side, types):
    types = types.split()
    table = np.sort(numbers((23,), types[0]))
    if types[0] == "f8":
        table[-2:] = np.nan
    values = np.concatenate([np.arange(-2, 11), [np.nan] * (types[1] == "f8"), [3] * 3])
    values = values.astype(types[1])

    def body():
        for mesh in (line(), square()):
            n, rank = mesh.size(), mesh.get_local_rank() if mesh.ndim == 1 else 0
            every = itertools.product(layouts(1, mesh.ndim), repeat=2)
            for at, of in every:
                if any(p.is_partial() for p in (*at, *of)):
                    continue
                a, v = placed(table, mesh, at)[0], placed(values, mesh, of)[0]
                found = np.searchsorted(a, v, side)
                wanted = np.searchsorted(table, values, side)
                np.testing.assert_array_equal(found.full_tensor(), wanted)
            if mesh.ndim > 1:
                continue
            for stop in (0, 1, 22, 23):  # empty parts, and all in one
                ends = [0, stop, *[23] * (n - 1)][: n + 1] if n > 1 else [0, 23]
                part = table[ends[rank] : ends[rank + 1]]
                a = dtensor.DTensor.from_local(part, mesh, [Shard(0)])
                v = distribute_tensor(values.reshape(-1, 1), mesh, [Shard(0)])
                found = np.searchsorted(a, v, side).full_tensor()
                np.testing.assert_array_equal(found.ravel(), wanted)

    ranks(body)


def test_what_is_asked_for_is_sent_and_no_more(ranks):
    length, count = 40_000, 4_000

    def body():
        mesh = line()
        n = mesh.size()
        x = distribute_tensor(np.arange(2.0 * length).reshape(-1, 2), mesh, [Shard(0)])
        index = np.random.default_rng(0).integers(0, length, count)
        i = distribute_tensor(index, mesh, [Shard(0)])
        rows = distribute_tensor(np.ones((count, 2)), mesh, [Shard(0)])
        line_of = distribute_tensor(np.zeros(length), mesh, [Shard(0)])
        row = 16
        some = 8 * n * (n - 1)  # how many each rank sends to each
        for most, call in (
            ((8 + row) * count + some, lambda: x[i]),
            ((8 + row) * count + some, lambda: np.take(x, i, axis=0)),
            (row * count, lambda: x[index]),
            (row * count, lambda: np.take(x, index, axis=0)),
            ((8 + row) * count + some, lambda: x.__setitem__(i, rows)),
            ((8 + row) * count + some, lambda: x.__setitem__(index, rows)),
            ((8 + row) * count + some, lambda: np.add.at(x, index, rows)),
            (8 * count + some, lambda: x.__setitem__(i, 1.0)),
            (8 * count + some, lambda: np.put(line_of, i, 1.0)),
        ):
            with CommDebugMode() as comm:
                call()
            sent = sum(comm.get_comm_bytes().values())
            assert sent <= most / n * 1.2 if n > 1 else sent == 0

    ranks(body)


def test_an_index_out_of_range_is_an_error_on_all_ranks(ranks):
    def body():
        x = distribute_tensor(np.arange(40.0), line(), [Shard(0)])
        index = np.arange(30)
        index[-1] = 40
        i = distribute_tensor(index, line(), [Shard(0)])
        with pytest.raises(IndexError, match="index"):
            x[i]
        with pytest.raises(IndexError, match="index"):
            x[i] = 1.0
        assert np.array_equal(x.full_tensor(), np.arange(40.0))

    ranks(body)
