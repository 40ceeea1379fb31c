"""Values are converted to the dtype of what they are written into as NumPy's functions
do, each of them by rules of its own; what NumPy refuses is refused on every rank."""

import numpy as np
import pytest
from meshes import line
from placed import layouts, placed

from dtensor import DTensor

BIG = [2**64 - 1, 1]
MIXED = [2**53 + 1, 0.5]
VALUES = {
    "numbers": [300, -1, 2**40, 2**64 - 1, 1.5, 1e300, np.nan, np.inf, 1j, True],
    "NumPy's": [
        np.int64(2**40),
        np.int64(-1),
        np.uint32(4_000_000_000),
        np.uint64(2**64 - 1),
        np.float32(1e38),
        np.float64(300),
        np.float64(np.nan),
        np.complex128(1j),
        np.bool(True),
        np.float16(1.5),
    ],
    "lists": [BIG, MIXED, [1.5, 2], [[3], [4]], [np.int64(2**40), 1], [1j], [300], []],
    "arrays": [np.array(2**40), np.array([1.5]), np.array([3, -1]), np.array([1j, 2])],
}
VALUES["arrays"] += [np.array([7], "B"), np.zeros(0), np.array([2**64 - 1, 1], "Q")]
WRITES = {
    "put": lambda x, v: np.put(x, [0, 7, 3], v),
    "put nothing": lambda x, v: np.put(x, [], v),
    "method put": lambda x, v: x.put([0, 5], v),
    "put clipped": lambda x, v: np.put(x, [0, 99], v, mode="clip"),
    "place": lambda x, v: np.place(x, np.arange(8).reshape(4, 2) % 3 == 1, v),
    "place nothing": lambda x, v: np.place(x, np.zeros((4, 2), bool), v),
    "putmask": lambda x, v: np.putmask(x, np.arange(8).reshape(4, 2) % 3 == 1, v),
    "putmask of a line": lambda x, v: np.putmask(x, np.arange(8) % 3 == 1, v),
    "fill_diagonal": lambda x, v: np.fill_diagonal(x, v),
    "flat": lambda x, v: setattr(x, "flat", v),
    "an element of flat": lambda x, v: x.flat.__setitem__(6, v),
    "a slice of flat": lambda x, v: x.flat.__setitem__(slice(1, 6, 2), v),
    "elements of flat": lambda x, v: x.flat.__setitem__([1, -1, 2], v),
    "put_along_axis": lambda x, v: np.put_along_axis(x, np.array([[0], [3]]), v, 0),
    "put_along_axis None": lambda x, v: np.put_along_axis(x, np.array([3, 5]), v, None),
    "insert one": lambda x, v: np.insert(x, 2, v, 0),
    "insert some": lambda x, v: np.insert(x, [1, 2], v, 1),
    "insert a range": lambda x, v: np.insert(x, slice(0, 3, 2), v),
    "copyto": lambda x, v: np.copyto(x, v),
    "copyto unsafe": lambda x, v: np.copyto(x, v, casting="unsafe"),
    "copyto where": lambda x, v: np.copyto(x, v, "unsafe", [True, False]),
    "full_like": lambda x, v: np.full_like(x, v),
    "full": lambda x, v: np.full((4, 2), v, x.dtype, like=x),
    "fill": lambda x, v: x.fill(v),
}
DTYPES = "b1 u1 i1 i2 i4 u4 i8 u8 f2 f4 f8 F".split()


def tried(write, x, value):
    """What a function gives and leaves, or its error."""
    try:
        found = write(x, value)
    except Exception as error:
        return error
    return found, x


def whole(y):
    return np.array(y.full_tensor()) if isinstance(y, DTensor) else y


def check(write, array, x, value, what):
    start = array.copy()
    theirs = tried(write, array, value)
    ours = tried(write, x, value)
    if isinstance(theirs, Exception):
        assert type(ours) is type(theirs), (what, ours, theirs)
        assert np.array_equal(whole(x), start), what  # nothing is written
        return
    assert not isinstance(ours, Exception), (what, ours, theirs)
    for y, z in zip(ours, theirs, strict=True):
        y = whole(y)
        if z is None:
            assert y is None
        else:
            same = y.dtype == z.dtype and np.array_equal(
                y, z, equal_nan=z.dtype != bool
            )
            assert same, (what, y, z)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("name", WRITES)
def test_values_are_converted_as_by_numpy(ranks, name, kind):
    def body():
        mesh = line()
        for k, dtype in enumerate(DTYPES):
            for j, value in enumerate(VALUES[kind]):
                at = list(layouts(2, 1))[(k + j) % 4]
                start = (np.arange(8) % 3).reshape(4, 2).astype(dtype)
                x, array = placed(start, mesh, at)
                check(WRITES[name], array.copy(), x, value, (name, dtype, at, value))

    ranks(body)
