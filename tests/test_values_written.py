"""Values are converted to the dtype of what they are written into as NumPy's functions
do, each of them by rules of its own; what NumPy refuses is refused on every rank."""

import numpy as np
import pytest
from meshes import line
from placed import WHOLE, layouts, placed

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
AT = np.arange(8).reshape(4, 2) % 3 == 1
WRITES = {
    "put": lambda x, v: np.put(x, [0, 7, 3], v),
    "put nothing": lambda x, v: np.put(x, [], v),
    "method put": lambda x, v: x.put([0, 5], v),
    "put clipped": lambda x, v: np.put(x, [0, 99], v, mode="clip"),
    "place": lambda x, v: np.place(x, AT, v),
    "place nothing": lambda x, v: np.place(x, AT & False, v),
    "putmask": lambda x, v: np.putmask(x, AT, v),
    "putmask of a line": lambda x, v: np.putmask(x, AT.ravel(), v),
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
    "piecewise": lambda x, v: np.piecewise(x, [AT], [v]),
    "piecewise of rows": lambda x, v: np.piecewise(x, [AT[:, 0]], [1, v]),
    "piecewise nothing": lambda x, v: np.piecewise(x, [AT & False], [v]),
    "piecewise called": lambda x, v: np.piecewise(x, [AT], [lambda y: v]),
}
INDICES = {
    "an element": (1, 0),
    "a row": 2,
    "slices": (slice(1, 4, 2), slice(None, None, -1)),
    "no rows": slice(4, 9),
    "all": ...,
    "new dims": (None, np.int8(3), None),
    "an array without dims": (np.array(1), ...),
    "rows": [0, 2],
    "no rows in a list": [],
    "elements": ([0, 3], [1, 1]),
    "a row and columns": (1, [1, 0]),
    "a mask": AT,
    "a mask of rows": AT[:, 0],
    "a boolean": True,
}
WRITES |= {name: lambda x, v, i=i: x.__setitem__(i, v) for name, i in INDICES.items()}
DTYPES = "b1 u1 i2 i4 u8 f4 F".split() + "i1 u4 i8 f2 f8".split() * WHOLE


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
                if (name, kind) == ("an element", "lists"):
                    continue  # refused in other words; booleans of lists are no arrays
                at = list(layouts(2, 1))[(k + j) % 4]
                start = (np.arange(8) % 3).reshape(4, 2).astype(dtype)
                x, array = placed(start, mesh, at)
                check(WRITES[name], array.copy(), x, value, (name, dtype, at, value))

    ranks(body)


def test_values_of_another_layout_are_cast_where_numpy_casts_arrays(ranks):
    def body():
        mesh = line()
        for dtype, other in (("i4", "f8"), ("u1", "i8"), ("f4", "f8"), ("f8", "i4")):
            for at in layouts(1, 1):
                start = np.arange(8).astype(dtype)
                given, value = placed(np.arange(8, dtype=other) + 250, mesh, at)
                for name in ("put", "place", "putmask", "flat"):
                    write = {**WRITES, "put": lambda x, v: np.put(x, np.arange(8), v)}[
                        name
                    ]
                    x, array = (y.reshape(4, 2) for y in placed(start, mesh, at))
                    theirs = tried(write, array.copy(), value)
                    ours = tried(write, x, given)
                    if isinstance(theirs, Exception):
                        assert type(ours) is type(theirs), (name, ours)
                        assert str(ours) == str(theirs)
                    else:
                        assert np.array_equal(whole(ours[1]), theirs[1]), name

    ranks(body)


def test_rows_of_conditions_choose_rows(ranks):
    def body():
        for placements in layouts(2, 1):
            x, array = placed(np.arange(12.0).reshape(4, 3), line(), placements)
            conditions = [array[:, 0] > 4, array[:, 1] < 3]
            functions = [lambda y: y * 2 - 1, lambda y: -y[:1], 7]
            expected = np.piecewise(array, conditions, functions)
            z = x.detach().requires_grad_()
            found = np.piecewise(z, conditions, functions)
            np.testing.assert_array_equal(found.detach().full_tensor(), expected)
            found.sum().backward()
            slope = np.piecewise(0 * array, conditions, [2, -1, 0])
            np.testing.assert_array_equal(z.grad.full_tensor(), slope)
            cube = np.reshape(x, (2, 2, 3))
            for refused in (cube > 5, np.ones((4, 4), bool), [np.ones(3, bool)]):
                with pytest.raises(IndexError):
                    np.piecewise(cube, refused, [1] * len(refused))

    ranks(body)


@pytest.mark.parametrize("dtype", ["i1", "i8", "f4", "f8", "D", "b1"])
@pytest.mark.filterwarnings("ignore")
def test_dtypes_that_statistics_cannot_compute_in_are_refused(ranks, dtype):
    calls = {
        "cov": lambda x: np.cov(x, dtype=dtype),
        "corrcoef": lambda x: np.corrcoef(x, dtype=dtype),
        "std": lambda x: np.std(x, axis=0, dtype=dtype),
        "std, kept": lambda x: np.std(x, dtype=dtype, keepdims=True),
        "std of all": lambda x: np.std(x, dtype=dtype),
        "var": lambda x: np.var(x, axis=1, dtype=dtype),
        "nanstd": lambda x: np.nanstd(x, axis=0, dtype=dtype),
        "mean": lambda x: np.mean(x, axis=0, dtype=dtype),
    }

    def body():
        for source in ("f2", "f8", "i4"):
            for placements in layouts(2, 1):
                start = np.array([[1, 5, 4], [2, 2, 9]], source)
                x, array = placed(start, line(), placements)
                for name, call in calls.items():
                    try:
                        expected = call(array)
                    except TypeError as error:
                        with pytest.raises(TypeError) as ours:
                            call(x)
                        assert type(ours.value) is type(error), name
                        continue
                    found = whole(call(x))
                    assert found.dtype == expected.dtype, name
                    np.testing.assert_allclose(found, expected, 2e-3, err_msg=name)

    ranks(body)


@pytest.mark.filterwarnings("ignore")
def test_what_ediff1d_puts_before_and_behind_is_cast_by_itself(ranks):
    ends = [2**63, 2**64 - 1, [np.uint64(2**64 - 1), False], [300, -1], 1.5, 2j, None]
    ends += [np.array([2**53 + 1]), np.uint8(7), [[1], [2]], True, np.float16(1.5)]

    def body():
        for dtype in ("i1", "i2", "i4", "u8", "f4", "f8", "F"):
            for at in layouts(1, 1):
                x, array = placed(np.arange(7).astype(dtype) ** 2, line(), at)
                for k, end in enumerate(ends):
                    words = {"to_end": end, "to_begin": ends[k * 5 % len(ends)]}
                    if k % 2:
                        del words["to_begin"]
                    ours = tried(lambda y, more: np.ediff1d(y, **more), x, words)
                    theirs = tried(lambda y, more: np.ediff1d(y, **more), array, words)
                    if isinstance(theirs, Exception):
                        assert type(ours) is type(theirs), (dtype, words, ours)
                        assert str(ours) == str(theirs)
                        continue
                    found = whole(ours[0])
                    assert found.dtype == theirs[0].dtype
                    np.testing.assert_array_equal(found, theirs[0], str((dtype, words)))

    ranks(body)
