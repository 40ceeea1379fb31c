"""Arithmetic of float16 is NumPy's: the numbers, and what is said of them."""

import warnings

import ml_dtypes  # noqa: F401  # so that NumPy knows bfloat16 by name
import numpy as np
import pytest
from meshes import line

import dtensor
from dtensor import _C, Shard, distribute_tensor

ALL = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
ONE = [np.square, np.reciprocal, np.sqrt, np.negative, np.absolute]
TWO = [
    *(np.add, np.subtract, np.multiply, np.divide, np.maximum, np.minimum),
    *(np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal),
]
NUMBERS = [2.5, 0.1, 3, 1e-9, 70000.0, float("inf")]
MODES = [
    {"all": "ignore"},
    {"all": "warn"},
    {"all": "raise"},
    {"all": "warn", "under": "ignore"},
]


def numbers(seed, size):
    return np.random.default_rng(seed).permutation(ALL)[:size]


def calls(size):
    a, b, c = (numbers(seed, size) for seed in range(3))
    column, row = a[:30].reshape(-1, 1), b[:300]
    for f in ONE:
        yield f, (a,)
        yield f, (a[::2],)
    for f in TWO:
        yield from ((f, xs) for xs in ((a, b), (a[:1], b), (column, row), (a, b[::-1])))
        yield from ((f, (a, number)) for number in NUMBERS)
        yield f, (0.3, b)
    yield from ((np.clip, xs) for xs in ((a, b, c), (a, -1.0, 2.0), (column, row, 1)))


def outcome(f, xs):
    """The bits, where all NaN are alike, and what is said: warnings or an exception."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            found = np.asarray(f(*xs))
        except FloatingPointError as error:
            return str(error)
    kept = np.where(np.isnan(found), np.float16("nan"), found) if f in TWO else found
    return (
        found.dtype,
        found.shape,
        np.where(np.isnan(found), 0, 1).tobytes(),
        np.where(np.isnan(kept), 0, kept).astype(found.dtype).tobytes(),
        np.signbit(np.where(np.isnan(found), 0, found)).tobytes(),
        sorted(str(each.message) for each in said),
    )


@pytest.mark.parametrize("size", [1, 100, 5000, 1 << 16])
@pytest.mark.parametrize("mode", MODES, ids=[str(k) for k in range(len(MODES))])
def test_bits_and_warnings_are_those_of_numpy(mode, size, level, threads):
    threads(1 + level % 2)
    with np.errstate(**mode):
        for f, xs in calls(size):
            tensors = [
                dtensor.tensor(x) if isinstance(x, np.ndarray) else x for x in xs
            ]
            wanted = outcome(f, xs)
            for _ in range(3):  # the loop is kept after the second call
                assert outcome(f, tensors) == wanted, (f, [np.shape(x) for x in xs])


def test_the_loops_are_called():
    x, y = (dtensor.tensor(numbers(seed, 5000)) for seed in range(2))
    for f in TWO:
        f(x, y), f(x, y)
        before = _C.shortcut_count()
        f(x, y)
        assert _C.shortcut_count() == before + 1


def test_results_in_place_and_of_what_overlaps(threads):
    threads(1)
    a = np.linspace(-3, 3, 20000).astype(np.float16)
    for f in TWO[:6]:
        for shift in (0, 1):
            x, y = dtensor.tensor(a.copy()), a.copy()
            end = len(a) - shift
            for _ in range(4):
                f(x[shift:], x[:end], out=x[shift:])
                f(y[shift:], y[:end], out=y[shift:])
            np.testing.assert_array_equal(np.asarray(x), y)


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_extremes_and_means_of_halves(name):
    dtype = np.dtype(name)
    a = np.random.default_rng(5).standard_normal((40, 300)).astype(dtype)
    x = dtensor.tensor(a)
    for f in (np.max, np.min):
        for axis in (None, 0, 1):
            wanted = f(a.astype(np.float32), axis).astype(dtype)
            assert f(x, axis).dtype == dtype
            np.testing.assert_array_equal(np.asarray(f(x, axis)), wanted)
    for axis in (None, 0, 1):
        wanted = np.mean(a.astype(np.float32), axis).astype(dtype)
        np.testing.assert_allclose(
            np.asarray(np.mean(x, axis)).astype(float), wanted.astype(float), 1e-2, 1e-3
        )


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_an_initial_value_is_rounded_before_it_is_added(ranks, name):
    def body():
        a = np.array([[1, 2], [0, 3], [2, 0], [-1, 1]]).astype(name)
        x = distribute_tensor(a, line(), [Shard(0)])
        for function in (np.sum, np.prod, np.add.reduce, np.multiply.reduce):
            for initial in (np.float32(3e38), 1e39, -1e39, 3, True):
                found = function(x, axis=0, initial=initial).full_tensor()
                first = np.asarray(initial).astype(name)[()]
                wanted = function(a, axis=0, initial=first)
                assert found.dtype == wanted.dtype
                assert np.array_equal(found, wanted, equal_nan=True)

    ranks(body)


ALIKE = {
    "rows": lambda x: x,
    "columns": lambda x: x.T.copy().T,
    "steps": lambda x: np.repeat(x, 2, 1)[:, ::2],
    "reversed": lambda x: x[::-1].copy()[::-1],
    "nothing": lambda x: x[:0],
    "one": lambda x: x[0, :1],
}


@pytest.mark.parametrize("view", ALIKE)
@pytest.mark.parametrize("f", [*ONE[:3], *TWO[:4]], ids=lambda f: f.__name__)
def test_arithmetic_of_bfloat16_is_that_of_float32_rounded(f, view, level):
    """As are the warnings. What lies otherwise than its neighbour is, too."""
    rng = np.random.default_rng(7)
    bits = rng.permutation(1 << 16).astype(np.uint16).reshape(64, 1024)
    with np.errstate(all="ignore"):
        every = [x.view(ml_dtypes.bfloat16) for x in (bits, bits[::-1, ::-1].copy())]
    normal = [(x.astype(np.float32) % 7 + 1).astype(ml_dtypes.bfloat16) for x in every]
    plain = [np.nan_to_num(x.astype(np.float32), nan=2).astype(x.dtype) for x in normal]
    for xs in (every, plain):
        taken = [ALIKE[view](x) for x in xs][: f.nin]
        for other in (view, "columns") if view in ("rows", "steps") else (view,):
            arrays = [*taken[:-1], ALIKE[other](xs[f.nin - 1])]
            wide = [x.astype(np.float32) for x in arrays]
            tensors = [dtensor.tensor(x) for x in arrays]
            said, found = [], []
            for function_of in (wide, tensors):
                with warnings.catch_warnings(record=True) as heard:
                    warnings.simplefilter("always")
                    found.append(np.asarray(f(*function_of)))
                said.append(sorted({str(each.message) for each in heard}))
            wanted = found[0].astype(ml_dtypes.bfloat16).astype(np.float32)
            assert found[1].dtype == ml_dtypes.bfloat16
            np.testing.assert_array_equal(found[1].astype(np.float32), wanted)
            assert said[0] == said[1]
