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
