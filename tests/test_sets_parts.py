"""Operations on two sets that are cut, against NumPy; and what they send."""

import functools
import itertools

import numpy as np
import pytest
from meshes import line, square
from order_parts import all_in_parts, same, sent_parts, strewn, values
from placed import layouts, placed

from dtensor import Replicate, Shard

SETS = {
    "union1d": np.union1d,
    "setxor1d": np.setxor1d,
    "setdiff1d": np.setdiff1d,
    "intersect1d": np.intersect1d,
    "isin": np.isin,
    "not in": functools.partial(np.isin, invert=True),
    "with indices": functools.partial(np.intersect1d, return_indices=True),
}


@pytest.fixture
def in_parts(monkeypatch):
    """Arrays of any size are treated in parts."""
    all_in_parts(monkeypatch)


def all_same(got, want):
    got, want = (x if isinstance(x, tuple) else (x,) for x in (got, want))
    for one, other in zip(got, want, strict=True):
        same(one, other)


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("dtype", ["dd", "fe", "FD", "ld", "??", "Bb", "eB", "Ll"])
def test_they_are_numpys_for_every_dtype(ranks, in_parts, name, dtype):
    def body():
        for n, m in ((50, 33), (3, 40), (40, 1), (5, 0)):
            first, second = values((n,), dtype[0]), values((m,), dtype[1], 1)
            if dtype[0] in "dfFe":
                first = strewn(first, np.nan, -0.0)
            if dtype[1] in "deD":
                second = strewn(second, np.inf, np.nan, 0.0)
            one, first = placed(first, line(), [Shard(0)])
            two, second = placed(second, line(), [Shard(0)])
            for a, b in (((one, two)), (two, one)):
                want = {id(one): first, id(two): second}
                all_same(SETS[name](a, b), SETS[name](want[id(a)], want[id(b)]))

    ranks(body)


def test_sets_are_sorted_on_any_number_of_ranks(ranks, in_parts):
    def body():
        for dtype in ("l", "d", "h"):
            x, array = placed(np.arange(40)[::-1].astype(dtype), line(), [Shard(0)])
            want, xp = np.unique(array), x.__array_namespace__()
            for y in (x, x.redistribute(placements=[Replicate()])):
                same(xp.unique_values(y), want)
                same(np.unique_values(y), want)
                same(np.unique(y, sorted=False), want)
            assert np.array_equal(xp.unique_values(x.full_tensor()), want)

    ranks(body)


@pytest.mark.parametrize("name", SETS)
def test_they_are_numpys_in_every_layout(ranks, in_parts, name):
    def body():
        mesh = square()
        pairs = itertools.product(layouts(2, mesh.ndim), layouts(1, mesh.ndim))
        turn = [*SETS].index(name)  # all of them try all pairs together
        for k, (one, two) in list(enumerate(pairs))[turn :: len(SETS)]:
            x, whole = placed(values((6, 7), "d"), mesh, one)
            y, other = placed(values((5 + k % 9,), "d", k), mesh, two)
            all_same(SETS[name](x, y), SETS[name](whole, other))

    ranks(body)


@pytest.mark.parametrize("name", SETS)
def test_arrays_and_numbers_are_sets_too(ranks, in_parts, name):
    def body():
        x, whole = placed(values((40,), "d"), line(), [Shard(0)])
        z, number = placed(np.array(2.5), line(), [Replicate()])
        for got, want in ((values((9,), "d", 1), None), (z, number), (3.5, None)):
            other = got if want is None else want
            for a, b, c, d in ((x, got, whole, other), (got, x, other, whole)):
                all_same(SETS[name](a, b), SETS[name](c, d))

    ranks(body)


def test_many_elements_are_sent_once_and_not_gathered(ranks):
    def body():
        rng = np.random.default_rng(3)
        whole = rng.permutation(70_000) / 4
        x, _ = placed(whole, line(), [Shard(0)])
        for other in (rng.permutation(70_000) / 2, rng.integers(0, 99, 70_000) / 3):
            y, _ = placed(other, line(), [Shard(0)])
            got = np.setdiff1d(x, y, True)
            same(got, np.setdiff1d(whole, other, True))
            for name in SETS:
                all_same(SETS[name](x, y), SETS[name](whole, other))
                most = 4.6 if name == "with indices" else 2.8
                assert sent_parts(lambda x, y=y, f=SETS[name]: f(x, y), x) <= most, name

    ranks(body)


def test_what_numpy_refuses_all_ranks_refuse(ranks, in_parts):
    def body():
        x, _ = placed(values((40,), "d"), line(), [Shard(0)])
        for kind, why in (("sorted", "Invalid kind"), ("table", "only supported for")):
            with pytest.raises(ValueError, match=why):
                np.isin(x, x, kind=kind)
        same(np.isin(x, x, kind="sort"), np.isin(*[np.asarray(x.full_tensor())] * 2))

    ranks(body)


def test_sets_on_two_meshes_are_refused_on_all_ranks(ranks, in_parts):
    def body():
        x, _ = placed(values((40,), "d"), line(), [Shard(0)])
        y, _ = placed(values((40,), "d"), square(), [Shard(0), Shard(0)])
        for function in SETS.values() if line().size() > 1 else ():  # or not in parts
            with pytest.raises(ValueError, match="different meshes.*redistribute"):
                function(x, y)

    ranks(body)
