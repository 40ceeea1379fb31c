"""Medians and quantiles along cut dims, against NumPy; and what they send."""

import itertools
import warnings

import numpy as np
import pytest
from meshes import line, square
from order_parts import all_in_parts, same, sent_parts, strewn, values
from placed import layouts, placed

from dtensor import DeviceMesh, DTensor, Replicate, Shard, distribute_tensor
from dtensor.ops.reduce.quantile import median

METHODS = [
    "inverted_cdf",
    "averaged_inverted_cdf",
    "closest_observation",
    "interpolated_inverted_cdf",
    "hazen",
    "weibull",
    "linear",
    "median_unbiased",
    "normal_unbiased",
    "lower",
    "higher",
    "midpoint",
    "nearest",
]


@pytest.fixture
def in_parts(monkeypatch):
    """Arrays of any size are treated in parts."""
    all_in_parts(monkeypatch)


@pytest.mark.parametrize("shape", [(2,), (61,)])
def test_quantiles_of_cut_lines_are_numpys_by_every_method(ranks, in_parts, shape):
    def body():
        x, whole = placed(values(shape, "d"), line(), [Shard(0)])
        for method in METHODS:
            for q in (0.3, [0.0, 0.25, 1.0]):
                options = {"method": method}
                same(np.quantile(x, q, **options), np.quantile(whole, q, **options))

    ranks(body)


@pytest.mark.parametrize("dtype", [*"dfegFDlbBQ"])
def test_medians_and_quantiles_are_numpys_for_every_dtype(ranks, in_parts, dtype):
    def body():
        plain = values((40,), dtype)
        arrays = [plain]
        if plain.dtype.kind in "fc":
            arrays += [strewn(plain, np.nan), strewn(plain, 0, -0.0, np.inf, -np.inf)]
        for array in arrays:
            x, whole = placed(array, line(), [Shard(0)])
            same(np.median(x), np.median(whole))
            same(np.nanmedian(x), np.nanmedian(whole))
            if plain.dtype.kind == "c":
                with pytest.raises(TypeError):
                    np.quantile(x, 0.5)
                continue
            for fn in (np.quantile, np.nanquantile):
                same(fn(x, 0.31), fn(whole, 0.31))
                same(fn(x, [0.5, 0.9]), fn(whole, [0.5, 0.9]))
            same(np.nanpercentile(x, 31), np.nanpercentile(whole, 31))

    ranks(body)


@pytest.mark.parametrize(
    ("shape", "axes"), [((5, 7), (None, 0)), ((2, 3, 4), ((0, -1),))]
)
def test_quantiles_are_numpys_in_every_layout(ranks, in_parts, shape, axes):
    def body():
        mesh = square()
        for placements in layouts(len(shape), mesh.ndim):
            x, whole = placed(strewn(values(shape, "d"), np.nan), mesh, placements)
            for axis in axes:
                options = {"axis": axis, "keepdims": axis is None}
                same(np.median(x, **options), np.median(whole, **options))
                options["q"] = [0.2, 0.9]
                same(np.nanquantile(x, **options), np.nanquantile(whole, **options))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ranks(body)


def test_lines_of_nan_warn_as_numpys_do(ranks, in_parts):
    def body():
        x, _ = placed(np.full(9, np.nan), line(), [Shard(0)])
        same(np.nanmedian(x), np.array(np.nan))
        with pytest.raises(ValueError, match="range"):
            np.quantile(x, 1.5)

    with pytest.warns(RuntimeWarning, match="All-NaN|Mean of empty"):
        ranks(body)


