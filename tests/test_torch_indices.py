"""Indices that PyTorch reads in another way than NumPy, by the rule of PyTorch."""

from collections import deque

import numpy as np
import pytest
from meshes import line, square
from placed import layouts, placed
from torch_indices import SHAPE, indices, is_apart, named

import dtensor as dt
import dtensor.torch as torch
from dtensor import Replicate, Shard, distribute_tensor

ARRAY = np.arange(24.0).reshape(SHAPE)
FORMS = {
    "tensors": lambda item: torch.tensor(item),
    "lists": lambda item: item.tolist(),
    "arrays": lambda item: item,
}


def formed(index, form):
    """The index with its arrays, and integers beside tensors, in a form."""
    kinds = np.ndarray | (int if form == "tensors" else np.ndarray)
    return tuple(
        FORMS[form](np.asarray(item)) if isinstance(item, kinds) else item
        for item in index
    )


def values(shape, seed=0):
    return np.random.default_rng(seed).random(shape)


def written(index, value):
    array = ARRAY.copy()
    array.ravel()[named(np.arange(24).reshape(SHAPE), index)] = value
    return array


def gradient(index, value):
    total = np.zeros(24)
    np.add.at(total, named(np.arange(24).reshape(SHAPE), index), value)
    return total.reshape(SHAPE)


@pytest.mark.parametrize("form", FORMS)
def test_integers_come_before_arrays(form):
    for index in indices(4):
        wanted = named(ARRAY, index)
        value, given = values(wanted.shape), formed(index, form)
        x = torch.tensor(ARRAY, requires_grad=True)
        found = x[given]
        assert found.shape == wanted.shape, index
        np.testing.assert_array_equal(found.detach(), wanted, str(index))
        (found * torch.tensor(value)).sum().backward()
        np.testing.assert_allclose(x.grad, gradient(index, value), 1e-12)
        y = x.detach().clone()
        y[given] = torch.tensor(value)
        np.testing.assert_array_equal(y, written(index, value), str(index))
        y = x.detach().clone()
        y[given] += 1
        np.testing.assert_array_equal(y, written(index, wanted + 1), str(index))


def test_gradients_of_what_is_written_come_from_where_it_went():
    for index in filter(is_apart, indices(4)):
        value = values(named(ARRAY, index).shape)
        x = torch.tensor(ARRAY, requires_grad=True)
        v = torch.tensor(value, requires_grad=True)
        y = x * 2
        y[formed(index, "tensors")] = v
        (y * torch.tensor(ARRAY)).sum().backward()
        np.testing.assert_array_equal(x.grad, 2 * ARRAY * (written(index, -1) != -1))
        np.testing.assert_array_equal(v.grad, named(ARRAY, index))


def every_tensor():
    """Tensors in every layout, and their values."""
    for mesh in (line(), square()):
        for at in layouts(len(SHAPE), mesh.ndim):
            x, whole = placed(ARRAY, mesh, at)
            yield x.as_torch(), whole


def spread(index, mesh):
    """The index with cut tensors for its arrays, and tensors for its integers."""
    cut = [Shard(0), *[Replicate()] * (mesh.ndim - 1)]
    return tuple(
        distribute_tensor(torch.tensor(item), mesh, cut if np.ndim(item) else None)
        if isinstance(item, int | np.ndarray)
        else item
        for item in index
    )


def apart(count):
    return list(filter(is_apart, indices(count)))


def test_integers_come_before_arrays_on_ranks(ranks):
    def body():
        for x, whole in every_tensor():
            for index in apart(3):
                for given in (formed(index, "arrays"), spread(index, x.device_mesh)):
                    found = x[given].full_tensor()
                    np.testing.assert_array_equal(found, named(whole, index))

    ranks(body)


