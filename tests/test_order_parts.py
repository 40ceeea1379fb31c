"""Sorting and order statistics along cut dims, against NumPy; and what they send."""

import itertools
import warnings
from collections.abc import Iterator

import numpy as np
import pytest
from meshes import line, square

from dtensor import (
    DeviceMesh,
    DTensor,
    Partial,
    Placement,
    Replicate,
    Shard,
    autograd,
    distribute_tensor,
)
from dtensor.debug import CommDebugMode
from dtensor.ops.order import sort_parts
from dtensor.ops.reduce import selection
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
def all_long(monkeypatch):
    """Lines of any length are selected from; rounds have few samples."""
    monkeypatch.setattr(selection, "LEAST_LENGTH", 0)
    monkeypatch.setattr(selection, "SAMPLES", 16)


def values(shape: tuple[int, ...], dtype: str, seed: int = 0) -> np.ndarray:
    """Numbers with ties, and in floats NaN, infinities and zeros of both signs."""
    rng = np.random.default_rng([seed, *shape])
    found = rng.integers(-9, 10, shape) / 2
    if np.dtype(dtype).kind == "c":
        return (found + 1j * rng.integers(-1, 2, shape)).astype(dtype)
    return np.abs(found).astype(dtype) if dtype in "?BHIL" else found.astype(dtype)


def strewn(array: np.ndarray, *numbers: float) -> np.ndarray:
    """The array with numbers in some places."""
    array = array.copy()
    for k, number in enumerate(numbers):
        array.flat[k :: 7 + 2 * k] = number
    return array


def placed(
    array: np.ndarray, mesh: DeviceMesh, placements: list[Placement]
) -> tuple[DTensor, np.ndarray]:
    """A tensor whose local arrays are cut from one, and its whole."""
    whole = [p if isinstance(p, Shard) else Replicate() for p in placements]
    part = DTensor.from_local(array, mesh, [Replicate()] * mesh.ndim)
    part = part.redistribute(placements=whole).to_local()
    x = DTensor.from_local(np.asarray(part), mesh, placements, shape=array.shape)
    return x, np.asarray(x.full_tensor())


def layouts(ndim: int, count: int) -> Iterator[list[Placement]]:
    kinds = [Replicate(), Partial(), *map(Shard, range(ndim))]
    return map(list, itertools.product(kinds, repeat=count))


def same(got: DTensor, want: np.ndarray) -> None:
    """The same bits, but for those of zeros and NaN."""
    if got.device_mesh.get_coordinate() is None:
        return
    got, want = np.asarray(got.full_tensor()), np.asarray(want)
    assert got.dtype == want.dtype and got.shape == want.shape
    assert np.array_equal(got, want, equal_nan=want.dtype.kind in "fc"), (got, want)


# --- medians and quantiles ------------------------------------------------------------


@pytest.mark.parametrize("shape", [(2,), (61,)])
def test_quantiles_of_cut_lines_are_numpys_by_every_method(ranks, all_long, shape):
    def body():
        x, whole = placed(values(shape, "d"), line(), [Shard(0)])
        for method in METHODS:
            for q in (0.3, [0.0, 0.25, 1.0], np.float32(0.7)):
                options = {"method": method}
                same(np.quantile(x, q, **options), np.quantile(whole, q, **options))

    ranks(body)


@pytest.mark.parametrize("dtype", [*"dfegFDlbBQ"])
def test_medians_and_quantiles_are_numpys_for_every_dtype(ranks, all_long, dtype):
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
def test_quantiles_are_numpys_in_every_layout(ranks, all_long, shape, axes):
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


def test_lines_of_nan_warn_as_numpys_do(ranks, all_long):
    def body():
        x, _ = placed(np.full(9, np.nan), line(), [Shard(0)])
        same(np.nanmedian(x), np.array(np.nan))
        with pytest.raises(ValueError, match="range"):
            np.quantile(x, 1.5)

    with pytest.warns(RuntimeWarning, match="All-NaN|Mean of empty"):
        ranks(body)


def test_medians_are_written_to_out_and_known_outside_the_mesh(ranks, all_long):
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


def test_gradients_of_quantiles_are_those_of_whole_ones(ranks, all_long):
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


def sent_parts(fn, x: DTensor) -> float:
    """What this rank sends, in parts of the operand."""
    with CommDebugMode() as comm:
        fn(x)
    part = x.dtype.itemsize * x.size / x.device_mesh.size()
    return sum(comm.get_comm_bytes().values()) / part


def test_a_median_sends_a_twentieth_of_a_part(ranks):
    def body():
        array = np.random.default_rng(0).normal(size=1_000_000)
        x, whole = placed(array, line(), [Shard(0)])
        assert sent_parts(np.median, x) <= 0.05
        assert np.median(x).item() == np.median(whole)
        assert sent_parts(lambda x: np.percentile(x, 99), x) <= 0.05

    ranks(body)


# --- sorting --------------------------------------------------------------------------


@pytest.fixture
def all_large(monkeypatch, all_long):
    """Arrays of any size are sorted in parts."""
    monkeypatch.setattr(sort_parts, "LEAST_SIZE", 0)


def is_chunked(x: DTensor) -> bool:
    """Whether each rank has its chunk of an array that is cut."""
    return x.device_mesh.size() == 1 or (
        x.layout.cuts is None and any(isinstance(p, Shard) for p in x.placements)
    )


