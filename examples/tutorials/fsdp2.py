"""Data parallelism with parameters sharded over the ranks, from the model to its state
dict. After PyTorch's tutorial "Getting Started with Fully Sharded Data Parallel
(FSDP2)".

./run ranks 4 python examples/tutorials/fsdp2.py

Every rank has its own batch. It keeps a part of the parameters, gradients and optimizer
state, which are DTensors; a layer is gathered before it is used. The losses are those
of one process on all batches (approximately, with mixed precision).
"""

import copy

import dtensor.torch as torch
import dtensor.torch.distributed as dist
import dtensor.torch.nn as nn
import dtensor.torch.nn.functional as F
from dtensor.torch.distributed.device_mesh import init_device_mesh
from dtensor.torch.distributed.fsdp import (
    FSDPModule,
    MixedPrecisionPolicy,
    fully_shard,
)
from dtensor.torch.distributed.tensor import DTensor, Shard, distribute_tensor

WORDS, WIDTH, HEADS, LENGTH, LAYERS = 50, 32, 4, 12, 3


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention_norm = nn.LayerNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.proj = nn.Linear(WIDTH, WIDTH)
        self.mlp_norm = nn.LayerNorm(WIDTH)
        self.mlp = nn.Sequential(
            nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH)
        )

    def attend(self, x):
        heads = torch.unflatten(self.qkv(x), -1, (3, HEADS, WIDTH // HEADS))
        q, k, v = torch.unbind(torch.movedim(heads, 1, 3), 1)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.proj(torch.flatten(torch.transpose(mixed, 1, 2), 2))

    def forward(self, x):
        x = x + self.attend(self.attention_norm(x))
        return x + self.mlp(self.mlp_norm(x))


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.places = nn.Embedding(LENGTH, WIDTH)
        self.layers = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(WIDTH)
        self.output = nn.Linear(WIDTH, WORDS)

    def forward(self, tokens):
        x = self.words(tokens) + self.places(torch.arange(tokens.shape[1]))
        for layer in self.layers:
            x = layer(x)
        return self.output(self.norm(x))


def loss_of(model, tokens):
    logits = model(tokens[:, :-1])
    targets = torch.flatten(tokens[:, 1:], 0, 1)
    return F.cross_entropy(torch.flatten(logits, 0, 1).float(), targets)


def shard(model, **options):
    """One group of parameters for each layer, and one for all others."""
    for layer in model.layers:
        fully_shard(layer, **options)
    return fully_shard(model, **options)


def prefetch(layers, ahead):
    """While a layer computes, gather the next ones (in backward: the previous ones)."""
    for k, layer in enumerate(layers):
        layer.set_modules_to_forward_prefetch(list(layers[k + 1 : k + 1 + ahead]))
        layer.set_modules_to_backward_prefetch(
            list(layers[max(0, k - ahead) : k][::-1])
        )


def train(model, batches, mine=lambda tokens: tokens, steps=6):
    """Train, and return the mean loss of every step."""
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    losses = []
    for step in range(steps):
        if isinstance(model, FSDPModule):
            model.unshard()  # start the first all_gather before it is needed
        loss = loss_of(model, mine(batches[step % len(batches)]))
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.detach())
    losses = torch.stack(losses)
    if isinstance(model, FSDPModule):
        dist.all_reduce(losses, op=dist.ReduceOp.AVG)
    return losses


dist.init_process_group()
rank, ranks = dist.get_rank(), dist.get_world_size()
mesh = init_device_mesh("cpu", (ranks,))
torch.manual_seed(0)
whole = Transformer()
batches = [torch.randint(WORDS, (2 * ranks, LENGTH + 1)) for _ in range(2)]


def mine(tokens):
    return torch.chunk(tokens, ranks)[rank]


model = shard(copy.deepcopy(whole), mesh=mesh)
prefetch(model.layers, ahead=2)
assert isinstance(model, Transformer) and isinstance(model, FSDPModule)
for parameter in model.parameters():
    assert isinstance(parameter, DTensor) and parameter.placements == (Shard(0),)

mixed = shard(
    copy.deepcopy(whole),
    mesh=mesh,
    # bfloat16 works as well if the package ml_dtypes is installed.
    mp_policy=MixedPrecisionPolicy(
        param_dtype=torch.float16, reduce_dtype=torch.float32
    ),
)
for parameter in mixed.parameters():
    assert parameter.dtype == torch.float32  # what the optimizer steps
mixed.unshard()
assert mixed.output.weight.dtype == torch.float16  # what forward and backward use
mixed.reshard()

losses, half_losses = train(model, batches, mine), train(mixed, batches, mine)
expected = train(whole, batches)
torch.testing.assert_close(losses, expected, rtol=1e-4, atol=0.0)
torch.testing.assert_close(half_losses, expected, rtol=2e-2, atol=0.0)
assert losses[-1] < losses[0]

# The state dict has the sharded parameters. A full one is made from it and loaded into
# a model that was created without data.
full_state = {name: x.full_tensor() for name, x in model.state_dict().items()}
with torch.device("meta"):
    again = shard(Transformer(), mesh=mesh)
assert again.output.weight.device == torch.device("meta")
sharded_state = {
    name: distribute_tensor(full_state[name], x.device_mesh, x.placements)
    for name, x in again.state_dict().items()
}
again.to_empty(device="cpu")
again.load_state_dict(sharded_state)
tokens = mine(batches[0])
with torch.no_grad():
    torch.testing.assert_close(loss_of(again, tokens), loss_of(model, tokens))

if rank == 0:
    weight = model.layers[0].qkv.weight
    print(f"qkv.weight {weight.shape}, here {weight.to_local().shape}")
    print("loss", [f"{loss:.4f}" for loss in losses.tolist()], "as one process has it")
    print("half", [f"{loss:.4f}" for loss in half_losses.tolist()])
dist.destroy_process_group()
