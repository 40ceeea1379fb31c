"""The C kernels alone: every instruction set, length, stride and dtype."""

import threading

import numpy as np
import pytest

from dtensor import _C

RNG = np.random.default_rng(7)
LENGTHS = [0, 1, 2, 7, 15, 16, 17, 31, 33, 64, 100, 257]
TOLERANCE = {"f": 2e-6, "d": 1e-14}


def array(*shape, dtype="d"):
    return RNG.standard_normal(shape).astype(dtype)


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def close(got, expected, dtype, scale=1.0):
    assert got.dtype == dtype and got.shape == expected.shape
    np.testing.assert_allclose(got, expected, 0, TOLERANCE[dtype] * scale)


@pytest.mark.parametrize("dtype", "fd")
@pytest.mark.parametrize("length", LENGTHS[1:])
def test_rows_of_any_length_are_right(level, length, dtype):
    for rows in (0, 1, 5):
        x, g = array(rows, length, dtype=dtype), array(rows, length, dtype=dtype)
        wide = x.astype("d")
        y = softmax(wide, 1) if rows else wide
        close(_C.kernel("softmax")(x, 1), y, dtype)
        close(_C.kernel("log_softmax")(x, 1), np.log(y) if rows else wide, dtype, 20)
        dot = (g * y).sum(1, keepdims=True)
        back = _C.kernel("softmax_backward")(g, y.astype(dtype), 1)
        close(back, y * (g - dot), dtype, 20)
        close(_C.kernel("logsumexp")(x, 1), np.log(np.exp(wide).sum(1)), dtype, 20)
        close(_C.kernel("row_dot")(x, g, 1), (x.astype("d") * g).sum(1), dtype, 100)


@pytest.mark.parametrize("dtype", "fd")
@pytest.mark.parametrize("length", LENGTHS)
def test_elements_of_any_number_are_right(level, length, dtype):
    x, g = array(length, dtype=dtype), array(length, dtype=dtype)
    s = 1 / (1 + np.exp(-x.astype("d")))
    close(_C.kernel("silu")(x), x * s, dtype, 10)
    close(_C.kernel("silu_backward")(g, x), g * s * (1 + x * (1 - s)), dtype, 10)
    close(_C.kernel("mse_loss")(x, g, 0.0), (x - g) ** 2, dtype, 20)
    total = _C.kernel("mse_loss_sum")(x, g, 0.0, 0.5)
    expected = ((x - g).astype("d") ** 2).sum() / 2
    close(total, np.asarray(expected), dtype, 200)


@pytest.mark.parametrize("dtype", "fd")
def test_long_sums_keep_their_digits(level, dtype):
    x = np.full(1_000_000, 0.1, dtype)
    total = _C.kernel("l1_loss_sum")(x, np.zeros_like(x), 0.0, 1 / x.size)
    assert abs(float(total) / float(x[0]) - 1) < 64 * np.finfo(dtype).eps
    rows = (x + 3).reshape(2, -1)
    y = _C.kernel("layer_norm")(rows, None, None, 1.0, 1)
    np.testing.assert_allclose(y, 0, atol=2e-5 if dtype == "f" else 1e-12)


def test_any_strides_and_axes_are_right(level):
    x = array(6, 5, 4)
    for view in (
        x,
        x.T,
        x[::-1, ::2],
        np.broadcast_to(x[:1], x.shape),
        x.swapaxes(0, 1),
    ):
        for axis in range(3):
            got = _C.kernel("softmax")(view, axis)
            np.testing.assert_allclose(got, softmax(view, axis), atol=1e-15)
        np.testing.assert_array_equal(
            _C.kernel("gelu")(view), _C.kernel("gelu")(view.copy())
        )


def test_an_operand_is_not_written_into_and_the_result_is_new():
    x = array(4, 5)
    before = x.copy()
    for name, more in (("softmax", (1,)), ("gelu", ()), ("relu", ())):
        y = _C.kernel(name)(x, *more)
        assert not np.shares_memory(x, y)
        np.testing.assert_array_equal(x, before)


def test_other_arrays_get_the_dtype_of_the_first():
    x, w = array(3, 4, dtype="f"), array(4)
    y = _C.kernel("layer_norm")(x, w, None, 1e-5, 1)
    assert y.dtype == np.float32
    expected = _C.kernel("layer_norm")(x, w.astype("f"), None, 1e-5, 1)
    np.testing.assert_array_equal(y, expected)


def test_an_instruction_set_changes_only_the_last_places():
    x = array(1000, dtype="f")
    results = []
    for level in range(3):
        if _C._set_kernel_level(level) == level:
            results.append(_C.kernel("gelu")(x))
    _C._set_kernel_level(-1)
    for other in results[1:]:
        np.testing.assert_allclose(other, results[0], rtol=3e-6, atol=1e-12)


def test_threads_may_call_kernels_at_once():
    x = array(300, 300)
    expected, found = softmax(x, 1), []
    threads = [
        threading.Thread(target=lambda: found.append(_C.kernel("softmax")(x, 1)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    for y in found:
        np.testing.assert_allclose(y, expected, atol=1e-15)


def test_wrong_calls_say_what_is_wrong():
    x = array(3, 4)
    with pytest.raises(KeyError, match="nothing"):
        _C.kernel("nothing")
    with pytest.raises(TypeError, match="softmax takes arrays of float32 or float64"):
        _C.kernel("softmax")(x.astype("l"), 1)
    with pytest.raises(TypeError, match="softmax takes 2 arguments"):
        _C.kernel("softmax")(x)
    with pytest.raises(ValueError, match="gelu_backward takes arrays of one shape"):
        _C.kernel("gelu_backward")(x, x[:2])
    with pytest.raises(ValueError, match="weight or bias has another shape"):
        _C.kernel("layer_norm")(x, array(5), None, 1e-5, 1)
    with pytest.raises(ValueError, match="shapes do not fit"):
        args = (np.zeros(2, int), None, None, 0, 4, -100, 0.0, 1)
        _C.kernel("classes_loss")(x, *args)
    assert repr(_C.kernel("gelu")) == "<kernel gelu>"
