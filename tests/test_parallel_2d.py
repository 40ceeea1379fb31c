"""Tensor parallelism in the rows of a mesh, data parallelism along its columns."""

import numpy as np
import pytest
from meshes import square
from parallel_models import MLP, filled, numbers, part_of, whole

import dtensor
from dtensor import fsdp, nn, optim
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


class Attending(nn.Module):
    """Attention with as many heads as no mesh of tests divides, and a norm."""

    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(10, 5, batch_first=True, dtype=float)
        self.norm = nn.LayerNorm(10, dtype=float)

    def forward(self, x):
        return self.norm(x + self.attention(x, x, x, need_weights=False)[0])


@pytest.mark.parametrize("tp_dim", [0, 1])
def test_heads_are_cut_a_second_time_whichever_dimension_is_first(ranks, tp_dim):
    def body():
        mesh = square()
        data = mesh[mesh.mesh_dim_names[1 - tp_dim]]
        x = numbers(4 * data.size(), 3, 10)
        model, plain = filled(Attending()), trained(filled(Attending()), x)
        parallelize_module(model, mesh, PairwiseParallel(), tp_mesh_dim=tp_dim)
        fsdp.fully_shard(model, mesh=data)
        trained(model, part_of(x, data, 0))
        parallelize_module(plain, mesh, PairwiseParallel(), tp_mesh_dim=tp_dim)
        got = model.state_dict()
        for name, parameter in plain.named_parameters():
            np.testing.assert_allclose(
                whole(got[name]), whole(parameter), atol=1e-12, err_msg=name
            )

    ranks(body)
