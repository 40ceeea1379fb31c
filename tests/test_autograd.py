"""What is recorded, and the way back: torch's rules and errors."""

import gc
import itertools
import weakref

import numpy as np
import pytest
from meshes import line

import dtensor
from dtensor import (
    DTensor,
    Partial,
    Replicate,
    Shard,
    autograd,
    distribute_tensor,
    enable_grad,
    no_grad,
    tensor,
)
from dtensor.autograd.graph import saved_tensors_hooks
from dtensor.debug import CommDebugMode

R, S0, S1, P = Replicate(), Shard(0), Shard(1), Partial()
A = np.arange(1.0, 7).reshape(2, 3)


def leaf(array=A):
    return tensor(np.array(array), requires_grad=True)


# --- the record -----------------------------------------------------------------------


def test_only_what_is_made_of_something_that_requires_a_gradient_is_recorded():
    x, constant = leaf(), tensor(A)
    assert x.is_leaf and x.grad_fn is None
    assert not (constant * 2).requires_grad
    y = x * constant
    assert y.requires_grad and not y.is_leaf
    assert y.grad_fn.name() == "multiplyBackward"
    assert y.grad_fn.next_functions == ((x, 0), (None, 0))
    assert not (x > 2).requires_grad and not x.argmax().requires_grad
    with no_grad():
        assert not (x * 2).requires_grad
        with enable_grad():
            assert (x * 2).requires_grad
    assert not (x.detach() * 2).requires_grad


def test_decorators_and_set_grad_enabled_switch_recording():
    x = leaf()

    @no_grad()
    def silent(depth):
        return (x * 2).requires_grad or (depth > 0 and silent(depth - 1))

    assert not silent(3) and dtensor.is_grad_enabled()
    with dtensor.set_grad_enabled(False):
        assert not dtensor.is_grad_enabled()
    assert dtensor.is_grad_enabled()
    dtensor.set_grad_enabled(False)
    assert not dtensor.is_grad_enabled()
    dtensor.set_grad_enabled(True)
    with dtensor.inference_mode():
        assert not (x * 2).requires_grad


def test_what_was_recorded_is_freed_with_the_last_result():
    x = leaf()
    y = x * 2
    big = y.exp()
    seen = weakref.ref(big)
    z = big.sum()
    del big
    z.backward()
    gc.collect()
    assert seen() is None


def test_a_chain_of_many_operators_is_freed_without_recursion():
    x = leaf()
    y = x
    for _ in range(100_000):
        y = y + 1
    del y


# --- backward -------------------------------------------------------------------------


def test_gradients_add_up_over_uses_and_over_backwards():
    x = leaf()
    (x * x + x).sum().backward()
    assert np.array_equal(x.grad, 2 * A + 1)
    (3 * x).sum().backward()
    assert np.array_equal(x.grad, 2 * A + 4)


def test_a_gradient_shares_no_memory_with_another():
    x, y = leaf(), leaf()
    given = tensor(np.ones((2, 3)))
    (x + y).backward(given)
    x.grad.zero_()
    assert np.array_equal(y.grad, np.ones((2, 3))) and np.array_equal(given, y.grad)


def test_broadcast_operands_get_sums_in_their_own_dtype():
    x, row = leaf(), tensor(np.ones(3, np.float32), requires_grad=True)
    one = tensor(np.ones((2, 1)), requires_grad=True)
    (x * row * one).sum().backward()
    assert row.grad.dtype == np.float32 and np.array_equal(row.grad, A.sum(0))
    assert np.array_equal(one.grad, A.sum(1, keepdims=True))


def test_backward_needs_a_scalar_or_a_gradient():
    x = leaf()
    with pytest.raises(RuntimeError, match="implicitly created only for scalar"):
        (x * 2).backward()
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        (x * 2).backward(tensor(np.ones(3)))
    (x * 2).backward(tensor(A))
    assert np.array_equal(x.grad, 2 * A)
    with pytest.raises(RuntimeError, match="does not require grad"):
        tensor(A).sum().backward()


def test_a_second_backward_needs_what_the_first_gave_back():
    x = leaf()
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert np.array_equal(x.grad, 4 * A)
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.backward()


def test_grad_gives_gradients_of_leaves_and_of_what_is_on_the_way():
    x = leaf()
    y = x * 2
    z = (y * y).sum()
    gx, gy = autograd.grad(z, [x, y])
    assert x.grad is None
    assert np.array_equal(gy, 4 * A) and np.array_equal(gx, 8 * A)
    other = leaf()
    z = (x * 2).sum()
    with pytest.raises(RuntimeError, match="not have been used in the graph"):
        autograd.grad(z, [other], retain_graph=True)
    assert autograd.grad(z, [other], allow_unused=True, retain_graph=True) == (None,)
    (zeros,) = autograd.grad(z, [other], materialize_grads=True)
    assert np.array_equal(zeros, np.zeros((2, 3)))


