"""LU factors, triangular systems and least squares of PyTorch's dialect, in batches."""

import numpy as np
import pytest
from meshes import line

import dtensor.torch as torch
from dtensor import Shard, distribute_tensor

RNG = np.random.default_rng(4)


def some(*shape):
    return torch.tensor(RNG.normal(size=shape))


def near(x, y):
    np.testing.assert_allclose(x.detach(), y.detach(), 1e-9, 1e-9)


@pytest.mark.parametrize("shape", [(3, 3), (2, 5, 3), (3, 5), (2, 2, 4, 4)])
def test_factors_multiply_to_the_matrix(shape):
    a = some(*shape)
    packed, pivots = torch.linalg.lu_factor(a)
    p, low, up = torch.lu_unpack(packed, pivots)
    near(p @ low @ up, a)
    assert pivots.dtype == torch.int32 and int(pivots.min()) >= 1
    assert float(low.abs().max()) <= 1 and torch.equal(up, up.triu())
    for found in (torch.linalg.lu(a), torch.lu_unpack(*a.lu())):
        for x, y in zip(found, (p, low, up), strict=True):
            near(x, y)
    assert torch.lu(a, get_infos=True)[2].sum() == 0
    assert torch.lu_unpack(packed, pivots, unpack_data=False).L.shape == (0,)


@pytest.mark.parametrize("shape", [(3, 3), (2, 4), (4, 2), (2, 2, 3), (2, 3, 2)])
def test_gradients_of_factors_are_those_of_differences(shape):
    a = some(*shape).requires_grad_()
    count = a.numel()

    def f(a):
        _, low, up = torch.linalg.lu(a)
        return (low**3).sum() + (up * up.exp()).sum()

    f(a).backward()
    for k in range(count):
        step = torch.tensor(1e-6 * (np.arange(count) == k).reshape(shape))
        slope = (f(a.detach() + step) - f(a.detach() - step)) / 2e-6
        assert abs(float(slope - a.grad.flatten()[k])) < 1e-5


def test_systems_are_solved_by_factors():
    a, b = some(2, 3, 3), some(2, 3, 2)
    factors = torch.linalg.lu_factor(a)
    near(a @ torch.lu_solve(b, *factors), b)
    near(a.mT @ torch.linalg.lu_solve(*factors, b, adjoint=True), b)
    near(torch.linalg.lu_solve(*factors, b.mT, left=False) @ a, b.mT)
    near(a.triu() @ torch.linalg.solve_triangular(a, b, upper=True), b)
    one = a.tril(-1) + torch.eye(3)
    x = torch.linalg.solve_triangular(
        a, b.mT, upper=False, left=False, unitriangular=True
    )
    near(x @ one, b.mT)


def test_least_squares_of_batches():
    a, b = some(2, 5, 3), some(2, 5, 2)
    found = torch.linalg.lstsq(a, b, driver="gelss")
    for k in range(2):
        x, left, rank, _ = np.linalg.lstsq(a[k].numpy(), b[k].numpy(), None)
        near(found.solution[k], torch.tensor(x))
        near(found.residuals[k], torch.tensor(left))
        assert found.rank[k] == rank
    assert found.singular_values.shape == (2, 3)
    plain = torch.linalg.lstsq(a, b)
    assert plain.singular_values.shape == plain.residuals.shape == (0,)
    assert torch.linalg.lstsq(a, b, driver="gels").rank.shape == (0,)
    near(torch.linalg.lstsq(a, b[..., 0]).solution, found.solution[..., 0])
    near(torch.linalg.lstsq(a[0], b[0]).solution, found.solution[0])
    with pytest.raises(RuntimeError, match="should match"):
        torch.linalg.lstsq(a, b[:, :2])


def test_batches_stay_cut(ranks):
    a, b = some(4, 3, 3), some(4, 3, 2)
    want, solved = torch.linalg.lu(a), torch.linalg.solve(a, b)

    def body():
        whole = distribute_tensor(a, line(), [Shard(0)])
        for x, y in zip(torch.linalg.lu(whole), want, strict=True):
            assert x.placements == (Shard(0),)
            near(x.full_tensor(), y)
        rows = distribute_tensor(a, line(), [Shard(1)])
        right = distribute_tensor(b, line(), [Shard(0)])
        near(torch.linalg.lstsq(rows, right).solution.full_tensor(), solved)

    ranks(body)


@pytest.mark.parametrize("reduce", ["amax", "amin"])
def test_extremes_that_are_scattered_share_their_gradient(reduce):
    x = torch.zeros(2, 2, requires_grad=True)
    sign = 1.0 if reduce == "amax" else -1.0
    src = torch.tensor([[1.0, 2.0], [1.0, -1.0], [0.0, 5.0]]) * sign
    src.requires_grad_()
    index = torch.tensor([[0, 0], [0, 0], [1, 0]])
    found = x.scatter_reduce(0, index, src, reduce)
    assert (found * sign).tolist() == [[1, 5], [0, 0]]
    (found * torch.tensor([[2.0, 3.0], [4.0, 5.0]])).sum().backward()
    assert src.grad.tolist() == [[1, 0], [1, 0], [2, 3]]
    assert x.grad.tolist() == [[0, 0], [2, 5]]


def test_values_beside_indices_may_be_written_to():
    x = torch.tensor([[1.0, 3.0, 2.0]], requires_grad=True)
    for values, _ in (torch.topk(x, 2), torch.sort(x), torch.max(x, 1, keepdim=True)):
        values /= 2
        x.grad = None
        values.sum().backward()
        assert x.grad.max() == 0.5
