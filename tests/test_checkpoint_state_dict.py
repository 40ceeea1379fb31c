"""State of models and optimizers goes from one parallelization to another."""

import warnings

import numpy as np
import pytest

from dtensor import (
    DeviceMesh,
    DTensor,
    Shard,
    Tensor,
    device,
    distribute_tensor,
    init_device_mesh,
    nn,
)
from dtensor._core import world as _world
from dtensor.checkpoint import load, save
from dtensor.checkpoint.state_dict import (
    StateDictOptions,
    get_model_state_dict,
    get_optimizer_state_dict,
    get_state_dict,
    set_model_state_dict,
    set_optimizer_state_dict,
    set_state_dict,
)
from dtensor.fsdp import DistributedDataParallel as DDP, fully_shard
from dtensor.optim import SGD, AdamW
from dtensor.optim.lr_scheduler import LambdaLR
from dtensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from dtensor.testing import run_ranks


def model(seed=0):
    rng = np.random.default_rng(seed)
    made = nn.Sequential(nn.Linear(6, 10), nn.ReLU(), nn.Linear(10, 3))
    for parameter in made.parameters():
        parameter.detach()[...] = rng.standard_normal(parameter.shape)
    return made


def plain(made, mesh):
    return made


def sharded(made, mesh):
    return fully_shard(made, mesh=mesh)


def split(made, mesh):
    plan = {"0": ColwiseParallel(), "2": RowwiseParallel()}
    return parallelize_module(made, mesh, plan)


WAYS = [plain, sharded, split]


def train(made, optimizer, steps, start):
    """Losses of some steps; every rank has the same data."""
    losses = []
    for step in range(start, start + steps):
        rng = np.random.default_rng(step)
        x = Tensor(rng.standard_normal((4, 6)).astype("float32"))
        out = made(x)
        out = out.full_tensor() if isinstance(out, DTensor) else out
        loss = (out * out).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def adam(made):
    groups = [
        {
            "params": [p for n, p in made.named_parameters() if "weight" in n],
            "lr": 0.05,
        },
        {"params": [p for n, p in made.named_parameters() if "bias" in n], "lr": 0.02},
    ]
    return AdamW(groups, weight_decay=0.1)


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("to", WAYS)
@pytest.mark.parametrize("way", WAYS)
def test_training_goes_on_as_if_nothing_had_happened(way, to, n, tmp_path):
    def first():
        made = way(model(), init_device_mesh("cpu", (2,)))
        optimizer = adam(made)
        losses = train(made, optimizer, 3, 0)
        state = dict(
            zip(("model", "optim"), get_state_dict(made, optimizer), strict=True)
        )
        save({**state, "step": 3}, checkpoint_id=tmp_path)
        return losses + train(made, optimizer, 3, 3)

    def then():
        made = to(model(1), init_device_mesh("cpu", (n,)))
        optimizer = adam(made)
        weights, moments = get_state_dict(made, optimizer)
        state = {"model": weights, "optim": moments, "step": 0}
        load(state, checkpoint_id=tmp_path)
        keys = set_state_dict(
            made, optimizer, model_state_dict=weights, optim_state_dict=moments
        )
        assert not keys.missing_keys and not keys.unexpected_keys
        assert optimizer.param_groups[1]["lr"] == 0.02
        return train(made, optimizer, 3, state["step"])

    want = run_ranks(2, first)[0][3:]
    np.testing.assert_allclose(run_ranks(n, then)[0], want, rtol=1e-4)


