"""Functions of neighbours along cut dims, against NumPy in all layouts."""

import numpy as np
import pytest
from meshes import line, square
from placed import layouts, placed

from dtensor import DTensor, Replicate, Shard, distribute_tensor
from dtensor.debug import CommDebugMode

view = np.lib.stride_tricks.sliding_window_view
FILTER = np.array([0.5, -1.0, 2.0, 0.25, 1.0])

# name: (shape, function)
CALLS = {
    "gradient": ((11,), np.gradient),
    "gradient of a distance": ((11,), lambda x: np.gradient(x, 0.5)),
    "gradient of points": ((7,), lambda x: np.gradient(x, np.arange(7.0) ** 2)),
    "gradient of even points": ((7,), lambda x: np.gradient(x, np.arange(7.0) * 3)),
    "gradient to the edge": ((5,), lambda x: np.gradient(x, edge_order=2)),
    "gradient of few": ((3,), lambda x: np.gradient(x, edge_order=2)),
    "gradient along 0": ((6, 4), lambda x: np.gradient(x, axis=0)),
    "gradient along both": ((5, 7), lambda x: np.stack(np.gradient(x, 2.0, 0.1))),
    "diff": ((9, 4), lambda x: np.diff(x, 2, axis=0)),
    "trapezoid": ((11,), np.trapezoid),
    "convolve full": ((11,), lambda x: np.convolve(x, FILTER)),
    "convolve same": ((11,), lambda x: np.convolve(x, FILTER, "same")),
    "convolve even": ((11,), lambda x: np.convolve(x, FILTER[:4], "same")),
    "convolve valid": ((11,), lambda x: np.convolve(x, FILTER, "valid")),
    "convolve swapped": ((11,), lambda x: np.convolve(FILTER, x, "same")),
    "convolve as long": ((5,), lambda x: np.convolve(x, FILTER)),
    "convolve with more": ((3,), lambda x: np.convolve(x, FILTER, "same")),
    "convolve with itself": ((5,), lambda x: np.convolve(x, x)),
    "correlate full": ((11,), lambda x: np.correlate(x, FILTER, "full")),
    "correlate same": ((11,), lambda x: np.correlate(x, FILTER, "same")),
    "correlate even": ((6,), lambda x: np.correlate(x, FILTER[:4], "same")),
    "correlate valid": ((11,), lambda x: np.correlate(x, FILTER)),
    "correlate swapped": ((11,), lambda x: np.correlate(FILTER, x, "full")),
    "windows": ((9,), lambda x: view(x, 4)),
    "windows of one": ((4,), lambda x: view(x, 1)),
    "windows of all": ((5,), lambda x: view(x, 5)),
    "windows of two dims": ((6, 5), lambda x: view(x, (2, 3))),
    "windows along 0": ((6, 5), lambda x: view(x, 3, axis=0)),
    "windows of nothing": ((6, 5), lambda x: view(x, (3, 0))),
    "windows twice": ((7,), lambda x: view(x, (2, 3), axis=(0, 0))),
    "unwrap": ((13,), np.unwrap),
    "unwrap along 0": ((7, 3), lambda x: np.unwrap(x, axis=0)),
    "unwrap a period": ((9,), lambda x: np.unwrap(x, period=2.5, discont=2)),
}


def values(shape, dtype="f8"):
    found = np.random.default_rng(1).normal(size=shape) * 5
    return found.astype(dtype)


@pytest.mark.parametrize("name", CALLS)
def test_they_are_those_of_numpy_in_all_layouts(ranks, name):
    shape, call = CALLS[name]

    def body():
        for mesh in (line(), square()):
            for placements in layouts(len(shape), mesh.ndim):
                x, whole = placed(values(shape), mesh, placements)
                got, want = call(x), call(whole)
                assert got.shape == want.shape and got.dtype == want.dtype
                np.testing.assert_allclose(
                    got.full_tensor(), want, 1e-12, 1e-12, err_msg=str(placements)
                )

    ranks(body)


@pytest.mark.parametrize("dtype", ["f4", "i4", "c16", "f2", "u1"])
def test_they_have_the_dtypes_of_numpy(ranks, dtype):
    def body():
        whole = (values(9) * 3).astype(dtype)
        x = distribute_tensor(whole, line(), [Shard(0)], src_data_rank=None)
        three = np.array([1, 2, 1], "i4")
        for call in (
            np.gradient,
            lambda a: np.convolve(a, three),
            lambda a: np.correlate(a, three.astype("c8")),
            lambda a: view(a, 2),
            lambda a: np.unwrap(a, period=8),
        ):
            try:
                want = call(whole)
            except (TypeError, OverflowError) as error:
                with pytest.raises(type(error)):
                    call(x)
                continue
            got = call(x)
            assert got.dtype == want.dtype
            near = 1e-3 if dtype == "f2" else 1e-6
            np.testing.assert_allclose(got.full_tensor(), want, near, near)

    ranks(body)