def test_integers_come_before_arrays_in_writes_on_ranks(ranks):
    def body():
        for x, whole in every_tensor():
            for index in apart(3):
                number = named(np.arange(24).reshape(SHAPE), index)
                value = values(number.shape)
                shape = [Shard(0), *[Replicate()] * (x.device_mesh.ndim - 1)]
                cut = distribute_tensor(torch.tensor(value), x.device_mesh, shape)
                wanted = np.array(whole)
                wanted.ravel()[number] = value
                y = x.clone()
                y[formed(index, "lists")] = cut
                np.testing.assert_array_equal(y.full_tensor(), wanted, str(index))
                assert y.placements == x.placements

    ranks(body)


def test_gradients_of_indices_on_ranks(ranks):
    def body():
        for mesh in (line(), square()):
            for at in layouts(len(SHAPE), mesh.ndim):
                if any(p.is_partial() for p in at):
                    continue
                for index in apart(3):
                    value = values(named(ARRAY, index).shape)
                    whole = torch.tensor(ARRAY)
                    x = distribute_tensor(whole, mesh, at).requires_grad_()
                    weight = distribute_tensor(torch.tensor(value), mesh)
                    (x[formed(index, "arrays")] * weight).sum().backward()
                    wanted = gradient(index, value)
                    np.testing.assert_allclose(x.grad.full_tensor(), wanted, 1e-12)

    ranks(body)


def test_numpy_s_dialect_counts_integers_as_arrays():
    x = dt.tensor(ARRAY)
    for index in apart(4):
        np.testing.assert_array_equal(x[index], ARRAY[index])


# --- bytes ----------------------------------------------------------------------------

BYTES = "indexing with dtype torch.uint8 is now deprecated"


def with_bytes(index, make):
    """The index with bytes for its masks."""
    return tuple(
        make(item.astype(np.uint8)) if np.asarray(item).dtype == bool else item
        for item in index
    )


def masks(count):
    for index in indices(count):
        if any(np.asarray(item).dtype == bool for item in index):
            yield index


@pytest.mark.parametrize("make", [torch.tensor, np.asarray])
def test_bytes_are_masks(make):
    for index in masks(3):
        given = with_bytes(index, make)
        wanted = named(ARRAY, index)
        value = values(wanted.shape)
        x = torch.tensor(ARRAY, requires_grad=True)
        with pytest.warns(UserWarning, match=BYTES):
            found = x[given]
        np.testing.assert_array_equal(found.detach(), wanted, str(index))
        (found * torch.tensor(value)).sum().backward()
        np.testing.assert_allclose(x.grad, gradient(index, value), 1e-12)
        y = x.detach().clone()
        with pytest.warns(UserWarning, match=BYTES):
            y[given] = torch.tensor(value)
        np.testing.assert_array_equal(y, written(index, value), str(index))


@pytest.mark.filterwarnings(f"ignore:{BYTES}")
def test_bytes_are_masks_on_ranks(ranks):
    def body():
        for x, whole in every_tensor():
            for index in masks(2):
                own = with_bytes(index, np.asarray)
                for given in (own, spread(own, x.device_mesh)):
                    wanted = named(whole, index)
                    np.testing.assert_array_equal(x[given].full_tensor(), wanted)
                    y = x.clone()
                    y[given] = 7.0
                    wanted = np.array(whole)
                    wanted.ravel()[named(np.arange(24).reshape(SHAPE), index)] = 7
                    np.testing.assert_array_equal(y.full_tensor(), wanted)

    ranks(body)


def test_a_byte_of_no_dims_is_a_boolean():
    x = torch.arange(6.0).reshape(2, 3)
    for make in (torch.tensor, np.asarray):
        byte, none = make(np.ones((), np.uint8)), make(np.zeros((), np.uint8))
        np.testing.assert_array_equal(x[byte], np.asarray(x)[None])
        assert x[none].shape == (0, 2, 3)
        np.testing.assert_array_equal(x[byte, 0], np.asarray(x)[:1])
    np.testing.assert_array_equal(x[np.uint8(1)], [3, 4, 5])


