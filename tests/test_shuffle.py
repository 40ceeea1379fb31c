"""NumPy's shuffle gives a permutation or refuses; other assignments stay legal."""

import operator

import numpy as np
import pytest
from meshes import line

from dtensor import Replicate, Shard, distribute_tensor

R, S0, S1 = Replicate(), Shard(0), Shard(1)
ROWS = np.arange(24.0).reshape(6, 4)


def placed(array, placement):
    return distribute_tensor(np.asarray(array), line(), [placement])


def whole(x):
    return np.asarray(x.full_tensor() if hasattr(x, "full_tensor") else x)


@pytest.mark.filterwarnings("ignore:you are shuffling")
@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_shuffle_loses_no_row(ranks, make):
    def body():
        refused = 0
        for array in (ROWS, ROWS[:, 0]):
            placements = (R, S0, S1) if array.ndim > 1 else (R, S0)
            for x in (
                *(placed(array, p) for p in placements),
                placed(array, R).to_local(),
            ):
                before = whole(x).copy()
                try:
                    make(3).shuffle(x)
                except TypeError as error:
                    refused += 1
                    assert "x = x[rng.permutation(len(x))]" in str(error)
                    assert np.array_equal(whole(x), before)
                expected = before.copy()
                after = np.sort(whole(x), axis=0)
                assert np.array_equal(after, np.sort(expected, axis=0))
        assert refused >= 3

    ranks(body)


@pytest.mark.filterwarnings("ignore:you are shuffling")
@pytest.mark.parametrize("turn", [lambda x: x[:, ::-1], np.flip, lambda x: x[::-1][1:]])
def test_shuffle_loses_no_row_of_what_had_to_move(ranks, turn):
    def body():
        for placement in (R, S0, S1):
            x = placed(ROWS, placement)
            try:
                np.random.default_rng(3).shuffle(turn(x))
            except TypeError as error:
                assert "x = x[rng.permutation(len(x))]" in str(error)
            assert np.array_equal(np.sort(whole(x), axis=0), ROWS)

    ranks(body)


def test_the_way_out_of_shuffle_is_a_permutation(ranks):
    def body():
        x = placed(ROWS, S0)
        x[...] = x[np.random.default_rng(3).permutation(len(x))]
        expected = ROWS[np.random.default_rng(3).permutation(6)]
        assert np.array_equal(whole(x), expected)

    ranks(body)


def test_assignments_of_rows_stay_legal(ranks):
    def body():
        x = placed(ROWS, S1)
        other = placed(ROWS + 100, S1)
        x[0] = x[1]
        x[2] += x[3]
        row = [x[5]]
        for x[4] in row:  # noqa: B020
            pass
        operator.setitem(x, 1, other[1])
        operator.setitem(x, 3, x[2])
        x.__setitem__(3, x[5].copy())
        operator.setitem(x, slice(5, 6), x[0:1])
        expected = ROWS.copy()
        expected[0] = ROWS[1]
        expected[2] += ROWS[3]
        expected[4] = ROWS[5]
        expected[1] = ROWS[1] + 100
        expected[3] = ROWS[5]
        expected[5] = expected[0]
        assert np.array_equal(whole(x), expected)

    ranks(body)
