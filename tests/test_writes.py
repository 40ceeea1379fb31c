"""What is written into a tensor, or into a view of it, is where NumPy would have it."""

import operator

import numpy as np
import pytest
from meshes import line

from dtensor import _C, Partial, Replicate, Shard, distribute_tensor, strict

R, S0, S1, P = Replicate(), Shard(0), Shard(1), Partial()
A = np.arange(35.0).reshape(5, 7)


def placed(array, *placements):
    return distribute_tensor(array, line(), placements)


def whole(x):
    return np.asarray(x.full_tensor())


def test_in_place_operators_keep_object_layout_and_memory(ranks):
    def body():
        for placements in ([S0], [S1], [R], [P]):
            x = placed(A, S0).redistribute(placements=[R])
            x = _C._redistribute_any(x, line(), placements)
            same, memory = x, np.asarray(x.to_local())
            x += placed(A, S1)
            x *= 2
            x -= 1.0
            x **= 1
            assert x is same and x.placements == tuple(placements)
            now = np.asarray(x.to_local())
            assert not now.size or np.shares_memory(memory, now)
            assert np.array_equal(whole(x), (A + A) * 2 - 1)

    ranks(body)


def test_out_and_where_write_what_numpy_writes(ranks):
    def body():
        x, mask = placed(A, S0), A % 3 == 0
        for placements in ([S0], [S1], [R]):
            out = placed(np.full((5, 7), -1.0), *placements)
            assert np.add(x, 1, out=out, where=mask) is out
            expected = np.add(A, 1, out=np.full((5, 7), -1.0), where=mask)
            assert np.array_equal(whole(out), expected)
            assert np.sum(x, axis=0, out=(total := placed(np.zeros(7), R))) is total
            assert np.array_equal(whole(total), A.sum(0))

    ranks(body)


def test_what_cannot_be_written_is_refused_as_numpy_does(ranks):
    def body():
        x, whole_numbers = placed(A, S0), placed(np.arange(5), S0)
        with pytest.raises(np._core._exceptions.UFuncTypeError) as error:
            whole_numbers += 1.5
        assert "Cannot cast ufunc 'add' output" in str(error.value)
        for shape in ((5,), (7,), (1, 7), (3, 5, 8)):
            with pytest.raises(ValueError) as expected:
                np.add(A, A, out=np.zeros(shape))
            with pytest.raises(ValueError) as error:
                np.add(x, x, out=placed(np.zeros(shape), S0))
            assert str(error.value) == str(expected.value)
        with pytest.raises(TypeError):
            np.add(A, x, out=A.copy())

    ranks(body)


def test_writes_into_slices_reach_the_owner(ranks):
    def body():
        x, expected = placed(A, S0), A.copy()
        x[1:4, ::2][1:] = 9
        expected[1:4, ::2][1:] = 9
        x[:, 3] *= -1
        expected[:, 3] *= -1
        assert np.array_equal(whole(x), expected)

    ranks(body)


# --- views ----------------------------------------------------------------------------

WRITES = [
    lambda x: x[2].__iadd__(5),
    lambda x: x[::-1][0].__setitem__(slice(None), 7),
    lambda x: x[::-1].__imul__(3),
    lambda x: x[2:4, 1].__iadd__(1),
    lambda x: x[-1, ::-1].__setitem__(0, 4),
    lambda x: [row.__setitem__(slice(1, None), k) for k, row in enumerate(x)],
]


@pytest.mark.parametrize("write", WRITES, ids=[str(k) for k in range(len(WRITES))])
def test_writes_reach_the_owner_also_where_rows_had_to_move(ranks, write):
    def body():
        for placement in (R, S0, S1):
            x, expected = placed(A, placement), A.copy()
            write(x)
            write(expected)
            assert np.array_equal(whole(x), expected)

    ranks(body)


def test_an_element_is_a_copy_as_in_numpy(ranks):
    def body():
        for placement in (R, S0):
            x = placed(np.arange(4.0), placement)
            x[0], x[3] = x[3], x[0]
            before = x[0]
            x += 1
            before += 10
            assert float(before) == 13 and whole(x).tolist() == [4, 2, 3, 1]

    ranks(body)


def test_where_an_array_without_dims_points_is_a_copy_as_in_numpy(ranks):
    def body():
        for placement in (R, S0, S1):
            x = placed(A, placement)
            for index in (np.array(1), placed(np.array(1), R), (..., np.array(2), 1)):
                y = x[index]
                y += 10
                assert np.array_equal(whole(x), A)
            x[np.int64(1)] += 1  # a number
            assert np.array_equal(whole(x)[1], A[1] + 1)

    ranks(body)


def test_complex_maxima_and_minima_are_written_where_they_are(ranks):
    def body():
        array = A + 1j * A[::-1]
        for op in ("max", "min"):
            for key in (1, slice(1, 4), (..., 2), (None, [0, 2]), (slice(None), 1)):
                x = _C._redistribute_any(placed(array, R), line(), [Partial(op)])
                assert x[1:].placements == x.placements
                expected = array.copy()
                expected[key] *= -2
                x[key] = placed(expected[key], S0)
                assert x.placements == (Partial(op),)
                assert np.array_equal(whole(x), expected)

    ranks(body)


def test_index_arrays_that_do_not_fit_are_index_errors(ranks):
    def body():
        for key in (([0, 1], [0, 1, 2]), ([0, 1], np.arange(7) < 3)):
            x = placed(A, S0)
            for act, more in ((operator.getitem, ()), (operator.setitem, (1,))):
                with pytest.raises(IndexError) as expected:
                    act(A.copy(), key, *more)
                with pytest.raises(IndexError) as error:
                    act(x, key, *more)
                assert str(error.value) == str(expected.value)

    ranks(body)


def test_the_parts_of_a_split_are_views(ranks):
    def body():
        for placement in (R, S0, S1):
            x, expected = placed(A, placement), A.copy()
            with strict():
                np.split(x, [2, 2, 4])[2][:, 1:] += 1
                np.array_split(x, 3, axis=1)[1][...] = -1
            np.split(expected, [2, 2, 4])[2][:, 1:] += 1
            np.array_split(expected, 3, axis=1)[1][...] = -1
            assert np.array_equal(whole(x), expected)

    ranks(body)
