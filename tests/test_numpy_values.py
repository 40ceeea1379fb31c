"""Infinite and NaN elements, and NumPy's scalars as arguments: NumPy's values and types
in every layout."""

import itertools

import numpy as np
import pytest
from meshes import line, square
from placed import cut_unevenly, layouts, placed

from dtensor import DTensor, Tensor

INF, NAN = np.inf, np.nan


def alike(got, want):
    """Compare types, shapes and values; NaN is equal to NaN."""
    if isinstance(want, tuple | list):
        assert len(got) == len(want)
        return all(itertools.starmap(alike, zip(got, want, strict=True)))
    assert isinstance(got, Tensor)
    got = np.asarray(got.full_tensor() if isinstance(got, DTensor) else got)
    want = np.asarray(want)
    if want.dtype.kind == "c":
        parts = [(got.real, want.real), (got.imag, want.imag)]
    else:
        parts = [(got, want)]
    limit = 1e-3 if want.dtype == np.float16 else 1e-6
    close = all(np.allclose(a, b, limit, limit, equal_nan=True) for a, b in parts)
    return got.dtype == want.dtype and got.shape == want.shape and close


@np.errstate(all="ignore")
def check(call, array):
    """Compare with NumPy in all layouts: results, or the type of the exception."""
    for mesh in (line(), square()):
        pairs = [(x, array) for x in cut_unevenly(array, mesh)] if array.ndim else []
        for placements in layouts(array.ndim, mesh.ndim):
            pairs.append(placed(array, mesh, placements))
        for x, whole in pairs:
            try:
                want = call(np.asarray(whole))
            except Exception as error:
                with pytest.raises(type(error)):
                    call(x)
                continue
            got = call(x)
            assert alike(got, want), f"{x.layout}: {got}, {want}"


def check_all(ranks, calls, arrays):
    def body():
        for call, array in itertools.product(calls, arrays):
            check(call, array)

    ranks(body)


pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

# --- norms ----------------------------------------------------------------------------

COMPLEX = [
    np.array([complex(INF, 0), 1, 2, 1j, 3]),
    np.array([[1, complex(0, -INF)], [2, 1j], [3, 4]], "F"),
    np.array([complex(INF, NAN), 1]),
    np.array([[complex(1, 2), 3, 4j]] * 3),
]


def test_norms_of_infinite_complex_numbers_are_infinite(ranks):
    norms = [
        np.linalg.norm,
        lambda x: np.linalg.norm(x, keepdims=True),
        lambda x: np.linalg.norm(x, axis=0),
        lambda x: np.linalg.norm(x, "fro", (0, 1)),
        np.linalg.vector_norm,
        np.linalg.matrix_norm,
    ]
    check_all(ranks, norms, COMPLEX)


# --- initial values -------------------------------------------------------------------

HOLES = [
    np.array([1.0, NAN, -3, 2, NAN]),
    np.array([[NAN, 1], [NAN, NAN], [3, -INF]], "f"),
    np.array([[NAN, 1], [NAN, NAN], [3, 2j]], "F"),
    np.array([[NAN, NAN]], "e"),
    np.array([3, 1, 2]),
]
INITIAL = [NAN, np.float64(NAN), np.array(NAN, "f"), 1.5, -9, complex(NAN, 0), None]


@pytest.mark.parametrize("function", [np.nanmax, np.nanmin])
@pytest.mark.parametrize("initial", INITIAL, ids=repr)
def test_an_initial_nan_is_ignored(ranks, initial, function):
    calls = [
        lambda x: function(x, initial=initial),
        lambda x: function(x, axis=0, initial=initial),
        lambda x: function(x, axis=-1, initial=initial, keepdims=True),
        lambda x: (
            function(x, axis=0, initial=initial, where=np.arange(x.shape[-1]) > 0)
            if x.ndim == 2
            else function(x, initial=initial, where=np.arange(len(x)) > 1)
        ),
    ]
    check_all(ranks, calls, HOLES)


@pytest.mark.parametrize("initial", [[[2]], [1.5], [0], [1, 2], []], ids=repr)
def test_an_initial_bool_is_an_array_of_one_element(ranks, initial):
    calls = [
        lambda x: np.max(x, initial=np.array(initial)),
        lambda x: np.max(x, initial=np.array(initial), where=x > 0),
        lambda x: np.nanmin(x, axis=0, initial=np.array(initial)),
        lambda x: np.logical_or.reduce(x, initial=np.array(initial, "e")),
        lambda x: np.logical_and.reduce(x, axis=-1, initial=np.array(initial)),
    ]
    check_all(ranks, calls, [np.array([[False, True], [True, False]] * 3)])


# --- degrees of freedom ---------------------------------------------------------------

