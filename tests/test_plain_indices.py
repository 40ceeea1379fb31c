"""Indices that all ranks have, of every integer type, and values that are used in turn:
against NumPy."""

import numpy as np
import pytest
from meshes import line, square
from placed import layouts, placed

INDICES = {
    "rising": np.arange(0, 300, 3),
    "rising twice": np.array([0, 0, 7, 299]),
    "falling": np.arange(299, -1, -7),
    "int8": np.array([-1, 5, -100, 0], np.int8),
    "uint8": np.array([200, 5], np.uint8),
    "uint64": np.array([5, 299], np.uint64),
    "two dims": np.array([[5, -1], [0, 7]], np.int16),
    "none": np.array([], np.uint8),
}
VALUES = [5, [2.5], [1.0, 2.0], np.arange(7.0), np.arange(301.0), []]


def every_line():
    for mesh in (line(), square()):
        for at in layouts(1, mesh.ndim):
            x, whole = placed(np.arange(301.0), mesh, at)
            yield x[:300], whole[:300]
            yield x[1:], whole[1:]  # in parts of other lengths


@pytest.mark.parametrize("index", INDICES.values(), ids=INDICES)
def test_elements_are_those_of_numpy(ranks, index):
    def body():
        for x, whole in every_line():
            for found, wanted in (
                (x[index], whole[index]),
                (np.take(x, index), np.take(whole, index)),
            ):
                np.testing.assert_array_equal(found.full_tensor(), wanted)

    ranks(body)


@pytest.mark.parametrize("values", VALUES, ids=[*map(str, range(len(VALUES)))])
def test_values_are_used_in_turn(ranks, values):
    writes = [
        *(
            lambda a, at=at: np.put(a, at, values)
            for at in INDICES.values()
            if at.dtype != np.uint64  # which NumPy refuses
        ),
        lambda a: np.place(a, np.arange(300) % 3 == 1, values),
        lambda a: np.putmask(a, np.arange(300) % 3 == 1, values),
        lambda a: np.putmask(a, a > 50, values),
        lambda a: np.put(a, [300], 5),
    ]

    def body():
        for x, whole in every_line():
            for write in writes:
                y, other = x.copy(), np.array(whole)
                try:
                    write(other)
                except (IndexError, ValueError) as error:
                    with pytest.raises(type(error)) as raised:
                        write(y)
                    assert str(raised.value) == str(error)
                else:
                    write(y)
                np.testing.assert_array_equal(y.full_tensor(), other)

    ranks(body)


@pytest.mark.parametrize("function", [np.subtract, np.divide])
@pytest.mark.parametrize("shape", [(7,), (20000,), (300, 70), (2, 9000), (5, 0)])
def test_a_total_in_turn_is_numpy_s_to_the_bit(ranks, function, shape):
    array = np.random.default_rng(0).random(shape) + 0.5

    def body():
        for mesh in (line(), square()):
            for at in layouts(len(shape), mesh.ndim):
                x, whole = placed(array, mesh, at)
                if x.layout.is_partial:
                    continue
                for keepdims in (False, True):
                    with np.errstate(over="ignore", under="ignore"):
                        wanted = function.reduce(whole, 0, keepdims=keepdims)
                        found = function.reduce(x, 0, keepdims=keepdims).full_tensor()
                    assert found.shape == wanted.shape
                    np.testing.assert_array_equal(found, wanted)

    ranks(body)


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2"])
@pytest.mark.parametrize("function", [np.nanmax, np.nanmin])
@pytest.mark.filterwarnings("ignore:All-NaN")
def test_what_is_not_nan_counts_even_if_it_is_infinite(ranks, function, dtype):
    some = [0.0, -0.0, np.inf, -np.inf, np.nan, np.nan, np.nan]
    array = np.random.default_rng(1).choice(some, (9, 4)).astype(dtype)
    array[:, 1] = np.nan
    array[:, 2] = np.where(np.arange(9) > 5, np.inf, np.nan)
    array[:, 3] = -array[:, 2]

    def body():
        for mesh in (line(), square()):
            for at in layouts(2, mesh.ndim):
                x, whole = placed(array, mesh, at)
                if x.layout.is_partial:
                    continue
                for axis in (None, 0, 1, ()):
                    wanted = function(whole, axis)
                    found = function(x, axis).full_tensor()
                    assert found.dtype == wanted.dtype
                    np.testing.assert_array_equal(found, wanted)

    ranks(body)
