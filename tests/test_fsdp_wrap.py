"""Which submodules FullyShardedDataParallel wraps on their own."""

import functools

import numpy as np
import pytest
from fsdp_models import Net, X, Y, loss_of, part, reference, train
from meshes import line

import dtensor.torch as torch
from dtensor import Replicate, Shard, nn
from dtensor.debug import CommDebugMode
from dtensor.fsdp import FullyShardedDataParallel as FSDP, ShardingStrategy
from dtensor.fsdp.wrap import (
    CustomPolicy,
    ModuleWrapPolicy,
    always_wrap_policy,
    enable_wrap,
    lambda_auto_wrap_policy,
    size_based_auto_wrap_policy,
    transformer_auto_wrap_policy,
    wrap,
)

NAMES = list(Net().state_dict())


def names_of(model):
    """The places of wrapped modules, without what wrappers put into names."""
    return [
        name.replace("_fsdp_wrapped_module", "").replace("..", ".").strip(".")
        for name, module in model.named_modules()
        if isinstance(module, FSDP)
    ]


LINEAR = (nn.Linear,)
SIZES = functools.partial(size_based_auto_wrap_policy, min_num_params=50)
POLICIES = {
    "always": (always_wrap_policy, ["", "first", "second", "last"]),
    "classes": (ModuleWrapPolicy(LINEAR), ["", "first", "second", "last"]),
    "transformer": (
        functools.partial(transformer_auto_wrap_policy, transformer_layer_cls=LINEAR),
        ["", "first", "second", "last"],
    ),
    "function": (
        functools.partial(
            lambda_auto_wrap_policy, lambda_fn=lambda m: getattr(m, "bias", 0) is None
        ),
        ["", "last"],
    ),
    "custom": (
        CustomPolicy(lambda m: isinstance(m, nn.Linear)),
        ["", "first", "second", "last"],
    ),
    "size": (SIZES, ["", "second"]),  # 42, 56 and 21 elements
}


@pytest.mark.parametrize("name", list(POLICIES))
def test_a_policy_wraps_modules_that_train_as_on_one_process(ranks, name):
    policy, places = POLICIES[name]
    losses, state = reference()

    def body():
        model = FSDP(Net(), device_mesh=line(), auto_wrap_policy=policy)
        assert names_of(model) == places
        np.testing.assert_allclose(train(model, line()), losses, rtol=1e-12)
        got = model.state_dict()
        assert list(got) == NAMES
        for key, value in state.items():
            np.testing.assert_allclose(got[key], value, rtol=1e-12)
        with CommDebugMode() as mode:
            loss_of(model, part(line(), X), part(line(), Y))
        units = len(places) - ("last" in places and "first" in places)
        gathers = {"all_gather": units} if line().size() > 1 else {}
        assert mode.get_comm_counts() == gathers

    ranks(body)


def test_a_custom_policy_may_give_other_arguments(ranks):
    def choose(module):
        if isinstance(module, nn.Linear) and module.bias is None:
            return {"sharding_strategy": ShardingStrategy.NO_SHARD}
        return isinstance(module, nn.Linear)

    losses, _ = reference()

    def body():
        model = FSDP(Net(), device_mesh=line(), auto_wrap_policy=CustomPolicy(choose))
        assert model.first.weight.placements == (Shard(0),)
        assert model.last.weight.placements == (Replicate(),)
        np.testing.assert_allclose(train(model, line()), losses, rtol=1e-12)
        with pytest.raises(ValueError, match="returned 3"):
            FSDP(Net(), device_mesh=line(), auto_wrap_policy=CustomPolicy(lambda m: 3))

    ranks(body)


class Lists(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(3, 3) for _ in range(2))
        self.table = nn.ModuleDict({"a": nn.Linear(3, 2)})
        self.tied = self.layers[0]

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.table["a"](self.tied(x))


