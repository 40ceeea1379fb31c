"""Tensor parallelism in the rows of a mesh, data parallelism along its columns."""

import numpy as np
import pytest
from meshes import square
from parallel_models import MLP, filled, numbers, part_of, whole

import dtensor
from dtensor import fsdp, optim
from dtensor.parallel import (
    ColwiseParallel,
    PairwiseParallel,
    RowwiseParallel,
    enable_2d_with_fsdp,
    parallelize_module,
)

STEPS = 3


def trained(module, rows):
    """The module after steps on this rank's rows; the mean over its batch."""
    optimizer = optim.SGD(module.parameters(), lr=0.1)
    for _ in range(STEPS):
        optimizer.zero_grad()
        (module(dtensor.tensor(rows)) ** 2).mean().backward()
        optimizer.step()
    return module


@pytest.mark.parametrize("hidden", [8, 7])
@pytest.mark.parametrize("wrapper", ["old", "new"])
def test_a_model_on_two_dimensions_trains_as_on_one_rank(ranks, hidden, wrapper):
    def body():
        mesh = square()
        x = numbers(4 * mesh.size(0), 4)
        plain = trained(filled(MLP(hidden=hidden)), x)
        mlp = filled(MLP(hidden=hidden))
        if wrapper == "old":
            assert enable_2d_with_fsdp()
            parallelize_module(mlp, mesh, PairwiseParallel(), tp_mesh_dim=1)
            mlp = fsdp.FullyShardedDataParallel(mlp, process_group=mesh["row"])
        else:
            plan = {"up": ColwiseParallel(), "down": RowwiseParallel()}
            parallelize_module(mlp, mesh["column"], plan)
            fsdp.fully_shard(mlp, mesh=mesh["row"])
        trained(mlp, part_of(x, mesh["row"], 0))
        got = mlp.state_dict()
        for name, parameter in plain.named_parameters():
            np.testing.assert_allclose(
                whole(got[name]), whole(parameter), atol=1e-12, err_msg=name
            )

    ranks(body)
