"""Interpolation between points that are cut, against NumPy; and what it sends."""

import itertools

import numpy as np
import pytest
from meshes import line, square
from order_parts import all_in_parts, same, sent_parts, strewn
from placed import layouts, placed
from slow import slow

from dtensor import Partial, Shard, distribute_tensor


@pytest.fixture
def in_parts(monkeypatch):
    """Points of any number are treated in parts."""
    all_in_parts(monkeypatch)


def points(n: int, dtype: str = "d", seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng([seed, n])
    places = np.sort(rng.integers(-20, 20, n) / (1 if dtype in "liB" else 4))
    heights = rng.normal(size=n) * 9
    return np.abs(places).astype(dtype) if dtype == "B" else places, heights


@pytest.mark.parametrize("dtype", [*"del", *map(slow, "fB?")])
def test_it_is_numpys_for_every_dtype(ranks, in_parts, dtype):
    def body():
        for n, m in itertools.product((1, 2, 3, 40), (0, 1, 30)):
            xs, ys = points(n, dtype)
            xs = np.sort(xs.astype(dtype))
            whole = np.random.default_rng(m).integers(-25, 25, m) / 4
            whole = whole.astype(dtype) if dtype in "lB?" else strewn(whole, np.nan)
            x, whole = placed(whole, line(), [Shard(0)])
            xp, xs = placed(xs, line(), [Shard(0)])
            for heights in (ys, ys + 1j * ys[::-1], ys.astype(dtype)):
                fp, known = placed(heights, line(), [Shard(0)])
                for ends in ((), (-1.5, None), (None, 7), (2, 3)):
                    want = np.interp(whole, xs, known, *ends)
                    for given in ((xp, fp), (xs, fp), (xp, known)):
                        same(np.interp(x, *given, *ends), want)
                    same(np.interp(whole, xp, fp, *ends), want)

    ranks(body)


def test_it_is_numpys_in_every_layout(ranks, in_parts):
    def body():
        mesh = square()
        cut = [how for how in layouts(1, mesh.ndim) if Partial() not in how]
        for k, (one, two) in enumerate(itertools.product(cut, cut)):
            xs, ys = points(13 + k, "d", k)
            xp, xs = placed(xs, mesh, one)
            fp, ys = placed(ys, mesh, two)
            for how in list(layouts(2, mesh.ndim))[k % 3 :: 3]:
                whole = np.random.default_rng(k).integers(-9, 9, (7, 4)) / 4
                x, whole = placed(whole, mesh, how)
                same(np.interp(x, xp, fp), np.interp(whole, xs, ys))
            same(np.interp(0.3, xp, fp), np.interp(0.3, xs, ys))

    ranks(body)


def test_places_are_sent_once_and_points_are_not(ranks):
    def body():
        xs = np.arange(70_000.0)
        xp, _ = placed(xs, line(), [Shard(0)])
        fp, _ = placed(np.sqrt(xs), line(), [Shard(0)])
        for whole, most in ((np.random.default_rng(1).permutation(xs), 2), (xs, 0.01)):
            x, _ = placed(whole + 0.5, line(), [Shard(0)])
            want = np.interp(whole + 0.5, xs, np.sqrt(xs))
            same(np.interp(x, xp, fp), want)
            assert sent_parts(lambda x: np.interp(x, xp, fp), x) <= most
        few, whole = placed(np.array([3.5, -1.0, 1e6]), line(), [Shard(0)])
        assert sent_parts(lambda x: np.interp(few, x, fp), xp) <= 0.01

    ranks(body)


def test_its_gradient_is_that_of_points_that_are_whole(ranks, in_parts):
    def body():
        xs, ys = np.arange(9.0), np.arange(9.0) ** 2
        found = []
        for given in ([Shard(0)], None):
            tensors = [
                distribute_tensor(array, line(), given).requires_grad_()
                for array in (np.linspace(-1, 9.5, 11), xs, ys)
            ]
            np.sum(np.interp(*tensors) ** 2).backward()
            found.append([np.asarray(x.grad.full_tensor()) for x in tensors])
        for one, two in zip(*found, strict=True):
            np.testing.assert_allclose(one, two, 1e-12, 1e-12)

    ranks(body)


def test_what_numpy_refuses_all_ranks_refuse(ranks, in_parts):
    def body():
        xp, xs = placed(np.arange(8.0), line(), [Shard(0)])
        short, _ = placed(np.arange(7.0), line(), [Shard(0)])
        none, _ = placed(np.arange(0.0), line(), [Shard(0)])
        bad = (
            (xs, xp, short),
            (xs, none, none),
            (xs * 1j, xp, xp),
            (xs, xp, xp, "left"),
            (xs, xp, xp, 1j),
            (xs, xp, xp, None, None, 0),
        )
        for x, one, two, *more in bad:
            arrays = (np.asarray(t.full_tensor()) for t in (one, two))
            with pytest.raises((TypeError, ValueError)) as why:
                np.interp(x, *arrays, *more)
            with pytest.raises(why.type):
                np.interp(x, one, two, *more)

    ranks(body)