def test_backward_can_be_limited_to_some_inputs():
    x, y = leaf(), leaf()
    (x * y).sum().backward(inputs=[x])
    assert y.grad is None and np.array_equal(x.grad, A)


def test_gradients_can_be_differentiated_again():
    x = leaf()
    (g,) = autograd.grad((x * x * x).sum(), x, create_graph=True)
    assert np.allclose(g.detach(), 3 * A * A)
    (h,) = autograd.grad(g.sum(), x, create_graph=True)
    assert np.allclose(h.detach(), 6 * A)
    h.sum().backward()
    assert np.allclose(x.grad, 6)


# --- hooks ----------------------------------------------------------------------------


def test_hooks_see_and_change_gradients():
    x = leaf()
    y = x * 2
    seen = []
    handle = y.register_hook(lambda g: seen.append(np.array(g)))
    x.register_hook(lambda g: g * 10)
    x.register_post_accumulate_grad_hook(lambda t: seen.append(np.array(t.grad)))
    y.sum().backward()
    assert np.array_equal(seen[0], np.ones((2, 3)))
    assert np.array_equal(seen[1], np.full((2, 3), 20.0))
    handle.remove()
    with pytest.raises(RuntimeError, match="doesn't require gradient"):
        tensor(A).register_hook(print)
    with pytest.raises(RuntimeError, match="non-leaf"):
        (x * 2).register_post_accumulate_grad_hook(print)


def test_a_result_keeps_its_gradient_if_asked_to():
    x = leaf()
    y = x * 2
    y.retain_grad()
    (y * y).sum().backward()
    assert np.array_equal(y.grad, 4 * A)


def test_saved_tensors_pass_through_hooks():
    x = leaf()
    packed = []

    def pack(t):
        packed.append(t)
        return np.array(t)

    with saved_tensors_hooks(pack, tensor):
        y = (x * x).exp()
    y.sum().backward()
    assert len(packed) == 3 and not any(t.requires_grad for t in packed)
    assert np.allclose(x.grad, 2 * A * np.exp(A * A))


# --- writes ---------------------------------------------------------------------------


def test_writes_are_recorded(ranks):
    def body():
        for x in (leaf(), distribute_tensor(A, line(), [S0]).requires_grad_()):
            y = x * 1
            y *= 3
            y += x
            y *= x
            y.sum().backward()
            assert np.array_equal(np.asarray(whole(x.grad)), 8 * A)

    ranks(body)


def test_writes_that_would_make_gradients_wrong_are_refused(ranks):
    def body():
        for x in (leaf(), distribute_tensor(A, line(), [S0]).requires_grad_()):
            with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
                x += 1
            with pytest.raises(RuntimeError, match="out=... arguments don't support"):
                np.add(x, 1, out=(x * 2).detach())
            y = x.exp()
            z = y * y
            y += 1
            with pytest.raises(RuntimeError, match="modified by an inplace operation"):
                z.sum().backward()
            with no_grad():
                x += 1
            assert x.is_leaf and x.requires_grad

    ranks(body)


def test_the_tensor_itself_knows_of_writes_into_views(ranks):
    def body():
        for x in (leaf(), distribute_tensor(A, line(), [R]).requires_grad_()):
            y = (x * 2).reshape(3, 2)
            y += 1
            (y * y).sum().backward()
            assert np.array_equal(np.asarray(whole(x.grad)), 4 * (2 * A + 1))
            x.grad = None
            y = x * 2
            y[0] += x[1]
            (y * y).sum().backward()
            rows = 2 * A + [[1], [0]] * A[1]
            expected = np.array([4 * rows[0], 4 * rows[1] + 2 * rows[0]])
            assert np.array_equal(np.asarray(whole(x.grad)), expected)
            y = x * 2
            row = y[0]
            row *= 3
            x.grad = None
            y.sum().backward()
            assert np.array_equal(np.asarray(whole(x.grad)), [[6] * 3, [2] * 3])
            view = x[0]
            with pytest.raises(RuntimeError, match="view of a leaf Variable"):
                view += 1

    ranks(body)


# --- DTensors -------------------------------------------------------------------------


def whole(x):
    return x.full_tensor() if isinstance(x, DTensor) else x


