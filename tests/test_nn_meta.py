"""Models without data: built, parallelized, stepped, and then given memory."""

import copy

import numpy as np
import pytest
from meshes import line

import dtensor
from dtensor import _C, DTensor, Replicate, Shard, as_tensor, distribute_tensor, nn
from dtensor._core import world as _world
from dtensor._core.device import device
from dtensor.debug import CommDebugMode

R, S0, S1 = Replicate(), Shard(0), Shard(1)
LARGE = 1 << 20


def without(*shape, dtype="float32"):
    return _C.without_data(shape, dtype)


# --- tensors --------------------------------------------------------------------------


def test_what_is_made_of_a_tensor_without_data_has_none():
    x, w = without(LARGE, LARGE), np.ones((LARGE, 3))
    for y, shape in (
        (x + 1, (LARGE, LARGE)),
        (x @ w, (LARGE, 3)),
        (x.sum(axis=0), (LARGE,)),
        (x.reshape(-1, 4), (LARGE * LARGE // 4, 4)),
        (x[5:9, None], (4, 1, LARGE)),
        (np.split(x, 2)[1], (LARGE // 2, LARGE)),
        (dtensor.softmax(x, -1), (LARGE, LARGE)),
        (copy.deepcopy(x), (LARGE, LARGE)),
        (dtensor.as_tensor(x, dtype=np.float64), (LARGE, LARGE)),
    ):
        assert y.device == "meta" and y.shape == shape
    assert (x @ w).dtype == np.float64
    assert repr(x.sum()) == "Tensor(..., device='meta', shape=(), dtype=float32)"


def test_writing_into_a_tensor_without_data_does_nothing():
    x = without(LARGE, 2)
    x += 1
    x *= np.ones(2)
    x[3] = 5
    x.fill_(3)
    x.zero_()
    x.copy_(np.ones(2))
    np.add(x, 1, out=x)
    assert x.device == "meta"
    with pytest.raises(ValueError):
        x += np.ones(3)


def test_there_is_nothing_to_look_at():
    x = without(1)
    for look in (x.numpy, x.item, x.tolist, lambda: np.asarray(x), lambda: bool(x > 0)):
        with pytest.raises(NotImplementedError, match="Cannot copy out of meta tensor"):
            look()
    y = as_tensor(np.ones(1))
    with pytest.raises(NotImplementedError):
        y += x
    assert y.tolist() == [1]


def test_dtensors_without_data_move_for_nothing(ranks):
    def body():
        mesh, n = line(), _world.current().size
        with CommDebugMode() as comm:
            x = distribute_tensor(without(LARGE, LARGE), mesh, [S0])
            assert x.device == "meta"
            assert x.to_local().shape == x.layout.local_shape()
            y = x.redistribute(placements=[S1]) @ x
            assert y.device == "meta"
            assert y.redistribute(placements=[R]).to_local().shape == y.shape
            assert x.full_tensor().device == "meta"
            assert x.redistribute(forward_dtype=np.float64).device == "meta"
            part = DTensor.from_local(without(2, 3), mesh, [S0], run_check=True)
            assert part.shape == (2 * n, 3) and part.device == "meta"
            part += part
            part[0] = 3
        assert not any(comm.get_comm_counts().values())

    ranks(body)


# --- models ---------------------------------------------------------------------------


def test_the_device_of_a_block_or_an_argument_is_that_of_parameters():
    with device("meta"):
        assert nn.Linear(2, 3).weight.device == "meta"
        assert nn.Linear(2, 3, device="cpu").weight.device == "cpu"
        with device("cpu"):
            assert nn.Linear(2, 3).weight.device == "cpu"
        assert nn.Embedding(3, 4, padding_idx=0).weight.device == "meta"
    assert nn.Linear(2, 3).weight.device == "cpu"
    assert nn.Conv2d(2, 3, 3, device="meta").bias.device == "meta"
    assert device("meta:0") == "meta" and device("cpu", 1).index == 1
    assert repr(device("cpu:2")) == "device(type='cpu', index=2)"
    with pytest.raises(RuntimeError, match="Expected one of cpu, meta device type"):
        device("cuda")


def test_a_model_without_data_is_stepped():
    with device("meta"):
        layer = nn.TransformerEncoderLayer(8192, 64, 32768, 0.1, batch_first=True)
        model = nn.TransformerEncoder(layer, 4, nn.LayerNorm(8192))
    before = _C._memory_info()["used"]
    out = model(without(64, 2048, 8192))
    assert out.shape == (64, 2048, 8192) and out.device == "meta"
    out.sum().backward()
    for p in model.parameters():
        assert p.grad.device == "meta" and p.grad.shape == p.shape
    assert nn.utils.clip_grad_norm_(model.parameters(), 1.0).device == "meta"
    assert _C._memory_info()["used"] - before < 1 << 20


PLAN = {"0.weight": S0, "0.bias": S0, "2.weight": S1, "2.bias": R}


def parallel(width, mesh):
    with device("meta"):
        model = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )
    for name, placement in PLAN.items():
        path, _, leaf = name.rpartition(".")
        layer = model.get_submodule(path)
        spread = distribute_tensor(getattr(layer, leaf), mesh, [placement])
        setattr(layer, leaf, nn.Parameter(spread))
    return model


def test_a_parallel_model_is_stepped_without_data_or_messages(ranks):
    def body():
        mesh = line()
        model = parallel(8192, mesh)
        with CommDebugMode() as comm:
            x = DTensor.from_local(without(4, 128, 8192), mesh, [R])
            out = model(x)
            assert out.device == "meta" and out.placements[0].is_partial()
            out.sum().backward()
        assert not any(comm.get_comm_counts().values())
        for p in model.parameters():
            assert p.grad.device == "meta" and p.grad.placements == p.placements

    ranks(body)


def test_memory_and_values_come_later(ranks):
    def body():
        mesh = line()
        model = parallel(6, mesh)
        kept = list(model.parameters())
        assert model.to_empty(device="cpu") is model
        dtensor.random.manual_seed(1)
        for layer in model:
            if hasattr(layer, "reset_parameters"):
                layer.reset_parameters()
        dtensor.random.manual_seed(1)
        other = nn.Sequential(nn.Linear(6, 24), nn.GELU(), nn.Linear(24, 6))
        pairs = zip(kept, model.parameters(), other.parameters(), strict=True)
        for old, new, reference in pairs:
            assert old is new and isinstance(new, nn.Parameter) and new.requires_grad
            whole = new.detach().full_tensor()
            assert np.array_equal(whole, reference.detach())
        assert [p.placements[0] for p in kept] == list(PLAN.values())

    ranks(body)


def test_a_state_gives_data_only_by_assignment():
    state = nn.Linear(2, 3).state_dict()
    layer = nn.Linear(2, 3, device="meta")
    with pytest.warns(UserWarning, match="which is a no-op"):
        layer.load_state_dict(state)
    assert layer.weight.device == "meta"
    layer.load_state_dict(state, assign=True)
    assert layer.weight.device == "cpu" and isinstance(layer.weight, nn.Parameter)
    with pytest.raises(NotImplementedError, match="to_empty"):
        nn.Linear(2, 3, device="meta").to("cpu")
    assert layer.to("meta").weight.device == "meta"
