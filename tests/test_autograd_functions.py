"""Operations with gradients of the user's own, and checkpoints."""

import gc
import sys

import numpy as np
import pytest
from meshes import line

from dtensor import Replicate, Shard, autograd, distribute_tensor, tensor, topk
from dtensor.utils.checkpoint import checkpoint, checkpoint_sequential

A = np.arange(1.0, 7).reshape(2, 3)


def leaf(array=A):
    return tensor(np.array(array), requires_grad=True)


# --- functions of the user's ----------------------------------------------------------


class Scale(autograd.Function):
    @staticmethod
    def forward(ctx, x, factor, flag=None):
        ctx.save_for_backward(x)
        ctx.factor = factor
        return x * factor, x + 0

    @staticmethod
    def backward(ctx, g, unused):
        (x,) = ctx.saved_tensors
        assert np.array_equal(unused.detach(), np.zeros(x.shape))
        return g * ctx.factor, None, None


def test_a_function_has_the_gradient_that_the_user_wrote():
    x = leaf()
    y, _ = Scale.apply(x, 3.0, None)
    assert y.grad_fn.name() == "ScaleBackward"
    y.sum().backward()
    assert np.array_equal(x.grad, np.full((2, 3), 3.0))


def test_a_function_can_set_up_its_context_apart():
    class Square(autograd.Function):
        @staticmethod
        def forward(x):
            return x * x

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, g):
            return 2 * ctx.saved_tensors[0] * g

    x = leaf()
    (g,) = autograd.grad(Square.apply(x).sum(), x, create_graph=True)
    g.sum().backward()
    assert np.array_equal(g.detach(), 2 * A) and np.array_equal(
        x.grad, np.full(A.shape, 2)
    )


# --- checkpoints ----------------------------------------------------------------------


@pytest.mark.parametrize("reentrant", [False, True])
def test_checkpoint_computes_again_what_it_did_not_keep(reentrant):
    calls = []

    def block(x, w):
        calls.append(1)
        return (x * w).exp() * w

    def gradients(run):
        x, w = leaf(A / 6), leaf(A / 3)
        run(x, w).sum().backward()
        return np.array(x.grad), np.array(w.grad)

    plain = gradients(block)
    again = gradients(lambda x, w: checkpoint(block, x, w, use_reentrant=reentrant))
    assert len(calls) == 3
    assert all(map(np.array_equal, plain, again))


def test_checkpoint_sequential_is_the_chain_of_its_functions():
    x = leaf()
    chain = [lambda x: x * 2, lambda x: x.exp(), lambda x: x + 1, lambda x: x * x]
    checkpoint_sequential(chain, 2, x).sum().backward()
    e = np.exp(2 * A)
    assert np.allclose(x.grad, 2 * (e + 1) * 2 * e)


def test_checkpoint_finds_a_second_call_that_differs():
    x, turn = leaf(), iter([1, 2])

    def block(x):
        return (x[:1] if next(turn) == 1 else x[:, :1]).exp()

    y = checkpoint(block, x)
    with pytest.raises(RuntimeError, match="different metadata"):
        y.sum().backward()


# --- dtypes ---------------------------------------------------------------------------


def test_backward_dtype_is_that_of_the_way_back(ranks):
    def body():
        x = distribute_tensor(np.full(8, 1 / 3), line(), [Shard(0)]).requires_grad_()
        y = x.redistribute(placements=[Replicate()], backward_dtype=np.float32)
        (y * (1 / 3)).sum().backward()
        expected = np.full(8, np.float32(1 / 3)).astype(float)
        assert np.array_equal(x.grad.full_tensor(), expected)

    ranks(body)


def test_no_outputs():
    w = leaf()
    assert autograd.grad([], [w], allow_unused=True) == (None,)
    with pytest.raises(RuntimeError, match="to not have been used"):
        autograd.grad([], [w])
    autograd.backward([], inputs=[w])
    assert w.grad is None


def test_saved_integers_are_freed():
    def step():
        x = leaf()
        values, _ = topk(x, 2)
        values.sum().backward()

    for _ in range(50):  # caches fill
        step()
    gc.collect()
    before = sys.getallocatedblocks()
    for _ in range(50):
        step()
    gc.collect()
    assert sys.getallocatedblocks() < before + 50