def test_gradients_of_dtensors_have_the_layout_of_the_leaf(ranks):
    a, b = np.arange(35.0).reshape(5, 7) / 35, np.arange(21.0).reshape(7, 3) / 21
    x, y = leaf(a), leaf(b)
    ((x @ y).exp() * 2).sum().backward()

    def body():
        for p, q in itertools.product([R, S0, S1], repeat=2):
            u = distribute_tensor(a, line(), [p]).requires_grad_()
            v = distribute_tensor(b, line(), [q]).requires_grad_()
            ((u @ v).exp() * 2).sum().backward()
            assert u.grad.placements == (p,) and v.grad.placements == (q,)
            assert np.allclose(u.grad.full_tensor(), x.grad)
            assert np.allclose(v.grad.full_tensor(), y.grad)

    ranks(body)


def test_gradients_pass_the_borders(ranks):
    def body():
        mesh = line()
        n, r = mesh.size(), mesh.get_rank()
        part = tensor(np.full((2, 3), r + 1.0), requires_grad=True)
        x = DTensor.from_local(part, mesh, [S0])
        weights = np.arange(6.0 * n).reshape(2 * n, 3)
        (x * weights).sum().backward()
        assert np.array_equal(part.grad, weights[2 * r : 2 * r + 2])

        x = distribute_tensor(np.arange(8.0), mesh, [S0]).requires_grad_()
        y = x.redistribute(mesh, [R])
        (y * y).sum().backward()
        assert x.grad.placements == (S0,)
        assert np.array_equal(x.grad.full_tensor(), 2 * np.arange(8.0))
        (x.to_local() * 3).sum().backward()
        assert np.array_equal(x.grad.full_tensor(), 2 * np.arange(8.0) + 3)
        for grads, factor in ((None, 1), ([R], 1), ([P], n)):
            x.grad = None
            y = x.full_tensor(grad_placements=grads)
            (y * y).sum().backward()
            assert np.array_equal(x.grad.full_tensor(), 2 * factor * np.arange(8.0))

    ranks(body)


def test_addends_get_the_gradient_of_what_they_add_up_to(ranks):
    def body():
        mesh = line()
        part = tensor(np.ones(3), requires_grad=True)
        for op, factor in (("sum", 1), ("avg", 1 / mesh.size())):
            part.grad = None
            x = DTensor.from_local(part, mesh, [Partial(op)])
            (x.redistribute(placements=[R]) * np.arange(3.0)).sum().backward()
            assert np.allclose(part.grad, np.arange(3.0) * factor)
        x = DTensor.from_local(part, mesh, [Partial("max")])
        if mesh.size() > 1:
            with pytest.raises(NotImplementedError, match="only of sum and avg"):
                x.redistribute(placements=[R]).sum().backward()

    ranks(body)


def test_grad_placements_save_the_reduction_of_replicated_inputs(ranks):
    def body():
        mesh = line()
        weight = distribute_tensor(np.ones((3, 4)), mesh, [S1])
        part = tensor(np.ones((2, 3)), requires_grad=True)
        for grads, reductions in ((None, 1), ([P], 0)):
            x = DTensor.from_local(part, mesh, [R], grad_placements=grads)
            y = (x @ weight).to_local()
            with CommDebugMode() as mode:
                y.sum().backward()
            counts = mode.get_total_counts()
            assert counts == (reductions if mesh.size() > 1 else 0)

    ranks(body)


def test_a_leaf_with_addends_gets_a_replicated_gradient(ranks):
    def body():
        part = tensor(np.ones(3))
        x = DTensor.from_local(part, line(), [P]).requires_grad_()
        (x * 2).sum().backward()
        assert x.grad.placements == (R,)
        assert np.array_equal(x.grad.full_tensor(), np.full(3, 2.0))

    ranks(body)


def test_elements_that_are_set_have_the_gradient_of_the_value(ranks):
    def body():
        for spread in (
            lambda a: tensor(a),
            lambda a: distribute_tensor(a, line(), [S0]),
        ):
            x, v = spread(A).requires_grad_(), spread(A[:1] * 10).requires_grad_()
            y = x * 2
            y[1:] = v
            y[0, 1] = 7.0
            (y * y).sum().backward()
            expected = 8 * A
            expected[1:] = 0
            expected[0, 1] = 0
            assert np.array_equal(np.asarray(whole(x.grad)), expected)
            assert np.array_equal(np.asarray(whole(v.grad)), 20 * A[:1])
            with no_grad():
                x[0] = 1
            with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
                x[0] = 1

    ranks(body)
