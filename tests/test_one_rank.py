"""On a mesh of one rank functions are NumPy's own, of the arrays themselves."""

import numpy as np
import pytest
from meshes import line

import dtensor
from dtensor import Partial, Replicate, Shard, distribute_tensor
from dtensor.ops._make.one_rank import AT_ONCE, by_numpy

V = np.random.default_rng(1).integers(-3, 4, 60) / 2
CALLS = {
    np.unique: [lambda x: np.unique(x, True, True, True), lambda x: np.unique(x)],
    np.nonzero: [lambda x: np.nonzero(x.reshape(5, 12)), lambda x: x.nonzero()],
    np.cumsum: [np.cumsum, lambda x: x.cumsum(0), lambda x: np.cumsum(x, dtype="f4")],
    np.take: [lambda x: np.take(x, [3, 1]), lambda x: x.take([[0, 1]], mode="wrap")],
    np.var: [np.var, lambda x: x.std(ddof=1), lambda x: np.var(x, where=x > 0)],
    np.cov: [lambda x: np.cov(x, x * 2), lambda x: np.corrcoef(x, x**2)],
    np.insert: [lambda x: np.insert(x, 2, 7.0), lambda x: np.delete(x, [1, -1])],
    np.isin: [lambda x: np.isin(x, [0.5, 1]), lambda x: np.union1d(x, [9.0])],
    np.argmax: [np.argmax, lambda x: np.nanargmin(x), lambda x: np.nanmax(x)],
    np.bincount: [lambda x: np.bincount((x * 2 + 6).astype(int), weights=x)],
}


@pytest.mark.parametrize("function", CALLS)
@pytest.mark.parametrize("placement", [Shard(0), Replicate()], ids=str)
def test_results_are_those_of_numpy(ranks, function, placement):
    def body():
        x = distribute_tensor(V, line(), [placement], src_data_rank=None)
        for call in CALLS[function]:
            got, want = call(x), call(V)
            several = isinstance(want, tuple)
            pairs = zip(got, want, strict=True) if several else [(got, want)]
            for y, z in pairs:
                assert isinstance(y, dtensor.DTensor)
                assert (y.shape, y.dtype) == (np.shape(z), z.dtype)
                np.testing.assert_allclose(y.full_tensor(), z, 1e-12)

    ranks(body)


def counting(function):
    """A NumPy function that counts its calls, and what answers it for tensors."""
    calls = []

    def numpys(a, axis=None, out=None):
        calls.append(a)
        return function(a, axis)

    def ours(a, axis=None, out=None, **_options):
        return "ours"

    return calls, by_numpy(numpys, ours)


def test_numpy_is_called_for_one_rank_without_a_gradient_only():
    mesh = dtensor.init_device_mesh("cpu", (1,))
    calls, answer = counting(np.cumsum)
    x = distribute_tensor(V, mesh, [Shard(0)])
    y = answer(x)
    assert len(calls) == 1 and type(calls[0]) is np.ndarray
    assert np.array_equal(y.full_tensor(), np.cumsum(V))
    assert np.cumsum(x).layout == x.layout and np.unique(x).layout.is_replicated
    partial = dtensor.DTensor.from_local(V, mesh, [Partial()])
    learnt = distribute_tensor(V, mesh, [Shard(0)]).requires_grad_()
    for args, options in [
        ((partial,), {}),
        ((learnt,), {}),
        ((dtensor.tensor(V),), {}),
        ((V,), {}),
        (([x, x],), {}),
        ((x, None, x), {}),
        ((x,), {"out": x}),
        ((x,), {"dim": 0}),
    ]:
        assert answer(*args, **options) == "ours"
    with dtensor.no_grad():
        assert np.array_equal(answer(learnt).full_tensor(), np.cumsum(V))
    assert len(calls) == 2


def test_functions_of_the_table_neither_write_nor_give_views():
    for function in AT_ONCE:
        assert function in dtensor.ops.FUNCTIONS
    x = distribute_tensor(V, dtensor.init_device_mesh("cpu", (1,)), [Shard(0)])
    for calls in CALLS.values():
        for call in calls:
            results = call(x)
            for y in results if isinstance(results, tuple) else [results]:
                assert not np.shares_memory(x.to_local(), y.to_local())
    assert np.array_equal(x.full_tensor(), V)


def test_writes_reach_the_array_itself(ranks):
    def body():
        x = distribute_tensor(V.copy(), line(), [Shard(0)], src_data_rank=None)
        whole = V.copy()
        for y in (x, whole):
            y[[1, 1, 5]] = 9
            y[y > 8] = 4
            np.put(y, [0, -1], [2, 3])
            np.add.at(y, [0, 0, 59], 1)
            np.place(y, y == 4, [5, 6])
        assert np.array_equal(x.full_tensor(), whole)

    ranks(body)