@pytest.mark.parametrize("dtype", [*"dfegFDG?lbBQh"])
def test_cut_lines_are_sorted_as_numpys_for_every_dtype(ranks, all_large, dtype):
    def body():
        for n in (3, 4, 50):
            array = values((n,), dtype)
            if array.dtype.kind in "fc":
                array = strewn(array, np.nan, 0.0, -0.0, np.inf, -np.inf)
            x, whole = placed(array, line(), [Shard(0)])
            y = np.sort(x, stable=True)
            same(y, np.sort(whole, stable=True))
            assert n < x.device_mesh.size() or is_chunked(y)
            same(np.sort(x), np.sort(whole))
            if array.dtype.kind == "f":
                same(np.signbit(y), np.signbit(np.sort(whole, stable=True)))
            same(np.argsort(x, stable=True), np.argsort(whole, stable=True))

    ranks(body)


@pytest.mark.parametrize(("shape", "axis"), [((1, 23), 1), ((30, 2), 0)])
def test_sorts_are_numpys_in_every_layout(ranks, all_large, shape, axis):
    def body():
        mesh = square()
        for placements in layouts(len(shape), mesh.ndim):
            x, whole = placed(strewn(values(shape, "d"), np.nan), mesh, placements)
            for dim in (axis, None):
                same(np.sort(x, dim), np.sort(whole, dim))
                want = np.argsort(whole, dim, stable=True)
                same(np.argsort(x, dim, stable=True), want)
                same(np.partition(x, 7, dim)[..., :1], np.sort(whole, dim)[..., :1])

    ranks(body)


def test_sorts_in_place_keep_the_layout(ranks, all_large):
    def body():
        x, whole = placed(values((45,), "d"), line(), [Shard(0)])
        before = x.layout
        x.sort()
        assert x.layout == before
        same(x, np.sort(whole))

    ranks(body)


@pytest.mark.parametrize(("shape", "axis"), [((24,), 0), ((12, 2), 0), ((8, 3), None)])
def test_gradients_of_sorts_are_those_of_whole_ones(ranks, all_large, shape, axis):
    def body():
        mesh = line()
        array = values(shape, "d")
        weights = np.arange(array.size) / 3
        grads = []
        for placement in (Replicate(), Shard(0), Partial()):
            x, _ = placed(array, mesh, [placement])
            x.requires_grad_()
            y = np.reshape(np.sort(x, axis), (-1,)) * weights
            (first,) = autograd.grad(np.sum(y * y), [x], create_graph=True)
            (second,) = autograd.grad(np.sum(first**3), [x])
            if placement != Partial():
                both = (first.detach(), second)
                grads.append([np.asarray(g.full_tensor()) for g in both])
        assert np.allclose(grads[0], grads[1])

    ranks(body)


def test_a_sort_sends_one_part_and_an_argsort_two(ranks):
    def body():
        array = np.random.default_rng(0).normal(size=300_000)
        x, whole = placed(array, line(), [Shard(0)])
        assert sent_parts(np.sort, x) <= 1.6
        assert sent_parts(np.argsort, x) <= 2.6
        same(np.sort(x), np.sort(whole))
        same(np.argsort(x), np.argsort(whole))

    ranks(body)


@pytest.mark.parametrize("kind", ["normal", "ties", "equal", "rising", "falling"])
def test_long_lines_are_sorted_as_numpys_whatever_their_order(ranks, kind):
    def body():
        n = 40_001
        rng = np.random.default_rng(5)
        array = {
            "normal": rng.normal(size=n),
            "ties": rng.integers(0, 5, n) * 1.0,
            "equal": np.zeros(n),
            "rising": np.arange(n) * 1.0,
            "falling": np.arange(n)[::-1] * 1.0,
        }[kind]
        x, whole = placed(array, square(), [Shard(0), Shard(0)])
        same(np.sort(x), np.sort(whole))
        same(np.argsort(x, stable=True), np.argsort(whole, stable=True))
        same(np.quantile(x, [0.01, 0.5]), np.quantile(whole, [0.01, 0.5]))

    ranks(body)


# --- unique elements and sets ---------------------------------------------------------


@pytest.mark.parametrize("dtype", [*"dfgFDl?B"])
def test_unique_elements_are_numpys_for_every_dtype(ranks, all_large, dtype):
    def body():
        for n, equal in itertools.product((3, 60), (False, True)):
            array = values((n,), dtype)
            if array.dtype.kind in "fc":
                array = strewn(array, np.nan, np.inf)
            x, whole = placed(array, line(), [Shard(0)])
            same(np.unique(x, equal_nan=equal), np.unique(whole, equal_nan=equal))
            options = {"return_index": True, "return_counts": True, "equal_nan": equal}
            for inverse in (False, True):
                options["return_inverse"] = inverse
                both = zip(
                    np.unique(x, **options), np.unique(whole, **options), strict=True
                )
                for got, want in both:
                    same(got, want)

    ranks(body)


def test_unique_elements_are_numpys_in_every_layout(ranks, all_large):
    def body():
        mesh = square()
        for placements in layouts(2, mesh.ndim):
            x, whole = placed(values((6, 7), "d"), mesh, placements)
            both = zip(
                np.unique(x, True, True, True),
                np.unique(whole, True, True, True),
                strict=True,
            )
            for got, want in both:
                same(got, want)

    ranks(body)


def test_many_unique_elements_stay_cut_and_few_are_replicated(ranks):
    def body():
        rng = np.random.default_rng(2)
        for array in (rng.permutation(70_000) / 4, rng.integers(0, 9, 70_000)):
            x, whole = placed(array, line(), [Shard(0)])
            y = np.unique(x)
            same(y, np.unique(whole))
            many = y.size > 9 and x.device_mesh.size() > 1
            assert many == any(isinstance(p, Shard) for p in y.placements)
            assert sent_parts(np.unique, x) <= 1.6

    ranks(body)
