"""PyTorch 2.0's styles, and the functions that they are made of."""

import numpy as np
import pytest
from meshes import line, square
from parallel_models import (
    F64,
    MLP,
    assert_same_gradients,
    filled,
    many,
    numbers,
    part_of,
    run,
    whole,
)

import dtensor
from dtensor import DTensor, Replicate, Shard, distribute_tensor, nn
from dtensor.parallel import (
    ColwiseParallel,
    PairwiseParallel,
    PairwiseSequenceParallel,
    RowwiseParallel,
    enable_2d_with_fsdp,
    parallelize_module,
)
from dtensor.parallel.fsdp import enable_2d_with_fsdp as of_its_module
from dtensor.parallel.style import (
    make_input_replicate_1d,
    make_input_reshard_replicate,
    make_input_shard_1d,
    make_input_shard_1d_last_dim,
    make_output_replicate_1d,
    make_output_reshard_tensor,
    make_output_shard_1d,
    make_output_tensor,
    make_sharded_output_tensor,
)

R = Replicate()
INPUTS = [
    (make_input_replicate_1d, R),
    (make_input_shard_1d, Shard(0)),
    (make_input_shard_1d_last_dim, Shard(1)),
    (make_input_reshard_replicate, R),
]
OUTPUTS = [
    (make_output_replicate_1d, R, False),
    (make_output_shard_1d, Shard(0), False),
    (make_output_tensor, R, True),
    (make_output_reshard_tensor, Shard(0), True),
]


# --- functions ------------------------------------------------------------------------


@pytest.mark.parametrize(("prepare", "placement"), INPUTS)
def test_an_input_function_makes_a_dtensor_in_its_placement(ranks, prepare, placement):
    def body():
        mesh = line()
        x = numbers(5, 6)
        parts = {R: x, Shard(0): part_of(x, mesh, 0), Shard(1): part_of(x, mesh, 1)}
        given = parts[
            Shard(0) if prepare is make_input_reshard_replicate else placement
        ]
        with pytest.raises(RuntimeError, match="not passed nor can be inferred"):
            prepare(dtensor.tensor(given))
        there = distribute_tensor(x, mesh, [Shard(0)])
        for out in (
            prepare(dtensor.tensor(given), mesh),
            prepare((given, "another"), device_mesh=mesh),
            prepare(there),
            prepare(there, mesh),
        ):
            assert out.placements == (placement,) and out.device_mesh == mesh
            np.testing.assert_array_equal(whole(out), x)

    ranks(body)


@pytest.mark.parametrize(("prepare", "placement", "local"), OUTPUTS)
@pytest.mark.parametrize("before", [R, Shard(0), Shard(1)])
def test_an_output_function_moves_a_dtensor(ranks, prepare, placement, local, before):
    def body():
        mesh = line()
        x = distribute_tensor(numbers(5, 6), mesh, [before])
        for out in (prepare(x), prepare(x, mesh)):
            want = x.redistribute(placements=[placement])
            assert type(out) is (dtensor.Tensor if local else DTensor)
            got = out if local else out.to_local()
            np.testing.assert_array_equal(got, want.to_local())

    ranks(body)


def test_functions_take_the_dimension(ranks):
    def body():
        mesh = line()
        x = distribute_tensor(numbers(5, 6), mesh, [R])
        assert make_input_shard_1d(x, mesh, 1).placements == (Shard(1),)
        assert make_input_shard_1d(x, dim=1).placements == (Shard(1),)
        assert make_output_shard_1d(x, mesh, 1).placements == (Shard(1),)
        x = x.redistribute(placements=[Shard(1)])
        part = make_sharded_output_tensor(x, mesh)
        np.testing.assert_array_equal(part, part_of(numbers(5, 6), mesh, 1))

    ranks(body)


def test_functions_refuse_meshes_of_two_dimensions_and_what_is_no_tensor(ranks):
    def body():
        mesh = square()
        x = distribute_tensor(numbers(2, 2), mesh["column"], [R])
        for prepare, _ in INPUTS:
            with pytest.raises(RuntimeError, match="mesh has dims 2 but expected to"):
                prepare(x, mesh)
            with pytest.raises(RuntimeError, match="expects torch.Tensor or DTensor i"):
                prepare("text", mesh["column"])
        for prepare, _, _ in OUTPUTS:
            with pytest.raises(AssertionError, match="has dims 2 but expected to be 1"):
                prepare(x, mesh)
            with pytest.raises(AssertionError, match="be a DTensor, but found <class"):
                prepare([x], mesh["column"])

    ranks(body)


# --- the older arguments of styles ----------------------------------------------------


def test_styles_take_functions_in_the_place_of_layouts(ranks):
    def body():
        mesh = line()
        plain = filled(MLP())
        plan = {
            "up": ColwiseParallel(make_input_replicate_1d, make_output_replicate_1d),
            "down": RowwiseParallel(
                _prepare_input=make_input_shard_1d_last_dim,
                _prepare_output=make_output_tensor,
            ),
        }
        mlp = parallelize_module(filled(MLP()), mesh, plan)
        want, _ = run(plain, dtensor.tensor(numbers(3, 4)))
        out, (forward, _) = run(mlp, dtensor.tensor(numbers(3, 4)))
        assert type(out) is dtensor.Tensor
        np.testing.assert_allclose(whole(out), whole(want), atol=1e-12)
        assert forward == many(mesh, all_gather=1, all_reduce=1)
        assert_same_gradients(mlp, plain)

    ranks(body)