@pytest.mark.parametrize(
    "policy",
    [
        always_wrap_policy,
        functools.partial(size_based_auto_wrap_policy, min_num_params=8),
    ],
)
def test_containers_without_forward_are_left_as_they_are(ranks, policy):
    def body():
        model = FSDP(Lists(), device_mesh=line(), auto_wrap_policy=policy)
        assert names_of(model) == ["", "layers.0", "layers.1", "table.a"]
        assert model.tied is model.layers[0]
        plain = Lists()
        plain.load_state_dict(model.state_dict())
        x = torch.ones(2, 3)
        got = model(x)
        np.testing.assert_allclose(got.detach(), plain(x).detach(), rtol=1e-6)
        got.sum().backward()
        assert not any(model.load_state_dict(plain.state_dict()))

    ranks(body)


def test_modules_of_attention_are_not_taken_apart_by_size(ranks):
    policy = functools.partial(size_based_auto_wrap_policy, min_num_params=1)

    def body():
        inner = nn.Sequential(nn.MultiheadAttention(4, 2), nn.Linear(4, 4))
        model = FSDP(inner, device_mesh=line(), auto_wrap_policy=policy)
        assert names_of(model) == ["", "0", "1"]
        leaves = functools.partial(
            policy, force_leaf_modules={nn.Sequential}, exclude_wrap_modules=set()
        )
        made = nn.Sequential(nn.Sequential(nn.Linear(2, 2)))
        model = FSDP(made, device_mesh=line(), auto_wrap_policy=leaves)
        assert names_of(model) == [""]

    ranks(body)


def test_ignored_modules_are_passed_over(ranks):
    def body():
        net = Net()
        model = FSDP(
            net,
            device_mesh=line(),
            auto_wrap_policy=always_wrap_policy,
            ignored_modules=[net.second],
        )
        assert names_of(model) == ["", "first", "last"]
        assert not hasattr(model.second.weight, "placements")

    ranks(body)


def test_modules_are_wrapped_while_a_model_is_made(ranks):
    x = np.ones((2, 4), "f4")

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = wrap(nn.Linear(4, 4))
            self.second = wrap(
                nn.Linear(4, 2), sharding_strategy=ShardingStrategy.NO_SHARD
            )

        def forward(self, x):
            return self.second(self.first(x))

    def body():
        plain = Model()
        assert not isinstance(plain.first, FSDP)
        with enable_wrap(wrapper_cls=FSDP, device_mesh=line()):
            model = Model()
            with pytest.raises(NotImplementedError, match="nested autowrap"):
                with enable_wrap(wrapper_cls=FSDP):
                    pass
            assert isinstance(wrap(nn.Linear(1, 1)), FSDP)
        assert not isinstance(wrap(nn.Linear(1, 1)), FSDP)
        assert model.first.weight.placements == (Shard(0),)
        assert model.second.weight.placements == (Replicate(),)
        model = FSDP(model, device_mesh=line())
        assert names_of(model) == ["", "first", "second"]
        plain.load_state_dict(model.state_dict())
        np.testing.assert_allclose(
            model(torch.tensor(x)).detach(), plain(torch.tensor(x)).detach(), rtol=1e-6
        )

    ranks(body)


def test_items_of_a_wrapped_container_are_found(ranks):
    def body():
        model = FSDP(nn.Sequential(nn.Linear(2, 3), nn.Tanh()), device_mesh=line())
        assert isinstance(model[1], nn.Tanh) and model[0].out_features == 3

    ranks(body)


def test_torchs_path_has_the_policies_and_its_modules_wrap(ranks):
    names = torch.distributed.fsdp.wrap
    assert names.wrap is wrap and names.CustomPolicy is CustomPolicy

    def body():
        torch.manual_seed(0)
        layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        encoder = torch.nn.TransformerEncoder(layer, 2)
        policy = functools.partial(
            names.transformer_auto_wrap_policy,
            transformer_layer_cls={torch.nn.TransformerEncoderLayer},
        )
        model = torch.distributed.fsdp.FullyShardedDataParallel(
            encoder, auto_wrap_policy=policy
        )
        assert len(FSDP.fsdp_modules(model)) == 3
        x = torch.ones(2, 3, 8)
        model(x).sum().backward()

    ranks(body)
