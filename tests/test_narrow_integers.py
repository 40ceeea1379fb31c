"""Indices and arguments of integer types that cannot hold the lengths of the array.

They name the same elements as int64 does, and gradients come back to these.
"""

import numpy as np
import pytest
from meshes import line, square
from placed import WHOLE, layouts, placed

import dtensor
from dtensor import Replicate, Shard, distribute_tensor

LENGTH, WIDTH = 200, 3
TYPES = [np.int8, np.uint8, np.uint64]
TYPES += [np.int16, np.uint16, np.int32, np.uint32] if WHOLE else []
COLUMN = np.array([0, 2, 1, 0, 2, 2])

# x[row, column] and its like: what it gives, and what it is of the whole array.
READS = {
    "x[rows]": lambda x, rows, columns: x[rows],
    "x[rows, columns]": lambda x, rows, columns: x[rows, columns],
    "x[rows[:, None], columns]": lambda x, rows, columns: x[rows[:, None], columns],
    "x[:, columns]": lambda x, rows, columns: x[:, columns],
    "take": lambda x, rows, columns: np.take(x, rows, 0),
    "take of all": lambda x, rows, columns: np.take(x, rows),
    "take, wrapped": lambda x, rows, columns: np.take(x, rows, 0, mode="wrap"),
    "take, clipped": lambda x, rows, columns: np.take(x, rows, 0, mode="clip"),
    "take_along_axis": lambda x, rows, columns: np.take_along_axis(
        x, np.stack([rows] * WIDTH, 1), 0
    ),
}
WRITES = {
    "x[rows] = v": lambda x, rows, columns: x.__setitem__(rows, 7),
    "x[rows, columns] = v": lambda x, rows, columns: x.__setitem__((rows, columns), 7),
    "add.at": lambda x, rows, columns: np.add.at(x, rows, 1.0),
    "add.at of pairs": lambda x, rows, columns: np.add.at(x, (rows, columns), 1.0),
    "put_along_axis": lambda x, rows, columns: np.put_along_axis(
        x, np.stack([rows] * WIDTH, 1), 7, 0
    ),
}


def rows_of(dtype):
    """As far from 0 as the type goes, and as the array does."""
    info = np.iinfo(dtype)
    last, first = min(LENGTH - 1, info.max), max(-LENGTH, info.min)
    return np.array([last, 5, first, 0, last // 2, 5], dtype)


def as_given(index, mesh):
    """An index as an array, and cut or replicated over the ranks."""
    yield index
    for at in (Replicate(), Shard(0)):
        yield distribute_tensor(index, mesh, [at, *[Replicate()] * (mesh.ndim - 1)])


def pairs_given(rows, columns, mesh):
    """Both indices in each of these ways."""
    return zip(as_given(rows, mesh), as_given(columns, mesh), strict=True)


def every_array():
    for mesh in (line(), square())[: 1 + WHOLE]:
        for at in layouts(2, mesh.ndim):
            yield placed(np.arange(LENGTH * 1.0 * WIDTH).reshape(-1, WIDTH), mesh, at)


@pytest.mark.parametrize("dtype", TYPES)
def test_elements_are_those_of_numpy(ranks, dtype):
    rows, columns = rows_of(dtype), COLUMN.astype(dtype)

    def body():
        for x, whole in every_array():
            for pair in pairs_given(rows, columns, x.device_mesh):
                for name, read in READS.items():
                    wanted = read(whole, rows.astype(int), columns.astype(int))
                    found = read(x, *pair).full_tensor()
                    np.testing.assert_array_equal(found, wanted, f"{name} {x}")

    ranks(body)


@pytest.mark.parametrize("dtype", TYPES)
def test_gradients_come_back_to_these_elements(ranks, dtype):
    rows, columns = rows_of(dtype), COLUMN.astype(dtype)

    def gradient(read, x, *pair):
        x = x.detach().requires_grad_()
        found = read(x, *pair)
        (
            found * np.arange(1.0, found.numel() + 1).reshape(found.shape)
        ).sum().backward()
        return x.grad.full_tensor()

    def body():
        for x, _ in every_array():
            if x.layout.is_partial:
                continue
            for name, read in READS.items():
                wanted = gradient(read, x, rows.astype(int), columns.astype(int))
                for pair in pairs_given(rows, columns, x.device_mesh):
                    found = gradient(read, x, *pair)
                    np.testing.assert_array_equal(found, wanted, f"{name} {x}")

    ranks(body)


@pytest.mark.parametrize("dtype", TYPES)
def test_writes_change_the_elements_that_numpy_changes(ranks, dtype):
    rows, columns = rows_of(dtype), COLUMN.astype(dtype)

    def body():
        for x, whole in every_array():
            for pair in pairs_given(rows, columns, x.device_mesh):
                for name, write in WRITES.items():
                    y, other = x.copy(), np.array(whole)
                    write(y, *pair)
                    write(other, rows.astype(int), columns.astype(int))
                    np.testing.assert_array_equal(y.full_tensor(), other, f"{name} {x}")

    ranks(body)


# Arguments that are one number: 100 is no small one beside the length 200.
NUMBERS = {
    "diag": lambda x, k: np.diag(x[:, 0], k),
    "var": lambda x, k: np.var(x, ddof=k),
    "std": lambda x, k: np.std(x, 0, ddof=k),
    "nanvar": lambda x, k: np.nanvar(x, ddof=k),
    "gradient": lambda x, k: np.gradient(x, axis=0, edge_order=k // k),
    "norm": lambda x, k: np.linalg.vector_norm(x / 600, ord=k, axis=0),
    "resize": lambda x, k: np.resize(x, (k, k)),
    "roll": lambda x, k: np.roll(x, k, 0),
    "insert": lambda x, k: np.insert(x, [k, k], 5.0, 0),
    "insert many": lambda x, k: np.insert(x, [k] * 60, 5.0, 0),
    "unpackbits": lambda x, k: np.unpackbits(x.astype(np.uint8), 0, k),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_are_as_long_as_they_must_be(ranks, name):
    call = NUMBERS[name]

    def body():
        for x, whole in every_array():
            if x.layout.is_partial or x.device_mesh.size() == 1:
                continue  # on one rank NumPy is asked, which counts in int8
            wanted = call(whole, 100)
            for dtype in (np.int8, np.uint8, np.int16, np.uint64):
                found = dtensor.asarray(call(x, dtype(100))).full_tensor()
                np.testing.assert_allclose(found, wanted, 1e-12)

    ranks(body)
