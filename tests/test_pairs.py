"""Several dims indexed with arrays, diagonals, turned arrays: all cut, all exact."""

import numpy as np
import pytest
from meshes import line, square
from placed import layouts, placed

from dtensor import (
    DTensor,
    Partial,
    Replicate,
    Shard,
    distribute_tensor,
    init_device_mesh,
)
from dtensor.debug import CommDebugMode
from dtensor.placement_types import _StridedShard
from dtensor.testing import run_ranks

R = Replicate()


def indices(shape: tuple[int, ...]) -> list[tuple]:
    rng = np.random.default_rng(len(shape))
    a, b, *c = (rng.integers(-n, n, 5) for n in shape)
    every = np.arange(shape[0])
    found = [
        (a, b),
        (np.sort(a % shape[0]), b),
        (every, rng.integers(0, shape[1], shape[0])),
        np.ix_(a, b),
        (a[:1], b),
        (a[0], b),
    ]
    if c:
        found += [(a, slice(None), *c), (slice(1, None), b, *c), (a[:, None], b, 0)]
        found += [(..., b, *c), (a, None, b)]
    return found


def same(got: DTensor, want: np.ndarray) -> None:
    """Equal bits, -0.0 and NaN included."""
    whole = np.asarray(got.full_tensor())
    assert (whole.dtype, whole.shape) == (want.dtype, want.shape)
    assert whole.tobytes() == np.ascontiguousarray(want).tobytes()


@pytest.mark.parametrize("dtype", ["f8", "F", "i4", "?", "f2"])
@pytest.mark.parametrize("shape", [(9, 7), (5, 6, 4)])
def test_elements_picked_by_several_arrays_are_numpys(ranks, shape, dtype):
    def body():
        array = (np.random.default_rng(0).normal(size=shape) * 4).astype(dtype)
        if dtype == "f8":
            array.flat[:3] = -0.0, np.nan, np.inf
        mesh = square()
        for placements in layouts(len(shape), mesh.ndim):
            if dtype == "?" and Partial() in placements:
                continue  # sums of bool are no bool
            x, whole = placed(array, mesh, placements)
            for index in indices(shape):
                same(x[index], whole[index])

    ranks(body)


@pytest.mark.parametrize("dim", [0, 1])
def test_mesh_dims_may_cut_in_another_order(ranks, dim):
    def body():
        mesh = square()
        array = np.random.default_rng(5).normal(size=(9, 9))
        inner = mesh.shape[1]
        last_first = [_StridedShard(dim, split_factor=inner), Shard(dim)]
        x = distribute_tensor(array, mesh, [R, R]).redistribute(placements=last_first)
        for index in indices(array.shape):
            same(x[index], array[index])
        for offset in (-10, -3, 0, 2):
            same(np.diagonal(x, offset), np.diagonal(array, offset))
        same(np.einsum("ii->i", x), np.diagonal(array))

    ranks(body)


@pytest.mark.parametrize("shape", [(1, 4), (4, 1)])
def test_mesh_dims_of_one_rank_cut_nothing(shape):
    def body():
        mesh = init_device_mesh("cpu", shape)
        array = np.random.default_rng(6).normal(size=(5, 7))
        for placements in layouts(2, 2):
            x, whole = placed(array, mesh, placements)
            same(np.diagonal(x, 1), np.diagonal(whole, 1))
            for index in indices(array.shape):
                same(x[index], whole[index])

    run_ranks(4, body)


def test_arrays_may_be_cut_as_the_result_is(ranks):
    def body():
        mesh = line()
        array = np.random.default_rng(1).normal(size=(12, 9))
        labels = np.random.default_rng(2).integers(0, 9, 12)
        cut = distribute_tensor(labels, mesh, [Shard(0)], src_data_rank=None)
        for dim in (0, 1):
            x, _ = placed(array, mesh, [Shard(dim)])
            same(x[np.arange(12), cut], array[np.arange(12), labels])

    ranks(body)


def test_only_what_is_picked_is_sent(ranks):
    def body():
        mesh = line()
        x, whole = placed(
            np.random.default_rng(3).normal(size=(400, 30)), mesh, [Shard(0)]
        )
        rows, columns = np.arange(400), np.random.default_rng(4).integers(0, 30, 400)
        with CommDebugMode() as comm:
            y = x[rows, columns]
            z = np.diagonal(x)
        assert comm.get_comm_counts() == {}
        same(y, whole[rows, columns])
        same(z, np.diagonal(whole))
        with CommDebugMode() as comm:
            x[rows[::-1][:50], columns[:50]].full_tensor()
        assert sum(comm.get_comm_bytes().values()) <= (mesh.size() - 1) * 50 * 8

    ranks(body)


@pytest.mark.parametrize("shape", [(9, 7), (4, 9), (5, 6, 4), (7,)])
def test_diagonals_and_turned_arrays_are_numpys(ranks, shape):
    def body():
        array = np.random.default_rng(5).normal(size=shape)
        for mesh in (line(), square()):
            for placements in layouts(len(shape), mesh.ndim):
                x, whole = placed(array, mesh, placements)
                if len(shape) > 1:
                    for k in (0, 1, -2):
                        same(np.diagonal(x, k), np.diagonal(whole, k))
                        same(np.diagonal(x, k, 1, 0), np.diagonal(whole, k, 1, 0))
                    for k in range(4):
                        same(np.rot90(x, k, (1, 0)), np.rot90(whole, k, (1, 0)))
                if len(shape) < 3:
                    for k in (0, 2, -3):
                        same(np.diag(x, k), np.diag(whole, k))
                for axis in (None, *range(len(shape))):
                    same(np.flip(x, axis), np.flip(whole, axis))

    ranks(body)


def test_gradients_go_to_what_was_picked(ranks):
    def body():
        mesh = line()
        array = np.random.default_rng(6).normal(size=(8, 6))
        rows, columns = np.array([3, 0, 3, 7]), np.array([1, 5, 1, 0])
        grads = []
        for placement in (R, Shard(0), Shard(1)):
            x, _ = placed(array, mesh, [placement])
            x.requires_grad_()
            y = (x[rows, columns] ** 2).sum() + (np.diagonal(x) ** 3).sum()
            (y + (np.flip(x, 0) * array).sum()).backward()
            grads.append(np.asarray(x.grad.full_tensor()))
        assert np.allclose(grads[0], grads[1]) and np.allclose(grads[0], grads[2])

    ranks(body)


def test_an_ellipsis_of_no_dims_before_a_mask_and_a_number(ranks):
    def body():
        array, mask = np.arange(18.0).reshape(9, 2), np.arange(9) % 3 > 0
        mesh = square()
        for places in ([Shard(0), R], [R, Shard(0)]):
            x = distribute_tensor(array, mesh, places)
            for chosen in (mask, distribute_tensor(mask, mesh, places)):
                same(x[..., chosen, 1], array[..., mask, 1])
                same(x[..., None, chosen, 0], array[..., None, mask, 0])

    ranks(body)


def test_dims_beside_the_picked_ones_stay_strided():
    def body():
        mesh = init_device_mesh("cpu", (2, 2))
        array = np.arange(36.0).reshape(2, 3, 6)
        for split in (2, 3):
            for other in (Shard(0), Shard(2), R):
                places = [_StridedShard(2, split_factor=split), other]
                x = distribute_tensor(array, mesh, places)
                same(x[[1], [-2]], array[[1], [-2]])
                same(x[None, [[1]], [[2]]], array[None, [[1]], [[2]]])

    run_ranks(4, body)