def test_medians_are_written_to_out_and_known_outside_the_mesh(ranks, in_parts):
    def body():
        x, whole = placed(values((30,), "d"), line(), [Shard(0)])
        out = DTensor.from_local(np.zeros(()), x.device_mesh)
        assert np.median(x, out=out) is out and np.quantile(x, 0.3, None, out) is out
        same(out, np.quantile(whole, 0.3))
        same(median(x, dim=0, keepdim=True), np.median(whole, keepdims=True))
        first = DeviceMesh("cpu", list(range((x.device_mesh.size() + 1) // 2)))
        y = distribute_tensor(whole, first, [Shard(0)])
        same(np.median(np.repeat(y, 2)), np.median(whole))

    ranks(body)


def test_gradients_of_quantiles_are_those_of_whole_ones(ranks, in_parts):
    def body():
        mesh = square()
        array = np.random.default_rng(3).permutation(60).reshape(6, 10) / 4
        for axis, q in ((None, 0.3), (0, [0.2, 0.5]), ((0, 1), 0.5)):
            grads = []
            for placement in (Replicate(), Shard(0), Shard(1)):
                x, _ = placed(array, mesh, [placement] * mesh.ndim)
                x.requires_grad_()
                y = np.quantile(x, q, axis=axis, keepdims=True)
                (np.sum(y * y) + np.sum(np.median(x, axis=axis))).backward()
                grads.append(np.asarray(x.grad.full_tensor()))
            assert np.allclose(grads[0], grads[1]) and np.allclose(grads[0], grads[2])

    ranks(body)


def test_a_median_sends_a_twentieth_of_a_part(ranks):
    def body():
        array = np.random.default_rng(0).normal(size=1_000_000)
        x, whole = placed(array, line(), [Shard(0)])
        assert sent_parts(np.median, x) <= 0.05
        assert np.median(x).item() == np.median(whole)
        assert sent_parts(lambda x: np.percentile(x, 99), x) <= 0.05

    ranks(body)


@pytest.mark.parametrize("function", [np.nanquantile, np.nanpercentile])
def test_lines_of_nan_alone_have_the_dtype_of_numpy(ranks, function):
    """It depends on the values; what NumPy gives for empty arrays has no levels."""

    def body():
        for dtype, levels in itertools.product(("f2", "f4"), ([0.3], [0.3, 0.4])):
            q = np.array(levels)
            for shape, axis in [((5,), 0), ((4, 3), 1), ((4, 3), 0), ((4, 3), None)]:
                whole = np.full(shape, np.nan, dtype)
                x = distribute_tensor(whole, line(), [Shard(0)], src_data_rank=None)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", RuntimeWarning)
                    got, want = function(x, q, axis=axis), function(whole, q, axis=axis)
                assert (got.dtype, got.shape) == (want.dtype, want.shape)
                assert np.isnan(np.asarray(got.full_tensor())).all()
            for shape, axis in [((0,), 0), ((4, 0), 1), ((0, 4), 1)]:
                whole = np.empty(shape, dtype)
                x = distribute_tensor(whole, line(), [Shard(0)], src_data_rank=None)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", RuntimeWarning)
                    got, want = function(x, q, axis=axis), function(whole, q, axis=axis)
                assert (got.dtype, got.shape) == (want.dtype, want.shape)

    ranks(body)


@pytest.mark.parametrize("dtype", ["f2", "f4"])
def test_the_dtype_of_quantiles_of_nan_is_numpys(ranks, in_parts, dtype):
    """Of levels without dims."""

    def body():
        functions = [np.quantile, np.percentile, np.nanquantile, np.nanpercentile]
        for missing in ([], [7], range(40)):
            array = values((40,), dtype)
            array[list(missing)] = np.nan
            x, whole = placed(array, line(), [Shard(0)])
            for function, q in itertools.product(
                functions, [np.asarray(0.3), np.float64(0.3), np.float32(0.3), 0.3]
            ):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", RuntimeWarning)
                    got, want = function(x, q), function(whole, q)
                assert got.dtype == want.dtype
                assert np.isnan(got.item()) == np.isnan(want)

    ranks(body)


WEIGHTED = {"method": "inverted_cdf"}


@pytest.mark.parametrize("dtype", [*"dflB"])
def test_weighted_quantiles_are_numpys(ranks, in_parts, dtype):
    def body():
        rng = np.random.default_rng(1)
        for k, length in enumerate((1, 2, 61, 300)):
            array = values((length,), dtype)
            given = rng.integers(0, 4, length) + (np.arange(length) == length // 2)
            for weights in (given, given / 4, np.ones(length, "f")):
                x, whole = placed(array, line(), [Shard(0)])
                for q in (0.3, 0, [0.0, 0.25, 1.0], [[0.5], [1.0]]):
                    options = WEIGHTED | {"keepdims": k % 2 == 0}
                    want = np.quantile(whole, q, weights=weights, **options)
                    known = [distribute_tensor(weights, line(), [Shard(0)])]
                    if length == 61:
                        known += [weights, weights.tolist()]
                    for w in known:
                        same(np.quantile(x, q, weights=w, **options), want)
                        many = np.multiply(q, 100)
                        same(
                            np.nanpercentile(x, many, weights=w, **options),
                            np.nanpercentile(whole, many, weights=weights, **options),
                        )

    ranks(body)


def test_weighted_quantiles_along_axes_of_many_lines_and_of_nan(ranks, in_parts):
    def body():
        rng = np.random.default_rng(2)
        mesh = square()
        for k, placements in enumerate(layouts(2, mesh.ndim)):
            array = np.round(rng.normal(size=(31, 5)), 1)
            if k % 2:
                array = strewn(array, np.nan)
            x, whole = placed(array, mesh, placements)
            for axis, shape in ((0, (31,)), (0, (31, 5)), (None, (31, 5))):
                weights = rng.integers(1, 5, shape)
                options = WEIGHTED | {"axis": axis, "weights": weights}
                for q in (0.4, [0.1, 0.9]):
                    same(np.quantile(x, q, **options), np.quantile(whole, q, **options))
                    if axis is None:  # of others NumPy 2.3 fails
                        same(
                            np.nanquantile(x, q, **options),
                            np.nanquantile(whole, q, **options),
                        )

    ranks(body)


def test_weighted_quantiles_send_little(ranks):
    def body():
        length = 400_000
        x = distribute_tensor(
            np.random.default_rng(0).normal(size=length), line(), [Shard(0)]
        )
        w = distribute_tensor(np.arange(1.0, 1 + length), line(), [Shard(0)])

        def both(x):
            return np.quantile(x, [0.3, 0.5], weights=w, **WEIGHTED)

        assert sent_parts(both, x) < 0.25
        x.requires_grad_()
        with pytest.raises(NotImplementedError, match="weights"):
            both(x).sum().backward()

    ranks(body)


def test_bad_weights_are_numpys_errors(ranks, in_parts):
    def body():
        x, whole = placed(np.arange(40.0).reshape(20, 2), line(), [Shard(0)])
        for options, error in (
            ({"weights": -np.ones((20, 2))}, ValueError),
            ({"weights": np.zeros((20, 2))}, ValueError),
            ({"weights": np.full((20, 2), np.nan)}, ValueError),
            ({"weights": np.ones(20)}, TypeError),
            ({"weights": np.ones(3), "axis": 0}, ValueError),
            ({"weights": np.ones((20, 2)), "method": "linear"}, ValueError),
        ):
            options = WEIGHTED | options
            with pytest.raises(error), np.errstate(all="ignore"):
                np.quantile(whole, 0.5, **options)
            with pytest.raises(error):
                np.quantile(x, 0.5, **options)

    ranks(body)