def test_a_function_goes_with_a_layout_of_the_other_side(ranks):
    def body():
        mesh = line()
        style = ColwiseParallel(_prepare_input=make_input_reshard_replicate)
        plain = filled(nn.Linear(4, 6, dtype=F64))
        layer = parallelize_module(filled(nn.Linear(4, 6, dtype=F64)), mesh, style)
        x = numbers(5, 4)
        out = layer(dtensor.tensor(part_of(x, mesh, 0)))
        want = part_of(whole(plain(dtensor.tensor(x))), mesh, 1)
        np.testing.assert_allclose(whole(out), want, atol=1e-12)

    ranks(body)


# --- pairs ----------------------------------------------------------------------------


class Deep(nn.Module):
    """`depth` Linears in a row."""

    def __init__(self, depth) -> None:
        super().__init__()
        for i in range(depth):
            setattr(self, f"net{i}", nn.Linear(4, 4, dtype=F64))

    def forward(self, x):
        for layer in self.children():
            x = layer(x).relu()
        return x


@pytest.mark.parametrize("depth", [2, 3, 4, 5])
def test_linears_take_turns_and_an_odd_one_stays_as_it_is(ranks, depth):
    def body():
        mesh = line()
        plain = filled(Deep(depth))
        deep = parallelize_module(filled(Deep(depth)), mesh, PairwiseParallel())
        for i, layer in enumerate(deep.children()):
            if i < depth // 2 * 2:
                assert layer.weight.placements == (Shard(i % 2),)
            else:
                assert not isinstance(layer.weight, DTensor)
        a = dtensor.tensor(numbers(3, 4), requires_grad=True)
        b = dtensor.tensor(numbers(3, 4), requires_grad=True)
        want, _ = run(plain, a)
        out, _ = run(deep, b)
        np.testing.assert_allclose(whole(out), whole(want), atol=1e-12)
        np.testing.assert_allclose(whole(b.grad), whole(a.grad), atol=1e-12)
        assert_same_gradients(deep, plain)

    ranks(body)


def test_pairs_are_found_however_deep_and_cost_one_all_reduce(ranks):
    def body():
        mesh = line()
        plain = filled(nn.Sequential(MLP(hidden=7), nn.ReLU(), nn.Sequential(MLP())))
        model = filled(nn.Sequential(MLP(hidden=7), nn.ReLU(), nn.Sequential(MLP())))
        parallelize_module(model, mesh, PairwiseParallel())
        a = dtensor.tensor(numbers(3, 4), requires_grad=True)
        b = dtensor.tensor(numbers(3, 4), requires_grad=True)
        want, _ = run(plain, a)
        out, (forward, backward) = run(model, b)
        assert type(out) is dtensor.Tensor
        np.testing.assert_allclose(whole(out), whole(want), atol=1e-12)
        np.testing.assert_allclose(whole(b.grad), whole(a.grad), atol=1e-12)
        assert_same_gradients(model, plain)
        assert forward == backward == many(mesh, all_reduce=2)

    ranks(body)


def test_a_transformer_layer_has_attention_and_a_pair(ranks):
    def body():
        mesh = line()
        layer = lambda: filled(  # noqa: E731
            nn.TransformerEncoderLayer(8, 4, 16, dropout=0.0, dtype=F64)
        )
        plain, module = layer(), layer()
        parallelize_module(module, mesh, PairwiseParallel())
        x = numbers(5, 2, 8)
        want, _ = run(plain, dtensor.tensor(x))
        out, (forward, _) = run(module, dtensor.tensor(x))
        np.testing.assert_allclose(whole(out), whole(want), atol=1e-10)
        assert forward == many(mesh, all_reduce=2)
        for name in ("linear1.weight", "linear2.bias", "norm1.weight"):
            np.testing.assert_allclose(
                whole(module.get_parameter(name).grad),
                whole(plain.get_parameter(name).grad),
                atol=1e-10,
            )

    ranks(body)


@pytest.mark.parametrize("rows", [8, 5])
def test_pairs_between_parts_of_the_sequence_gather_and_scatter(ranks, rows):
    def body():
        mesh = line()
        plain = filled(MLP())
        mlp = parallelize_module(filled(MLP()), mesh, PairwiseSequenceParallel())
        x = numbers(rows, 4)
        want = plain(dtensor.tensor(x))
        mine = dtensor.tensor(part_of(x, mesh, 0))
        out, (forward, _) = run(mlp, mine)
        np.testing.assert_allclose(whole(out), part_of(whole(want), mesh, 0))
        assert forward == many(mesh, all_gather=1, reduce_scatter=1)

    ranks(body)


def test_pairs_work_on_one_dimension_of_a_mesh(ranks):
    def body():
        mesh = square()
        plain = filled(MLP())
        mlp = parallelize_module(filled(MLP()), mesh, PairwiseParallel(), tp_mesh_dim=1)
        assert mlp.up.weight.device_mesh == mesh["column"]
        x = dtensor.tensor(numbers(3, 4))
        np.testing.assert_allclose(whole(mlp(x)), whole(plain(x)), atol=1e-12)

    ranks(body)


@pytest.mark.mpi
def test_a_module_without_pairs_is_warned_of():
    with pytest.warns(UserWarning, match="found neither two Linears nor an attention"):
        layer = parallelize_module(nn.Linear(2, 2), line(), PairwiseParallel())
    assert not isinstance(layer.weight, DTensor)


def test_two_dimensional_parallelism_needs_no_switch():
    assert enable_2d_with_fsdp() is True
    assert of_its_module is enable_2d_with_fsdp