@pytest.mark.parametrize("flatten", [False, True])
@pytest.mark.parametrize("way", WAYS)
def test_whole_state_is_gathered_and_sent_from_rank_0(way, flatten):
    options = StateDictOptions(
        full_state_dict=True, cpu_offload=True, flatten_optimizer_state_dict=flatten
    )
    back = StateDictOptions(
        full_state_dict=True,
        broadcast_from_rank0=True,
        flatten_optimizer_state_dict=flatten,
    )

    def go():
        mesh = init_device_mesh("cpu", (2,))
        made = way(model(), mesh)
        optimizer = adam(made)
        train(made, optimizer, 2, 0)
        weights, moments = get_state_dict(made, optimizer, options=options)
        if mesh.get_rank() > 0:
            assert weights == {} and moments == {}
        else:
            assert weights.keys() == model().state_dict().keys()
            assert not any(isinstance(v, DTensor) for v in weights.values())
            kind = "state.0.weight.exp_avg" if flatten else "state"
            assert kind in moments
        other = way(model(1), mesh)
        its = adam(other)
        set_state_dict(
            other, its, model_state_dict=weights, optim_state_dict=moments, options=back
        )
        for mine, theirs in zip(made.parameters(), other.parameters(), strict=True):
            assert type(mine) is type(theirs)
            assert np.array_equal(_local(mine), _local(theirs))
        assert train(made, optimizer, 2, 2) == train(other, its, 2, 2)

    run_ranks(2, go)


def _local(tensor):
    tensor = tensor.detach()
    return np.asarray(tensor.to_local() if isinstance(tensor, DTensor) else tensor)


def test_whole_state_that_every_rank_has_is_cut():
    def go():
        mesh = init_device_mesh("cpu", (2,))
        whole = model(3).state_dict()
        made = fully_shard(model(), mesh=mesh)
        set_model_state_dict(
            made, whole, options=StateDictOptions(full_state_dict=True)
        )
        again = get_model_state_dict(
            made, options=StateDictOptions(full_state_dict=True)
        )
        assert all(np.array_equal(again[name], whole[name]) for name in whole)

    run_ranks(2, go)


@pytest.mark.parametrize("rows", [False, True], ids=["reversed", "rows"])
def test_rank_0_sends_to_meshes_that_it_does_not_begin(rows):
    options = StateDictOptions(full_state_dict=True, broadcast_from_rank0=True)

    def go():
        whole = {name: np.asarray(v) for name, v in model(3).state_dict().items()}
        mesh = DeviceMesh("cpu", [3, 2, 1, 0])
        if rows:
            mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))["tp"]
        made = split(model(), mesh)
        first = _world.current().rank == 0
        set_model_state_dict(
            made, whole if first else made.state_dict(), options=options
        )
        again = get_model_state_dict(
            made, options=StateDictOptions(full_state_dict=True)
        )
        assert all(np.array_equal(again[name], whole[name]) for name in whole)
        for wrong, kind in [(object(), TypeError), (made[0].weight, ValueError)]:
            with pytest.raises(kind, match="on rank 0"):
                set_model_state_dict(made, {"0.weight": wrong}, options=options)
        state = {"state": {"0.weight": {"exp_avg": "a text"}}}
        with pytest.raises(NotImplementedError, match="on rank 0"):
            set_optimizer_state_dict(made, adam(made), state, options=options)

    run_ranks(4, go)


def test_parts_of_a_model_are_chosen():
    made = model()
    made[0].weight.requires_grad_(False)
    options = StateDictOptions(ignore_frozen_params=True)
    names = set(get_model_state_dict(made, options=options))
    assert names == {"0.bias", "2.weight", "2.bias"}
    assert set(get_model_state_dict(made, submodules={made[2]})) == {
        "2.weight",
        "2.bias",
    }
    options = StateDictOptions(keep_submodule_prefixes=False)
    found = get_model_state_dict(made, submodules={made[2]}, options=options)
    assert set(found) == {"weight", "bias"}
    optimizer = SGD(made[2].parameters(), lr=0.1, momentum=0.9)
    state = get_optimizer_state_dict(made, optimizer)
    assert state["state"].keys() == {"2.weight", "2.bias"}
    assert state["param_groups"][0]["params"] == ["2.weight", "2.bias"]


