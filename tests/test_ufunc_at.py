"""`ufunc.at` with indices that are cut, against NumPy; and what it sends."""

import itertools

import numpy as np
import pytest
from meshes import line, square
from placed import layouts, placed
from slow import slow

from dtensor import DTensor, Replicate, Shard, distribute_tensor
from dtensor.debug import CommDebugMode
from dtensor.ops._make import routes

UFUNCS = [np.add, np.subtract, np.multiply, np.maximum, np.minimum, np.divide, np.fmax]


def cases(length, count, width, dtype):
    """A target, indices and values, which NumPy's result depends on."""
    rng = np.random.default_rng(length + count)
    shape = (length, width) if width else (length,)
    target = rng.integers(1, 9, shape).astype(dtype)
    index = rng.integers(-length, length, count)
    values = rng.integers(1, 4, (count, *shape[1:])).astype(dtype)
    return target, index, values


@pytest.mark.parametrize("width", [0, 3])
@pytest.mark.parametrize("count", [slow(1), 4, slow(23)])
def test_it_writes_what_numpy_writes_in_all_layouts(ranks, width, count):
    target, index, values = cases(7, count, width, "f8")

    def body():
        for mesh in (line(), square()):
            every = itertools.product(
                layouts(target.ndim, mesh.ndim), layouts(1, mesh.ndim)
            )
            for at, of in every:
                if any(p.is_partial() for p in of):
                    continue  # their whole would be other indices
                for ufunc in UFUNCS:
                    x, whole = placed(target.copy(), mesh, at)
                    whole = whole.copy()
                    i, _ = placed(index, mesh, of)
                    v, some = placed(values, mesh, of)
                    for more, given in ((v, some), (2.5, 2.5), (values, values)):
                        ufunc.at(x, i, more)
                        ufunc.at(whole, index, given)
                    np.testing.assert_allclose(x.full_tensor(), whole, 1e-12)

    ranks(body)


@pytest.mark.parametrize("count", [0, 1, 3, 9])
def test_the_target_may_be_cut_anywhere(ranks, count):
    target, index, values = cases(7, count, 2, "f8")

    def body():
        mesh = line()
        at = sorted([0, *(k * k % 8 for k in range(1, mesh.size())), 7])
        rank = mesh.get_local_rank()
        part = target[at[rank] : at[rank + 1]].copy()
        x, whole = DTensor.from_local(part, mesh, [Shard(0)]), target.copy()
        i, v = (
            distribute_tensor(y, mesh, [Shard(0)], src_data_rank=None)
            for y in (index, values)
        )
        np.add.at(x, i, v)
        np.add.at(whole, index, values)
        np.testing.assert_allclose(x.full_tensor(), whole, 1e-12)

    ranks(body)


@pytest.mark.parametrize("dtype", ["i4", "u1", "f4", "c8", "?"])
def test_dtypes_are_those_of_numpy(ranks, dtype):
    def body():
        target, index, values = cases(9, 30, 0, dtype)
        more = [np.bitwise_or, np.logical_or, np.logical_and, np.bitwise_xor]
        for ufunc, kind, to in itertools.product(
            UFUNCS + more, (dtype, "f8", "i8"), (Shard(0), Replicate())
        ):
            whole, some = target.copy(), values.astype(kind)
            x = distribute_tensor(target.copy(), line(), [to], src_data_rank=None)
            i, v = (
                distribute_tensor(y, line(), [Shard(0)], src_data_rank=None)
                for y in (index, some)
            )
            try:
                ufunc.at(whole, index, some)
            except TypeError as error:
                with pytest.raises(type(error)):
                    ufunc.at(x, i, v)
                continue
            ufunc.at(x, i, v)
            np.testing.assert_allclose(x.full_tensor(), whole, 1e-4, err_msg=str(ufunc))

    with np.errstate(all="ignore"):
        ranks(body)


