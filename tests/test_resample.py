"""Resampling a dim is a product with a matrix that is nearly empty."""

import gradcheck
import numpy as np
import pytest
from meshes import line

import dtensor.nn.functional as F
from dtensor import _C, DTensor, Partial, Replicate, Shard, distribute_tensor, strict
from dtensor.debug import CommDebugMode
from dtensor.ops.model.resample import Sampling, resample, taps_of

TOLERANCE = {"f": 1e-5, "d": 1e-13}


def matrix(index, weights, length):
    """The matrix (size, length) of taps."""
    out = np.zeros((index.shape[1], length))
    for row, weight in zip(index, weights, strict=True):
        np.add.at(out, (np.arange(len(row)), row), weight)
    return out


@pytest.mark.parametrize("dtype", "fd")
@pytest.mark.parametrize("dim", range(4))
def test_rows_and_their_gradients_are_products(level, dim, dtype):
    rng = np.random.default_rng(dim)
    for length, size, taps in ((1, 1, 1), (5, 9, 2), (19, 3, 4), (7, 7, 3), (4, 0, 1)):
        for inner in (1, 3, 8, 17):
            shape = [2, 3, inner, inner]
            shape[dim] = length
            x = rng.standard_normal(shape).astype(dtype)
            index = rng.integers(0, length, (taps, size))
            weights = rng.standard_normal((taps, size))
            product = matrix(index, weights, length)
            out = _C.kernel("resample")(x, index, weights, dim)
            expected = np.moveaxis(np.tensordot(product, x, (1, dim)), 0, dim)
            error = TOLERANCE[dtype]
            np.testing.assert_allclose(out, expected, error, error)
            back = _C.kernel("resample_back")(out, index, weights, dim, length)
            expected = np.moveaxis(np.tensordot(product.T, out, (1, dim)), 0, dim)
            np.testing.assert_allclose(back, expected, 10 * error, 10 * error)
            assert out.dtype == back.dtype == dtype and back.shape == x.shape


def test_one_tap_gives_the_elements_themselves(level):
    x = np.array([[-0.0, np.inf, np.nan, 5e-324], [1.0, -np.inf, 2.0, -0.0]])
    index = np.array([[3, 0, 0, 2, 1]])
    for dim, array in ((1, x), (0, x.T)):
        out = _C.kernel("resample")(array, index, np.ones((1, 5)), dim)
        assert out.tobytes() == np.take(array, index[0], axis=dim).tobytes()


WRONG = [
    ([[0, 3]], [[1.0, 1.0]], 1),
    ([[-1, 0]], [[1.0, 1.0]], 1),
    ([[0, 1]], [[1.0]], 1),
    ([0, 1], [1.0, 1.0], 1),
    (np.zeros((0, 2), int), np.zeros((0, 2)), 1),
    ([[0, 1]], [[1.0, 1.0]], 2),
    ([[0, 1]], [[1.0, 1.0]], -1),
]


@pytest.mark.parametrize("index, weights, dim", WRONG)
def test_rows_of_another_array_are_refused(index, weights, dim):
    with pytest.raises(ValueError, match="resample: rows of another array"):
        _C.kernel("resample")(np.ones((2, 3)), index, weights, dim)


def test_gradients_of_first_and_second_order_are_those_of_differences():
    def stretched(x):
        return resample(x, 1, Sampling("linear", 3, 5))

    gradcheck.check(stretched, "d2,3,4", meshes=((2,), (2, 2)), most=4, second=True)


@pytest.mark.parametrize("placement", [Shard(0), Shard(2), Partial(), Replicate()])
def test_it_sends_nothing_where_the_dim_is_whole(ranks, placement):
    whole = np.random.default_rng(3).standard_normal((5, 4, 6))

    def body():
        mesh = line()
        how = Sampling("linear", 4, 7)
        index, weights = taps_of(how, np.dtype("d"))
        if placement.is_partial():
            part = whole if mesh.get_local_rank() == 0 else whole * 0
            x = DTensor.from_local(part, mesh, [placement])
        else:
            x = distribute_tensor(whole, mesh, [placement])
        with strict(), CommDebugMode() as comm:
            out = resample(x, 1, how)
        assert comm.get_total_counts() == 0
        assert mesh.size() == 1 or list(out.placements) == [placement]
        expected = np.einsum("kl,nlm->nkm", matrix(index, weights, 4), whole)
        np.testing.assert_allclose(out.full_tensor(), expected, 1e-12, 1e-12)

    ranks(body)


def test_a_dim_that_is_cut_stays_so(ranks):
    whole = np.random.default_rng(4).standard_normal((2, 3, 6, 5))

    def body():
        x = distribute_tensor(whole, line(), [Shard(2)])
        out = F.interpolate(x, (9, 5), mode="bilinear")
        assert out.device_mesh.size() == 1 or list(out.placements) == [Shard(2)]
        expected = F.interpolate(whole, (9, 5), mode="bilinear")
        np.testing.assert_allclose(out.full_tensor(), expected, 1e-12, 1e-12)

    ranks(body)
