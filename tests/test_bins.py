"""Histograms whose bins are found by rules, of arrays that are cut, against NumPy."""

import warnings

import numpy as np
import pytest
from meshes import line, square
from order_parts import same, sent_parts, values
from placed import layouts, placed
from slow import slow

from dtensor import Shard

RULES = ["auto", "doane", "fd", "rice", "scott", "sqrt", "sturges", "stone"]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("dtype", [*"dl", *map(slow, "fBb?")])
def test_edges_and_counts_are_numpys(ranks, rule, dtype):
    def body():
        for n in (0, 1, 3, 300):
            array = np.random.default_rng(n).gamma(2, 12, n).astype(dtype)
            x, whole = placed(array, line(), [Shard(0)])
            for ends in (None, (3, 20), (500, 600), (4, 4)):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of bool, and of "stone"
                    want = np.histogram(whole, rule, ends)
                    got = np.histogram(x, rule, ends)
                    edges = np.histogram_bin_edges(x, rule, ends)
                same(got[0], want[0])
                for one in (got[1], edges):
                    np.testing.assert_allclose(one.full_tensor(), want[1], 1e-6, 1e-12)

    ranks(body)


@pytest.mark.parametrize("rule", RULES)
def test_elements_that_are_nan_are_beyond_the_ends(ranks, rule):
    def body():
        for n, nan in ((300, [7]), (300, range(0, 300, 3)), (5, range(5)), (5, [0])):
            array = np.random.default_rng(n).gamma(2, 1, n)
            array[list(nan)] = np.nan
            array[-1:] = np.nan if len(nan) == n else np.inf
            x, whole = placed(array, line(), [Shard(0)])
            want = np.histogram(whole, rule, (0, 3))
            for got, right in zip(np.histogram(x, rule, (0, 3)), want, strict=True):
                np.testing.assert_allclose(got.full_tensor(), right, 1e-6, 1e-12)

    ranks(body)


def test_they_are_numpys_in_every_layout(ranks):
    def body():
        mesh = square()
        for k, placements in enumerate(layouts(2, mesh.ndim)):
            x, whole = placed(values((7, 5), "dfl"[k % 3], k), mesh, placements)
            for ends in (None, (-2, 3)):
                want = np.histogram(whole, RULES[k % 7], ends)
                for got, right in zip(
                    np.histogram(x, RULES[k % 7], ends), want, strict=True
                ):
                    np.testing.assert_allclose(got.full_tensor(), right, 1e-6, 1e-12)

    ranks(body)


def test_few_elements_are_sent(ranks):
    def body():
        array = np.random.default_rng(1).normal(size=200_000)
        x, whole = placed(array, line(), [Shard(0)])
        for rule in RULES[:-1]:
            np.testing.assert_allclose(
                np.histogram_bin_edges(x, rule).full_tensor(),
                np.histogram_bin_edges(whole, rule),
            )
            assert sent_parts(lambda x, r=rule: np.histogram(x, r), x) < 0.1

    ranks(body)


def test_what_numpy_refuses_all_ranks_refuse(ranks):
    def body():
        x, whole = placed(np.arange(9.0), line(), [Shard(0)])
        bad, other = placed(np.array([1, np.nan, 3, np.inf]), line(), [Shard(0)])
        for call in (
            lambda x: np.histogram(x, "automatic"),
            lambda x: np.histogram(x, "auto", weights=x),
            lambda x: np.histogram(x, "auto", (3, 2)),
            lambda x: np.histogram(x, "auto", (0, np.nan)),
        ):
            with pytest.raises((TypeError, ValueError)) as why:
                call(whole)
            with pytest.raises(why.type):
                call(x)
        for rule in RULES:
            with pytest.raises(ValueError, match="is not finite"):
                np.histogram_bin_edges(other, rule)
            with pytest.raises(ValueError, match="is not finite"):
                np.histogram_bin_edges(bad, rule)

    ranks(body)


@pytest.mark.parametrize("dtype", [*"?flD"])
@pytest.mark.parametrize("n", [0, 2, 9])
def test_weights_that_numpy_refuses_all_ranks_refuse(ranks, dtype, n):
    """Also ranks whose parts are empty."""

    def body():
        x, whole = placed(np.ones(n), line(), [Shard(0)])
        weights, others = placed(np.arange(n).astype(dtype), line(), [Shard(0)])
        for call in (
            lambda x, w: np.bincount(x.astype(int), w),
            lambda x, w: np.histogram(x, [0, 0.5, 2], weights=w)[0],
            lambda x, w: np.histogram(x, 3, (0, 2), weights=w)[0],
            lambda x, w: np.histogramdd([x, x], 3, weights=w)[0],
            lambda x, w: np.histogram2d(x, x, [0, 0.5, 2], weights=w)[0],
        ):
            try:
                want = call(whole, others)
            except TypeError as why:
                with pytest.raises(type(why)):
                    call(x, weights)
            else:
                same(call(x, weights), want)

    ranks(body)