def test_an_optimizer_is_given_its_state_without_a_change():
    made = model()
    before = [p.detach().copy() for p in made.parameters()]
    optimizer = adam(made)
    state = get_optimizer_state_dict(made, optimizer)
    assert state["state"]["0.weight"]["exp_avg"].shape == (10, 6)
    assert optimizer.param_groups[0]["lr"] == 0.05
    assert all(p.grad is None for p in made.parameters())
    assert all(
        np.array_equal(p.detach(), b)
        for p, b in zip(made.parameters(), before, strict=True)
    )


def test_several_optimizers_share_a_state():
    made, other = model(), model(1)

    def optimizers(of):
        return [AdamW(of[0].parameters(), lr=0.1), SGD(of[2].parameters(), lr=0.3)]

    ours, theirs = optimizers(made), optimizers(other)
    for optimizer in ours:
        optimizer.param_groups[0]["lr"] = 0.25
    for flatten in (False, True):
        options = StateDictOptions(flatten_optimizer_state_dict=flatten)
        state = get_optimizer_state_dict(made, ours, options=options)
        set_optimizer_state_dict(other, theirs, state, options=options)
        assert all(o.param_groups[0]["lr"] == 0.25 for o in theirs)


def test_what_does_not_fit_is_refused():
    made = model()
    optimizer = adam(made)
    state = get_optimizer_state_dict(made, optimizer)
    state["param_groups"] = state["param_groups"][:1]
    with pytest.raises(KeyError, match="no entry for parameter '0.bias'"):
        set_optimizer_state_dict(made, optimizer, state)
    options = StateDictOptions(strict=False)
    set_optimizer_state_dict(made, optimizer, state, options=options)
    with pytest.raises(RuntimeError, match="Missing key"):
        set_model_state_dict(made, {})
    assert len(set_model_state_dict(made, {}, options=options).missing_keys) == 4
    with pytest.raises(KeyError, match="is not in the model"):
        get_optimizer_state_dict(made, adam(model()))
    with pytest.raises(ValueError, match="full_state_dict must be True"):
        get_model_state_dict(made, options=StateDictOptions(broadcast_from_rank0=True))


@pytest.mark.parametrize("full", [False, True])
def test_a_parameter_without_state_is_told_or_starts_anew(full):
    made, other = model(), model(1)
    optimizer, fresh = adam(made), adam(other)
    x = np.ones((2, 6), np.float32)
    (made[0](x) ** 2).sum().backward()  # the last layer has no gradient
    optimizer.step()
    strict = StateDictOptions(full_state_dict=full)
    state = get_optimizer_state_dict(made, optimizer, options=strict)
    with pytest.raises(RuntimeError, match=r"Missing .* '2.weight': .*strict=False"):
        set_optimizer_state_dict(other, fresh, state, options=strict)
    fresh = adam(other)
    loose = StateDictOptions(full_state_dict=full, strict=False)
    set_optimizer_state_dict(other, fresh, state, options=loose)
    assert {id(p) for p in fresh.state} == {id(p) for p in other[0].parameters()}


def test_a_module_s_own_state_is_loaded_into_another_layout(tmp_path):
    def go():
        mesh = init_device_mesh("cpu", (3,))
        layer = nn.Linear(5, 4)
        layer.weight = nn.Parameter(
            distribute_tensor(np.arange(20.0).reshape(4, 5), mesh, [Shard(0)])
        )
        save({"layer": layer}, checkpoint_id=tmp_path)
        layer.weight = nn.Parameter(
            distribute_tensor(np.zeros((4, 5)), mesh, [Shard(1)])
        )
        load({"layer": layer}, checkpoint_id=tmp_path)
        whole = layer.weight.detach().full_tensor()
        assert np.array_equal(whole, np.arange(20.0).reshape(4, 5))

    run_ranks(3, go)


