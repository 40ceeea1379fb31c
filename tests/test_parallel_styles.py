"""Each style computes what the module computes without it, and sends what it says."""

import numpy as np
import pytest
from meshes import line
from parallel_models import (
    F64,
    MLP,
    assert_same_gradients,
    filled,
    leaf,
    many,
    numbers,
    part_of,
    run,
    whole,
)

import dtensor
from dtensor import DTensor, Partial, Replicate, Shard, nn
from dtensor.debug import CommDebugMode
from dtensor.parallel import (
    ColwiseParallel,
    PrepareModuleInputOutput,
    RowwiseParallel,
    SequenceParallel,
    parallelize_module,
)

R = Replicate()
MLP_PLAN = {"up": ColwiseParallel(), "down": RowwiseParallel()}


# --- an MLP ---------------------------------------------------------------------------


@pytest.mark.parametrize("hidden", [8, 7, 3, 1])
@pytest.mark.parametrize("bias", [True, False])
def test_an_mlp_of_a_column_and_a_row_layer_is_the_plain_mlp(ranks, hidden, bias):
    def body():
        mesh = line()
        plain = filled(MLP(hidden=hidden, bias=bias))
        plan = {"up": ColwiseParallel(), "down": RowwiseParallel()}
        mlp = parallelize_module(filled(MLP(hidden=hidden, bias=bias)), mesh, plan)
        a, b = leaf(numbers(5, 4)), leaf(numbers(5, 4))
        want, _ = run(plain, a)
        out, (forward, backward) = run(mlp, b)
        assert type(out) is dtensor.Tensor
        np.testing.assert_allclose(whole(out), whole(want), atol=1e-12)
        np.testing.assert_allclose(whole(b.grad), whole(a.grad), atol=1e-12)
        assert_same_gradients(mlp, plain)
        if hidden > 1:  # a bias of one element is broadcast, and so gathered
            assert forward == many(mesh, all_reduce=1)
            assert backward == many(mesh, all_reduce=1)

    ranks(body)


def test_an_mlp_whose_input_needs_no_gradient_sends_nothing_backward(ranks):
    def body():
        mesh = line()
        mlp = parallelize_module(filled(MLP()), mesh, MLP_PLAN)
        _, (_, backward) = run(mlp, leaf(numbers(5, 4), False))
        assert backward == {}

    ranks(body)


@pytest.mark.parametrize("rows", [8, 5])
def test_sequence_parts_take_an_all_gather_and_a_reduce_scatter_each_way(ranks, rows):
    def body():
        mesh = line()
        plain = filled(MLP())
        plan = {
            "up": ColwiseParallel(input_layouts=Shard(0)),
            "down": RowwiseParallel(output_layouts=Shard(0)),
        }
        mlp = parallelize_module(filled(MLP()), mesh, plan)
        x = numbers(rows, 4)
        a, b = leaf(x), leaf(part_of(x, mesh, 0))
        want = plain(a)
        with CommDebugMode() as forward:
            out = mlp(b)
        np.testing.assert_allclose(out.numpy(force=True), part_of(whole(want), mesh, 0))
        weights = numbers(*want.shape, seed=9)
        (want * weights).sum().backward()
        with CommDebugMode() as backward:
            (out * part_of(weights, mesh, 0)).sum().backward()
        expected = many(mesh, all_gather=1, reduce_scatter=1)
        # the bias behind the rows is added on all ranks to their part of the sequence
        assert forward.get_comm_counts() == expected
        assert backward.get_comm_counts() == expected
        np.testing.assert_allclose(whole(b.grad), part_of(whole(a.grad), mesh, 0))
        assert_same_gradients(mlp, plain)

    ranks(body)


def test_layers_keep_dtensors_if_they_are_told_to(ranks):
    def body():
        mesh = line()
        plan = {
            "up": ColwiseParallel(use_local_output=False),
            "down": RowwiseParallel(output_layouts=Shard(-1), use_local_output=False),
        }
        plain, mlp = filled(MLP()), parallelize_module(filled(MLP()), mesh, plan)
        want, _ = run(plain, leaf(numbers(3, 4)))
        out, (forward, _) = run(mlp, leaf(numbers(3, 4)))
        assert out.placements == (Shard(1),)
        np.testing.assert_allclose(whole(out), whole(want), atol=1e-12)
        assert forward == many(mesh, reduce_scatter=1)
        assert_same_gradients(mlp, plain)

    ranks(body)


@pytest.mark.parametrize("placement", [R, Shard(0), Shard(1), Partial()])
def test_a_dtensor_as_input_is_moved_to_what_the_layer_needs(ranks, placement):
    def body():
        mesh = line()
        plain = filled(MLP())
        mlp = parallelize_module(filled(MLP()), mesh, MLP_PLAN)
        x = dtensor.distribute_tensor(numbers(6, 4), mesh, [R])
        want = plain(leaf(numbers(6, 4)))
        if placement.is_partial():
            part = numbers(6, 4) if mesh.get_local_rank() == 0 else np.zeros((6, 4))
            x = DTensor.from_local(part, mesh, [placement])
        else:
            x = x.redistribute(placements=[placement])
        np.testing.assert_allclose(whole(mlp(x)), whole(want), atol=1e-12)

    ranks(body)


