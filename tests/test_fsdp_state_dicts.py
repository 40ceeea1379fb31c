"""State dicts of FullyShardedDataParallel, in all forms."""

import numpy as np
import pytest
from fsdp_models import Net, X, Y, loss_of, part
from fsdp_wrapped import NAMES, one_process, trained, wrapped
from meshes import line

import dtensor
import dtensor.torch as torch
from dtensor import DTensor, nn, tensor
from dtensor.checkpoint.state_dict import get_model_state_dict, get_state_dict
from dtensor.debug import CommDebugMode
from dtensor.fsdp import (
    FullOptimStateDictConfig,
    FullStateDictConfig,
    FullyShardedDataParallel as FSDP,
    LocalStateDictConfig,
    ModuleWrapPolicy,
    ShardedStateDictConfig,
    ShardingStrategy,
    StateDictSettings,
    StateDictType,
)

FULL, LOCAL, SHARDED = (
    StateDictType.FULL_STATE_DICT,
    StateDictType.LOCAL_STATE_DICT,
    StateDictType.SHARDED_STATE_DICT,
)


def same(got, want):
    assert sorted(got) == sorted(want)
    for name, value in want.items():
        np.testing.assert_allclose(got[name], value, rtol=1e-9, atol=1e-12)


def test_by_default_a_state_dict_has_whole_tensors_on_all_ranks(ranks):
    want, _ = one_process()

    def body():
        model, _ = trained()
        assert FSDP.get_state_dict_type(model) == StateDictSettings()
        with CommDebugMode() as mode:
            state = model.state_dict()
        gathers = {"all_gather": 5} if line().size() > 1 else {}
        assert mode.get_comm_counts() == gathers
        assert list(state) == NAMES
        assert not any(isinstance(x, DTensor) for x in state.values())
        same(state, want)
        plain = Net(seed=1)
        assert not any(plain.load_state_dict(state))
        other = wrapped(seed=2)
        with CommDebugMode() as mode:
            assert not any(other.load_state_dict(state))
        assert mode.get_total_counts() == 0
        same(other.state_dict(), want)

    ranks(body)


@pytest.mark.parametrize("strategy", list(ShardingStrategy)[:3])
def test_the_first_rank_alone_may_get_whole_tensors(ranks, strategy):
    want = {k: np.array(v) for k, v in Net().state_dict().items()}

    def body():
        model = wrapped(sharding_strategy=strategy)
        config = FullStateDictConfig(offload_to_cpu=True, rank0_only=True)
        with FSDP.state_dict_type(model, FULL, config):
            state = model.state_dict()
        if line().get_rank() == 0:
            same(state, want)
        else:
            assert state == {}
        assert FSDP.get_state_dict_type(model) == StateDictSettings()

    ranks(body)


def test_a_module_around_the_wrapper_keeps_its_own_state(ranks):
    def body():
        model = nn.Sequential(
            FSDP(nn.Linear(3, 2), device_mesh=line()), nn.Linear(2, 1)
        )
        config = FullStateDictConfig(rank0_only=True)
        FSDP.set_state_dict_type(model, FULL, config)
        names = ["1.weight", "1.bias"]
        if line().get_rank() == 0:
            names = ["0.weight", "0.bias", *names]
        assert list(model.state_dict()) == names

    ranks(body)


def test_sharded_state_dicts_have_the_dtensors_themselves(ranks):
    want, _ = one_process()

    def body():
        model, _ = trained()
        with FSDP.state_dict_type(model, SHARDED, ShardedStateDictConfig()):
            with CommDebugMode() as mode:
                state = model.state_dict()
            assert mode.get_total_counts() == 0
            assert list(state) == NAMES
            for name, value in state.items():
                assert isinstance(value, DTensor)
                np.testing.assert_allclose(value.full_tensor(), want[name], rtol=1e-9)
            other = wrapped(seed=1)
            FSDP.set_state_dict_type(other, SHARDED)
            assert not any(other.load_state_dict(state))
        same(other.state_dict() and _full(other), want)

    ranks(body)


def _full(model):
    with FSDP.state_dict_type(model, FULL):
        return model.state_dict()