@pytest.mark.parametrize("from_first", [False, True])
def test_a_model_without_data_is_filled_from_whole_tensors(from_first):
    """The usual way to load a large model, and its optimizer has the parameters."""

    def made(seed):
        layers = nn.Linear(6, 10), nn.BatchNorm1d(10), nn.Linear(10, 3)
        rng = np.random.default_rng(seed)
        for tensor in nn.Sequential(*layers).state_dict().values():
            tensor.detach()[...] = rng.integers(0, 9, tensor.shape)
        return nn.Sequential(*layers)

    def go():
        mesh = init_device_mesh("cpu", (2,))
        whole = made(3).state_dict()
        with device("meta"):
            hollow = nn.Sequential(
                nn.Linear(6, 10), nn.BatchNorm1d(10), nn.Linear(10, 3)
            )
        fully_shard(hollow[0], mesh=mesh)
        fully_shard(hollow, mesh=mesh)
        optimizer = SGD(hollow.parameters(), lr=0.1)
        options = StateDictOptions(
            full_state_dict=True, broadcast_from_rank0=from_first
        )
        given = whole if mesh.get_rank() == 0 or not from_first else {}
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            keys = set_model_state_dict(hollow, given, options=options)
        assert not keys.missing_keys and not keys.unexpected_keys
        for name, found in hollow.state_dict().items():
            found = found.full_tensor() if isinstance(found, DTensor) else found
            assert np.array_equal(found, whole[name]), name
            assert not np.shares_memory(np.asarray(found), np.asarray(whole[name]))
        first = optimizer.param_groups[0]["params"][0]
        assert first is next(iter(hollow.parameters()))
        hollow(np.ones((4, 6), "f4")).sum().backward()
        optimizer.step()

    run_ranks(2, go)


def test_what_has_no_value_stays_without_data():
    with device("meta"):
        hollow = nn.Linear(3, 2)
    options = StateDictOptions(full_state_dict=True, strict=False)
    set_model_state_dict(hollow, {"bias": Tensor(np.ones(2, "f4"))}, options=options)
    assert hollow.bias.device == "cpu" and hollow.weight.device == "meta"


def test_flat_optimizer_state_is_known_by_its_names():
    source, target = model(), model(1)
    optimizer = AdamW(source.parameters(), lr=0.3)
    LambdaLR(optimizer, lambda step: 0.5)  # gives the groups an initial_lr
    source(np.ones((2, 6), "f4")).sum().backward()
    optimizer.step()
    flat = StateDictOptions(flatten_optimizer_state_dict=True)
    state = get_optimizer_state_dict(source, optimizer, options=flat)
    other = AdamW(target.parameters(), lr=0.1)
    for options in (None, flat, StateDictOptions(full_state_dict=True)):
        set_optimizer_state_dict(target, other, state, options=options)
        assert other.param_groups[0]["lr"] == 0.15
        assert other.param_groups[0]["initial_lr"] == 0.3
        again = get_optimizer_state_dict(target, other, options=flat)
        assert list(again) == list(state)
        assert all(np.array_equal(again[name], state[name]) for name in state)


def test_names_are_those_without_data_parallel_wrappers(ranks):
    def body():
        inner = nn.Sequential(DDP(nn.Linear(3, 3)), nn.ModuleDict({"module": model()}))
        made = DDP(inner)
        optimizer = AdamW(made.parameters(), lr=0.1)
        state, steps = get_state_dict(made, optimizer)
        names = [*nn.Sequential(nn.Linear(3, 3)).state_dict()]
        names += [f"1.module.{name}" for name in model().state_dict()]
        assert list(state) == names and list(steps["state"]) == names
        twice = {name: value.detach() * 2 for name, value in state.items()}
        for options in (None, StateDictOptions(full_state_dict=True)):
            keys = set_model_state_dict(made, twice, options=options)
            assert not any(keys)
            for name, value in made.state_dict().items():
                raw = name.replace("module.", "", 1).replace("0.module.", "0.")
                np.testing.assert_array_equal(value, twice[raw])
        set_optimizer_state_dict(made, optimizer, steps)
        part = get_model_state_dict(made, submodules={inner[0]})
        assert list(part) == ["0.weight", "0.bias"]

    ranks(body)
