"""distribute_module: partitions, what is left, and functions at the border."""

import numpy as np
import pytest
from meshes import line, square
from parallel_models import F64, MLP, assert_same_gradients, filled, numbers, run, whole

import dtensor
from dtensor import DTensor, Replicate, Shard, distribute_module, distribute_tensor, nn
from dtensor.debug import CommDebugMode

R = Replicate()


class Counting(nn.Module):
    """A parameter that is not trained, one that is not there, and a buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(dtensor.tensor(numbers(3)), requires_grad=False)
        self.register_parameter("shift", None)
        self.register_buffer("steps", dtensor.tensor(np.array([1, 2])))
        self.register_buffer("nothing", None)
        self.register_buffer("scratch", dtensor.tensor(numbers(2)), persistent=False)


def test_everything_is_replicated_from_the_first_rank_without_a_partition(ranks):
    def body():
        mesh = square()
        rank = sum(mesh.get_coordinate())
        mlp = filled(MLP(), seed=rank)
        assert distribute_module(mlp, mesh) is mlp
        for i, parameter in enumerate(mlp.parameters()):
            assert parameter.placements == (R, R) and parameter.requires_grad
            assert isinstance(parameter, nn.Parameter) and parameter.is_leaf
            np.testing.assert_array_equal(
                parameter.to_local().detach(), numbers(*parameter.shape, seed=i)
            )

    ranks(body)


def test_buffers_and_what_is_not_trained_become_dtensors_too(ranks):
    def body():
        module = distribute_module(Counting(), line())
        assert isinstance(module.scale, DTensor) and not module.scale.requires_grad
        assert module.shift is None and module.nothing is None
        assert isinstance(module.steps, DTensor) and module.steps.dtype.kind == "i"
        assert isinstance(module.scratch, DTensor)
        assert set(module.state_dict()) == {"scale", "steps"}

    ranks(body)


def test_a_partition_is_called_for_each_module_and_the_rest_is_replicated(ranks):
    def body():
        mesh, seen = line(), []

        def partition(name, module, device_mesh):
            assert device_mesh is mesh
            seen.append((name, module))
            if name == "up":
                weight = distribute_tensor(module.weight, device_mesh, [Shard(0)])
                module.register_parameter("weight", nn.Parameter(weight))

        mlp = distribute_module(filled(MLP(hidden=7)), mesh, partition)
        assert seen == [("", mlp), ("up", mlp.up), ("act", mlp.act), ("down", mlp.down)]
        placements = {n: p.placements for n, p in mlp.named_parameters()}
        assert placements == {
            "up.weight": (Shard(0),),
            "up.bias": (R,),
            "down.weight": (R,),
            "down.bias": (R,),
        }

    ranks(body)


def test_functions_at_the_border_make_dtensors_and_tensors(ranks):
    def body():
        mesh = line()
        calls = []

        def before(module, inputs, device_mesh):
            calls.append((module, device_mesh))
            return DTensor.from_local(inputs[0], device_mesh, [Shard(0)])

        def after(module, output, device_mesh):
            calls.append((module, device_mesh))
            return output.full_tensor()

        plain = filled(MLP())
        mlp = distribute_module(filled(MLP()), mesh, None, before, after)
        rank = mesh.get_local_rank()
        x = numbers(2 * mesh.size(), 4)
        mine = dtensor.tensor(x[2 * rank : 2 * rank + 2], requires_grad=True)
        whole_x = dtensor.tensor(x, requires_grad=True)
        want, _ = run(plain, whole_x)
        out, _ = run(mlp, mine)
        assert type(out) is dtensor.Tensor and calls == [(mlp, mesh)] * 2
        np.testing.assert_allclose(whole(out), whole(want), atol=1e-12)
        np.testing.assert_allclose(
            whole(mine.grad), whole(whole_x.grad)[2 * rank : 2 * rank + 2], atol=1e-12
        )
        assert_same_gradients(mlp, plain)

    ranks(body)


@pytest.mark.mpi
def test_functions_of_two_arguments_work_with_a_warning():
    with pytest.warns(FutureWarning) as caught:
        module = distribute_module(
            nn.Linear(4, 4, dtype=F64),
            line(),
            input_fn=lambda inputs, mesh: DTensor.from_local(*inputs, mesh, [R]),
            output_fn=lambda outputs, mesh: outputs.to_local(),
        )
    assert [str(w.message).split()[1] for w in caught] == ["input_fn", "output_fn"]
    assert all(w.filename == __file__ for w in caught)
    assert type(module(dtensor.tensor(numbers(2, 4)))) is dtensor.Tensor


def test_the_mesh_is_the_one_of_the_with_statement(ranks):
    def body():
        with line() as mesh:
            module = distribute_module(nn.Linear(2, 2))
        assert module.weight.device_mesh == mesh
        with pytest.raises(RuntimeError, match="No device mesh is currently active"):
            distribute_module(nn.Linear(2, 2))

    ranks(body)


def test_a_module_is_distributed_once(ranks):
    def body():
        module = distribute_module(nn.Linear(2, 2), line())
        with pytest.raises(RuntimeError, match="should only be called once on a modul"):
            distribute_module(module, line())

    ranks(body)


def test_functions_of_one_argument_are_refused_before_anything_moves(ranks):
    def body():
        module = nn.Linear(2, 2)
        with CommDebugMode() as comm:
            with pytest.raises(ValueError, match="input_fn should take in 3 arguments"):
                distribute_module(module, line(), input_fn=lambda x: x)
            with pytest.raises(ValueError, match="output_fn should take .* got 4 arg"):
                distribute_module(module, line(), output_fn=lambda a, b, c, d: a)
        assert comm.get_total_counts() == 0
        assert not isinstance(module.weight, DTensor)

    ranks(body)


def test_a_module_without_data_is_distributed_without_data(ranks):
    def body():
        with CommDebugMode() as comm:
            module = distribute_module(MLP().to("meta"), line())
        assert comm.get_total_counts() == 0
        assert {p.device for p in module.parameters()} == {"meta"}
        assert {p.placements for p in module.parameters()} == {(R,)}

    ranks(body)
