"""A program that is cut over the ranks gives what its module gives."""

import numpy as np
import pytest
from exported_models import MLP, TOKENS, Transformer, array, filled, numbers
from meshes import line

import dtensor
from dtensor import Replicate, distribute_tensor
from dtensor._core import world as _world
from dtensor.debug import CommDebugMode
from dtensor.experimental.tp_transform import tensor_parallel_transformation
from dtensor.parallel import ColwiseParallel, RowwiseParallel, SequenceParallel
from dtensor.testing import run_ranks

C, R = ColwiseParallel, RowwiseParallel

MLP_PLAN = {"net1": ColwiseParallel, "net2": RowwiseParallel}
PLANS = {
    "all": {
        **dict.fromkeys(("embedding", "q", "k", "v", "mlp.0", "head"), C),
        "o": R,
        "mlp.2": R(),
    },
    "mlp": {"mlp.0": C(), "mlp.2": R},
    "rows": dict.fromkeys(("embedding", "q", "o", "mlp.0", "head"), R),
    "columns": dict.fromkeys(("v", "o", "mlp.2"), C),
    "none": {},
}


def cut(module, args, plan):
    world = _world.current()
    program = dtensor.export(module, args)
    return tensor_parallel_transformation(program, world.rank, world.size, "cpu", plan)


def test_columns_then_rows_are_one_all_reduce(ranks):
    def body():
        mesh = line()
        model, x = filled(MLP()), dtensor.tensor(numbers(3, 10))
        program = cut(model, (x,), MLP_PLAN)
        with CommDebugMode() as comm:
            out = program(x)
        several = mesh.size() > 1
        assert comm.get_comm_counts() == ({"all_reduce": 1} if several else {})
        np.testing.assert_allclose(array(out), array(model(x)), 1e-5, 1e-6)
        kinds = [node.target for node in program.nodes if node.kind == "collective"]
        assert kinds == ["all_reduce"]
        rank, length = mesh.get_local_rank(), -(-12 // mesh.size())
        rows = slice(rank * length, (rank + 1) * length)
        weight, bias = (program.state_dict[f"net1.{k}"] for k in ("weight", "bias"))
        np.testing.assert_array_equal(weight, array(model.net1.weight)[rows])
        np.testing.assert_array_equal(bias, array(model.net1.bias)[rows])
        weight = program.state_dict["net2.weight"]
        np.testing.assert_array_equal(weight, array(model.net2.weight)[:, rows])

    ranks(body)


@pytest.mark.parametrize("plan", PLANS)
def test_the_transformed_program_gives_what_the_module_gives(ranks, plan):
    def body():
        model, tokens = filled(Transformer()), dtensor.tensor(TOKENS)
        program = cut(model, (tokens,), PLANS[plan])
        sent = sum(node.kind == "collective" for node in program.nodes)
        assert (sent > 0) == (plan != "none")
        for given in (tokens, dtensor.tensor(TOKENS[::-1].copy())):
            with CommDebugMode() as comm:
                out = program(given)
            assert comm.get_total_counts() <= sent
            np.testing.assert_allclose(array(out), array(model(given)), 1e-4, 1e-5)
        assert out.requires_grad == (plan == "none")

    ranks(body)


def test_a_transformed_program_is_saved_and_read_again(tmp_path):
    def body():
        rank = _world.current().rank
        model, tokens = filled(Transformer()), dtensor.tensor(TOKENS)
        program = cut(model, (tokens,), PLANS["all"])
        program.save(tmp_path / f"{rank}.json")
        state = program.state_dict
        again = dtensor.ExportedProgram.load(tmp_path / f"{rank}.json", state)
        assert str(again) == str(program)
        np.testing.assert_array_equal(again(tokens), program(tokens))

    run_ranks(3, body)


def test_a_program_for_more_ranks_than_there_are_can_be_looked_at():
    program = dtensor.export(filled(MLP()), (dtensor.tensor(numbers(3, 10)),))
    last = tensor_parallel_transformation(program, 63, 64, "cpu", MLP_PLAN)
    assert last.state_dict["net1.weight"].shape == (0, 10)
    first = tensor_parallel_transformation(program, 3, 64, "cpu", MLP_PLAN)
    assert first.state_dict["net1.weight"].shape == (1, 10)
    assert "all_reduce" in str(first)


def test_plans_that_do_not_fit_are_refused():
    program = dtensor.export(filled(MLP()), (dtensor.tensor(numbers(3, 10)),))
    for error, words, rank, plan in (
        (AssertionError, "net3.weight", 0, {"net3": C}),
        (NotImplementedError, "SequenceParallel", 0, {"net1": SequenceParallel}),
        (ValueError, "no rank 2", 2, {"net1": C}),
    ):
        with pytest.raises(error, match=words):
            tensor_parallel_transformation(program, rank, 2, "cpu", plan)
    mesh = line()
    model = dtensor.distribute_module(filled(MLP()), mesh)
    x = distribute_tensor(numbers(3, 10), mesh, [Replicate()])
    with pytest.raises(ValueError, match="uses DTensors"):
        tensor_parallel_transformation(
            dtensor.export(model, (x,)), 0, 1, "cpu", MLP_PLAN
        )
