"""Styles together: blocks and models compute what they compute on one rank."""

import numpy as np
import pytest
from meshes import line
from parallel_models import (
    F64,
    Block,
    Model,
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
from dtensor import Replicate, Shard, nn
from dtensor.debug import CommDebugMode
from dtensor.parallel import (
    ColwiseParallel,
    PrepareModuleInput,
    RowwiseParallel,
    SequenceParallel,
    parallelize_module,
)

R = Replicate()


def sequence_plan():
    return {
        "words": RowwiseParallel(input_layouts=R, output_layouts=Shard(1)),
        "layers.*.norm": SequenceParallel(),
        "layers.*.mlp": PrepareModuleInput(
            input_layouts=Shard(1), desired_input_layouts=R
        ),
        "layers.*.mlp.up": ColwiseParallel(),
        "layers.*.mlp.down": RowwiseParallel(
            output_layouts=Shard(1), use_local_output=True
        ),
        "norm": SequenceParallel(),
        "output": ColwiseParallel(
            input_layouts=Shard(1), output_layouts=Shard(-1), use_local_output=False
        ),
    }


@pytest.mark.parametrize(
    ("width", "hidden", "length"), [(4, 8, 8), (6, 7, 5), (3, 2, 3)]
)
def test_a_model_with_sequence_parallelism_is_the_plain_model(
    ranks, width, hidden, length
):
    def body():
        mesh = line()
        ids = np.random.default_rng(3).integers(0, 10, (2, length))
        plain = filled(Model(10, width, hidden))
        model = filled(Model(10, width, hidden))
        model = parallelize_module(model, mesh, sequence_plan())
        want, _ = run(plain, ids)
        out, (forward, _) = run(model, dtensor.tensor(ids))
        assert out.placements == (Shard(2),)
        np.testing.assert_allclose(whole(out), whole(want), atol=1e-10)
        assert forward == many(mesh, all_gather=3, reduce_scatter=3)
        assert_same_gradients(model, plain)

    ranks(body)


def test_a_block_with_replicated_activations_is_the_plain_block(ranks):
    def body():
        mesh = line()
        plan = {"mlp.up": ColwiseParallel(), "mlp.down": RowwiseParallel()}
        plain, block = filled(Block()), parallelize_module(filled(Block()), mesh, plan)
        a, b = leaf(numbers(2, 3, 4)), leaf(numbers(2, 3, 4))
        want, _ = run(plain, a)
        out, _ = run(block, b)
        np.testing.assert_allclose(whole(out), whole(want), atol=1e-12)
        np.testing.assert_allclose(whole(b.grad), whole(a.grad), atol=1e-12)
        assert_same_gradients(block, plain)

    ranks(body)


class Attention(nn.Module):
    """Self-attention of four Linears, whose heads are as many as there is room for."""

    def __init__(self, width=8, head=2) -> None:
        super().__init__()
        self.head = head
        for name in ("wq", "wk", "wv", "wo"):
            setattr(self, name, nn.Linear(width, width, bias=False, dtype=F64))

    def forward(self, x):
        q, k, v = (
            layer(x).unflatten(-1, (-1, self.head)).swapaxes(1, 2)
            for layer in (self.wq, self.wk, self.wv)
        )
        out = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.wo(out.swapaxes(1, 2).flatten(2))


ATTENTION = {
    "replicated": (
        {
            "": PrepareModuleInput(input_layouts=R, desired_input_layouts=R),
            "w[qkv]": ColwiseParallel(),
            "wo": RowwiseParallel(),
        },
        {"all_reduce": 1},
    ),
    "sequence": (
        {
            "": PrepareModuleInput(input_layouts=Shard(1), desired_input_layouts=R),
            "w[qkv]": ColwiseParallel(use_local_output=False),
            "wo": RowwiseParallel(output_layouts=Shard(1)),
        },
        {"all_gather": 1, "reduce_scatter": 1},
    ),
}


@pytest.mark.parametrize("kind", ATTENTION)
@pytest.mark.parametrize("length", [8, 5])
def test_an_attention_sums_the_gradients_of_its_input_once(ranks, kind, length):
    def body():
        mesh = line()
        if 4 % mesh.size():
            return  # four heads
        plan, counts = ATTENTION[kind]
        plain, module = filled(Attention()), filled(Attention())
        parallelize_module(module, mesh, plan)
        x = numbers(2, length, 8)
        a = leaf(x)
        b = leaf(part_of(x, mesh, 1) if kind == "sequence" else x)
        want = plain(a)
        with CommDebugMode() as forward:
            out = module(b)
        weights = numbers(*want.shape, seed=9)
        (want * weights).sum().backward()
        if kind == "sequence":
            weights = part_of(weights, mesh, 1)
        with CommDebugMode() as backward:
            (out * weights).sum().backward()
        expected = whole(want), whole(a.grad)
        if kind == "sequence":
            expected = [part_of(x, mesh, 1) for x in expected]
        np.testing.assert_allclose(whole(out), expected[0], atol=1e-12)
        np.testing.assert_allclose(whole(b.grad), expected[1], atol=1e-12)
        assert_same_gradients(module, plain)
        assert forward.get_comm_counts() == many(mesh, **counts)
        assert backward.get_comm_counts() == many(mesh, **counts)

    ranks(body)
