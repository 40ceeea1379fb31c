"""Casts between float32 and floats of 16 bits are NumPy's, with their warnings."""

import warnings

import ml_dtypes
import numpy as np
import pytest

import dtensor
from dtensor import _C

HALVES = [np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)]
RNG = np.random.default_rng(0)
NUMBERS = {
    "all kinds": np.arange(2**32, step=99991, dtype=np.uint64).astype("I").view("f"),
    "normal": RNG.standard_normal(10001).astype("f"),
    "small": (RNG.standard_normal(999) * 1e-7).astype("f"),
    "none": np.zeros(0, "f"),
    "one": np.array(3, "f"),
    "transposed": RNG.standard_normal((4, 5, 6)).astype("f").transpose(2, 0, 1),
    "in pieces": RNG.standard_normal((40, 6)).astype("f")[::2, ::3],
}


def outcome(cast):
    """The result's bytes and order in memory, or the error; and what was warned of."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            x = np.asarray(cast())
            found = x.tobytes(), x.dtype, x.shape, x.strides
        except FloatingPointError as error:
            found = str(error)
    return found, [str(one.message) for one in told]


@pytest.mark.parametrize("mode", ["ignore", "warn", "raise"])
@pytest.mark.parametrize("half", HALVES, ids=str)
@pytest.mark.parametrize("name", NUMBERS)
def test_rounding_is_numpys(level, name, half, mode):
    x = NUMBERS[name]
    with np.errstate(all=mode):
        expected = outcome(lambda: x.astype(half))
        assert outcome(lambda: _C.cast(x, half)) == expected
        tensor = dtensor.tensor(np.ascontiguousarray(x))
        expected = outcome(lambda: tensor.numpy().astype(half))
        assert outcome(lambda: tensor.astype(half)) == expected


@pytest.mark.parametrize("half", HALVES, ids=str)
def test_widening_is_exact(level, half):
    x = np.arange(2**16, dtype=np.uint16).view(half).reshape(256, 256)
    for array in (x, x.T, x[::3, ::2], x[:0]):
        wide, expected = _C.cast(array, np.dtype("f")), array.astype("f")
        assert wide.dtype == "f" and wide.strides == expected.strides
        np.testing.assert_array_equal(wide, expected)


def test_other_casts_are_numpys():
    for x in (np.arange(3), np.array([1.5 + 2j]), np.float32(2.5), np.ones(2, ">f4")):
        for dtype in (np.dtype(np.float16), np.dtype("f"), np.dtype("d")):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
                assert _C.cast(x, dtype).tobytes() == x.astype(dtype).tobytes()
    with pytest.raises(TypeError):
        _C.cast(np.ones(2, "f"), "float16")
