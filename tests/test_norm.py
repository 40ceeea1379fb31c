"""layer_norm, rms_norm, group_norm: layouts, gradients, traffic, dtypes and errors."""

import numpy as np
import pytest
from gradcheck import check
from meshes import line, square

import dtensor
from dtensor import Partial, Replicate, Shard, distribute_tensor, tensor
from dtensor.debug import CommDebugMode
from dtensor.ops.model.norm_gradient import norm_backward

R, S0, S1, P = Replicate(), Shard(0), Shard(1), Partial()
RNG = np.random.default_rng(3)


def array(*shape):
    return RNG.standard_normal(shape)


CASES = [
    (lambda x, w, b: dtensor.layer_norm(x, 5, w, b), "d6,5 d5 d5"),
    (lambda x, w: dtensor.layer_norm(x, (2, 5), weight=w), "d3,2,5 d2,5"),
    (lambda x, b: dtensor.layer_norm(x, (5,), bias=b), "d6,5 d5"),
    (lambda x: dtensor.layer_norm(x, [5], eps=0.1), "d6,5"),
    (lambda x, w: dtensor.rms_norm(x, (5,), w), "d6,5 d5"),
    (lambda x: dtensor.rms_norm(x, (2, 5), eps=0.1), "d3,2,5"),
    (lambda x, w, b: dtensor.group_norm(x, 3, w, b), "d4,6,5 d6 d6"),
    (lambda x, w: dtensor.group_norm(x, 6, w), "d2,6,3 d6"),
    (lambda x, b: dtensor.group_norm(x, 1, bias=b), "d3,4,2 d4"),
    (lambda x: dtensor.group_norm(x, 2), "d3,8"),
]


@pytest.mark.parametrize("function, words", CASES)
def test_gradients_are_those_of_differences(function, words):
    check(function, words, meshes=[(2,), (3,), (2, 2)], most=4)


@pytest.mark.parametrize("function, words", CASES)
def test_gradients_have_gradients(function, words):
    check(function, words, second=True, most=1)


def test_rows_have_mean_0_and_variance_1():
    x = array(7, 300) * 5 + 100
    for dtype, tolerance in (("f", 1e-5), ("d", 1e-13), ("g", 1e-13)):
        y = np.asarray(dtensor.layer_norm(x.astype(dtype), 300, eps=0.0))
        assert y.dtype == dtype
        np.testing.assert_allclose(y.mean(1), 0, atol=tolerance)
        np.testing.assert_allclose(y.var(1), 1, atol=tolerance)


def test_half_precision_is_rounded_once():
    x, w = array(4, 64).astype("e"), array(64).astype("e")
    y = dtensor.layer_norm(x, 64, w)
    wide = dtensor.layer_norm(x.astype("f"), 64, w.astype("f"))
    assert y.dtype == np.float16
    np.testing.assert_array_equal(np.asarray(y), np.asarray(wide).astype("e"))


def test_an_integer_is_a_float_and_a_complex_number_is_refused():
    assert dtensor.layer_norm(np.arange(6).reshape(2, 3), 3).dtype == np.float64
    with pytest.raises(TypeError, match="rms_norm is not defined for complex numbers"):
        dtensor.rms_norm(np.ones((2, 3), complex), 3)


def test_the_default_eps_of_rms_norm_is_that_of_the_dtype():
    for dtype in "fd":
        x = np.full((1, 4), 1e-6, dtype)
        expected = x / np.sqrt(x * x + np.finfo(dtype).eps)
        np.testing.assert_allclose(dtensor.rms_norm(x, 4), expected, 1e-6)


def test_nothing_is_sent_where_rows_are_cut_and_weights_have_partial_gradients(ranks):
    def body():
        mesh = square()
        x = distribute_tensor(array(8, 4, 6), mesh, [S0, S1], src_data_rank=None)
        w = distribute_tensor(np.ones(6), mesh, [R, R], src_data_rank=None)
        with CommDebugMode() as comm:
            y = dtensor.layer_norm(x, 6, w, w)
            dx, dw, db = norm_backward(y, x, w, "layer_norm", 1e-5, 1, 7)
        assert comm.get_total_counts() == 0
        assert y.placements == dx.placements == (S0, S1)
        summed = tuple(P if n > 1 else R for n in mesh.shape)
        for grad in (dw, db):
            assert (
                tuple(
                    p if n > 1 else R
                    for p, n in zip(grad.placements, mesh.shape, strict=True)
                )
                == summed
            )

    ranks(body)


def test_groups_of_channels_may_be_cut(ranks):
    def body():
        mesh = line()
        groups = 2 * mesh.size()
        x = array(3, 2 * groups, 4)
        whole = np.asarray(dtensor.group_norm(x, groups))
        cut = distribute_tensor(x, mesh, [S1])
        x = cut.full_tensor()
        whole = dtensor.group_norm(x, groups)
        with CommDebugMode() as comm:
            y = dtensor.group_norm(cut, groups)
        assert y.placements == (S1,) and comm.get_total_counts() == 0
        np.testing.assert_allclose(y.full_tensor(), whole, atol=1e-14)

    ranks(body)


def test_only_the_gradients_that_are_wanted_are_made():
    x = tensor(array(4, 5), requires_grad=True)
    w, b = tensor(array(5)), tensor(array(5), requires_grad=True)
    dtensor.layer_norm(x.detach(), 5, w, b).sum().backward()
    np.testing.assert_allclose(b.grad, np.full(5, 4.0))
    assert w.grad is None and x.grad is None
    dtensor.layer_norm(x, 5, w, b.detach()).sum().backward()
    assert x.grad.shape == (4, 5)


def test_rows_without_numbers_and_no_rows_are_empty():
    assert dtensor.layer_norm(np.ones((0, 3)), 3).shape == (0, 3)
    assert dtensor.layer_norm(np.ones((3, 0)), 0).shape == (3, 0)
    x = tensor(np.ones((0, 3)), requires_grad=True)
    w = tensor(np.ones(3), requires_grad=True)
    dtensor.layer_norm(x, 3, w).sum().backward()
    assert w.grad.tolist() == [0, 0, 0]


def test_shapes_that_do_not_fit_are_refused():
    x = np.ones((4, 6))
    with pytest.raises(RuntimeError, match=r"expected input with shape \[\*, 5\]"):
        dtensor.layer_norm(x, 5)
    with pytest.raises(RuntimeError, match="at least 1-dimensional"):
        dtensor.layer_norm(x, ())
    with pytest.raises(RuntimeError, match="weight to be of same shape as normalized_"):
        dtensor.layer_norm(x, 6, np.ones(5))
    with pytest.raises(RuntimeError, match="bias to be of same shape as normalized_"):
        dtensor.layer_norm(x, 6, np.ones(6), np.ones(5))
    with pytest.raises(RuntimeError, match="divisible by num_groups"):
        dtensor.group_norm(x, 4)
    with pytest.raises(RuntimeError, match="num groups to be greater than 0, got 0"):
        dtensor.group_norm(x, 0)
    with pytest.raises(RuntimeError, match="at least 2 dimensions"):
        dtensor.group_norm(np.ones(4), 2)
    with pytest.raises(RuntimeError, match="vector of size equal to the number of"):
        dtensor.group_norm(x, 3, np.ones(5))
