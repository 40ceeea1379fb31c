"""Recorded writes into views, and into what views are of: as PyTorch records them."""

import numpy as np
import pytest

import dtensor
import dtensor.torch as torch


def leaf(*shape):
    return torch.arange(1.0, 1 + np.prod(shape)).reshape(shape).requires_grad_()


def chained(y):
    y[:, 0] = 0
    y.view(-1)[5:].mul_(2).add_(1)
    y.reshape(2, 8)[0] += 1
    return y * y


def turned(y):
    y.T[1].zero_()
    y.transpose(0, 1)[2:, ::2].mul_(3)
    return y


def masked(y):
    y.masked_fill_(torch.eye(4) > 0, 0.5)
    torch.flip(y, (0,))[0].mul_(2)  # a copy
    y[1:][0].mul_(y[0].clone())
    return y


def squeezed(y):
    y.unsqueeze(0).squeeze_(0).mul_(2)
    y.unsqueeze_(0).transpose_(1, 2)
    return y * y


def seen(y):
    row, column = y[0], y[:, 1]
    y.mul_(2)
    column.add_((row * 3).clone())
    return row.clone() * column.clone()


def twice(y):
    y[0][1:].exp_()
    y[0][2] = y[1, 1]
    return y.sigmoid()


# The gradients that PyTorch gives.
CASES = {
    chained: [
        [0, 6, 8, 10],
        [0, 56, 64, 72],
        [0, 84, 92, 100],
        [0, 116, 124, 132],
    ],
    turned: [[1, 0, 3, 3], [1, 0, 1, 1], [1, 0, 3, 3], [1, 0, 1, 1]],
    squeezed: 8 * np.arange(1.0, 17).reshape(4, 4),
}


@pytest.mark.parametrize("case", CASES, ids=lambda f: f.__name__)
def test_gradients_go_through_writes_into_views(case):
    x = leaf(4, 4)
    case(x * 1).sum().backward()
    np.testing.assert_array_equal(x.grad, CASES[case])


@pytest.mark.parametrize("case", [seen, twice, masked], ids=lambda f: f.__name__)
def test_gradients_are_those_of_differences(case):
    at = np.linspace(-0.5, 0.6, 16).reshape(4, 4)
    x = torch.tensor(at, requires_grad=True)
    case(x * 1).sum().backward()
    for k in range(16):
        step = 1e-6 * (np.arange(16) == k).reshape(4, 4)
        up, down = (case(torch.tensor(at + s) * 1).sum() for s in (step, -step))
        assert abs(float(up - down) / 2e-6 - float(x.grad.flatten()[k])) < 1e-6


def test_a_tensor_that_is_not_recorded_becomes_so_by_a_view():
    x, y = leaf(2), torch.zeros(3, 2)
    y[0][:] = x * 2
    y.T[1][2:] += x[0]
    y[1] = x
    y.sum().backward()
    assert x.grad.tolist() == [4, 3]


def test_numpys_dialect_records_them_too():
    x = dtensor.tensor(np.arange(6.0).reshape(2, 3), requires_grad=True)
    y = x * 2
    row = y[0]
    row += 1
    (y * y).sum().backward()
    np.testing.assert_array_equal(x.grad, 4 * (2 * x.detach() + [[1], [0]]))


def test_gradients_of_gradients_go_through_them():
    x = leaf(3)
    y = x * x
    y[1:].mul_(y[:2].clone())
    (first,) = torch.autograd.grad(y.sum(), [x], create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), [x])
    assert first.tolist() == [10, 40, 24] and second.tolist() == [18, 52, 32]


def test_what_is_detached_has_its_own_history():
    x = leaf(3)
    y = x * 1
    y.detach()[0] = 5
    (y * torch.tensor([1.0, 2.0, 3.0])).sum().backward()
    assert y.tolist() == [5, 2, 3] and x.grad.tolist() == [1, 2, 3]
    with pytest.raises(RuntimeError, match="view of a leaf Variable"):
        x[:1].mul_(2)


def test_data_counts_its_own_writes():
    x = leaf(2)
    y = x * x
    x.data.mul_(10)
    y.sum().backward()
    assert x.grad.tolist() == [20, 40]
    y = x * x
    with torch.no_grad():
        x.mul_(10)
    with pytest.raises(RuntimeError, match="modified by an inplace"):
        y.sum().backward()


def test_backward_goes_again_through_what_kept_nothing():
    for make in (
        lambda x: x + 1,
        lambda x: x.view(1, 3).transpose(0, 1)[1:],
        lambda x: torch.cat([x, x]).mean(),
        lambda x: -x.expand(2, 3),
        lambda x: torch.stack([x.clone(), 1 - x]),
    ):
        x = leaf(3)
        y = make(x).sum()
        y.backward()
        once = x.grad.clone()
        y.backward()
        assert torch.equal(x.grad, 2 * once)
    for make in (lambda x: x * x, torch.exp, torch.nn.Linear(3, 2)):
        y = make(leaf(3)).sum()
        y.backward()
        with pytest.raises(RuntimeError, match="a second time"):
            y.backward()


@pytest.mark.parametrize("retained", [False, True])
def test_a_view_that_was_written_into_has_the_gradient_of_its_own_uses(retained):
    y = leaf(2, 3) * 2
    views = {"row": y[0], "end": y[0][1:], "owner": y}
    found = {}
    views["end"].mul_(3)
    for name, view in views.items():
        if retained:
            view.retain_grad()
        else:
            view.register_hook(lambda grad, name=name: found.update({name: grad}))
    (views["row"].sum() * 5 + views["end"].sum() * 7 + (y * y).sum()).backward()
    if retained:
        found = {name: view.grad for name, view in views.items()}
    assert found["row"].tolist() == [5, 5, 5]
    assert found["end"].tolist() == [7, 7]
    assert found["owner"].tolist() == [[9, 36, 48], [16, 20, 24]]