# --- embeddings, norms ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("style", "placement"),
    [
        (ColwiseParallel(output_layouts=R), Shard(1)),
        (RowwiseParallel(input_layouts=R), Shard(0)),
    ],
)
@pytest.mark.parametrize("shape", [(10, 4), (7, 3), (2, 1)])
def test_an_embedding_is_cut_by_columns_or_rows(ranks, style, placement, shape):
    def body():
        mesh = line()
        ids = np.random.default_rng(3).integers(0, shape[0], (3, 5))
        plain = filled(nn.Embedding(*shape, dtype=F64))
        layer = parallelize_module(filled(nn.Embedding(*shape, dtype=F64)), mesh, style)
        assert layer.weight.placements == (placement,)
        want, _ = run(plain, ids)
        out, (forward, _) = run(layer, dtensor.tensor(ids))
        np.testing.assert_allclose(whole(out), whole(want))
        name = "all_gather" if placement == Shard(1) else "all_reduce"
        assert forward == many(mesh, **{name: 1})
        assert_same_gradients(layer, plain)

    ranks(body)


@pytest.mark.parametrize("length", [8, 5])
def test_a_norm_on_parts_of_the_sequence_sums_its_gradients_once(ranks, length):
    def body():
        mesh = line()
        plain = filled(nn.LayerNorm(4, dtype=F64))
        norm = filled(nn.LayerNorm(4, dtype=F64))
        norm = parallelize_module(norm, mesh, SequenceParallel())
        assert norm.weight.placements == (R,) and norm.weight.requires_grad
        x = numbers(2, length, 4)
        a, b = leaf(x), leaf(part_of(x, mesh, 1))
        want, _ = run(plain, a)
        out, (forward, backward) = run(norm, b)
        assert out.placements == (Shard(1),) and out.shape == want.shape
        np.testing.assert_allclose(whole(out), whole(want), atol=1e-12)
        assert forward == {}
        assert backward == many(
            mesh, all_reduce=1
        )  # of the weight and the bias together
        np.testing.assert_allclose(
            whole(b.grad), part_of(whole(a.grad), mesh, 1), atol=1e-12
        )
        assert_same_gradients(norm, plain)

    ranks(body)


def test_sequence_parallel_gives_a_dtensor_in_other_placements_its_parts(ranks):
    def body():
        mesh = line()
        plain = filled(nn.RMSNorm(4, dtype=F64))
        style = SequenceParallel(sequence_dim=0, use_local_output=True)
        norm = parallelize_module(filled(nn.RMSNorm(4, dtype=F64)), mesh, style)
        x = numbers(6, 4)
        out = norm(dtensor.distribute_tensor(x, mesh, [Shard(1)]))
        assert type(out) is dtensor.Tensor
        want = part_of(whole(plain(dtensor.tensor(x))), mesh, 0)
        np.testing.assert_allclose(whole(out), want, atol=1e-12)

    ranks(body)


def test_dropout_on_parts_of_the_sequence_drops_what_it_drops_on_one_rank(ranks):
    def body():
        mesh = line()
        module = parallelize_module(nn.Dropout(0.5), mesh, SequenceParallel())
        x = numbers(2, 5, 4)
        dtensor.random.manual_seed(7)
        want = whole(nn.Dropout(0.5)(dtensor.tensor(x)))
        dtensor.random.manual_seed(7)
        out = module(dtensor.tensor(part_of(x, mesh, 1)))
        np.testing.assert_array_equal(whole(out), want)

    ranks(body)


def test_sequence_parallel_takes_the_parameters_of_the_first_rank(ranks):
    def body():
        mesh = line()
        norm = nn.LayerNorm(4, dtype=F64)
        filled(norm, seed=mesh.get_local_rank())
        norm = parallelize_module(norm, mesh, SequenceParallel())
        np.testing.assert_array_equal(whole(norm.weight), numbers(4, seed=0))

    ranks(body)


def test_sequence_parallel_keeps_what_is_not_trained(ranks):
    def body():
        norm = nn.LayerNorm(4, dtype=F64)
        norm.weight.requires_grad_(False)
        norm = parallelize_module(norm, line(), SequenceParallel())
        assert not norm.weight.requires_grad and norm.bias.requires_grad

    ranks(body)


# --- text -----------------------------------------------------------------------------


def test_a_style_prints_as_the_call_that_makes_it():
    assert repr(ColwiseParallel()) == (
        "ColwiseParallel(input_layouts=(Replicate(),), "
        "output_layouts=(Shard(dim=-1),), use_local_output=True)"
    )
    assert repr(SequenceParallel()) == (
        "SequenceParallel(sequence_dim=1, use_local_output=False)"
    )
    both = PrepareModuleInputOutput(
        input_layouts=R,
        desired_input_layouts=Shard(0),
        output_layouts=R,
        desired_output_layouts=Shard(1),
    )
    assert repr(both) == (
        "PrepareModuleInputOutput(input_layouts=(Replicate(),), "
        "desired_input_layouts=(Shard(dim=0),), input_kwarg_layouts={}, "
        "desired_input_kwarg_layouts={}, use_local_input=False, "
        "output_layouts=(Replicate(),), desired_output_layouts=(Shard(dim=1),), "
        "use_local_output=True)"
    )
