"""parallelize_module: patterns, meshes, shared parameters, and what it refuses."""

import importlib
import warnings

import numpy as np
import pytest
from meshes import line, square
from parallel_models import F64, MLP, Model, filled, numbers, whole

import dtensor
from dtensor import DTensor, Replicate, Shard, init_device_mesh, nn
from dtensor.debug import CommDebugMode
from dtensor.parallel import (
    ColwiseParallel,
    ParallelStyle,
    PrepareModuleInput,
    PrepareModuleInputOutput,
    PrepareModuleOutput,
    RowwiseParallel,
    parallelize_module,
)

R = Replicate()


def sharded(module):
    """The names of the parameters that are DTensors."""
    return [n for n, p in module.named_parameters() if isinstance(p, DTensor)]


# --- patterns -------------------------------------------------------------------------


def test_a_pattern_is_matched_token_by_token(ranks):
    def body():
        style = ColwiseParallel()
        model = parallelize_module(Model(), line(), {"layers.*.mlp.u?": style})
        assert sharded(model) == [
            f"layers.{i}.mlp.up.{name}" for i in (0, 1) for name in ("weight", "bias")
        ]
        model = parallelize_module(Model(), line(), {"layers.[1-9].mlp.*n": style})
        assert sharded(model) == ["layers.1.mlp.down.weight", "layers.1.mlp.down.bias"]

    ranks(body)


def test_the_empty_pattern_is_the_module_itself(ranks):
    def body():
        layer = nn.Linear(4, 4, dtype=F64)
        assert parallelize_module(layer, line(), {"": RowwiseParallel()}) is layer
        assert layer.weight.placements == (Shard(1),)

    ranks(body)


@pytest.mark.mpi
def test_plans_can_hold_plans():
    plan = {"layers.0": {"mlp": {"up": ColwiseParallel()}}, "output": None}
    with pytest.warns(UserWarning, match="No parallelize_plan is provided"):
        model = parallelize_module(Model(), line(), plan)
    assert sharded(model) == ["layers.0.mlp.up.weight", "layers.0.mlp.up.bias"]


@pytest.mark.mpi
def test_a_pattern_that_matches_nothing_is_skipped_with_a_warning():
    with pytest.warns(UserWarning) as caught:
        model = parallelize_module(
            Model(),
            line(),
            {"layer.0": ColwiseParallel(), "layers.*.x": ColwiseParallel()},
        )
    assert sharded(model) == []
    texts = [str(warning.message) for warning in caught]
    assert len(texts) == 3  # one for each of the two layers
    assert texts[0].startswith(
        "Parallelize plan key 'layer.0' could not be resolved: no submodule matching "
        "token 'layer' in module Model("
    )
    assert texts[1].endswith("skipping this plan entry.")
    assert all(warning.filename == __file__ for warning in caught)


@pytest.mark.mpi
def test_no_plan_does_nothing_with_a_warning():
    layer = nn.Linear(2, 2)
    with pytest.warns(UserWarning, match="so this parallelize_module call will do"):
        assert parallelize_module(layer, line()) is layer
    assert sharded(layer) == []


def test_a_style_of_the_users_own_gets_the_module_and_the_source_rank():
    class Own(ParallelStyle):
        def _apply(self, module, device_mesh):
            self.seen = module, device_mesh, self.src_data_rank
            return module

    style, mlp, mesh = Own(), MLP(), line()
    parallelize_module(mlp, mesh, {"up": style}, src_data_rank=None)
    assert style.seen == (mlp.up, mesh, None)
    with pytest.raises(TypeError):
        ParallelStyle()


# --- data -----------------------------------------------------------------------------


