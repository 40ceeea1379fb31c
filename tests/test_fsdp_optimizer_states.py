"""State of optimizers of FullyShardedDataParallel, in all forms."""

import numpy as np
import pytest
from fsdp_models import Net, X, Y, loss_of, reference, train
from fsdp_wrapped import NAMES, adam, one_process, trained, wrapped
from meshes import line

import dtensor
from dtensor import DTensor, tensor
from dtensor.fsdp import (
    FullOptimStateDictConfig,
    FullyShardedDataParallel as FSDP,
    OptimStateKeyType,
    StateDictType,
)
from dtensor.optim import AdamW

FULL, LOCAL, SHARDED = (
    StateDictType.FULL_STATE_DICT,
    StateDictType.LOCAL_STATE_DICT,
    StateDictType.SHARDED_STATE_DICT,
)


def moments_of(state, want):
    assert sorted(state["state"]) == sorted(want)
    for name, values in want.items():
        for key in ("exp_avg", "exp_avg_sq"):
            got = state["state"][name][key]
            assert not isinstance(got, DTensor)
            np.testing.assert_allclose(got, values[key], rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("alone", [False, True])
def test_whole_state_of_an_optimizer_goes_out_and_in(ranks, alone):
    _, want = one_process()
    losses, _ = reference(steps=4, make=adam)

    def body():
        model, optimizer = trained()
        config = FullOptimStateDictConfig(rank0_only=alone)
        FSDP.set_state_dict_type(model, FULL, None, config)
        state = FSDP.optim_state_dict(model, optimizer)
        weights = model.state_dict()
        if alone and line().get_rank() > 0:
            assert state == {}
        else:
            moments_of(state, want)
            assert sorted(state["param_groups"][0]["params"]) == sorted(NAMES)
            assert state["param_groups"][0]["lr"] == 0.01
        other = wrapped(seed=1)
        other.load_state_dict(weights)
        FSDP.set_state_dict_type(other, FULL, None, config)
        stepper = AdamW(other.parameters(), lr=1.0)
        packed = FSDP.optim_state_dict_to_load(other, stepper, state)
        stepper.load_state_dict(packed)
        assert stepper.param_groups[0]["lr"] == 0.01
        got = train(other, line(), 1, lambda p: stepper)
        np.testing.assert_allclose(got, losses[3:], rtol=1e-9)
        moments_of(
            FSDP.full_optim_state_dict(other, stepper, rank0_only=False),
            {name: optimizer_after()[name] for name in want},
        )

    def optimizer_after():
        model = Net()
        optimizer = adam(model.parameters())
        for _ in range(4):
            optimizer.zero_grad()
            loss_of(model, tensor(X), tensor(Y)).backward()
            optimizer.step()
        return {n: optimizer.state[p] for n, p in model.named_parameters()}

    ranks(body)


def test_state_of_an_optimizer_as_dtensors_and_as_parts(ranks):
    _, want = one_process()

    def body():
        model, optimizer = trained()
        state = FSDP.sharded_optim_state_dict(model, optimizer)
        value = state["state"]["last.weight"]["exp_avg"]
        assert isinstance(value, DTensor)
        for kind in (SHARDED, LOCAL):
            FSDP.set_state_dict_type(model, kind)
            state = FSDP.optim_state_dict(model, optimizer, optimizer.state_dict())
            optimizer.load_state_dict(
                FSDP.optim_state_dict_to_load(model, optimizer, state)
            )
        again = FSDP.full_optim_state_dict(model, optimizer, rank0_only=False)
        moments_of(again, want)
        other = AdamW(model.parameters(), lr=0.5)
        sharded = FSDP.sharded_optim_state_dict(model, optimizer)
        other.load_state_dict(
            FSDP.flatten_sharded_optim_state_dict(sharded, model, other)
        )
        moments_of(FSDP.full_optim_state_dict(model, other, rank0_only=False), want)

    ranks(body)


def test_a_whole_state_is_cut_on_each_rank_or_sent_by_the_first(ranks):
    _, want = one_process()

    def body():
        model, optimizer = trained()
        everywhere = FSDP.full_optim_state_dict(model, optimizer, rank0_only=False)
        first = FSDP.full_optim_state_dict(model, optimizer)
        assert bool(first) == (line().get_rank() == 0)
        for state in (
            FSDP.shard_full_optim_state_dict(everywhere, model),
            FSDP.shard_full_optim_state_dict(everywhere, model, optim=optimizer),
            FSDP.scatter_full_optim_state_dict(first or None, model, optim=optimizer),
            FSDP.scatter_full_optim_state_dict(first, model, list(model.parameters())),
        ):
            other = AdamW(model.parameters(), lr=0.5)
            other.load_state_dict(state)
            moments_of(FSDP.full_optim_state_dict(model, other, rank0_only=False), want)

    ranks(body)


def test_names_and_numbers_of_parameters_are_exchanged(ranks):
    def body():
        model, optimizer = trained()
        state = FSDP.full_optim_state_dict(model, optimizer, rank0_only=False)
        plain = Net()
        other = adam(plain.parameters())
        ids = FSDP.rekey_optim_state_dict(state, OptimStateKeyType.PARAM_ID, plain)
        assert sorted(ids["state"]) == list(range(5))
        other.load_state_dict(ids)
        np.testing.assert_array_equal(
            other.state[plain.second.bias]["exp_avg"],
            state["state"]["second.bias"]["exp_avg"],
        )
        name = OptimStateKeyType.PARAM_NAME
        names = FSDP.rekey_optim_state_dict(
            other.state_dict(), name, plain, optim=other
        )
        assert sorted(names["state"]) == sorted(NAMES)
        assert FSDP.rekey_optim_state_dict(names, name, plain) == names
        mixed = {"state": {0: {}, "a": {}}, "param_groups": []}
        with pytest.raises(ValueError, match="Invalid parameter keys"):
            FSDP.rekey_optim_state_dict(mixed, name, plain)

    ranks(body)


def test_an_optimizer_of_other_parameters_is_refused(ranks):
    def body():
        model, optimizer = trained()
        stranger = adam(Net().parameters())
        with pytest.raises(KeyError, match="not in the model"):
            FSDP.optim_state_dict(model, stranger)
        state = FSDP.full_optim_state_dict(model, optimizer, rank0_only=False)
        for group in state["param_groups"]:
            group["params"].remove("last.weight")
        with pytest.raises(KeyError, match="last.weight"):
            FSDP.optim_state_dict_to_load(model, optimizer, state)

    ranks(body)


def test_all_ranks_learn_of_an_optimizer_that_one_cannot_name(ranks):
    def body():
        model, optimizer = trained()
        mesh = line()
        own = Net() if mesh.get_rank() == mesh.size() - 1 else model
        with pytest.raises(KeyError, match="not in the model"):
            FSDP.full_optim_state_dict(model, adam(own.parameters()))
            FSDP.full_optim_state_dict(model, optimizer)
        if mesh.size() > 1 and own is not model:
            what = r"rank \d failed in FullyShardedDataParallel\.optim_state_dict"
            with pytest.raises(KeyError, match=what):
                FSDP.full_optim_state_dict(model, optimizer)
        dtensor.resync()
        FSDP.full_optim_state_dict(model, optimizer)

    ranks(body)
