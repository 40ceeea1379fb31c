"""DistributedDataParallel trains as PyTorch's does, on plain tensors."""

import numpy as np
import pytest
from fsdp_models import Net, X, Y, loss_of, part, reference
from meshes import line

import dtensor
import dtensor.torch as torch
from dtensor import nn, tensor
from dtensor.debug import CommDebugMode
from dtensor.fsdp import DistributedDataParallel as DDP
from dtensor.optim import SGD

ONE = tensor(np.ones((1, 2), "f"))


def trained(model, steps=3):
    optimizer = SGD(model.parameters(), lr=0.1)
    for _ in range(steps):
        optimizer.zero_grad()
        loss_of(model, part(line(), X), part(line(), Y)).backward()
        optimizer.step()


def test_training_is_that_of_one_process_on_tensors_with_a_prefix(ranks):
    _, want = reference()

    def body():
        mesh = line()
        model = DDP(Net(seed=mesh.get_rank()))  # the first rank's count
        with CommDebugMode() as mode:
            trained(model, 1)
        assert mode.get_comm_counts() == ({"all_reduce": 1} if mesh.size() > 1 else {})
        trained(model, 2)
        state = model.state_dict()
        assert list(state) == [f"module.{name}" for name in want]
        for name, value in model.module.state_dict().items():
            assert type(value) is dtensor.Tensor
            np.testing.assert_allclose(value, want[name], rtol=1e-12)
        assert model.load_state_dict(state).missing_keys == []

    ranks(body)


def test_within_no_sync_gradients_are_added_up_and_later_averaged(ranks):
    plain = Net()
    loss_of(plain, tensor(X), tensor(Y)).backward()
    want = [np.asarray(p.grad) * 3 for p in plain.parameters()]

    def body():
        mesh = line()
        model = DDP(Net(), gradient_as_bucket_view=True)
        x, y = part(mesh, X), part(mesh, Y)
        with CommDebugMode() as mode, model.no_sync():
            for _ in range(2):
                loss_of(model, x, y).backward()
        assert mode.get_total_counts() == 0
        loss_of(model, x, y).backward()
        for p, grad in zip(model.parameters(), want, strict=True):
            np.testing.assert_allclose(p.grad, grad, rtol=1e-12, atol=1e-14)

    ranks(body)


class Two(nn.Module):
    """A branch is used on the first rank, another on no rank."""

    def __init__(self):
        super().__init__()
        self.always, self.first, self.never = (nn.Linear(2, 2) for _ in range(3))
        for p in self.parameters():
            nn.init.ones_(p)

    def forward(self, x, first):
        return self.first(x) + self.always(x) if first else self.always(x)


@pytest.mark.parametrize("option", ["find_unused_parameters", "static_graph"])
def test_parameters_that_no_rank_used_keep_their_gradients(ranks, option):
    def body():
        mesh = line()
        model = DDP(Two(), **{option: True})
        model(ONE, mesh.get_rank() == 0).sum().backward()
        two = model.module
        np.testing.assert_allclose(two.always.weight.grad, np.ones((2, 2)))
        np.testing.assert_allclose(two.first.bias.grad, np.ones(2) / mesh.size())
        assert two.never.weight.grad is None

    ranks(body)


def test_parameters_that_are_left_out_are_an_error_of_the_next_forward(ranks):
    def body():
        model, x = DDP(Two()), ONE
        model(x, True).sum().backward()
        with pytest.raises(RuntimeError, match=r"finished reduction.*never\.weight"):
            model(x, True)
        with dtensor.no_grad():
            model(x, True)

    ranks(body)


def test_a_reduction_waits_for_all_backwards_of_a_forward(ranks):
    def body():
        mesh = line()
        model = DDP(Two())
        m, x = model.module, ONE * (mesh.get_rank() + 1)
        with CommDebugMode() as mode:
            m.first(x).sum().backward()
            m.never(x).sum().backward()
        assert mode.get_total_counts() == 0
        m.always(x).sum().backward()
        for layer in (m.first, m.never, m.always):
            want = np.full((2, 2), (mesh.size() + 1) / 2)
            np.testing.assert_allclose(layer.weight.grad, want)

    ranks(body)


def test_buffers_are_those_of_the_first_rank_but_after_an_evaluation(ranks):
    def body():
        mesh = line()
        model = DDP(nn.BatchNorm1d(2))
        rows = dtensor.tensor(np.arange(6.0, dtype="f").reshape(3, 2) + mesh.get_rank())
        means = []
        for evaluate in (False, True, False, False):
            with dtensor.set_grad_enabled(not evaluate):
                model(rows)
            means.append(float(model.module.running_mean[0]))
        first, mine, m = 2.0, 2.0 + mesh.get_rank(), 0.0
        want = []
        for synced, rank0 in ((True, 0.0), (True, 0.2), (False, 0), (True, 0.542)):
            m = rank0 if synced else m
            m = 0.9 * m + 0.1 * mine
            want.append(m)
        assert first and np.allclose(means, want), (means, want)
        assert int(model.module.num_batches_tracked) == 4

    ranks(body)


def test_what_torch_refuses_is_refused_on_all_ranks(ranks):
    def body():
        frozen = nn.Linear(2, 2).requires_grad_(False)
        with pytest.raises(RuntimeError, match="not needed"):
            DDP(frozen)
        with pytest.raises(ValueError, match="leave device_ids out"):
            DDP(nn.Linear(2, 2), device_ids=[0])
        rank = line().get_rank()
        if line().size() > 1:
            with pytest.raises(RuntimeError, match="DistributedDataParallel of 2"):
                DDP(nn.Linear(2, 2 + rank))

    ranks(body)


def test_torchs_paths_have_both_wrappers():
    torch_model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 2))
    assert torch.nn.parallel.distributed.DistributedDataParallel is DDP
    assert isinstance(torch_model, torch.nn.Module)
    torch_model(torch.ones(1, 2)).sum().backward()
    assert isinstance(torch_model.module.weight.grad, torch.Tensor)
    one = torch.nn.DataParallel(torch.nn.Linear(2, 2), device_ids=None)
    assert list(one.state_dict()) == ["module.weight", "module.bias"]
    assert one(torch.ones(1, 2)).shape == (1, 2)
