"""`linspace`, `logspace` and `geomspace` between arrays that are cut, against NumPy."""

import itertools

import numpy as np
import pytest
from meshes import line, square
from order_parts import same, sent_parts
from placed import layouts, placed

from dtensor import Shard

FUNCTIONS = [np.linspace, np.logspace, np.geomspace]


def close(got, want):
    """The same, but for the last bits of powers: NumPy's depend on the length."""
    got, want = np.asarray(got.full_tensor()), np.asarray(want)
    assert got.dtype == want.dtype and got.shape == want.shape
    np.testing.assert_allclose(got, want, 1e-13 if want.dtype.char in "dD" else 1e-5)


ALIKE = {np.linspace: same, np.logspace: close, np.geomspace: close}


def between(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    first, last = rng.integers(1, 5, (2, *shape)) / (1 if dtype == "l" else 2)
    return first.astype(dtype), last.astype(dtype)  # some are equal


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("dtype", [*"dfFl"])
def test_they_are_numpys_for_every_dtype(ranks, function, dtype):
    def body():
        for n, num in itertools.product((1, 23), (0, 1, 7)):
            first, last = between((n,), dtype, n)
            one, first = placed(first, line(), [Shard(0)])
            two, last = placed(last, line(), [Shard(0)])
            for options in ({}, {"endpoint": False}, {"axis": -1}, {"dtype": "f"}):
                options = {"num": num, **options}
                if dtype == "F" and options.get("dtype"):
                    continue
                alike = ALIKE[function]
                alike(function(one, two, **options), function(first, last, **options))
                alike(function(one, last, **options), function(first, last, **options))
                alike(function(2, two, **options), function(2, last, **options))
                alike(function(one, 3.5, **options), function(first, 3.5, **options))

    ranks(body)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_they_are_numpys_in_every_layout(ranks, function):
    def body():
        mesh = square()
        pairs = itertools.product(layouts(2, mesh.ndim), layouts(1, mesh.ndim))
        for k, (how, other) in enumerate(pairs):
            one, first = placed(between((5, 7), "d", k)[0], mesh, how)
            two, last = placed(between((7,), "d", k)[1], mesh, other)
            axis, alike = (0, 1, 2, -1)[k % 4], ALIKE[function]
            alike(function(one, two, 3, axis=axis), function(first, last, 3, axis=axis))
            two, last = placed(between((5, 7), "d", k)[1], mesh, how[::-1])
            alike(function(one, two, 3, axis=axis), function(first, last, 3, axis=axis))

    ranks(body)


def test_nothing_is_sent_and_steps_are_cut_too(ranks):
    def body():
        first, last = np.random.default_rng(1).random((2, 20_000)) + 1
        one, two = (placed(each, line(), [Shard(0)])[0] for each in (first, last))
        for function in FUNCTIONS:
            y = function(one, two, 4)
            ALIKE[function](y, function(first, last, 4))
            assert y.placements == (Shard(1),) or y.device_mesh.size() == 1
            assert sent_parts(lambda x, f=function: f(x, two, 4), one) < 0.01
        for got, want in zip(
            np.linspace(one, two, 4, retstep=True),
            np.linspace(first, last, 4, retstep=True),
            strict=True,
        ):
            same(got, want)

    ranks(body)


def test_what_numpy_refuses_all_ranks_refuse(ranks):
    def body():
        x, _ = placed(np.arange(9.0), line(), [Shard(0)])
        with pytest.raises(ValueError, match="cannot include zero"):
            np.geomspace(x, x + 1)
        for bad in ((x, x, -1), (x, np.ones(4)), (x, x, 2, True, False, None, 3)):
            with pytest.raises(ValueError):
                np.linspace(*bad)

    ranks(body)
