"""einsum of diagonals of cut dims: each rank gives what it has."""

import numpy as np
import pytest
from meshes import line, square
from placed import layouts, placed

from dtensor import Replicate, Shard, distribute_tensor
from dtensor.debug import CommDebugMode

ONE = ["ii->i", "ii", "iji->j", "iji->ij", "iii->i", "iij->ji", "jii->j"]


@pytest.mark.parametrize("text", ONE)
def test_they_are_those_of_numpy_in_all_layouts(ranks, text):
    def body():
        ndim = len(text.partition("->")[0])
        array = np.random.default_rng(ndim).normal(size=(5,) * ndim)
        for mesh in (line(), square()):
            for placements in layouts(ndim, mesh.ndim):
                x, whole = placed(array, mesh, placements)
                got, want = np.einsum(text, x), np.einsum(text, whole)
                np.testing.assert_allclose(got.full_tensor(), want, 1e-12, 1e-12)

    ranks(body)


def test_products_and_gradients_too(ranks):
    def body():
        a = np.random.default_rng(1).normal(size=(6, 6, 4))
        b = np.random.default_rng(2).normal(size=(6, 3))
        grads = []
        for placement in (Replicate(), Shard(0), Shard(1)):
            x = distribute_tensor(a, line(), [placement], src_data_rank=None)
            y = distribute_tensor(b, line(), [placement], src_data_rank=None)
            x.requires_grad_()
            z = np.einsum("iik,ij->jk", x, y)
            np.testing.assert_allclose(
                z.full_tensor().detach(), np.einsum("iik,ij->jk", a, b), 1e-12
            )
            (z * z).sum().backward()
            grads.append(np.asarray(x.grad.full_tensor()))
        np.testing.assert_allclose(grads[1], grads[0], 1e-12)
        np.testing.assert_allclose(grads[2], grads[0], 1e-12)

    ranks(body)


def test_nothing_is_gathered(ranks):
    def body():
        x = distribute_tensor(np.ones((90, 90)), line(), [Shard(0)])
        with CommDebugMode() as comm:
            np.einsum("ii->i", x), np.einsum("ii", x)
        assert sum(comm.get_comm_bytes().values()) == 0

    ranks(body)
