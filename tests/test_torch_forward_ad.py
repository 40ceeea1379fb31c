"""Tangents: torch.autograd.forward_ad."""

import numpy as np
import pytest
from meshes import line

import dtensor.torch as torch
import dtensor.torch.autograd.forward_ad as fwAD
from dtensor import Shard, distribute_tensor

A, T = np.arange(1.0, 4.0), np.array([1.0, -2.0, 0.5])


def test_tangents_are_products_with_the_jacobian():
    x, y = torch.tensor(A), torch.tensor(2 * A)
    with fwAD.dual_level():
        a, b = fwAD.make_dual(x, torch.tensor(T)), fwAD.make_dual(y, torch.tensor(A))
        primal, tangent = fwAD.unpack_dual(a * b.sin())
        assert np.allclose(primal, A * np.sin(2 * A))
        assert np.allclose(tangent, T * np.sin(2 * A) + A * np.cos(2 * A) * A)
        assert not primal.requires_grad and not tangent.requires_grad
        assert np.array_equal(fwAD.unpack_dual(3 * a).tangent, 3 * T)  # it is linear
        assert np.array_equal(fwAD.unpack_dual(a).tangent, T)
        assert fwAD.unpack_dual(x * 2).tangent is None
        total = fwAD.unpack_dual((a * a).sum())
        assert np.allclose(total.tangent, 2 * A @ T)
        made = a * a
    assert fwAD.unpack_dual(made).tangent is None  # the level is closed


def test_tangents_have_gradients():
    x = torch.tensor(A, requires_grad=True)
    with fwAD.dual_level():
        primal, tangent = fwAD.unpack_dual(fwAD.make_dual(x, torch.tensor(T)) ** 3)
        assert np.allclose(tangent.detach(), 3 * A**2 * T)
        (g,) = torch.autograd.grad(tangent.sum(), x, retain_graph=True)
        assert np.allclose(g, 6 * A * T)
        (g,) = torch.autograd.grad(primal.sum(), x)
        assert np.allclose(g, 3 * A**2)


def test_tangents_of_dtensors(ranks):
    def body():
        x, t = (distribute_tensor(v, line(), [Shard(0)]) for v in (A, T))
        with fwAD.dual_level():
            y = fwAD.unpack_dual((fwAD.make_dual(x, t) ** 2).sum())
        assert np.allclose(y.tangent.full_tensor(), 2 * A @ T)

    ranks(body)


def test_there_is_one_level():
    x = torch.tensor(A)
    with pytest.raises(RuntimeError, match="no level exists"):
        fwAD.make_dual(x, x)
    with pytest.raises(RuntimeError, match="must be a positive number"):
        fwAD.exit_dual_level()
    assert fwAD.enter_dual_level() == 0
    with pytest.raises(RuntimeError, match="Nested forward mode"):
        fwAD.enter_dual_level()
    with pytest.raises(RuntimeError, match="not the last one"):
        fwAD.exit_dual_level(level=3)
    fwAD.exit_dual_level(level=0)


def test_what_cannot_be_dual_is_refused():
    x = torch.tensor(A)
    with fwAD.dual_level():
        with pytest.raises(ValueError, match="Expected primal to be floating point"):
            fwAD.make_dual(x.long(), x)
        with pytest.raises(ValueError, match="Expected tangent to be floating point"):
            fwAD.make_dual(x, x.long())
        with pytest.raises(RuntimeError, match="different size"):
            fwAD.make_dual(x, x[:2])
        with pytest.raises(TypeError, match="must be a tensor"):
            fwAD.make_dual(3, x)
        with pytest.raises(TypeError, match="must be Tensor, not int"):
            fwAD.unpack_dual(3)
        dual = fwAD.make_dual(x, x)
        with pytest.raises(RuntimeError, match="already has a forward gradient"):
            fwAD.make_dual(dual, x)
        with torch.no_grad(), pytest.raises(RuntimeError, match=r"torch\.func\.jvp"):
            fwAD.make_dual(x, x)
    with pytest.raises(KeyError), fwAD.dual_level():
        raise KeyError
    with fwAD.dual_level():  # closed by the error, too
        pass
