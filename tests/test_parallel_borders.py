"""PrepareModuleInput and PrepareModuleOutput move what they are told to."""

import numpy as np
from meshes import line
from parallel_models import (
    MLP,
    filled,
    leaf,
    many,
    numbers,
    part_of,
    run,
    whole,
)

import dtensor
from dtensor import Replicate, Shard, nn
from dtensor.parallel import (
    PrepareModuleInput,
    PrepareModuleInputOutput,
    PrepareModuleOutput,
    parallelize_module,
)

R = Replicate()


class Several(nn.Module):
    """Two positional inputs and one by keyword; two outputs."""

    def forward(self, a, b, *, c=None):
        self.seen = a, b, c
        return a, b


def test_inputs_are_prepared_one_by_one_and_none_is_passed_on(ranks):
    def body():
        mesh = line()
        style = PrepareModuleInput(
            input_layouts=(Shard(0), None),
            desired_input_layouts=(R, None),
            input_kwarg_layouts={"c": R},
            desired_input_kwarg_layouts={"c": Shard(1)},
        )
        module = parallelize_module(Several(), mesh, style)
        x = numbers(5, 3)
        mark = object()
        module(dtensor.tensor(part_of(x, mesh, 0)), mark, c=dtensor.tensor(x))
        a, b, c = module.seen
        assert a.placements == (R,) and b is mark and c.placements == (Shard(1),)
        np.testing.assert_array_equal(whole(a), x)
        np.testing.assert_array_equal(whole(c), x)

    ranks(body)


def test_inputs_become_parts_again_if_they_are_told_to(ranks):
    def body():
        mesh = line()
        style = PrepareModuleInput(
            input_layouts=[R, R],
            desired_input_layouts=[Shard(0), Shard(1)],
            use_local_output=True,
        )
        module = parallelize_module(Several(), mesh, style)
        x = numbers(5, 3)
        module(x, dtensor.tensor(x))
        for dim, part in enumerate(module.seen[:2]):
            assert type(part) is dtensor.Tensor
            np.testing.assert_array_equal(part, part_of(x, mesh, dim))

    ranks(body)


def test_outputs_are_prepared_one_by_one(ranks):
    def body():
        mesh = line()
        style = PrepareModuleOutput(
            output_layouts=(R, None), desired_output_layouts=(Shard(0), R)
        )
        module = parallelize_module(Several(), mesh, style)
        x = numbers(5, 3)
        a, b = module(dtensor.tensor(x), "word")
        assert type(a) is dtensor.Tensor and b == "word"
        np.testing.assert_array_equal(a, part_of(x, mesh, 0))

    ranks(body)


def test_inputs_and_outputs_of_one_module_are_prepared_together(ranks):
    def body():
        mesh = line()
        style = PrepareModuleInputOutput(
            input_layouts=Shard(0),
            desired_input_layouts=R,
            output_layouts=R,
            desired_output_layouts=Shard(0),
        )
        plain, mlp = filled(MLP()), filled(MLP())
        dtensor.distribute_module(mlp, mesh)
        parallelize_module(mlp, mesh, style)
        x = numbers(5, 4)
        a, b = leaf(x), leaf(part_of(x, mesh, 0))
        want, _ = run(plain, a)
        out, (forward, _) = run(mlp, b)
        np.testing.assert_allclose(whole(out), part_of(whole(want), mesh, 0))
        assert forward == many(mesh, all_gather=1)

    ranks(body)
