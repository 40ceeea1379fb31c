"""Saved tensors, edges and hooks on several gradients: torch.autograd.graph."""

import gc

import numpy as np
import pytest
from meshes import line

import dtensor.torch as torch
from dtensor import Shard, distribute_tensor
from dtensor.torch.autograd import graph
from dtensor.torch.nn import functional as F
from dtensor.torch.utils.checkpoint import checkpoint

A = np.arange(1.0, 4.0)


def leaf(x=A):
    return torch.tensor(x, requires_grad=True)


# --- names of nodes -------------------------------------------------------------------


def test_nodes_have_the_names_of_public_functions():
    x = torch.tensor([A, A], requires_grad=True)
    for y, name in [
        (F.cross_entropy(x, torch.tensor([2, 0])), "nll_loss"),
        (F.mse_loss(x, x.detach()), "loss"),
        (F.log_softmax(x, 1), "log_softmax"),
    ]:
        assert y.grad_fn.name() == f"{name}Backward"
        assert repr(y.grad_fn) == f"<{name}Backward>"


# --- saved tensors --------------------------------------------------------------------


def test_save_on_cpu_keeps_what_is_saved_and_sees_writes():
    x = leaf()
    with graph.save_on_cpu(pin_memory=True):
        y = x * 2
        z = (y * y).sum()
    z.backward()
    assert np.array_equal(x.grad, 8 * A)
    with graph.save_on_cpu():
        y = x * 2
        z = (y * y).sum()
    y.zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward()


def test_save_on_cpu_takes_the_place_of_hooks_around_it():
    seen = []
    with graph.saved_tensors_hooks(seen.append, lambda x: x):
        with graph.save_on_cpu():
            leaf().exp()
        assert not seen
        leaf().exp()
    assert len(seen) == 1


def test_hooks_can_be_disabled():
    with graph.disable_saved_tensors_hooks("not here"):
        with pytest.raises(RuntimeError, match="not here"), graph.save_on_cpu():
            pass
        with pytest.raises(RuntimeError, match="not here"):
            checkpoint(torch.exp, leaf(), use_reentrant=False)
        with graph.disable_saved_tensors_hooks("nor here"):
            pass
        with pytest.raises(RuntimeError, match="not here"), graph.save_on_cpu():
            pass
    with graph.save_on_cpu():
        pass
    with graph.saved_tensors_hooks(lambda x: x, lambda x: x):
        with (
            pytest.raises(RuntimeError, match="not here"),
            graph.disable_saved_tensors_hooks("not here"),
        ):
            pass


def test_backward_gets_what_was_saved_before_writes():
    x = leaf()
    with graph.allow_mutation_on_saved_tensors() as context:
        y = x * 1
        z = (y**2).sum()
        y.sin_()
        with (
            pytest.raises(RuntimeError, match="cannot be nested"),
            graph.allow_mutation_on_saved_tensors(),
        ):
            pass
        z.backward()
        context.clear()
    assert np.array_equal(x.grad, 2 * A)


def test_a_noted_write_is_seen_by_backward(ranks):
    x = leaf()
    y = x * 1
    z = (y * y).sum()
    version = y._version
    graph.increment_version(y)
    assert y._version == version + 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward()
    graph.increment_version([torch.ones(2), torch.ones(3)])
    with pytest.raises(RuntimeError, match="expect a Iterable"):
        graph.increment_version(3)

    def body():
        y = distribute_tensor(A, line(), [Shard(0)])
        graph.increment_version(y)
        assert y._version == 1

    ranks(body)


# --- edges ----------------------------------------------------------------------------


def test_an_edge_stands_for_its_tensor(ranks):
    x = leaf()
    y = x * 2
    edge = graph.get_gradient_edge(y)
    assert edge.node is y.grad_fn and edge.output_nr == 0
    z = (y * y).sum()
    assert np.array_equal(torch.autograd.grad(z, edge)[0], 4 * A)
    z = y * y
    edge = graph.get_gradient_edge(z)
    del z
    gc.collect()
    with pytest.raises(RuntimeError, match="only for scalar outputs"):
        torch.autograd.grad(edge, x)
    (g,) = torch.autograd.grad(edge, x, torch.tensor(np.ones(3)))
    assert np.array_equal(g, 8 * A)
    (x * x).sum().backward(inputs=[graph.get_gradient_edge(x)])
    assert np.array_equal(x.grad, 2 * A)
    several = torch.stack([x, 2 * x]).unbind(0)[1]
    assert graph.get_gradient_edge(several).output_nr == several.output_nr
    with pytest.raises(RuntimeError, match="does not require gradients"):
        graph.get_gradient_edge(torch.ones(2))
    with pytest.raises(RuntimeError, match="get_gradient_edge"):
        torch.autograd.grad(y.sum(), graph.GradientEdge(y.grad_fn, 0))

    def body():
        x = distribute_tensor(A, line(), [Shard(0)]).requires_grad_()
        y = x * 2
        edge = graph.get_gradient_edge(y)
        (g,) = torch.autograd.grad((y * y).sum(), edge)
        assert np.array_equal(g.full_tensor(), 4 * A)

    ranks(body)


# --- hooks on several gradients -------------------------------------------------------


def test_a_hook_gets_several_gradients():
    x, y, z = leaf(), leaf(2 * A), leaf(3 * A)
    u = x * y
    found = []
    handle = graph.register_multi_grad_hook((x, u, z), found.append)
    (u.sum() + (3 * z).sum()).backward()
    assert len(found) == 1
    assert [g.tolist() for g in found[0]] == [(2 * A).tolist(), [1] * 3, [3] * 3]
    (x * 5).sum().backward()
    assert found[1][0].tolist() == [5] * 3 and found[1][1:] == [None, None]
    y.sum().backward()
    assert len(found) == 2
    handle.remove()
    x.sum().backward()
    assert len(found) == 2


def test_a_hook_gets_the_first_gradient():
    x, y = leaf(), leaf()
    found = []
    with graph.register_multi_grad_hook((x, y), found.append, mode="any"):
        for _ in range(2):
            (x * y).sum().backward()
    assert len(found) == 2
    with pytest.raises(ValueError, match="mode to be one of"):
        graph.register_multi_grad_hook((x,), found.append, mode="some")
    with pytest.raises(RuntimeError, match="doesn't require gradient"):
        graph.register_multi_grad_hook((x, torch.ones(2)), found.append)


def test_a_backward_that_fails_leaves_no_gradients_behind():
    x, y = leaf(), leaf()
    found = []
    graph.register_multi_grad_hook((x, y), found.append)

    def fail(grad):
        raise KeyError("on purpose")

    handle = y.register_hook(fail)
    with pytest.raises(KeyError):
        (x + 2 * y).sum().backward()
    handle.remove()
    found.clear()
    (3 * y).sum().backward()
    assert len(found) == 1 and found[0][0] is None
    assert found[0][1].tolist() == [3] * 3
