"""Repeating by a count for each slice, along cut dims, against NumPy."""

import itertools

import numpy as np
import pytest
from meshes import line, square
from order_parts import same, sent_parts, values
from placed import layouts, placed

from dtensor import Replicate, Shard, distribute_tensor


def counts_of(n: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 4, n) * (np.arange(n) % 5 > 0)


def test_it_is_numpys_in_every_layout(ranks):
    def body():
        mesh = square()
        for k, placements in enumerate(layouts(2, mesh.ndim)):
            x, whole = placed(values((7, 5), "dfl?F"[k % 5], k), mesh, placements)
            for axis, n in ((0, 7), (1, 5), (-1, 5), (None, 35)):
                counts = counts_of(n, k)
                want = np.repeat(whole, counts, axis)
                same(np.repeat(x, counts, axis), want)
                same(np.repeat(x, counts.tolist(), axis), want)
                for how in layouts(1, mesh.ndim):
                    spread, given = placed(counts, mesh, how)
                    same(np.repeat(x, spread, axis), np.repeat(whole, given, axis))

    ranks(body)


@pytest.mark.parametrize("shape", [(1,), (2,), (40,), (3, 0), (0, 3), (9, 4)])
def test_it_is_numpys_for_every_shape(ranks, shape):
    def body():
        x, whole = placed(values(shape, "d"), line(), [Shard(0)])
        for fill in (counts_of(shape[0]), np.zeros(shape[0], int)):
            spread, _ = placed(fill.astype("B"), line(), [Shard(0)])
            for counts in (fill, spread):
                want = np.repeat(whole, fill, 0)
                same(np.repeat(x, counts, 0), want)
                got = np.repeat(x, counts, 0).redistribute(placements=[Shard(0)])
                same(
                    np.repeat(got, np.arange(len(want)), 0),
                    want[np.arange(len(want)).repeat(np.arange(len(want)))],
                )

    ranks(body)


def test_nothing_is_sent_but_lengths(ranks):
    def body():
        x, whole = placed(np.arange(80_000.0), line(), [Shard(0)])
        counts = counts_of(80_000)
        spread, _ = placed(counts, line(), [Shard(0)])
        for given in (counts, spread):
            y = np.repeat(x, given)
            same(y, np.repeat(whole, counts))
            assert y.placements == (Shard(0),) or x.device_mesh.size() == 1
            assert sent_parts(lambda x, n=given: np.repeat(x, n), x) < 0.01

    ranks(body)


def test_the_gradient_is_the_sum_over_copies_and_stays_cut(ranks):
    def body():
        mesh = line()
        whole = np.arange(2_000.0).reshape(1_000, 2)
        counts = counts_of(1_000)
        for given in (counts, placed(counts, mesh, [Shard(0)])[0]):
            x = distribute_tensor(whole, mesh, [Shard(0)]).requires_grad_()
            y = np.repeat(x, given, 0)
            np.sum(y * y).backward()
            assert x.grad.placements == (Shard(0),) or mesh.size() == 1
            want = 2 * whole * counts[:, None]
            np.testing.assert_allclose(x.grad.full_tensor(), want)

    ranks(body)


def test_what_numpy_refuses_all_ranks_refuse(ranks):
    def body():
        mesh = line()
        x, whole = placed(np.arange(6.0), mesh, [Shard(0)])
        bad = (
            np.array([1, 2, 3, 4, 5, -1]),
            np.arange(5),
            np.ones(6),
            np.ones((2, 3), int),
            np.ones(6, "L"),
            np.zeros(0, int),
        )
        for counts, how in itertools.product(bad, (Replicate(), Shard(0))):
            try:
                np.repeat(whole, counts)
            except (ValueError, TypeError) as error:
                want = type(error)
            for given in (counts, placed(counts, mesh, [how])[0]):
                with pytest.raises(want):
                    np.repeat(x, given)
        huge = np.full(6, 1 << 61)
        for given in (huge, placed(huge, mesh, [Shard(0)])[0]):
            with pytest.raises(ValueError, match="more than an array has room for"):
                np.repeat(x, given)
        for given in ([1 << 50, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 1 << 50]):
            with pytest.raises(MemoryError):  # on the other ranks as well
                np.repeat(x, given)

    ranks(body)