SPREADS = [np.var, np.std, np.nanvar, np.nanstd]
DDOF = [np.float16(0.1), np.float32(1.1), np.float64(1.1), 1.1, np.uint8(7), 2, True]
DDOF += [
    np.array(7, "Q"),
    np.array(0.1, "e"),
    np.array([7], "B"),
    np.array([1, 2]),
    [1],
]
TIMES = [
    np.array([3.0, 7, 1, 8]),
    np.array([[3, 7, 1], [8, NAN, 9], [1, 1, 0]], "f"),
    np.array([3, 7, 1, 8, 2]),
]


@pytest.mark.parametrize("ddof", DDOF, ids=repr)
def test_degrees_of_freedom_are_counted_in_the_dtype_of_numpy(ranks, ddof):
    calls = []
    for function in SPREADS:
        calls += [
            lambda x, function=function: function(x, ddof=ddof),
            lambda x, function=function: function(x, axis=0, ddof=ddof, keepdims=True),
            lambda x, function=function: function(x, axis=-1, ddof=ddof, where=x > 1),
        ]
    check_all(ranks, calls, TIMES)


# --- quantiles ------------------------------------------------------------------------

QUANTILES = [np.quantile, np.nanquantile, np.nanpercentile]
LEVELS = [np.float64(0.3), np.array(0.3, "f"), np.array([0.3]), [0.3, 0.5], 0.3]
LINES = [
    np.array([1, 2, NAN, 3], "f"),
    np.array([1, 2, 3], "e"),
    np.array([NAN] * 3, "f"),
    np.array([[NAN, 1], [NAN, 4]], "f"),
    np.array([[1, NAN], [2, NAN]], "e"),
    np.array([INF, -INF], "f"),
]


@pytest.mark.parametrize("q", LEVELS, ids=repr)
@pytest.mark.parametrize("method", ["linear", "lower", "weibull"])
def test_a_quantile_that_is_nan_has_the_dtype_of_numpy(ranks, q, method):
    calls = []
    for function in QUANTILES:
        calls += [
            lambda x, function=function: function(x, q, method=method),
            lambda x, function=function: function(x, q, 0, None, False, method, True),
        ]
    check_all(ranks, calls, LINES)


# --- periods, and views of no dtype ---------------------------------------------------


@pytest.mark.parametrize(
    "period",
    [np.array(5), np.array(5.0), np.array([5], "f"), np.float16(5), 5],
    ids=repr,
)
def test_the_dtype_of_a_period_counts_in_all_layouts(ranks, period):
    calls = [
        lambda x: np.unwrap(x, axis=0, period=period),
        lambda x: np.unwrap(x, np.array(2.0), period=period),
    ]
    check_all(ranks, calls, [np.array([1, 2, 9, 3], code) for code in "efi"])


def test_a_view_of_no_dtype_is_one_of_float64(ranks):
    calls = [lambda x: x.view(None), lambda x: x.view(dtype=None), lambda x: x.view()]
    arrays = [np.arange(6).astype(code).reshape(3, 2) for code in "fdFDiqh"]
    check_all(ranks, calls, [*arrays, np.array([1j, 2, 3])])


# --- products with a number -----------------------------------------------------------


def test_a_product_of_float16_with_the_number_0_is_that_of_numpy(ranks):
    zero = np.float16(0)
    calls = [
        lambda x: np.dot(x, zero),
        lambda x: np.inner(zero, x),
        lambda x: np.tensordot(x, zero, 0),
    ]
    arrays = [np.array([[INF, 1], [1, NAN], [1, 1]], "e"), np.array([INF, 1, 2], "e")]
    check_all(ranks, calls, arrays)


# --- replacements, and axes -----------------------------------------------------------

REPLACED = [np.array([[2]]), [2], np.array([[[1.5]]]), np.array([1, 2]), 2, [[1, 2, 3]]]


@pytest.mark.parametrize("value", REPLACED, ids=repr)
def test_a_replacement_is_copied_into_the_array(ranks, value):
    calls = [
        lambda x: np.nan_to_num(x, nan=value),
        lambda x: np.nan_to_num(x, posinf=value, neginf=value),
    ]
    arrays = [np.array([1, NAN, INF, -INF]), np.array([[1, NAN], [-INF, 2]], "f")]
    check_all(ranks, calls, [*arrays, np.array([3, 4])])


REDUCING = [np.sum, np.max, np.mean, np.var, np.any, np.argmax, np.nanmin, np.nanstd]
REDUCING += [np.ptp, np.cumsum, np.average, np.add.reduce, np.hypot.accumulate]


@pytest.mark.parametrize("axis", [True, False, (True,), (0, False), [0], [0, 1]])
def test_bools_and_lists_are_axes_where_numpy_says_so(ranks, axis):
    calls = [lambda x, call=call: call(x, axis=axis) for call in REDUCING]
    check_all(ranks, calls, [np.arange(6.0).reshape(3, 2)])
