"""Slices with negative steps, along cut dims: parts are exchanged, none is gathered."""

import itertools

import numpy as np
import pytest
from meshes import line, square
from placed import layouts, placed

from dtensor import Shard, distribute_tensor
from dtensor.debug import CommDebugMode

INDICES = [
    np.s_[::-1],
    np.s_[::-2],
    np.s_[5:1:-1],
    np.s_[-2::-3],
    np.s_[..., ::-1],
    np.s_[::-1, ::-1],
    np.s_[::-1, None, 1::2],
    np.s_[3, ::-1],
    np.s_[1:1:-1],
    np.s_[::-1, [2, 0, 2]],
    np.s_[[2, 0, 2], ::-1],
]


@pytest.mark.parametrize("shape", [(7, 5), (4, 3), (6, 8)])
def test_they_are_those_of_numpy_in_all_layouts(ranks, shape):
    def body():
        array = np.arange(float(np.prod(shape))).reshape(shape)
        for mesh in (line(), square()):
            for placements in layouts(2, mesh.ndim):
                x, whole = placed(array, mesh, placements)
                for index in INDICES:
                    want = whole[index]
                    assert np.array_equal(x[index].full_tensor(), want), index

    ranks(body)


def test_cut_dims_stay_cut_and_a_part_is_sent(ranks):
    def body():
        whole = np.arange(600.0).reshape(200, 3)
        x = distribute_tensor(whole, line(), [Shard(0)], src_data_rank=None)
        for step in (-1, -2):
            with CommDebugMode() as comm:
                y = x[::step]
            assert y.layout.is_cut(0) == (line().size() > 1)
            assert {*comm.get_comm_counts()} <= {"exchange", "all_to_all"}
            assert sum(comm.get_comm_bytes().values()) <= x.to_local().nbytes
            assert np.array_equal(y.full_tensor(), whole[::step])

    ranks(body)


def test_gradients_go_back_the_same_way(ranks):
    def body():
        whole = np.random.default_rng(3).normal(size=(9, 4))
        for index in INDICES[:7]:
            weights = np.arange(1.0, whole[index].size + 1).reshape(whole[index].shape)
            want = np.zeros_like(whole)
            want[index] += weights
            for placement in (Shard(0), Shard(1)):
                x = distribute_tensor(whole, line(), [placement], src_data_rank=None)
                x.requires_grad_()
                with CommDebugMode() as comm:
                    (x[index] * weights).sum().backward()
                assert np.array_equal(x.grad.full_tensor(), want), index
                assert "all_gather" not in comm.get_comm_counts()

    ranks(body)


def test_writes_to_them_are_writes_to_the_array(ranks):
    def body():
        for a, b in itertools.product((Shard(0), Shard(1)), INDICES[:7]):
            whole = np.arange(35.0).reshape(7, 5)
            x = distribute_tensor(whole, line(), [a], src_data_rank=None)
            x[b] = x[b] * 2
            whole[b] = whole[b] * 2
            assert np.array_equal(x.full_tensor(), whole)
            y, z = x[b], whole[b]
            y += 1
            z += 1
            assert np.array_equal(x.full_tensor(), whole)

    ranks(body)
