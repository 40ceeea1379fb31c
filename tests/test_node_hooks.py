"""Hooks of the nodes of the graph: before and after backward goes through one."""

import pytest
from meshes import line

import dtensor.torch as torch
from dtensor.torch.distributed.tensor import Shard, distribute_tensor


def made():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    return x, x * 3


def values(grads):
    return tuple(None if g is None else g.tolist() for g in grads)


def test_they_get_the_gradients_of_what_a_node_made_and_is_made_of():
    x, y = made()
    calls = []
    y.grad_fn.register_hook(lambda i, o: calls.append(("hook", values(i), values(o))))
    y.grad_fn.register_prehook(lambda o: calls.append(("prehook", values(o))))
    y.register_hook(lambda grad: calls.append(("tensor", grad.tolist())))
    y.sum().backward()
    assert calls == [
        ("tensor", [1, 1]),
        ("prehook", ([1, 1],)),
        ("hook", ([3, 3], None), ([1, 1],)),
    ]
    assert x.grad.tolist() == [3, 3]


def test_a_hook_that_is_removed_is_not_called():
    x, y = made()
    for register in (y.grad_fn.register_hook, y.grad_fn.register_prehook):
        handle = register(lambda *grads: pytest.fail("called"))
        handle.remove()
        handle.remove()
        with register(lambda *grads: pytest.fail("called")):
            pass
    y.sum().backward()


def test_what_they_return_replaces_gradients():
    x, y = made()
    y.retain_grad()
    y.grad_fn.register_prehook(lambda o: (o[0] + 1,))
    y.grad_fn.register_prehook(lambda o: (o[0] * 5,))
    y.grad_fn.register_hook(lambda i, o: (i[0] * 10, None))
    y.grad_fn.register_hook(lambda i, o: (i[0] + o[0], None))
    y.sum().backward()
    assert x.grad.tolist() == [310, 310] and y.grad.tolist() == [1, 1]


@pytest.mark.parametrize("name", ["register_hook", "register_prehook"])
def test_none_may_replace_a_gradient(name):
    x, y = made()
    size = 2 if name == "register_hook" else 1
    getattr(y.grad_fn, name)(lambda *grads: (None,) * size)
    y.sum().backward()
    assert x.grad is None


WRONG = {
    "count": (
        lambda x: (x,) * 3,
        RuntimeError,
        "an incorrect number of values \\(got 3",
    ),
    "tensor": (lambda x: x, TypeError, "^expected tuple, but hook returned '.*Tensor'"),
    "list": (lambda x: [x], TypeError, "^expected tuple, but hook returned 'list'"),
    "number": (lambda x: 3.0, TypeError, "^expected tuple, but hook returned 'float'"),
}


@pytest.mark.parametrize("case", WRONG)
@pytest.mark.parametrize("name", ["register_hook", "register_prehook"])
def test_what_they_return_is_checked(name, case):
    _, y = made()
    answer, error, match = WRONG[case]
    getattr(y.grad_fn, name)(lambda first, *more: answer(first[0]))
    with pytest.raises(error, match=match):
        y.sum().backward()


@pytest.mark.parametrize(
    "answer, error, match",
    [
        (lambda x: (torch.ones(3), None), RuntimeError, "changed the size"),
        (lambda x: (x.double(), None), RuntimeError, "changed the type"),
        (lambda x: (3.0, None), TypeError, "but hook returned 'float'"),
        (lambda x: (x, x), RuntimeError, "^can't replace a None gradient with"),
        (lambda x: 1 / 0, ZeroDivisionError, "division"),
    ],
)
def test_each_gradient_that_they_return_is_checked(answer, error, match):
    _, y = made()
    y.grad_fn.register_hook(lambda i, o: answer(i[0]))
    with pytest.raises(error, match=match):
        y.sum().backward()


def test_they_are_not_called_where_backward_does_not_go_on():
    x, y = made()
    calls = []
    y.grad_fn.register_prehook(lambda o: calls.append("before"))
    y.grad_fn.register_hook(lambda i, o: calls.append("after"))
    loss = y.sum()
    torch.autograd.grad(loss, y, retain_graph=True)
    assert calls == []
    torch.autograd.grad(loss, [y, x], retain_graph=True)
    loss.backward()
    assert calls == ["before", "after"] * 2


def test_outputs_without_a_gradient_are_none():
    x = torch.ones(2, 2, requires_grad=True)
    first, _ = x.unbind(0)
    calls = []
    first.grad_fn.register_prehook(lambda o: calls.append(values(o)))
    first.sum().backward()
    assert calls == [([1, 1], None)]


def test_functions_of_the_users_have_gradients_of_their_tensors():
    class Times(torch.autograd.Function):
        @staticmethod
        def forward(ctx, factor, x, y):
            ctx.factor = factor
            return x * factor + y

        @staticmethod
        def backward(ctx, grad):
            return None, grad * ctx.factor, grad

    x, calls = torch.ones(2, requires_grad=True), []
    made = Times.apply(3, x, torch.ones(2))
    made.grad_fn.register_hook(lambda i, o: calls.append((values(i), values(o))))
    made.sum().backward()
    assert calls == [(([3, 3], None), ([1, 1],))]


def test_they_are_recorded():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    y.grad_fn.register_hook(lambda i, o: (i[0] * i[0], None))
    (first,) = torch.autograd.grad((y * y).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    assert first.tolist() == [324, 1296] and second.tolist() == [419904, 1679616]


def test_they_work_on_all_ranks_and_fail_on_all(ranks):
    def body():
        x = distribute_tensor(torch.ones(4), line(), [Shard(0)]).requires_grad_()
        y = x * 3
        y.grad_fn.register_prehook(lambda o: (o[0] * 5,))
        y.grad_fn.register_hook(lambda i, o: (i[0] + o[0], None))
        y.sum().backward()
        assert x.grad.full_tensor().tolist() == [20] * 4
        y = x * 3
        y.grad_fn.register_hook(lambda i, o: 1 / 0)
        with pytest.raises(ZeroDivisionError, match="division by zero"):
            y.sum().backward()
        assert x.detach().full_tensor().tolist() == [1] * 4

    ranks(body)
