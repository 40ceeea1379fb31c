"""What functions that work in place write into rows that had to move reaches the array
they are rows of, as in NumPy."""

import numpy as np
import pytest
from meshes import line

from dtensor import Replicate, Shard, distribute_tensor

R, S0, S1 = Replicate(), Shard(0), Shard(1)
A = np.arange(24.0).reshape(8, 3)
Z = A * (1 + 2j)


def placed(array, placement):
    return distribute_tensor(np.asarray(array), line(), [placement])


def same(write, array):
    for placement in (S0, S1, R):
        x, expected = placed(array, placement), array.copy()
        write(x)
        write(expected)
        np.testing.assert_array_equal(np.asarray(x.full_tensor()), expected)


def real_of_a_row(x):
    row = x[1]
    row.real += 5


AT = {
    "row": lambda x: np.add.at(x[5], [0, 0], 1.0),
    "column": lambda x: np.add.at(x[:, 2], [0, 1, 1], 5.0),
    "maximum": lambda x: np.maximum.at(x[2], [1], 70.0),
    "negative": lambda x: np.negative.at(x[2], [1, 0]),
    "tuple": lambda x: np.add.at(x[::-1], (np.array([0, 0]), 1), 2.0),
    "slice": lambda x: np.multiply.at(np.flip(x, 0), slice(0, 2), 2.0),
    "mask": lambda x: np.add.at(np.flip(x), np.arange(8) < 3, 2.0),
    "rot90": lambda x: np.add.at(np.rot90(x), np.array([True, False, False]), 2.0),
    "rot270": lambda x: np.add.at(np.rot90(x, 3), [0, 0], 2.0),
}
OUT = {
    "divmod": lambda x: np.divmod(x[5] + 0.5, 1.0, out=(x[3], x[5])),
    "modf": lambda x: np.modf(x[::-1] / 4, out=(x[::-1], None)),
    "frexp": lambda x: np.frexp(x[4], out=(x[7], None)),
    "where": lambda x: np.modf(
        x[5] / 4, out=(x[3], x[:3, 2]), where=[True, False, True]
    ),
}
PARTS = {
    "set": lambda x: setattr(x[3], "real", 4.0),
    "set array": lambda x: setattr(x[:, 2], "imag", np.arange(8.0)),
    "row": real_of_a_row,
    "in place": lambda x: x[::-1].real.__iadd__(1),
    "item": lambda x: x[::-1].imag.__setitem__((0, 0), 99),
    "twice": lambda x: x[::-1][1:3].imag.__setitem__(slice(1), 99),
    "all": lambda x: setattr(x, "real", x.imag),
}


@pytest.mark.parametrize("write", AT.values(), ids=list(AT))
def test_ufuncs_at(ranks, write):
    ranks(lambda: same(write, A))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("write", OUT.values(), ids=list(OUT))
def test_several_results(ranks, write):
    ranks(lambda: same(write, A))


@pytest.mark.parametrize("write", PARTS.values(), ids=list(PARTS))
def test_real_and_imaginary_parts(ranks, write):
    ranks(lambda: same(write, Z))


def test_ufuncs_at_by_an_index_that_is_cut(ranks):
    def body():
        x, index = placed(A, S0), placed([0, 1, 1], S0)
        np.add.at(x[2], index, 1.0)
        expected = A.copy()
        np.add.at(expected[2], [0, 1, 1], 1.0)
        assert np.array_equal(x.full_tensor(), expected)

    ranks(body)


def test_numbers_for_nan_in_place(ranks):
    def body():
        expected = np.where(A % 5 == 0, np.nan, A)
        for placement in (S0, S1, R):
            x = placed(expected, placement)
            row = x[5]
            assert np.nan_to_num(row, copy=False, nan=-1.0) is row
            assert np.array_equal(x.full_tensor()[5], [-1, 16, 17])
            assert np.nan_to_num(x, False) is x
            x = placed(A, placement).requires_grad_() * 1
            np.nan_to_num(x, copy=False)
            assert x.requires_grad

    ranks(body)


def test_what_came_from_a_read_only_array_stays_as_it_is(ranks):
    def body():
        lines = np.broadcast_to(placed(A[0], S0), (2, 3))
        for write in (
            lambda: np.add.at(lines, [0], 1.0),
            lambda: np.modf(lines, out=(lines, None)),
        ):
            with pytest.raises(ValueError, match="read-only"):
                write()
        assert np.array_equal(lines.full_tensor(), np.broadcast_to(A[0], (2, 3)))

    ranks(body)
