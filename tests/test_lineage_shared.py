"""Writes through whatever shares memory with a tensor count for it; the order of
keywords counts for nothing."""

import itertools

import numpy as np
import pytest

import dtensor
import dtensor.torch as torch
from dtensor import DTensor, Replicate, Shard, distribute_tensor, init_device_mesh
from dtensor.testing import run_ranks

NUMBERS = np.arange(24.0).reshape(6, 4)

SHARED = {
    "split": lambda x: np.split(x, 2, axis=1)[0],
    "array_split": lambda x: np.array_split(x, 3, axis=1)[1],
    "hsplit": lambda x: np.hsplit(x, 2)[1],
    "vsplit": lambda x: np.vsplit(x, 2)[0],
    "dsplit": lambda x: np.dsplit(x.reshape(2, 3, 4), 2)[0],
    "unstack": lambda x: np.unstack(x, axis=1)[0],
    "x.split": lambda x: x.split(2, 1)[0],
    "chunk": lambda x: torch.chunk(x, 2, dim=1)[0],
    "unbind": lambda x: torch.unbind(x, 1)[0],
    "tensor_split": lambda x: torch.tensor_split(x, 2, dim=1)[1],
    "redistribute": lambda x: x.redistribute(placements=x.placements),
    "dtensor.redistribute": lambda x: dtensor.redistribute(x, placements=x.placements),
    "asynchronous": lambda x: x.redistribute(placements=x.placements, async_op=True),
    "rebalance": lambda x: x.rebalance(),
    "from_local": lambda x: DTensor.from_local(
        x.to_local(), x.device_mesh, x.placements
    ),
    "slice": lambda x: x[:, :1],
    "transposed": lambda x: x.T,
    "reshape": lambda x: x.reshape(2, 3, 4),
    "real": lambda x: x.real,
}


@pytest.mark.parametrize("placement", [Shard(0), Replicate()], ids=["S0", "R"])
@pytest.mark.parametrize("name", SHARED)
def test_a_write_on_one_rank_is_noticed_in_all_that_share_the_memory(name, placement):
    def body(writers):
        mesh = init_device_mesh("cpu", (2,))
        x = distribute_tensor(NUMBERS, mesh, [placement])
        y = SHARED[name](x)
        if mesh.get_rank() in writers:
            y += 100
            y += 1
        try:
            total = float((x * 1).sum())
            return total if placement == Shard(0) else float(y.sum())
        except RuntimeError as error:
            return str(error)

    told = run_ranks(2, body, {1})
    if placement == Shard(0):
        assert all("different values" in str(text) for text in told), told
        assert all("rank 1 computed a write of" in text for text in told), told
    assert len(set(run_ranks(2, body, {0, 1}))) == 1
    assert isinstance(run_ranks(2, body, {0, 1})[0], float)


@pytest.mark.parametrize("name", SHARED)
def test_backward_finds_a_write_into_what_shares_the_memory(name):
    def body():
        mesh = init_device_mesh("cpu", (2,))
        w = distribute_tensor(NUMBERS, mesh, [Shard(0)]).requires_grad_()
        q = w * 1.0
        alias = SHARED[name](q.detach())
        loss = (q**2).sum()
        alias += 1000.0
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            loss.backward()

    run_ranks(2, body)


CALLS = {
    "sum": (np.sum, {"axis": 0, "keepdims": True, "initial": 1.0, "dtype": "f8"}),
    "x.sum": (DTensor.sum, {"axis": 0, "keepdims": True}),
    "add": (lambda x, **kw: np.add(x, 1, **kw), {"where": True, "dtype": "f8"}),
    "reduce": (np.add.reduce, {"axis": 0, "keepdims": True, "initial": 1.0}),
    "quantile": (lambda x, **kw: np.quantile(x, 0.5, **kw), {"axis": 0, "keepdims": 1}),
    "roll": (np.roll, {"shift": 1, "axis": 0}),
    "fft": (np.fft.fft, {"n": 4, "axis": 1, "norm": "ortho"}),
    "pad": (np.pad, {"pad_width": 1, "mode": "constant", "constant_values": 2}),
    "std": (np.std, {"axis": 0, "ddof": 1, "keepdims": True}),
    "interp": (
        lambda x, **kw: np.interp(x, [0, 9], [1, 2], **kw),
        {"left": 0, "right": 3},
    ),
    "layer_norm": (
        lambda x, **kw: torch.nn.functional.layer_norm(x, (4,), **kw),
        {"weight": None, "bias": None, "eps": 1e-3},
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_order_of_keywords_is_no_difference(name):
    function, keywords = CALLS[name]

    def body():
        mesh = init_device_mesh("cpu", (2,))
        x = distribute_tensor(NUMBERS, mesh, [Shard(0)])
        orders = list(itertools.permutations(keywords.items()))
        results = [
            function(x, **dict(orders[(mesh.get_rank() + k) % len(orders)]))
            for k in range(2)
        ]
        return [np.asarray(y.full_tensor()).tolist() for y in results]

    told = run_ranks(2, body)
    assert told[0] == told[1] and told[0][0] == told[0][1]