def test_indices_and_values_stay_where_they_are(ranks):
    def body():
        target, index, values = cases(50, 4000, 0, "f8")
        n = line().size()
        i, v = (
            distribute_tensor(y, line(), [Shard(0)], src_data_rank=None)
            for y in (index, values)
        )
        whole = target.copy()
        x = distribute_tensor(whole, line(), [Replicate()], src_data_rank=None)
        with CommDebugMode() as comm:
            np.add.at(x, i, v)
        assert {*comm.get_comm_counts()} <= {"all_reduce"}
        assert sum(comm.get_comm_bytes().values()) <= n * target.nbytes
        x = distribute_tensor(target, line(), [Shard(0)], src_data_rank=None)
        with CommDebugMode() as comm:
            np.add.at(x, i, v)
        own = i.to_local().nbytes + v.to_local().nbytes
        assert sum(comm.get_comm_bytes().values()) <= own + 8 * n * n

    ranks(body)


@pytest.mark.parametrize("width", [0, 3])
def test_an_index_that_all_ranks_have_is_cut_as_the_values(ranks, width, monkeypatch):
    monkeypatch.setattr(routes, "LEAST_SIZE", 1)
    target, index, values = cases(7, 23, width, "f8")

    def body():
        for mesh in (line(), square()):
            every = itertools.product(
                layouts(target.ndim, mesh.ndim), layouts(values.ndim, mesh.ndim)
            )
            for (at, of), ufunc in itertools.product(every, UFUNCS):
                x, whole = placed(target.copy(), mesh, at)
                whole = whole.copy()
                v, some = placed(values, mesh, of)
                for given in (index, index.tolist()):
                    ufunc.at(x, given, v)
                    ufunc.at(whole, given, some)
                np.testing.assert_allclose(x.full_tensor(), whole, 1e-12)
        v = distribute_tensor(values, line(), [Shard(0)], src_data_rank=None)
        x = distribute_tensor(target, line(), [Shard(0)], src_data_rank=None)
        with pytest.raises(IndexError, match="out of bounds"):
            np.add.at(x, np.full(23, 7), v)
        with CommDebugMode() as comm:
            np.add.at(x, index, v)
        n, own = line().size(), 8 * -(-23 // line().size()) + v.to_local().nbytes
        assert sum(comm.get_comm_bytes().values()) <= own + 8 * n * n

    ranks(body)


@pytest.mark.parametrize("ufunc", [np.add, np.subtract])
@pytest.mark.parametrize("to", [Shard(0), Replicate()], ids=str)
def test_gradients_are_those_of_one_rank(ranks, ufunc, to, monkeypatch):
    monkeypatch.setattr(routes, "LEAST_SIZE", 1)

    def body():
        target, index, values = cases(8, 20, 2, "f8")
        grads = []
        for placement, known in itertools.product((Replicate(), Shard(0)), (0, 1)):
            x = distribute_tensor(target, line(), [to], src_data_rank=None)
            i = distribute_tensor(index, line(), [placement], src_data_rank=None)
            i = index if known else i
            v = distribute_tensor(values, line(), [placement], src_data_rank=None)
            x.requires_grad_()
            v.requires_grad_()
            y = x * 2
            ufunc.at(y, i, v)
            (y * y).sum().backward()
            grads.append([np.asarray(z.grad.full_tensor()) for z in (x, v)])
        for one, *others in zip(*grads, strict=True):
            for other in others:
                np.testing.assert_allclose(one, other, 1e-12)

    ranks(body)


def test_an_index_out_of_range_raises_on_all_ranks(ranks):
    def body():
        for to in (Shard(0), Replicate()):
            x = distribute_tensor(np.zeros(6), line(), [to], src_data_rank=None)
            index = np.array([0, 1, 2, 3, 6])
            i = distribute_tensor(index, line(), [Shard(0)], src_data_rank=None)
            with pytest.raises(IndexError, match="index 6 is out of bounds"):
                np.add.at(x, i, 1.0)
            assert float(np.sum(x)) == 0

    ranks(body)
