"""Products of matrices by panels, against NumPy; and what they send and keep."""

import itertools

import numpy as np
import pytest
from meshes import line, square

from dtensor import _C, DTensor, Replicate, Shard, distribute_tensor
from dtensor.debug import CommDebugMode
from dtensor.ops.linalg import product_parts

S0, S1, R = Shard(0), Shard(1), Replicate()


@pytest.fixture(autouse=True)
def all_are_large(monkeypatch):
    monkeypatch.setattr(product_parts, "LEAST_BYTES", 300)
    monkeypatch.setattr(product_parts, "SCRATCH_BYTES", 400)


def values(*shape: int, dtype: str = "d") -> np.ndarray:
    return np.random.default_rng(shape).integers(-9, 10, shape).astype(dtype)


def placed(array: np.ndarray, mesh, *placements) -> DTensor:
    return distribute_tensor(array, mesh, placements, src_data_rank=None)


@pytest.mark.parametrize("dtype", ["f", "d", "D", "l"])
def test_products_are_numpys_and_never_pending(ranks, dtype):
    def body():
        mesh = line()
        a, b = values(13, 17, dtype=dtype), values(17, 11, dtype=dtype)
        for pair in ((S0, S0), (S1, S1), (S0, S1)):
            x, y = placed(a, mesh, pair[0]), placed(b, mesh, pair[1])
            for product in (x @ y, x.dot(y)):
                assert product.dtype == dtype and not product.layout.is_partial
                assert np.array_equal(product.full_tensor(), a @ b)
                if mesh.size() > 1:
                    assert product.layout.is_cut(0) or product.layout.is_cut(1)

    ranks(body)


def test_products_are_numpys_in_every_layout_of_two_mesh_dims(ranks):
    def body():
        a, b = values(12, 19), values(19, 14)
        layouts = list(itertools.product((S0, S1, R), repeat=2))
        for first, second in itertools.product(layouts, repeat=2):
            x, y = placed(a, square(), *first), placed(b, square(), *second)
            assert np.array_equal((x @ y).full_tensor(), a @ b)

    ranks(body)


def test_uneven_and_empty_parts_are_multiplied(ranks):
    def body():
        mesh = line()
        n, me = mesh.size(), mesh.get_rank()
        counts = [3, 0, 12, 1][:n]
        k = sum(counts)
        a, b = values(20, k), values(k, 9)
        start = sum(counts[:me])
        y = DTensor.from_local(b[start : start + counts[me]], mesh, [S0])
        assert np.array_equal((placed(a, mesh, S0) @ y).full_tensor(), a @ b)
        x = DTensor.from_local(a.T[start : start + counts[me]], mesh, [S0])
        assert np.array_equal((x @ placed(a, mesh, S0)).full_tensor(), a.T @ a)

    ranks(body)


def test_gradients_of_products_are_those_of_whole_matrices(ranks):
    def body():
        a, b = values(12, 15), values(15, 10)
        grads = []
        for placement in (R, S0):
            x, y = (placed(v, line(), placement).requires_grad_() for v in (a, b))
            np.sum((x @ y) ** 2).backward()
            grads.append([np.asarray(v.grad.full_tensor()) for v in (x, y)])
        assert all(map(np.array_equal, *grads))

    ranks(body)


def test_products_without_data_have_the_same_layout(ranks):
    def body():
        x = placed(values(12, 12), line(), S0)
        meta = _C.without_data(x.layout)
        assert (meta @ meta).layout == (x @ x).layout

    ranks(body)


def test_a_product_sends_what_a_gather_does_and_keeps_a_panel(ranks, monkeypatch):
    monkeypatch.setattr(product_parts, "LEAST_BYTES", 1 << 17)
    panels = []
    panel = product_parts._panel

    def seen(x, *where):
        panels.append(panel(x, *where))
        return panels[-1]

    monkeypatch.setattr(product_parts, "_panel", seen)

    def body():
        mesh = line()
        x = placed(values(192, 192), mesh, S0)
        with CommDebugMode() as comm:
            x @ x
        part = x.size * 8 / mesh.size()
        assert sum(comm.get_comm_bytes().values()) <= (mesh.size() - 1) * part

    ranks(body)
    assert all(x.layout.nbytes <= 1 << 17 for x in panels)