@pytest.mark.parametrize("source", [0, 1, None])
def test_the_parameters_are_those_of_the_source_rank(ranks, source):
    def body():
        mesh = line()
        rank, last = mesh.get_local_rank(), mesh.size() - 1
        src = source if source is None else min(source, last)
        layer = filled(nn.Linear(3, 6, dtype=F64), seed=10 * rank)
        mine = whole(layer.weight)
        with CommDebugMode() as comm:
            parallelize_module(layer, mesh, {"": ColwiseParallel()}, src_data_rank=src)
        got = layer.weight.to_local().numpy(force=True)
        if source is None:
            chunk = -(-6 // mesh.size())
            np.testing.assert_array_equal(got, mine[rank * chunk : (rank + 1) * chunk])
            assert comm.get_total_counts() == 0
        else:
            want = numbers(6, 3, seed=10 * src)
            np.testing.assert_array_equal(whole(layer.weight), want)

    ranks(body)


@pytest.mark.mpi
def test_parameters_that_are_shared_stay_one_in_one_layout():
    model = Model()
    model.output.weight = model.words.weight
    plan = {
        "words": RowwiseParallel(input_layouts=R),
        "output": ColwiseParallel(output_layouts=R),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parallelize_module(model, line(), plan)
    assert model.output.weight is model.words.weight
    assert model.words.weight.placements == (Shard(0),)


@pytest.mark.mpi
def test_parameters_that_are_shared_and_get_two_layouts_are_warned_of():
    model = Model()
    model.output.weight = model.words.weight
    with pytest.warns(UserWarning, match=r"\['words.weight', 'output.weight'\] were"):
        parallelize_module(model, line(), {"words": ColwiseParallel()})


def test_a_parameter_that_is_a_dtensor_already_stays_the_object_it_is(ranks):
    def body():
        mesh, layer = line(), nn.Linear(4, 4, dtype=F64)
        layer.weight = nn.Parameter(
            dtensor.distribute_tensor(layer.weight, mesh, [Shard(0)])
        )
        weight = layer.weight
        parallelize_module(layer, mesh, ColwiseParallel())
        assert layer.weight is weight

    ranks(body)


def test_modules_on_the_meta_device_are_parallelized_without_data(ranks):
    def body():
        mesh = line()
        with CommDebugMode() as comm:
            mlp = MLP().to("meta")
            plan = {"up": ColwiseParallel(), "down": RowwiseParallel()}
            parallelize_module(mlp, mesh, plan)
        assert comm.get_total_counts() == 0
        assert mlp.up.weight.placements == (Shard(0),)
        assert mlp.up.weight.device == "meta" and mlp.up.weight.shape == (8, 4)
        assert isinstance(mlp.up.weight, nn.Parameter) and mlp.up.weight.requires_grad
        mlp.to_empty(device="cpu")
        for parameter in mlp.parameters():
            parameter.detach().fill_(0.5)
        want = filled(MLP())
        for parameter in want.parameters():
            parameter.detach().fill_(0.5)
        x = dtensor.tensor(numbers(3, 4))
        np.testing.assert_allclose(whole(mlp(x)), whole(want(x)))

    ranks(body)


# --- meshes ---------------------------------------------------------------------------


def test_the_mesh_is_the_one_of_the_with_statement(ranks):
    def body():
        with line() as mesh:
            layer = parallelize_module(nn.Linear(4, 4), None, ColwiseParallel())
        assert layer.weight.device_mesh == mesh
        with pytest.raises(RuntimeError, match="No device mesh is currently active"):
            parallelize_module(nn.Linear(4, 4), None, ColwiseParallel())

    ranks(body)


def test_a_mesh_of_two_dimensions_is_refused_unless_one_is_named(ranks):
    def body():
        mesh = square()
        layer = nn.Linear(4, 4, dtype=F64)
        with pytest.raises(ValueError, match="only accepts a 1D DeviceMesh, but found"):
            parallelize_module(layer, mesh, ColwiseParallel())
        with pytest.raises(AssertionError, match=r"within range \[-2, 2\), but found"):
            parallelize_module(layer, mesh, ColwiseParallel(), 2)
        assert sharded(layer) == []
        parallelize_module(layer, mesh, ColwiseParallel(), tp_mesh_dim=-1)
        assert layer.weight.device_mesh == mesh["column"]
        parallelize_module(nn.Linear(2, 2), mesh["row"], ColwiseParallel(), 0)

    ranks(body)


def test_every_row_of_a_mesh_parallelizes_on_its_own(ranks):
    def body():
        mesh = square()
        plain = filled(MLP())
        plan = {"up": ColwiseParallel(), "down": RowwiseParallel()}
        mlp = parallelize_module(filled(MLP()), mesh["column"], plan)
        x = dtensor.tensor(numbers(3, 4, seed=mesh.get_local_rank("row")))
        np.testing.assert_allclose(whole(mlp(x)), whole(plain(x)), atol=1e-12)

    ranks(body)


# --- bad input ------------------------------------------------------------------------


BAD = [
    (
        lambda: {"up": ColwiseParallel(), "act": ColwiseParallel()},
        NotImplementedError,
        "ColwiseParallel currently only support nn.Linear and nn.Embedding!",
    ),
    (
        lambda: {"up": ColwiseParallel(), "act": RowwiseParallel()},
        RuntimeError,
        "RowwiseParallel currently only support nn.Linear and nn.Embedding!",
    ),
    (
        lambda: {"up": ColwiseParallel(), "down": Shard(0)},
        TypeError,
        "Expect Union\\[ParallelStyle, Dict\\[str, ParallelStyle\\]\\] for "
        "parallelize_plan, <class '.*Shard'> found!",
    ),
    (lambda: "up", TypeError, "parallelize_plan, <class 'str'> found!"),
]


@pytest.mark.parametrize(("plan", "error", "text"), BAD)
def test_a_bad_plan_raises_on_all_ranks_before_anything_moves(ranks, plan, error, text):
    def body():
        mlp = MLP()
        with CommDebugMode() as comm, pytest.raises(error, match=text):
            parallelize_module(mlp, line(), plan())
        assert sharded(mlp) == [] and comm.get_total_counts() == 0

    ranks(body)


def test_a_layer_cannot_be_parallelized_twice(ranks):
    def body():
        layer = parallelize_module(nn.Linear(4, 4), line(), ColwiseParallel())
        with pytest.raises(RuntimeError, match="should only be called once"):
            parallelize_module(layer, line(), ColwiseParallel())

    ranks(body)


def test_layouts_must_be_as_many_as_desired_ones():
    with pytest.raises(AssertionError, match="desired module inputs should not be"):
        PrepareModuleInput(input_layouts=R)
    with pytest.raises(AssertionError, match="^input_layouts and desired_input_layout"):
        PrepareModuleInput(input_layouts=(R, R), desired_input_layouts=R)
    with pytest.raises(AssertionError, match="input_kwarg_layouts and desired_input_"):
        PrepareModuleInput(input_kwarg_layouts={"x": R})
    with pytest.raises(AssertionError, match="output_layouts and desired_output_"):
        PrepareModuleOutput(output_layouts=R, desired_output_layouts=(R, R))
    with pytest.raises(AssertionError, match="output_layouts and desired_output_"):
        PrepareModuleInputOutput(output_layouts=R, desired_output_layouts=(R, R))
    with pytest.raises(ValueError, match="either _prepare_input or input_layouts"):
        ColwiseParallel(lambda x, mesh: x, input_layouts=R)


def test_a_module_must_be_called_with_as_many_inputs_as_layouts(ranks):
    def body():
        x = dtensor.tensor(numbers(3, 4))
        taken = PrepareModuleInput(input_layouts=(R, R), desired_input_layouts=(R, R))
        given = PrepareModuleOutput(
            output_layouts=(R, R), desired_output_layouts=(R, R)
        )
        with pytest.raises(ValueError, match="inputs and input_layouts should have"):
            parallelize_module(MLP(), line(), taken)(x)
        with pytest.raises(ValueError, match="outputs and output_layouts should have"):
            parallelize_module(MLP(), line(), given)(x)

    ranks(body)


def test_an_input_with_a_layout_must_be_a_tensor():
    style = PrepareModuleInput(input_layouts=R, desired_input_layouts=R)
    with pytest.raises(AssertionError, match="expecting input to be a torch.Tensor!"):
        parallelize_module(MLP(), line(), style)("text")
    with pytest.raises(ValueError, match="prepares the first positional input"):
        parallelize_module(nn.Linear(2, 2), line(), ColwiseParallel())()


def test_ranks_may_not_have_layers_of_different_sizes():
    def body():
        mesh = init_device_mesh("cpu", (2,))
        layer = nn.Linear(4, 4 + mesh.get_local_rank())
        with pytest.raises(ValueError, match="has an array"):
            parallelize_module(layer, mesh, ColwiseParallel())
        assert sharded(layer) == []

    dtensor.testing.run_ranks(2, body)


# --- names ----------------------------------------------------------------------------


def test_names_are_where_pytorch_has_them():
    for module, names in {
        "": "parallelize_module ColwiseParallel RowwiseParallel SequenceParallel "
        "PrepareModuleInput PrepareModuleOutput PrepareModuleInputOutput ParallelStyle "
        "PairwiseParallel PairwiseSequenceParallel TensorParallelMultiheadAttention "
        "enable_2d_with_fsdp input_reshard make_output_tensor",
        ".api": "parallelize_module",
        ".style": "RowwiseParallel ColwiseParallel PairwiseParallel SequenceParallel "
        "PairwiseSequenceParallel ParallelStyle PrepareModuleInput make_output_tensor "
        "make_input_replicate_1d make_input_reshard_replicate make_input_shard_1d "
        "make_input_shard_1d_last_dim make_output_replicate_1d make_output_shard_1d "
        "make_output_reshard_tensor make_sharded_output_tensor",
        ".input_reshard": "input_reshard",
        ".multihead_attention_tp": "TensorParallelMultiheadAttention",
        ".fsdp": "enable_2d_with_fsdp",
    }.items():
        found = importlib.import_module(f"dtensor.parallel{module}")
        for name in names.split():
            assert name in found.__all__ and callable(getattr(found, name))
