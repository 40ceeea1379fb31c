"""Communication hooks of DistributedDataParallel."""

import numpy as np
import pytest
from meshes import line

import dtensor.torch as torch
import dtensor.torch.distributed as dist
from dtensor.debug import CommDebugMode
from dtensor.testing import run_ranks
from dtensor.torch.distributed.algorithms import ddp_comm_hooks
from dtensor.torch.distributed.algorithms.ddp_comm_hooks import (
    DDPCommHookType,
    debugging_hooks,
    default_hooks,
    register_ddp_comm_hook,
)
from dtensor.torch.nn.parallel import DistributedDataParallel

X = np.random.default_rng(3).standard_normal((12, 5)).astype("f")


class Net(torch.nn.Module):
    """Parameters of two dtypes."""

    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(5, 7)
        self.last = torch.nn.Linear(7, 2).double()

    def forward(self, x):
        return self.last(torch.tanh(self.first(x)).double())


def gradients(hook=None, state=None, ddp=True):
    """The gradients of a backward, of this rank's rows or, on one process, of all."""
    torch.manual_seed(0)
    model = Net()
    rows = torch.from_numpy(X)
    if ddp:
        rows = rows.chunk(line().size())[line().get_rank()]
        model = DistributedDataParallel(model)
        if hook is not None:
            model.register_comm_hook(state, hook)
    loss = model(rows).square().mean()
    with CommDebugMode() as mode:
        loss.backward()
    counts = {"all_reduce": 2} if ddp and line().size() > 1 else {}
    assert mode.get_comm_counts() == counts
    return [p.grad.numpy() for p in model.parameters()]


WANT = gradients(ddp=False)


COMPRESSED = {"fp16": 2e-3, "bf16": 2e-2}  # the relative error, at most
HOOKS = [(default_hooks.allreduce_hook, 1e-6)]
for _dtype, _error in COMPRESSED.items():
    HOOKS.append((getattr(default_hooks, f"{_dtype}_compress_hook"), _error))
    _wrapper = getattr(default_hooks, f"{_dtype}_compress_wrapper")
    HOOKS.append((_wrapper(default_hooks.allreduce_hook), _error))


@pytest.mark.parametrize("number", range(len(HOOKS)))
def test_hooks_average_what_ranks_have(ranks, number):
    hook, error = HOOKS[number]

    def body():
        for x, y in zip(gradients(hook), WANT, strict=True):
            assert x.dtype == y.dtype
            np.testing.assert_allclose(x, y, rtol=error, atol=error)

    ranks(body)


def test_a_hook_gets_the_gradients_of_each_dtype(ranks):
    def body():
        seen = []

        def hook(state, bucket):
            state.append((bucket.index(), bucket.is_last()))
            flat = bucket.buffer()
            for grad, p in zip(bucket.gradients(), bucket.parameters(), strict=True):
                assert grad.shape == p.shape and grad.dtype == p.dtype == flat.dtype
                grad.mul_(2)  # a view of the buffer
            return default_hooks.allreduce_hook(None, bucket)

        for x, y in zip(gradients(hook, seen), WANT, strict=True):
            np.testing.assert_allclose(x, 2 * y, rtol=1e-5, atol=1e-6)
        assert seen == [(0, False), (1, True)]

    ranks(body)


def test_groups_and_names_of_hooks(ranks):
    def body():
        torch.manual_seed(0)
        model = DistributedDataParallel(Net())
        register_ddp_comm_hook(DDPCommHookType.NOOP, model)
        rows = torch.from_numpy(X).chunk(line().size())[line().get_rank()]
        with CommDebugMode() as mode:
            model(rows).square().mean().backward()
        assert mode.get_total_counts() == 0
        hook = ddp_comm_hooks.DDPCommHookType.ALLREDUCE.value
        for x, y in zip(gradients(hook, line()), WANT, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-6)

    ranks(body)


def test_what_torch_refuses_is_refused(ranks):
    def body():
        model = DistributedDataParallel(Net())
        with pytest.raises(TypeError, match="Communication hook must be callable"):
            model.register_comm_hook(None, 3)
        model.register_comm_hook(None, debugging_hooks.noop_hook)
        with pytest.raises(RuntimeError, match="can only be called once"):
            model.register_comm_hook(None, debugging_hooks.noop_hook)
        with pytest.raises(TypeError, match=r"return a torch.futures.Future"):
            gradients(lambda state, bucket: bucket.buffer())
        with pytest.raises(TypeError, match=r"a tensor of shape \(42,\)"):
            gradients(lambda state, bucket: _future(bucket.buffer()[1:]))

    ranks(body)


def _future(value):
    future = torch.futures.Future()
    future.set_result(value)
    return future


def test_a_hook_that_fails_on_one_rank_fails_on_all():
    def hook(state, bucket):
        if line().get_rank() == 1:
            raise KeyError("no such bucket")
        return default_hooks.allreduce_hook(state, bucket)

    def body():
        with pytest.raises(KeyError, match="no such bucket"):
            gradients(hook)

    run_ranks(3, body)


def test_work_has_what_was_written(ranks):
    def body():
        n, x = line().size(), torch.ones(3)
        work = dist.all_reduce(x, async_op=True)
        ones = work.get_future().then(lambda future: future.value()[0] / n)
        assert ones.wait().tolist() == [1, 1, 1]
        assert work.result()[0] is x
        parts = [torch.zeros(3) for _ in range(n)]
        work = dist.all_gather(parts, x, async_op=True)
        assert [id(x) for x in work.result()] == [id(x) for x in parts]

    ranks(body)