@pytest.mark.parametrize("sizes", [(3, 0, 1, 7), (0, 0, 11, 0), (1, 1, 1, 8)])
def test_parts_may_be_short_or_empty(sizes):
    from dtensor.testing import run_ranks

    def body():
        mesh = line()
        whole = values(sum(sizes))
        at = np.cumsum([0, *sizes])
        rank = mesh.get_local_rank()
        part = whole[at[rank] : at[rank + 1]]
        x = DTensor.from_local(part, mesh, [Shard(0)])
        for name, (shape, call) in CALLS.items():
            if shape == (11,) or name in ("windows", "unwrap"):
                got, want = call(x), call(whole)
                np.testing.assert_allclose(
                    got.full_tensor(), want, 1e-12, 1e-12, err_msg=name
                )

    run_ranks(4, body)


@pytest.mark.parametrize("name", [n for n in CALLS if "unwrap" not in n])
def test_neighbours_send_their_rows_and_no_more(ranks, name):
    shape, call = CALLS[name]
    if max(shape) < 5 or "with" in name or "points" in name or "as long" in name:
        return

    def body():
        long = (100 * shape[0], *shape[1:])
        x = distribute_tensor(values(long), line(), [Shard(0)], src_data_rank=None)
        if "all" in name:
            return
        with CommDebugMode() as comm:
            call(x)
        row = 8 * int(np.prod(shape[1:]))
        moved = {k: n for k, n in comm.get_comm_bytes().items() if k != "exchange"}
        assert "all_gather" not in comm.get_comm_counts()
        assert sum(moved.values()) <= 6 * row  # what is turned around is exchanged

    ranks(body)


@pytest.mark.parametrize("name", CALLS)
def test_gradients_are_those_of_one_rank(ranks, name):
    shape, call = CALLS[name]

    def body():
        whole, grads = values(shape), []
        for placement in (Replicate(), Shard(0)):
            x = distribute_tensor(whole, line(), [placement], src_data_rank=None)
            x.requires_grad_()
            y = call(x)
            weights = np.arange(1.0, y.size + 1).reshape(y.shape)
            (y * y * weights).sum().backward()
            grads.append(np.asarray(x.grad.full_tensor()))
        np.testing.assert_allclose(*grads, rtol=1e-10, atol=1e-10)

    ranks(body)


def test_the_filter_has_a_gradient_too(ranks):
    def body():
        whole, grads = values(12), []
        for placement in (Replicate(), Shard(0)):
            x = distribute_tensor(whole, line(), [placement], src_data_rank=None)
            v = distribute_tensor(FILTER, line(), [Replicate()], src_data_rank=None)
            v.requires_grad_()
            y = np.convolve(x, v, "same") + np.correlate(x, v, "same")
            (y * np.arange(12.0)).sum().backward()
            grads.append(np.asarray(v.grad.full_tensor()))
        np.testing.assert_allclose(*grads, rtol=1e-10)

    ranks(body)


def test_bad_input_is_refused_on_all_ranks(ranks):
    def body():
        x = distribute_tensor(values(8), line(), [Shard(0)], src_data_rank=None)
        for call in (
            lambda a: np.gradient(a[:1]),
            lambda a: np.gradient(a, np.arange(3.0)),
            lambda a: np.gradient(a, edge_order=3),
            lambda a: np.convolve(a, FILTER[:0]),
            lambda a: np.convolve(a, FILTER, "most"),
            lambda a: view(a, 9),
            lambda a: view(a, -1),
            lambda a: view(a, 2, axis=1),
            lambda a: np.unwrap(a, axis=1),
            lambda a: np.unwrap(a, axis=2**40),
        ):
            with pytest.raises(Exception) as wanted:  # noqa: PT011
                call(values(8))
            with pytest.raises(wanted.type):
                call(x)
        with pytest.raises(ValueError, match="read-only"):
            view(x, 2, writeable=True)
        assert float(np.sum(x)) == pytest.approx(values(8).sum())

    ranks(body)


@pytest.mark.parametrize("dtype", ["?", "u1", "i2", "f2"])
def test_ranks_that_have_no_result_give_nothing_of_the_same_dtype(ranks, dtype):
    def body():
        array = values((4,)).astype(dtype)
        for function in (np.convolve, np.correlate):
            want = function(array, array, "valid")
            for placement in (Shard(0), Replicate()):
                x = distribute_tensor(array, line(), [Shard(0)])
                y = distribute_tensor(array, line(), [placement])
                got = function(x, y, "valid").full_tensor()
                assert got.dtype == want.dtype
                np.testing.assert_allclose(got, want, rtol=1e-2)

    ranks(body)
