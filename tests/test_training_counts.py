"""What training sends: collectives, bytes and messages are torch's or fewer."""

import math

import numpy as np
import pytest
from meshes import line

from dtensor import DTensor, Partial, Replicate, Shard, nn, tensor
from dtensor.debug import CommDebugMode
from dtensor.fsdp import fully_shard
from dtensor.nn import functional as F
from dtensor.parallel import (
    ColwiseParallel,
    PrepareModuleInput,
    RowwiseParallel,
    SequenceParallel,
    loss_parallel,
    parallelize_module,
)

# Large enough that time is a matter of bytes: small sums go in one round, as wholes.
ROWS, WIDTH, HEADS = 192, 96, 12
ITEM = 8  # bytes of a float64


def gathered(bytes_of_whole, n):
    """What a ring sends from one rank to gather, or to reduce and scatter."""
    return math.ceil(bytes_of_whole * (n - 1) / n)


class Sent:
    """What was counted: collectives, bytes, messages; of one rank."""

    def __init__(self, run):
        with CommDebugMode() as mode:
            run()
        self.counts = dict(mode.get_comm_counts())
        self.bytes = sum(mode.get_comm_bytes().values())
        self.messages = sum(mode.get_comm_messages().values())

    def check(self, n, counts, most):
        """Compare with a ring, which sends n - 1 messages to gather."""
        if n == 1:
            assert not self.counts and self.bytes == self.messages == 0
            return
        assert self.counts == counts
        rounds = sum(2 if name == "all_reduce" else 1 for name in counts.elements())
        assert self.bytes <= most
        assert self.messages <= rounds * (n - 1)


class Counts(dict):
    def elements(self):
        for name, count in self.items():
            yield from [name] * count


def step(forward):
    """Return what forward sends, and what backward sends."""
    kept = []
    there = Sent(lambda: kept.append(forward()))
    loss = (kept[0] * 1.0).sum() if isinstance(kept[0], DTensor) else kept[0].sum()
    return there, Sent(lambda: loss.backward())


def mlp():
    return nn.Sequential(
        nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH)
    ).to(np.float64)


def data(*shape):
    return tensor(np.random.default_rng(0).normal(size=shape), requires_grad=True)


def test_a_tensor_parallel_mlp_reduces_once_each_way(ranks):
    def body():
        n, model, x = line().size(), mlp(), data(ROWS, WIDTH)
        parallelize_module(
            model, line(), {"0": ColwiseParallel(), "2": RowwiseParallel()}
        )
        forward, backward = step(lambda: model(x))
        whole = ROWS * WIDTH * ITEM
        for sent in (forward, backward):
            sent.check(n, Counts(all_reduce=1), 2 * gathered(whole, n))

    ranks(body)


def test_a_sequence_parallel_block_gathers_and_scatters_once_each_way(ranks):
    def body():
        n = line().size()
        model = nn.Sequential(nn.LayerNorm(WIDTH).to(np.float64), mlp())
        plan = {
            "0": SequenceParallel(),
            "1": PrepareModuleInput(
                input_layouts=Shard(1), desired_input_layouts=Replicate()
            ),
            "1.0": ColwiseParallel(),
            "1.2": RowwiseParallel(output_layouts=Shard(1)),
        }
        parallelize_module(model, line(), plan)
        for p in model[0].parameters():  # their gradients are reduced apart
            p.requires_grad_(False)
        x = data(1, ROWS // n, WIDTH)
        forward, backward = step(lambda: model(x))
        whole = ROWS * WIDTH * ITEM
        for sent in (forward, backward):
            counts = Counts(all_gather=1, reduce_scatter=1)
            sent.check(n, counts, 2 * gathered(whole, n))

    ranks(body)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        for name in ("wq", "wk", "wv", "wo"):
            setattr(self, name, nn.Linear(WIDTH, WIDTH, bias=False))

    def forward(self, x):
        batch, length, _ = x.shape

        def heads(y):
            return y.reshape(batch, length, -1, WIDTH // HEADS).swapaxes(1, 2)

        y = F.scaled_dot_product_attention(
            heads(self.wq(x)), heads(self.wk(x)), heads(self.wv(x)), is_causal=True
        )
        return self.wo(y.swapaxes(1, 2).reshape(batch, length, -1))


def test_attention_reduces_once_each_way(ranks):
    def body():
        n, model = line().size(), Attention().to(np.float64)
        plan = {
            "": PrepareModuleInput(
                input_layouts=Replicate(), desired_input_layouts=Replicate()
            ),
            "w[qkv]": ColwiseParallel(),
            "wo": RowwiseParallel(),
        }
        parallelize_module(model, line(), plan)
        x = data(2, ROWS // 2, WIDTH)
        forward, backward = step(lambda: model(x))
        whole = ROWS * WIDTH * ITEM
        for sent in (forward, backward):
            sent.check(n, Counts(all_reduce=1), 2 * gathered(whole, n))

    ranks(body)


def test_loss_parallel_gathers_no_logits(ranks):
    def body():
        n, rows, classes = line().size(), 8000, 12
        whole = np.random.default_rng(0).normal(size=(rows, classes))
        part = np.array_split(whole, n, axis=1)[line().get_local_rank()]
        logits = DTensor.from_local(
            tensor(part, requires_grad=True), line(), [Shard(1)]
        )
        targets = tensor(np.arange(rows) % classes)
        with loss_parallel():
            kept = []
            forward = Sent(lambda: kept.append(F.cross_entropy(logits, targets)))
            backward = Sent(lambda: kept[0].backward())
        assert set(forward.counts) <= {"all_reduce"}
        # torch: the greatest, the sum and the score of the target, for each row
        assert sum(forward.counts.values()) <= 3
        assert forward.bytes <= 3 * 2 * gathered(rows * ITEM, n) + 64 * n
        assert backward.bytes == 0 and not backward.counts

    ranks(body)


def test_fully_shard_gathers_twice_and_reduces_once_for_each_module(ranks):
    def body():
        n, model = line().size(), nn.Sequential(mlp(), mlp())
        for each in model:
            fully_shard(each, mesh=line(), reshard_after_forward=True)
        fully_shard(model, mesh=line())
        x = data(ROWS, WIDTH)
        forward, backward = step(lambda: model(x))
        whole = sum(int(p.size) for p in model[0].parameters()) * ITEM
        slack = 64 * n  # uneven parts
        forward.check(n, Counts(all_gather=2), 2 * gathered(whole, n) + slack)
        counts = Counts(all_gather=2, reduce_scatter=2)
        backward.check(n, counts, 4 * gathered(whole, n) + slack)

    ranks(body)


@pytest.mark.parametrize("placement", [Replicate(), Shard(0)])
def test_a_gradient_that_is_there_already_is_not_sent(ranks, placement):
    def body():
        x = DTensor.from_local(data(4, 3), line(), [placement])
        y = (x * x).sum() if placement.is_shard() else x * x
        seed = None if placement.is_shard() else x.detach()
        assert y.placements[0] in (placement, Partial())
        sent = Sent(lambda: y.backward(seed))
        assert sent.bytes == sent.messages == 0

    ranks(body)
