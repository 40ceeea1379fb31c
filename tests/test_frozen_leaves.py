"""Leaves that are frozen between forward and backward keep their `grad` as it is."""

import math

import numpy as np
import pytest
from meshes import line

import dtensor
import dtensor.torch as torch
from dtensor import DTensor, Replicate, Shard, autograd, distribute_tensor
from dtensor.debug import CommDebugMode
from dtensor.torch.distributed.fsdp import fully_shard
from dtensor.torch.nn.parallel import DistributedDataParallel


def leaf():
    return torch.ones(2, requires_grad=True)


def told(w):
    """What the hooks of a leaf are called with."""
    calls = []
    w.register_hook(lambda grad: calls.append(("grad", grad.tolist())))
    w.register_post_accumulate_grad_hook(lambda x: calls.append(("done", x.grad)))
    return calls


def test_a_frozen_leaf_gets_no_gradient_and_its_hooks_are_called():
    w, x = leaf(), leaf()
    calls = told(w)
    y = (w * x * 2).sum()
    w.requires_grad_(False)
    y.backward()
    assert w.grad is None and x.grad.tolist() == [2, 2]
    assert calls == [("grad", [2, 2]), ("done", None)]


def test_what_it_has_already_stays():
    w = leaf()
    (w * 5).sum().backward()
    y = (w * 2).sum()
    w.requires_grad_(False)
    y.backward(retain_graph=True)
    assert w.grad.tolist() == [5, 5]
    w.requires_grad_(True)
    y.backward()
    assert w.grad.tolist() == [7, 7]


def test_a_hook_may_freeze_its_own_leaf():
    w = leaf()
    w.register_hook(lambda grad: [w.requires_grad_(False)].clear())
    w.sum().backward()
    assert w.grad is None and not w.requires_grad


def test_a_hook_of_it_may_still_fail():
    w = leaf()
    w.register_hook(lambda grad: torch.ones(3))
    y = w.sum()
    w.requires_grad_(False)
    with pytest.raises(RuntimeError, match="has changed the size"):
        y.backward()


def test_its_gradient_can_be_asked_for_by_an_edge_alone():
    w = leaf()
    edge = autograd.graph.get_gradient_edge(w)
    y = (w * 2).sum()
    calls = told(w)
    w.requires_grad_(False)
    with pytest.raises(RuntimeError, match="does not require grad"):
        torch.autograd.grad(y, w, retain_graph=True)
    with pytest.raises(RuntimeError, match="can't retain_grad on Tensor"):
        y.backward(inputs=[w], retain_graph=True)
    assert calls == []
    (grad,) = torch.autograd.grad(y, edge, retain_graph=True)
    assert grad.tolist() == [2, 2] and calls == [("grad", [2, 2])]
    y.backward(inputs=[edge])
    assert w.grad is None


def test_numpys_dialect_is_alike():
    w = dtensor.tensor(np.ones(2), requires_grad=True)
    y = (w * 2).sum()
    w.requires_grad_(False)
    y.backward()
    assert w.grad is None


def test_frozen_leaves_are_not_reduced_with_the_others(ranks):
    def body():
        mesh = line()
        weights = [
            distribute_tensor(np.ones(5) * k, mesh, [Replicate()]).requires_grad_()
            for k in range(1, 6)
        ]
        x = distribute_tensor(np.ones((8, 5)), mesh, [Shard(0)])
        loss = math.prod(weights, start=x).sum()
        calls = []
        weights[1].register_hook(lambda grad: calls.append("grad"))
        weights[1].register_post_accumulate_grad_hook(lambda x: calls.append(x.grad))
        for w in weights[:4]:
            w.requires_grad_(False)
        with CommDebugMode() as mode:
            loss.backward(retain_graph=True)
        assert dict(mode.get_comm_counts()) == (
            {"all_reduce": 1} if mesh.size() > 1 else {}
        )
        assert all(w.grad is None for w in weights[:4])
        assert calls == ["grad", None]
        np.testing.assert_array_equal(weights[4].grad.full_tensor(), [192] * 5)
        weights[4].requires_grad_(False)
        with CommDebugMode() as mode:
            loss.backward()
        assert not mode.get_comm_counts()

    ranks(body)


# --- models ---------------------------------------------------------------------------


def model():
    made = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2))
    with torch.no_grad():
        for k, p in enumerate(made.parameters()):
            p.copy_(torch.arange(float(p.numel())).view(p.shape) + k)
    return made


def grads(made):
    found = [p.grad for p in made.parameters()]
    whole = [x.full_tensor() if isinstance(x, DTensor) else x for x in found]
    return [None if x is None else np.array(x.detach()) for x in whole]


def adversaries(prepare):
    """Gradients of a discriminator that is frozen while its opponent is trained."""
    judge, maker = prepare(model()), prepare(model())
    x = torch.ones(3, 2)
    for _ in range(2):
        made = maker(x)
        loss = judge(made).sum()
        judge.requires_grad_(False)
        loss.backward()
        judge.requires_grad_(True)
        before = grads(judge)
        judge(made.detach()).sum().backward()
    return before, grads(judge), grads(maker)


@pytest.mark.parametrize("reshard", [None, False, True])
@pytest.mark.parametrize("whole", [False, True])
def test_a_discriminator_under_fully_shard_learns_from_its_own_loss(
    ranks, whole, reshard
):
    expected = adversaries(lambda made: made)

    def prepare(made):
        for part in () if whole else made:
            fully_shard(part, reshard_after_forward=reshard)
        return fully_shard(made, reshard_after_forward=reshard)

    for found in ranks(lambda: adversaries(prepare)):
        for some, wanted in zip(found, expected, strict=True):
            for grad, each in zip(some, wanted, strict=True):
                np.testing.assert_allclose(grad, each)


@pytest.mark.parametrize("reshard", [None, False, True])
@pytest.mark.parametrize("some", [False, True])
def test_a_sharded_model_that_is_frozen_after_forward_passes_gradients_on(
    ranks, some, reshard
):
    def body():
        made = model()
        for part in made:
            fully_shard(part, reshard_after_forward=reshard)
        fully_shard(made, reshard_after_forward=reshard)
        x = torch.ones(3, 2, requires_grad=True)
        loss = made(x).sum()
        (made[0] if some else made).requires_grad_(False)
        loss.backward()
        return grads(made), x.grad.tolist()

    for found, through in ranks(body):
        assert through == [[16, 30]] * 3
        assert found[:2] == [None, None]
        assert [x is None for x in found[2:]] == [not some] * 2
        if some:
            np.testing.assert_allclose(found[2], [[6, 21], [6, 21]])


def test_under_distributed_data_parallel_they_have_zeros_as_in_torch(ranks):
    def body():
        made = DistributedDataParallel(model())
        loss = made(torch.ones(3, 2)).sum()
        made.module[0].requires_grad_(False)
        loss.backward()
        return grads(made)

    for found in ranks(body):
        assert not found[0].any() and not found[1].any()
        np.testing.assert_allclose(found[2], [[6, 21], [6, 21]])