@pytest.mark.filterwarnings(f"ignore:{BYTES}")
def test_index_put_takes_bytes_for_masks():
    x = torch.arange(12.0).reshape(3, 4)
    byte = torch.tensor([1, 0, 1]).to(torch.uint8)
    value = torch.tensor([[1.0], [2.0]])
    rows = [[1.0] * 4, [4.0, 5, 6, 7], [2.0] * 4]
    np.testing.assert_array_equal(x.index_put((byte,), value), rows)
    np.testing.assert_array_equal(x.clone().index_put_((byte,), value), rows)
    total = np.asarray(x) + [[1], [0], [2]]
    np.testing.assert_array_equal(x.index_put((byte,), value, True), total)
    value = torch.tensor([50.0, 60.0])
    found = x.index_put((byte, torch.tensor([1, 2])), value)
    assert [found[0, 1], found[2, 2], found.sum()] == [50, 60, 66 - 1 - 10 + 110]


def test_bytes_are_integers_in_numpy_s_dialect():
    x = dt.tensor(ARRAY)
    np.testing.assert_array_equal(x[np.array([1, 0], np.uint8)], ARRAY[[1, 0]])


# --- lists ----------------------------------------------------------------------------

SEQUENCE = "Using a non-tuple sequence for multidimensional indexing is deprecated"
AS_TUPLES = [
    [[1, 0], [0, 2]],
    [torch.tensor([1, 0]), torch.tensor([0, 2])],
    [np.array([1, 0]), [0, 2]],
    [torch.tensor(1), torch.tensor(2)],
    [slice(None), 0],
    [0, slice(None), [1, 2]],
    [None, 1],
    [..., 0],
    [0, (1, 2)],
    [[1, 0]],
    [[[1, 0], [0, 1]], 2],
    [[True, False]],
    deque([[1, 0], 2]),
    [[0]] * 3,
    [[]],
]
AS_ARRAYS = [
    [1, 0],
    [True, False],
    [],
    [0] * 40,
    [[0, 1]] * 32,
    [np.int64(1), np.int64(0)],
    range(2),
    deque([1, 0]),
    np.array([[1, 0], [0, 1]]),
    torch.tensor([[1, 0], [0, 1]]),
]


@pytest.mark.parametrize("index", AS_TUPLES, ids=str)
def test_a_list_of_more_than_integers_is_a_tuple(index):
    x = torch.tensor(ARRAY)
    wanted = x[tuple(index)]
    with pytest.warns(UserWarning, match=SEQUENCE):
        found = x[index]
    assert found.shape == wanted.shape
    np.testing.assert_array_equal(found, wanted)
    y, z = x.clone(), x.clone()
    value = torch.tensor(values(tuple(wanted.shape)))
    with pytest.warns(UserWarning, match=SEQUENCE):
        y[index] = value
    z[tuple(index)] = value
    np.testing.assert_array_equal(y, z)


@pytest.mark.parametrize("index", AS_ARRAYS, ids=lambda index: str(index)[:30])
def test_other_lists_are_arrays(index):
    x = torch.tensor(ARRAY)
    array = np.asarray(index)
    array = array if array.size else array.astype(int)
    np.testing.assert_array_equal(x[index], ARRAY[array])
    y, other = x.clone(), ARRAY.copy()
    y[index], other[array] = 7, 7
    np.testing.assert_array_equal(y, other)


@pytest.mark.filterwarnings(f"ignore:{SEQUENCE}")
def test_lists_are_tuples_on_ranks(ranks):
    def body():
        for x, whole in every_tensor():
            for index in AS_TUPLES:
                if any(isinstance(item, torch.Tensor) for item in index):
                    continue  # of one rank
                wanted = torch.tensor(whole)
                found = x[index].full_tensor()
                np.testing.assert_array_equal(found, wanted[tuple(index)])
                y = x.clone()
                y[index] = wanted[tuple(index)] = 7.0
                np.testing.assert_array_equal(y.full_tensor(), wanted)

    ranks(body)


def test_lists_are_arrays_in_numpy_s_dialect():
    np.testing.assert_array_equal(dt.tensor(ARRAY)[[[1, 0]]], ARRAY[[[1, 0]]])
