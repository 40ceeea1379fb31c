"""Sums of all elements that threads share: NumPy's bits, and its warnings."""

import numpy as np
import pytest
from threads import SEED, bits

import dtensor
from dtensor import _C


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_sums_and_means_have_numpys_bits(threads, dtype):
    rng, before = np.random.default_rng(SEED), _C.shortcut_count()
    calls = 0
    for shape in [(131_072,), (131_073,), (1_000_003,), (37, 7, 1009), (70_001, 3)]:
        scale = 10.0 ** rng.integers(-4, 5, shape)
        a = (rng.standard_normal(shape) * scale).astype(dtype)
        for function in (np.sum, np.mean):
            for keepdims in (False, True):
                expected = bits(function(a, keepdims=keepdims))
                for count in (2, 3):
                    threads(count)
                    got = function(dtensor.tensor(a), keepdims=keepdims)
                    assert bits(got) == expected
                    calls += 1
    assert _C.shortcut_count() == before + calls


def test_sums_warn_as_numpys(threads):
    threads(2)
    a = np.full(200_000, 1e308)
    x = dtensor.tensor(a)
    with pytest.warns(RuntimeWarning, match="overflow encountered in reduce"):
        assert np.sum(x) == np.inf
    with np.errstate(all="raise"), pytest.raises(FloatingPointError, match="reduce"):
        np.mean(x)
