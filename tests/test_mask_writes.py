"""x[mask] = value sends nothing where the values are in the layout that the same mask
gives, and no more than it must elsewhere."""

import functools

import numpy as np
import pytest
from meshes import line, square

from dtensor import Partial, Replicate, Shard, distribute_tensor, strict
from dtensor.debug import CommDebugMode

R, P, S0, S1 = Replicate(), Partial(), Shard(0), Shard(1)
A = np.arange(63.0).reshape(9, 7)
FULL, ROWS, COLUMNS = A % 5 > 2, A[:, 0] % 3 > 0, A[0] > 2


def placed(array, *placements, mesh=None):
    mesh = mesh or (line() if len(placements) == 1 else square())
    return distribute_tensor(np.asarray(array), mesh, placements)


def put(placements, array):
    return placed(array, *placements)


def cut_like(mask, placement):
    """The placements of a mask, which may have fewer dims than the array."""
    return placement if mask.ndim > 1 or placement is not S1 else R


def check(x, array, mask, own, other):
    """Write to what a mask selects in all ways; `other` is of the layout of `x`."""
    expected = array.copy()
    x[own] += 1
    expected[mask] += 1
    x[own] = other[own]
    expected[mask] = -array[mask]
    x[own] *= 2
    expected[mask] *= 2
    x[own] = np.arange(float(expected[mask].size)).reshape(expected[mask].shape)
    expected[mask] = np.arange(float(expected[mask].size)).reshape(expected[mask].shape)
    x[own] -= x[own][:1]
    expected[mask] -= expected[mask][:1]
    x[own] = x[own].astype(np.float32)
    np.testing.assert_array_equal(np.asarray(x.full_tensor()), expected)


@pytest.mark.parametrize(
    "mask", [FULL, ROWS, A > 99, A < 8], ids="full rows no 8".split()
)
@pytest.mark.parametrize(
    "at", [[S0], [S1], [R], [P], [S0, S0], [S1, S0], [P, S1], [R, S0]]
)
def test_selections_are_written_as_numpy_writes_them(ranks, mask, at):
    def body():
        for to in (at, [S0] * len(at), [R] * len(at)):
            to = [cut_like(mask, p) for p in to if p is not P] or [R]
            if len(to) != len(at):
                continue
            for own in (mask, placed(mask, *to)):
                check(placed(A, *at), A, mask, own, placed(-A, *at))

    ranks(body)


KEYS = {
    "columns": lambda m: (slice(None), m(COLUMNS)),
    "window": lambda m: (slice(1, 8, 3), m(COLUMNS)),
    "backwards": lambda m: (m(ROWS), slice(None, None, -2)),
    "column": lambda m: (m(ROWS), 3),
    "row": lambda m: (-1, m(COLUMNS)),
    "new": lambda m: (None, m(ROWS), None),
    "apart": lambda m: (2, None, m(COLUMNS)),
    "dots": lambda m: (..., m(COLUMNS)),
}


@pytest.mark.parametrize("key", KEYS.values(), ids=list(KEYS))
def test_slices_and_integers_beside_a_mask(ranks, key):
    def body():
        for at in ([S0], [S1], [R], [S1, S0], [P, S0]):
            for cut in (S0, R):
                x, expected = placed(A, *at), A.copy()
                here = key(functools.partial(put, [cut] * len(at)))
                there = key(lambda m: m)
                x[here] *= 3
                expected[there] *= 3
                x[here] = 2 * expected[there]
                expected[there] *= 2
                np.testing.assert_array_equal(np.asarray(x.full_tensor()), expected)

    ranks(body)


def test_what_the_same_mask_selects_moves_nothing(ranks):
    def body():
        for at in ([S0], [S0, S0], [S0, R], [R, S0]):
            x, y = placed(A, *at)[1:], placed(-A, *at)[1:]
            expected = A[1:].copy()
            for own, mask in (
                (x > 40, expected > 40),
                (x[:, 0] > 9, expected[:, 0] > 9),
                (expected[:, 0] > 9, expected[:, 0] > 9),
            ):
                with strict(), CommDebugMode() as comm:
                    x[own] += 1
                    x[own] = y[own]
                    x[own] *= np.float64(2)
                    x[own] = 3 * x[own]
                assert comm.get_total_counts() == 0
                expected[mask] = -6 * A[1:][mask]
            np.testing.assert_array_equal(np.asarray(x.full_tensor()), expected)

    ranks(body)


def test_columns_are_written_where_they_are(ranks):
    def body():
        x, mask = placed(A, S1), placed(COLUMNS, S0)
        with strict():
            x[:, mask] += 1
            x[2:5, mask] = x[1:4, mask]
        expected = A + COLUMNS
        expected[2:5, COLUMNS] = expected[1:4, COLUMNS]
        np.testing.assert_array_equal(np.asarray(x.full_tensor()), expected)

    ranks(body)


def test_a_cut_array_is_not_gathered_for_what_is_cut_otherwise(ranks):
    def body():
        for at in ([S1], [S1, S1]):
            x = placed(A, *at)
            mask = x % 5 > 2
            with CommDebugMode() as comm:
                x[mask] *= 2
            assert "all_gather" not in comm.get_comm_counts()
            expected = np.where(FULL, 2 * A, A)
            np.testing.assert_array_equal(np.asarray(x.full_tensor()), expected)

    ranks(body)


@pytest.mark.parametrize("at", [S0, S1, R, P])
def test_gradients_go_to_both(ranks, at):
    def body():
        weights = A + 1
        for mask in (FULL, ROWS):
            for own in (placed(mask, S0), placed(mask, R), mask):
                x, y = (placed(a, at).requires_grad_() for a in (A, 3 * A))
                z = x * 2
                z[own] = y[own] * 5
                z[own] *= 3
                (z * placed(weights, S0)).sum().backward()
                rest, given = 2 * weights, np.zeros_like(A)
                rest[mask], given[mask] = 0, 15 * weights[mask]
                np.testing.assert_allclose(np.asarray(x.grad.full_tensor()), rest)
                np.testing.assert_allclose(np.asarray(y.grad.full_tensor()), given)

    ranks(body)


def test_what_does_not_fit_is_refused_as_numpy_does(ranks):
    def body():
        for key, values in (
            (FULL, [np.ones(3), np.ones((2, 5)), np.ones((1, 1))]),
            (ROWS, [np.ones((5, 7)), np.ones(3), np.ones((6, 2)), np.ones((2, 6, 7))]),
        ):
            for own in (placed(key, S0), key):
                x = placed(A, S0)
                for value in values:
                    with pytest.raises((ValueError, TypeError)) as expected:
                        A.copy()[key] = value
                    for given in (value, placed(value, S0)):
                        with pytest.raises(type(expected.value)) as error:
                            x[own] = given
                        assert str(error.value).strip() == str(expected.value).strip()
                assert np.array_equal(x.full_tensor(), A)

    ranks(body)
