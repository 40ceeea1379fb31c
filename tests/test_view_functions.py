"""Functions of the user's that write into views, and into what has views."""

import numpy as np
import pytest
from dirty import Tripled
from meshes import line

import dtensor.torch as torch
from dtensor.torch.distributed.tensor import Replicate, Shard, distribute_tensor


class Added(torch.autograd.Function):
    @staticmethod
    def forward(x, y):
        return x.add_(y)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.mark_dirty(inputs[0])

    @staticmethod
    def backward(ctx, grad):
        return grad, 7 * grad


class Both(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.mark_dirty(x, y)
        return x.mul_(3), y.mul_(2)

    @staticmethod
    def backward(ctx, first, second):
        return 3 * first, 2 * second


def leaf():
    return torch.arange(6.0).view(2, 3).requires_grad_()


def of_the_owner(y):
    v = y[0]
    Tripled.apply(y)
    return v * v


def of_a_view(y):
    Tripled.apply(y[0])
    return y * y


def seen_by_another_view(y):
    v, w = y[0], y[0:2]
    assert Tripled.apply(v) is v
    return w * w


def several_times(y):
    v = y[0]
    Tripled.apply(v)
    Tripled.apply(y)
    Tripled.apply(v)
    return y * y


def of_a_view_that_is_behind(y):
    v = y[0]
    y.mul_(2)
    Tripled.apply(v)
    return y * y


def of_an_owner_that_is_behind(y):
    v = y[0]
    v.mul_(2)
    Tripled.apply(y)
    return v * v


def among_other_writes(y):
    v = y[0]
    Tripled.apply(v)
    v.mul_(2)
    y.mul_(5)
    return v * v


def of_two_views(y):
    z = y * 2
    Both.apply(y[0], z[1])
    return y * z


# The gradients that PyTorch gives; it refuses the last one.
CASES = {
    of_the_owner: [[0, 18, 36], [0, 0, 0]],
    of_a_view: [[0, 18, 36], [6, 8, 10]],
    seen_by_another_view: [[0, 18, 36], [6, 8, 10]],
    several_times: [[0, 1458, 2916], [54, 72, 90]],
    of_a_view_that_is_behind: [[0, 72, 144], [24, 32, 40]],
    of_an_owner_that_is_behind: [[0, 72, 144], [0, 0, 0]],
    among_other_writes: [[0, 1800, 3600], [0, 0, 0]],
    of_two_views: [[0, 12, 24], [24, 32, 40]],
}


@pytest.mark.parametrize("case", CASES, ids=lambda f: f.__name__)
def test_the_gradient_of_a_function_that_writes_reaches_views(case):
    x = leaf()
    case(x * 1).sum().backward()
    assert x.grad.tolist() == CASES[case]


@pytest.mark.parametrize("placement", [Shard(1), Replicate()], ids=str)
def test_it_does_so_on_all_ranks(ranks, placement):
    def body():
        found = []
        for case in CASES:
            x = distribute_tensor(torch.arange(6.0).view(2, 3), line(), [placement])
            x.requires_grad_()
            case(x * 1).sum().backward()
            found.append(x.grad.full_tensor().tolist())
        return found

    for found in ranks(body):
        assert found == list(CASES.values())


def test_a_tensor_without_a_gradient_gets_one_by_a_view():
    added = torch.ones(3, requires_grad=True)
    y = torch.ones(2, 3)
    v, w = y[0], y[1]
    Added.apply(v, added)
    assert y.requires_grad and v.requires_grad and w.requires_grad
    (y * y).sum().backward()
    assert added.grad.tolist() == [28, 28, 28]


def test_other_arguments_have_their_gradients():
    x, added = leaf(), torch.ones(3, requires_grad=True)
    y = x * 1
    Added.apply(y[1], added)
    (y * y).sum().backward()
    assert x.grad.tolist() == [[0, 2, 4], [8, 10, 12]]
    assert added.grad.tolist() == [56, 70, 84]


def test_it_has_a_second_gradient():
    x = leaf()
    y = x * 1
    Tripled.apply(y[0])
    (first,) = torch.autograd.grad((y**3).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    np.testing.assert_allclose(second, [[0, 162, 324], [18, 24, 30]])


def test_retain_grad_is_for_the_value_that_was_written():
    y = leaf() * 1
    y.retain_grad()
    Tripled.apply(y)
    (y * y).sum().backward()
    assert y.grad.tolist() == [[0, 6, 12], [18, 24, 30]]


def test_nothing_is_recorded_without_recording():
    x = leaf()
    y = x * 1
    with torch.no_grad():
        Tripled.apply(y[0])
    (y * y).sum().backward()
    assert x.grad.tolist() == [[0, 6, 12], [6, 8, 10]]


def test_what_cannot_be_written_is_refused():
    class Lost(Tripled):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(3) + 1

    with pytest.raises(RuntimeError, match="^a leaf Variable that requires grad has"):
        Tripled.apply(leaf())
    with pytest.raises(RuntimeError, match="^a view of a leaf Variable that requires"):
        Tripled.apply(leaf()[0])
    for x in (leaf() * 1, torch.ones(3)):
        with pytest.raises(RuntimeError, match="^Some elements marked as dirty during"):
            Lost.apply(x)
