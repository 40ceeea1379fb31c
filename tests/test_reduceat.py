"""`ufunc.reduceat` along cut dims, against NumPy; and what it sends."""

import numpy as np
import pytest
from meshes import line, square
from order_parts import sent_parts, values
from placed import layouts, placed

from dtensor import Replicate, Shard, distribute_tensor

UFUNCS = [
    np.add,
    np.multiply,
    np.maximum,
    np.fmin,
    np.logical_or,
    np.logaddexp,
    np.subtract,
]
STARTS = [[0], [4], [0, 2, 5], [1, 1, 1, 6], [0, 1, 2, 3, 4, 5, 6], [6, 6], [5, 1, 3]]


def like(got, want):
    got = got.full_tensor()
    assert got.dtype == want.dtype and got.shape == want.shape
    np.testing.assert_allclose(got, want, 1e-9, 1e-12)


@pytest.mark.parametrize("ufunc", UFUNCS)
def test_it_is_numpys_in_every_layout(ranks, ufunc):
    def body():
        mesh = square()
        for k, placements in enumerate(layouts(2, mesh.ndim)):
            array = values((7, 7), "d?l"[k % 3] if ufunc not in UFUNCS[5:] else "d", k)
            x, whole = placed(array, mesh, placements)
            for starts in STARTS:
                for axis in (0, -1):
                    like(
                        ufunc.reduceat(x, starts, axis),
                        ufunc.reduceat(whole, starts, axis),
                    )
            known, _ = placed(np.array(STARTS[2]), mesh, [Replicate()] * mesh.ndim)
            like(ufunc.reduceat(x, known), ufunc.reduceat(whole, STARTS[2]))

    ranks(body)


@pytest.mark.parametrize("shape", [(1,), (3,), (29, 2), (9, 0)])
def test_it_is_numpys_for_every_shape(ranks, shape):
    def body():
        x, whole = placed(values(shape, "f"), line(), [Shard(0)])
        for seed in range(6):
            rng = np.random.default_rng(seed)
            starts = np.sort(rng.integers(0, shape[0], 1 + seed % 3))
            for dtype in (None, "d"):
                like(
                    np.add.reduceat(x, starts, dtype=dtype),
                    np.add.reduceat(whole, starts, dtype=dtype),
                )

    ranks(body)


def test_a_row_of_each_part_is_sent(ranks):
    def body():
        x, whole = placed(np.arange(80_000.0), line(), [Shard(0)])
        for starts in (np.arange(0, 80_000, 7), np.array([5, 60_000])):
            y = np.add.reduceat(x, starts)
            like(y, np.add.reduceat(whole, starts))
            assert y.placements == (Shard(0),) or x.device_mesh.size() == 1
            assert sent_parts(lambda x, s=starts: np.add.reduceat(x, s), x) < 0.01

    ranks(body)


def test_sums_have_a_gradient_and_bad_indices_are_numpys_errors(ranks):
    def body():
        x = distribute_tensor(np.arange(9.0), line(), [Shard(0)]).requires_grad_()
        weights = np.array([1.0, 10.0, 100.0])
        np.sum(np.add.reduceat(x, [0, 4, 6]) * weights).backward()
        assert np.array_equal(x.grad.full_tensor(), weights.repeat([4, 2, 3]))
        for bad in ([9], [-1], [[1, 2]], [0, 3, -(2**63)]):
            with pytest.raises((IndexError, TypeError, ValueError)) as why:
                np.add.reduceat(np.arange(9.0), bad)
            with pytest.raises(why.type):
                np.add.reduceat(x.detach(), bad)

    ranks(body)


def differences(f, array, step=1e-6):
    """The gradient of a function of an array, by differences."""
    found = np.zeros_like(array)
    for k in np.ndindex(array.shape):
        ends = []
        for sign in (1, -1):
            moved = array.copy()
            moved[k] += sign * step
            ends.append(f(moved))
        found[k] = (ends[0] - ends[1]) / (2 * step)
    return found


@pytest.mark.parametrize("ufunc", [np.add, np.multiply, np.maximum, np.minimum])
def test_slices_have_gradients_in_every_layout(ranks, ufunc):
    def body():
        mesh = square()
        for k, placements in enumerate(layouts(2, mesh.ndim)):
            array = values((7, 5), "d", k) + np.arange(35.0).reshape(7, 5) / 999
            if ufunc is np.multiply:
                array[1, 0] = array[4:6, 1] = 0
            x, whole = placed(array, mesh, placements)
            x.requires_grad_()
            starts = np.array(STARTS[k % len(STARTS)])
            weights = np.arange(1.0, 1 + len(starts))[:, None]
            np.sum(ufunc.reduceat(x, starts) * weights).backward()

            def total(a, starts=starts, weights=weights):
                return np.sum(ufunc.reduceat(a, starts) * weights)

            want = differences(total, whole)
            np.testing.assert_allclose(x.grad.full_tensor(), want, atol=1e-6)

    ranks(body)


def test_equal_extrema_share_the_gradient_and_stay_in_parts(ranks):
    def body():
        x = distribute_tensor(np.array([2.0, 2, 1, 5, 3, 3, 3]), line(), [Shard(0)])
        x.requires_grad_()
        np.maximum.reduceat(x, [0, 4]).sum().backward()
        want = [0, 0, 0, 1, 1 / 3, 1 / 3, 1 / 3]
        np.testing.assert_allclose(x.grad.full_tensor(), want)
        x, _ = placed(np.arange(80_000.0), line(), [Shard(0)])
        x.requires_grad_()
        starts = np.arange(0, 80_000, 800)

        def both(x):
            np.maximum.reduceat(x, starts).sum().backward()

        assert sent_parts(both, x) < 0.05

    ranks(body)
