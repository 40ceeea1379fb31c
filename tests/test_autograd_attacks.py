"""Graphs that are used against the rules give errors, and neither crash nor lie."""

import itertools

import numpy as np
import pytest
from meshes import line

from dtensor import (
    DTensor,
    Shard,
    autograd,
    distribute_tensor,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
    tensor,
)
from dtensor.autograd.graph import saved_tensors_hooks
from dtensor.utils.checkpoint import checkpoint


def leaf():
    return tensor([1.0, 2.0], requires_grad=True)


@pytest.mark.parametrize("answer", [2.0, np.ones(2), tensor(np.ones(5, np.float32))])
def test_hooks_must_give_gradients(answer):
    x = leaf()
    x.register_hook(lambda grad: answer)
    with pytest.raises((TypeError, RuntimeError), match="hook"):
        (x * 2).sum().backward()
    y = leaf() * 2
    y.register_hook(lambda grad: answer)
    with pytest.raises((TypeError, RuntimeError), match="hook"):
        y.sum().backward()


def test_what_is_no_tensor_is_refused():
    x = leaf()
    with pytest.raises(TypeError, match="expected Tensors"):
        x.sum().backward(inputs=[1])
    with pytest.raises(TypeError, match="expected Tensors"):
        autograd.backward([np.float64(3)], [np.float64(1)])


def test_an_unpack_hook_may_not_go_back_through_its_own_node():
    x, graph = leaf(), []

    def unpack(kept):
        if graph:
            graph.pop().backward()
        return kept

    with saved_tensors_hooks(lambda kept: kept, unpack):
        y = (x * x).sum()
    graph.append(y)
    with pytest.raises(RuntimeError, match="a second time"):
        y.backward()


def test_a_tensor_that_was_written_to_behind_its_back_knows_of_it_everywhere(ranks):
    def body():
        def through_view(y):
            view = y[...]
            view *= 3

        def itself(y):
            y *= 3

        uses = [
            lambda y: y.full_tensor(),
            lambda y: y.to_local(),
            lambda y: y.redistribute(placements=[Shard(0)]),
        ]
        for write, use in itertools.product((through_view, itself), uses):
            x = distribute_tensor(np.arange(6.0), line(), [Shard(0)]).requires_grad_()
            y = x * 2
            write(y)
            use(y).sum().backward()
            assert np.array_equal(x.grad.full_tensor(), np.full(6, 6.0))

    ranks(body)


def test_writes_through_views_that_are_not_recorded_are_found():
    x, b = leaf(), tensor([3.0, 4.0])
    y = x * b
    b[:1] *= 0
    with pytest.raises(RuntimeError, match="inplace operation"):
        y.sum().backward()
    y = x * x
    with no_grad():
        x[:1] *= 2
    with pytest.raises(RuntimeError, match="inplace operation"):
        y.sum().backward()


def test_the_local_part_of_a_leaf_is_not_written_to():
    x = distribute_tensor(np.ones(3), line(), [Shard(0)]).requires_grad_()
    if line().size() == 1:
        local = x.to_local()
        with pytest.raises(RuntimeError, match="view of a leaf"):
            local *= 5


def test_gradients_that_are_recorded_share_no_memory():
    x, y = leaf(), leaf()
    given = tensor(np.ones(2, np.float32))
    (x + y).backward(given, create_graph=True)
    (x * 3).sum().backward()
    assert np.array_equal(y.grad, [1, 1]) and np.array_equal(given, [1, 1])
    x.sum().backward(create_graph=True)
    x.sum().backward()
    assert np.array_equal(x.grad.detach(), [6, 6])


def test_an_input_that_is_named_twice_counts_once():
    x = leaf()
    (x * 2).sum().backward(inputs=[x, x])
    assert np.array_equal(x.grad, [2, 2])


def test_grad_gives_back_only_what_it_went_through():
    x, y = leaf(), leaf()
    z = (x.exp() * y.exp()).sum()
    autograd.grad(z, x, retain_graph=True)
    z = x.exp() + (other := y.exp() * 2)
    autograd.grad(z.sum(), x)
    other.sum().backward()
    assert y.grad is not None


def test_a_gradient_is_retained_as_the_hooks_leave_it():
    x = leaf()
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda grad: grad * 10)
    y.sum().backward()
    assert np.array_equal(y.grad, [10, 10])


def test_a_gradient_is_retained_of_the_value_that_was_written_last():
    x = leaf()
    y = x * 2
    assert not y.retains_grad
    y.retain_grad()
    y *= 4
    y[0] = 7
    y.retain_grad()
    assert y.retains_grad and not x.retains_grad
    (3 * y).sum().backward()
    assert np.array_equal(y.grad, [3, 3]) and np.array_equal(x.grad, [0, 24])


def test_hooks_after_accumulation_give_nothing():
    x = leaf()
    x.register_post_accumulate_grad_hook(lambda t: 0)
    with pytest.raises(RuntimeError, match="should return None"):
        x.sum().backward()


def test_inputs_of_a_checkpoint_are_not_written_to_meanwhile():
    x = leaf()
    h = x * 2
    y = checkpoint(lambda h: h * h, h).sum()
    with no_grad():
        h += 5
    with pytest.raises(RuntimeError, match="inplace operation"):
        y.backward()


def test_modes_decorate_functions_and_generators():
    @set_grad_enabled(False)
    def silent():
        return is_grad_enabled()

    assert is_grad_enabled() and not silent() and is_grad_enabled()

    @no_grad
    def bare():
        return is_grad_enabled()

    @no_grad()
    def steps():
        yield is_grad_enabled()
        yield is_grad_enabled()

    assert not bare()
    seen = []
    for value in steps():
        seen += [value, is_grad_enabled()]
    assert seen == [False, True, False, True]


def test_a_replaced_gradient_of_a_dtensor_must_be_a_dtensor(ranks):
    def body():
        x = distribute_tensor(np.ones(4), line(), [Shard(0)]).requires_grad_()
        handle = x.register_hook(lambda grad: grad.to_local())
        with pytest.raises(TypeError, match="expected a DTensor"):
            (x * 2).sum().backward()
        handle.remove()
        x.register_hook(lambda grad: grad * 3)
        (x * 2).sum().backward()
        assert isinstance(x.grad, DTensor)
        assert np.array_equal(x.grad.full_tensor(), np.full(4, 6.0))

    ranks(body)
