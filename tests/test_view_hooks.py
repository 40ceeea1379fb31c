"""Hooks of views that are written into: they belong to what was there before."""

import pytest
from dirty import Tripled
from meshes import line

import dtensor.torch as torch
from dtensor.torch.distributed.tensor import Shard, distribute_tensor
from dtensor.torch.nn import functional as F


def assigned(v):
    v[0] = 5


WRITES = {
    "mul_": lambda v: v.mul_(3),
    "statement": lambda v: v.__iadd__(1),
    "pow_": lambda v: v.pow_(2),
    "exp_": lambda v: v.exp_(),
    "copy_": lambda v: v.copy_(torch.ones(3)),
    "zero_": lambda v: v.zero_(),
    "masked_fill_": lambda v: v.masked_fill_(torch.tensor([True, False, False]), 2),
    "index_add_": lambda v: v.index_add_(0, torch.tensor([0]), torch.ones(1)),
    "addcmul_": lambda v: v.addcmul_(torch.ones(3), torch.ones(3)),
    "cumsum_": lambda v: v.cumsum_(0),
    "setitem": assigned,
    "relu": lambda v: F.relu(v, inplace=True),
    "dropout": lambda v: F.dropout(v, 0.5, inplace=True),
    "function": Tripled.apply,
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_a_hook_is_not_told_of_what_was_written_later(write):
    seen, plain = torch.ones(2, 3, requires_grad=True), torch.ones(2, 3)
    plain.requires_grad_()
    calls = []
    for x in (seen, plain):
        y = x * 2
        v = y[0]
        if x is seen:
            v.register_hook(calls.append)
        torch.manual_seed(0)
        write(v)
        (y * y).sum().backward()
    assert calls == []
    assert torch.equal(seen.grad, plain.grad)


def test_it_is_told_of_what_used_the_view_before():
    x = torch.ones(2, 3, requires_grad=True)
    y = x * 2
    v = y[0]
    z, calls = v * 2, []
    v.register_hook(lambda grad: calls.append(grad.tolist()))
    v.add_(3)
    y.add_(z.sum())
    (y * y).sum().backward()
    assert calls == [[372, 372, 372]]
    assert x.grad.tolist() == [[812] * 3, [56] * 3]


def test_hooks_of_a_view_of_which_it_is_a_view_are_not_told_either():
    y = torch.ones(2, 3, requires_grad=True) * 2
    v, calls = y[0], []
    w = v[1:]
    v.register_hook(calls.append)
    w.mul_(3)
    (y * y).sum().backward()
    assert calls == []


def test_hooks_of_the_owner_are_told_of_what_it_was():
    y = torch.ones(2, 3, requires_grad=True) * 2
    calls = []
    y.register_hook(lambda grad: calls.append(grad.tolist()))
    y[0].mul_(3)
    (y * y).sum().backward()
    assert calls == [[[36, 36, 36], [4, 4, 4]]]


def test_a_write_that_fails_leaves_the_hooks():
    y = torch.ones(2, 3, requires_grad=True) * 2
    v, calls = y[0], []
    v.retain_grad()
    v.register_hook(lambda grad: calls.append(grad.tolist()))
    for wrong in (torch.ones(4), "1"):
        with pytest.raises((RuntimeError, TypeError, ValueError)):
            v.mul_(wrong)
    v.sum().backward()
    assert calls == [[1, 1, 1]] and v.grad.tolist() == [1, 1, 1]


def test_they_are_so_on_all_ranks(ranks):
    def body():
        x = distribute_tensor(torch.ones(2, 3), line(), [Shard(1)]).requires_grad_()
        found = []
        for name in ("mul_", "pow_", "setitem", "function"):
            y, calls = x * 2, []
            v = y[0]
            v.retain_grad()
            v.register_hook(calls.append)
            WRITES[name](v)
            (y * y).sum().backward()
            found.append((len(calls), x.grad.full_tensor().tolist()))
            x.grad = None
        return found

    for found in ranks(body):
        assert found == [
            (0, [[72] * 3, [8] * 3]),
            (0, [[64] * 3, [8] * 3]),
            (0, [[0, 8, 8], [8] * 3]),
            (0, [[72] * 3, [8] * 3]),
        ]
