"""Ranks that write other numbers, or elsewhere, are told, whatever they write by."""

import numpy as np
import pytest

import dtensor
import dtensor.torch as torch
from dtensor import Replicate, Shard, distribute_tensor, init_device_mesh, nn, optim
from dtensor.testing import run_ranks
from dtensor.torch.distributed.tensor import distribute_tensor as spread_torch

NUMBERS = np.arange(1.0, 21).reshape(5, 4)


def rows(x, c):
    for row in x:
        row[...] = c


def masked(x, c):
    row = x[1]
    row[row > 5] = c


def stepped(x, c):
    x.flat[int(c) % 2 :: 2] = 5.0


def noticed(body, odd):
    """Return what a body raises, or else its result, as text."""
    try:
        return str(body(odd))
    except RuntimeError as error:
        return str(error)


# A row or reversal of a cut dim has to move, and is written back.
WRITES = {
    "row": lambda x, c: x[1].__setitem__(..., c),
    "element": lambda x, c: x[3].__setitem__(2, c),
    "rows": rows,
    "fill": lambda x, c: x[1].fill(c),
    "reversal": lambda x, c: np.flip(x, 0).__setitem__(..., c),
    "part of a reversal": lambda x, c: x[::-1].__setitem__(slice(1, 3), c),
    "turned": lambda x, c: np.rot90(x, 2).__setitem__(..., c),
    "masked": masked,
    "another slice": lambda x, c: x[3].__setitem__(slice(int(c) - 2, None), 7.0),
    "row of rows": lambda x, c: x[1:4][2].__setitem__(..., c),
    "flat list": lambda x, c: setattr(x, "flat", [0, 1, c]),
    "flat[...]": lambda x, c: x.flat.__setitem__(..., [0, 1, c]),
    "another part of flat": lambda x, c: x.flat.__setitem__(
        slice(int(c), int(c) + 12), 1.0
    ),
    "flat steps": stepped,
    "trunc_normal_": lambda x, c: nn.init.trunc_normal_(x, std=0.01 * c),
    "trunc_normal_ limits": lambda x, c: nn.init.trunc_normal_(x, a=-c, b=c),
    "apply_ on one rank": lambda x, c: c == 2 or x.apply_(lambda v: v + 100),
    "fill_ of a row": lambda x, c: x[1].fill_(c),
}


@pytest.mark.parametrize("placement", [Shard(0), Replicate()], ids=["S0", "R"])
@pytest.mark.parametrize("name", WRITES)
def test_other_numbers_on_one_rank_are_noticed(name, placement):
    def body(odd):
        mesh = init_device_mesh("cpu", (2,))
        made = torch.tensor(NUMBERS) if name.endswith("_") or "_ " in name else NUMBERS
        spread = distribute_tensor if made is NUMBERS else spread_torch
        x = spread(made, mesh, [placement])
        dtensor.random.manual_seed(1)
        WRITES[name](x, 3.0 if mesh.get_rank() in odd else 2.0)
        return x.redistribute(placements=[Shard(1)]).full_tensor().tolist()

    told = run_ranks(2, lambda: noticed(body, {1}))
    assert all("different values" in text for text in told), told
    for odd in ((), (0, 1)):
        first, second = run_ranks(2, body, odd)
        assert first == second


@pytest.mark.parametrize("write", ["trunc_normal_", "apply_"])
def test_a_row_that_moved_is_written_as_in_one_process(write):
    def body(placement):
        mesh = init_device_mesh("cpu", (2,))
        x = spread_torch(torch.tensor(NUMBERS), mesh, [placement])
        dtensor.random.manual_seed(1)
        if write == "apply_":
            x[1].apply_(lambda v: v + 100)
        else:
            nn.init.trunc_normal_(x[1])
        return x.full_tensor().tolist()

    whole, cut = (run_ranks(2, body, p)[0] for p in (Replicate(), Shard(0)))
    assert whole == cut and whole[1] != NUMBERS[1].tolist()
    assert [*whole[:1], *whole[2:]] == [*NUMBERS[:1].tolist(), *NUMBERS[2:].tolist()]


MUONS = {
    "gradient": lambda x, state, group: x.grad.mul_(3.0),
    "buffer": lambda x, state, group: state["momentum_buffer"].mul_(0.5),
    "ns_steps": lambda x, state, group: group.update(ns_steps=2),
    "ns_coefficients": lambda x, state, group: group.update(
        ns_coefficients=(3.0, -4.0, 2.0)
    ),
    "eps": lambda x, state, group: group.update(eps=100.0),
    "momentum": lambda x, state, group: group.update(momentum=0.1),
    "nesterov": lambda x, state, group: group.update(nesterov=False),
}


@pytest.mark.parametrize("placement", [Shard(0), Replicate()], ids=["S0", "R"])
@pytest.mark.parametrize("what", MUONS)
def test_another_step_of_muon_is_noticed(what, placement):
    def body(odd):
        mesh = init_device_mesh("cpu", (2,))
        x = nn.Parameter(distribute_tensor(NUMBERS, mesh, [placement]))
        optimizer = optim.Muon([x], lr=0.1)
        for step in range(2):
            optimizer.zero_grad()
            ((x + step) ** 2).sum().backward()
            if step == 1 and mesh.get_rank() in odd:
                MUONS[what](x, optimizer.state[x], optimizer.param_groups[0])
            optimizer.step()
        return x.detach().redistribute(placements=[Shard(1)]).full_tensor().tolist()

    told = run_ranks(2, lambda: noticed(body, {1}))
    assert all("different" in text for text in told), told
    first, second = run_ranks(2, body, {0, 1})
    assert first == second
