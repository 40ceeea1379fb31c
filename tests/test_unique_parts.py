"""Unique elements of cut arrays, against NumPy; and what they send."""

import itertools

import numpy as np
import pytest
from meshes import line, square
from order_parts import all_in_parts, same, sent_parts, strewn, values
from placed import layouts, placed

from dtensor import (
    Shard,
)


@pytest.fixture
def in_parts(monkeypatch):
    """Arrays of any size are treated in parts."""
    all_in_parts(monkeypatch)


@pytest.mark.parametrize("dtype", [*"dfgFDl?B"])
def test_unique_elements_are_numpys_for_every_dtype(ranks, in_parts, dtype):
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


def test_unique_elements_are_numpys_in_every_layout(ranks, in_parts):
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


def test_sets_are_numpys_in_parts(ranks, in_parts):
    def body():
        mesh = line()
        one, first = placed(values((50,), "d"), mesh, [Shard(0)])
        two, second = placed(
            strewn(values((33,), "d", 1) / 2, np.nan), mesh, [Shard(0)]
        )
        for fn in (np.union1d, np.intersect1d, np.setxor1d, np.setdiff1d):
            same(fn(one, two), fn(first, second))
            same(fn(two, one), fn(second, first))

    ranks(body)


def rows_like(want, got):
    """The same results, however many are asked for."""
    both = [x if isinstance(x, tuple) else (x,) for x in (got, want)]
    for one, other in zip(*both, strict=True):
        same(one, other)


FLAGS = [*itertools.product((False, True), repeat=3)]


@pytest.mark.parametrize("dtype", [*"dfeFDl?B"])
def test_unique_rows_are_numpys_for_every_dtype(ranks, in_parts, dtype):
    def body():
        shapes = ((3, 2), (1, 2), (60, 2), (9, 1), (40, 2, 2), (9, 0), (0, 2))
        for shape, flags in itertools.product(shapes, FLAGS):
            array = values(shape, dtype)
            # NumPy's order of rows with NaN is stable only if their indices are wanted.
            if array.dtype.kind in "fc" and (flags[0] or not flags[1]):
                array = strewn(array, np.nan, -0.0)
            x, whole = placed(array, line(), [Shard(0)])
            rows_like(np.unique(whole, *flags, axis=0), np.unique(x, *flags, axis=0))

    ranks(body)


def test_unique_slices_are_numpys_in_every_layout(ranks, in_parts):
    def body():
        mesh = square()
        for k, placements in enumerate(layouts(3, mesh.ndim)):
            for axis in (k % 3, -1 - k % 2):
                array = values((7, 2, 5), "d", k)
                array[:, 1] = array[:, :1, 0]
                x, whole = placed(np.minimum(array, -3), mesh, placements)
                flags = FLAGS[k % 8]
                want = np.unique(whole, *flags, axis=axis)
                rows_like(want, np.unique(x, *flags, axis=axis))

    ranks(body)


def test_many_unique_rows_stay_cut_and_are_sent_once(ranks):
    def body():
        rng = np.random.default_rng(2)
        for high in (3, 1 << 40):
            x, whole = placed(rng.integers(0, high, (40_000, 3)), line(), [Shard(0)])
            y = np.unique(x, axis=0)
            same(y, np.unique(whole, axis=0))
            many = high > 3 and x.device_mesh.size() > 1
            assert many == any(isinstance(p, Shard) for p in y.placements)
            assert sent_parts(lambda x: np.unique(x, axis=0), x) <= 2
            every = sent_parts(lambda x: np.unique(x, True, True, True, axis=0), x)
            assert every <= 3

    ranks(body)
