"""Convolutions whose filters look at one channel each are those of columns."""

import numpy as np
import pytest
from samples_training import convolved

from dtensor import _C
from dtensor.nn import functional as F
from dtensor.ops.model import columns

CALLS = 300
TOLERANCE = {"f": 2e-4, "d": 1e-11}


def drawn(rng):
    """The arrays and steps of a convolution that has places."""
    dims = int(rng.integers(1, 4))

    def some(low, high):
        return tuple(map(int, rng.integers(low, high, dims)))

    lengths, kernel = some(1, (40, 14, 8)[dims - 1]), some(1, 6)
    steps = some(1, 5), some(0, 4), some(0, 4), some(1, 4)
    places = columns.places_of(lengths, kernel, steps)
    if min(places) < 1:
        return drawn(rng)
    samples, channels, each = map(int, rng.integers((1, 2, 1), (4, 5, 4)))
    shapes = (
        (samples, channels, *lengths),
        (channels * each, 1, *kernel),
        (channels * each,),
        (samples, channels * each, *places),
    )
    dtype = rng.choice(["f", "d"])
    return [rng.standard_normal(shape).astype(dtype) for shape in shapes], steps


def products(x, w, b, g, steps):
    return (
        columns.convolve(x, w, b, True, steps),
        columns.convolve_input(g, w, x.shape, steps),
        columns.convolve_weight(g, x, w.shape, steps),
    )


def test_products_are_those_of_columns(level, monkeypatch):
    rng = np.random.default_rng(level)
    for _ in range(CALLS):
        arrays, steps = drawn(rng)
        assert columns._is_depthwise(
            arrays[0].shape, arrays[1].shape, arrays[0].dtype, steps
        )
        made = products(*arrays, steps)
        with monkeypatch.context() as patch:
            patch.setattr(columns, "_is_depthwise", lambda *_: False)
            expected = products(*arrays, steps)
        for one, other in zip(made, expected, strict=True):
            assert one.dtype == other.dtype and one.shape == other.shape
            error = TOLERANCE[one.dtype.char]
            np.testing.assert_allclose(one, other, error, error)


@pytest.mark.parametrize("at", [0, 6])
def test_what_is_infinite_stays_with_its_places(level, at):
    x = np.ones((1, 2, 7))
    x[0, 0, at] = np.inf
    out = np.asarray(F.conv1d(x, np.ones((2, 1, 3)), padding=1, groups=2))
    assert np.isinf(out[0, 0]).tolist() == [abs(k - at) < 2 for k in range(7)]
    assert np.isfinite(out[0, 1]).all()
    steps = (1,), (1,), (1,), (1,)
    sums = columns.convolve_weight(np.ones((1, 2, 7)), x, (2, 1, 3), steps)
    expected = [at > 0 or k < 2 for k in range(3)], [at < 6 or k > 0 for k in range(3)]
    wanted = [a and b for a, b in zip(*expected, strict=True)]
    assert np.isinf(sums[0, 0]).tolist() == wanted and np.isfinite(sums[1]).all()


@pytest.mark.parametrize(
    "dtype", ["float16", "float32", "float64", "complex64", "int64"]
)
def test_other_dtypes_are_as_right(dtype):
    x = (np.arange(2 * 3 * 5 * 6) % 7 - 3).reshape(2, 3, 5, 6).astype(dtype)
    w = (np.arange(6 * 4) % 5 - 2).reshape(6, 1, 2, 2).astype(dtype)
    out = np.asarray(F.conv2d(x, w, stride=2, padding=1, groups=3))
    expected = convolved(x, w, stride=2, padding=1, groups=3)
    assert out.dtype == dtype and np.array_equal(out, expected)


def test_arrays_in_any_order_are_read():
    x = np.random.default_rng(0).standard_normal((6, 5, 4, 2)).T
    w = np.random.default_rng(1).standard_normal((2, 3, 1, 4)).T
    out = np.asarray(F.conv2d(x, w, groups=4))
    np.testing.assert_allclose(out, convolved(x, w, groups=4), 1e-12, 1e-12)


def test_padding_that_is_much_longer_than_the_array_is_left_to_columns():
    far = (1 << 40,)
    steps = far, far, far, far
    assert not columns._is_depthwise((1, 2, 4), (2, 1, 3), np.dtype("d"), steps)
    out = np.asarray(
        F.conv1d(np.ones((1, 2, 4)), np.ones((2, 1, 3)), None, *far, far, far, 2)
    )
    assert out.tolist() == [[[1.0], [1.0]]]


WRONG = [
    ("depthwise", [(2, 3, 5), (4, 1, 2), None], 4),
    ("depthwise", [(2, 3, 5), (3, 2, 2), None], 4),
    ("depthwise", [(2, 3, 5), (3, 1, 2), (2,)], 4),
    ("depthwise", [(2, 3, 6), (3, 1, 2), None], 4),
    ("depthwise", [(2, 3, 5), (3, 2), None], 4),
    ("depthwise_weight", [(2, 3, 3), (2, 3, 5)], 4),
    ("depthwise_weight", [(2, 4, 4), (2, 3, 5)], 4),
]


@pytest.mark.parametrize("name, shapes, places", WRONG)
def test_a_kernel_refuses_arrays_that_do_not_go_together(name, shapes, places):
    arrays = [None if shape is None else np.ones(shape) for shape in shapes]
    with pytest.raises(ValueError, match=f"{name}: arrays of other shapes"):
        _C.kernel(name)(*arrays, [(5, 2, places, 1, 0, 1)])


@pytest.mark.parametrize(
    "row",
    [(5, 2, 4, 0, 0, 1), (5, 2, 4, 1, 0, 0), (5, 2, -1, 1, 0, 1), (5, 2, 4, 1, 0)],
)
def test_a_kernel_refuses_steps_that_make_no_sense(row):
    with pytest.raises(ValueError, match="of other dims"):
        _C.kernel("depthwise")(np.ones((2, 3, 5)), np.ones((3, 1, 2)), None, [row])