def test_local_state_dicts_have_the_parts_of_this_rank(ranks):
    want, _ = one_process()

    def body():
        model, _ = trained()
        mesh = line()
        FSDP.set_state_dict_type(model, LOCAL, LocalStateDictConfig())
        state = model.state_dict()
        rows = -(-7 // mesh.size())  # chunks of this many
        start = min(rows * mesh.get_rank(), 7)
        mine = want["first.weight"][start : start + rows]
        np.testing.assert_allclose(state["first.weight"], mine, rtol=1e-9)
        other = wrapped(seed=1)
        with FSDP.state_dict_type(other, LOCAL):
            assert not any(other.load_state_dict(state))
            wrong = {**state, "first.bias": tensor(np.zeros(99))}
            with pytest.raises(RuntimeError, match="size mismatch for .*first.*bias"):
                other.load_state_dict(wrong)
        state = other.state_dict()
        same(
            {k: v for k, v in state.items() if k != "first.bias"},
            {k: v for k, v in want.items() if k != "first.bias"},
        )

    ranks(body)


def test_settings_are_those_of_all_wrappers_and_of_the_right_type(ranks):
    def body():
        model = wrapped()
        before = FSDP.set_state_dict_type(model, SHARDED)
        assert before == StateDictSettings()
        settings = FSDP.get_state_dict_type(model)
        assert settings.state_dict_type is SHARDED
        assert type(settings.state_dict_config) is ShardedStateDictConfig
        with pytest.raises(RuntimeError, match="Expected state_dict_config of type"):
            FSDP.set_state_dict_type(model, FULL, ShardedStateDictConfig())
        with pytest.raises(RuntimeError, match="Expected optim_state_dict_config"):
            FSDP.set_state_dict_type(model, FULL, None, FullStateDictConfig())
        FSDP.set_state_dict_type(model.first, FULL)
        with pytest.raises(AssertionError, match="same state dict settings"):
            FSDP.get_state_dict_type(model)

    ranks(body)


def test_checkpoints_get_dtensors_whatever_is_set(ranks):
    def body():
        model, optimizer = trained()
        state, steps = get_state_dict(model, optimizer)
        assert list(state) == list(steps["state"]) == NAMES
        assert all(isinstance(x, DTensor) for x in state.values())
        FSDP.set_state_dict_type(model, LOCAL)
        assert all(isinstance(x, DTensor) for x in get_model_state_dict(model).values())
        assert not isinstance(model.state_dict()["first.bias"], DTensor)

    ranks(body)


# --- wrappers and the first rank ------------------------------------------------------


def test_wrappers_are_found_and_the_root_is_known(ranks):
    def body():
        model = wrapped()
        around = nn.Sequential(model, nn.Linear(3, 3))
        found = FSDP.fsdp_modules(around)
        assert len(found) == 4 and found[0] is model
        assert FSDP.fsdp_modules(around, root_only=True) == [model]
        loss_of(model, part(line(), X), part(line(), Y))
        assert model.check_is_root() and not model.first.check_is_root()
        assert FSDP.fsdp_modules(model.first, root_only=True) == []
        total = model.clip_grad_norm_(1.0)
        assert type(total) is dtensor.Tensor and float(total) == 0.0

    ranks(body)


def test_all_ranks_may_take_the_parameters_of_the_first(ranks):
    want = {k: np.array(v) for k, v in Net(0).state_dict().items()}

    def body():
        rank = line().get_rank()
        model = FSDP(
            Net(seed=rank),
            sync_module_states=True,
            auto_wrap_policy=ModuleWrapPolicy([nn.Linear]),
        )
        same(model.state_dict(), want)
        if line().size() > 1:
            with dtensor.device("meta" if rank else "cpu"):
                hollow = nn.Linear(2, 2)
            with pytest.raises(ValueError, match="has no data"):
                FSDP(hollow, sync_module_states=True)

    ranks(body)


def test_torchs_paths_have_the_settings():
    from_api = torch.distributed.fsdp.api.FullStateDictConfig
    older = torch.distributed.fsdp.fully_sharded_data_parallel
    assert from_api is FullStateDictConfig is older.FullStateDictConfig
    assert (
        older.FullyShardedDataParallel
        is FSDP
        is torch.distributed.fsdp.FullyShardedDataParallel
    )
    assert FullOptimStateDictConfig().offload_to_cpu
    assert not FullStateDictConfig().offload_to_cpu
