"""FSDP around tensor and sequence parallelism, on a mesh of two dimensions.
After PyTorch's tutorial "Large Scale Transformer model training with Tensor Parallel"
and its example "fsdp_tp_example".

./run ranks 4 python examples/tutorials/fsdp_and_tensor_parallel.py

Layers are sharded over the ranks of "tp", which see the same batch. Parameters are also
sharded over the ranks of "dp", which have one batch each. The loss is computed on
logits that are sharded along the vocabulary. All losses are those of one process.
"""

import copy

from llama import ModelArgs, Transformer

import dtensor.torch as torch
import dtensor.torch.distributed as dist
import dtensor.torch.nn.functional as F
from dtensor.torch.distributed.device_mesh import init_device_mesh
from dtensor.torch.distributed.fsdp import fully_shard
from dtensor.torch.distributed.tensor import Replicate, Shard
from dtensor.torch.distributed.tensor.parallel import (
    ColwiseParallel,
    PrepareModuleInput,
    RowwiseParallel,
    SequenceParallel,
    loss_parallel,
    parallelize_module,
)


def parallelize(model, tp_mesh):
    """Shard the model over one mesh dimension, and sequences between the blocks."""
    parallelize_module(
        model,
        tp_mesh,
        {
            "tok_embeddings": RowwiseParallel(
                input_layouts=Replicate(), output_layouts=Shard(1)
            ),
            "norm": SequenceParallel(),
            "output": ColwiseParallel(
                input_layouts=Shard(1),
                output_layouts=Shard(-1),  # what loss_parallel expects
                use_local_output=False,
            ),
        },
    )
    layer_plan = {
        "attention_norm": SequenceParallel(),
        "attention": PrepareModuleInput(
            input_layouts=(Shard(1), Replicate()),
            desired_input_layouts=(Replicate(), Replicate()),
        ),
        # DTensors inside attention keep the global number of heads.
        "attention.wq": ColwiseParallel(use_local_output=False),
        "attention.wk": ColwiseParallel(use_local_output=False),
        "attention.wv": ColwiseParallel(use_local_output=False),
        "attention.wo": RowwiseParallel(output_layouts=Shard(1)),
        "ffn_norm": SequenceParallel(),
        "feed_forward": PrepareModuleInput(
            input_layouts=(Shard(1),), desired_input_layouts=(Replicate(),)
        ),
        "feed_forward.w1": ColwiseParallel(),
        "feed_forward.w2": RowwiseParallel(output_layouts=Shard(1)),
        "feed_forward.w3": ColwiseParallel(),
    }
    for block in model.layers:
        parallelize_module(block, tp_mesh, layer_plan)


def next_token_loss(logits, targets):
    return F.cross_entropy(torch.flatten(logits, 0, 1), torch.flatten(targets, 0, 1))


dist.init_process_group()
ranks = dist.get_world_size()
tp_size = 2 if ranks % 2 == 0 else 1
mesh = init_device_mesh("cpu", (ranks // tp_size, tp_size), mesh_dim_names=("dp", "tp"))
dp_mesh, tp_mesh = mesh["dp"], mesh["tp"]
dp_rank, dp_size = dp_mesh.get_local_rank(), dp_mesh.size()

args = ModelArgs()
torch.manual_seed(0)
whole = Transformer(args)
model = copy.deepcopy(whole)
parallelize(model, tp_mesh)
for block in model.layers:
    fully_shard(block, mesh=dp_mesh)
fully_shard(model, mesh=dp_mesh)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
reference = torch.optim.AdamW(whole.parameters(), lr=3e-3)

losses = []
for step in range(8):
    torch.manual_seed(step % 2)  # two alternating batches, equal on all ranks
    tokens = torch.randint(args.vocab_size, (2 * dp_size, args.max_seq_len + 1))
    mine = torch.chunk(tokens, dp_size)[dp_rank]

    with loss_parallel():
        loss = next_token_loss(model(mine[:, :-1]), mine[:, 1:])
        loss.backward()
    optimizer.step()
    optimizer.zero_grad()

    mean = loss.full_tensor().detach()
    dist.all_reduce(mean, op=dist.ReduceOp.AVG, group=dp_mesh.get_group())
    expected = next_token_loss(whole(tokens[:, :-1]), tokens[:, 1:])
    expected.backward()
    reference.step()
    reference.zero_grad()
    torch.testing.assert_close(mean.item(), expected.item(), rtol=1e-4, atol=0.0)
    losses.append(mean.item())

assert losses[-1] < losses[0]
if dist.get_rank() == 0:
    weight = model.layers[0].attention.wq.weight
    print("attention.wq.weight", weight.placements, "on", weight.device_mesh)
    print(f"loss {losses[0]:.4f} -> {losses[-1]:.4f}, as one process has it")
dist.destroy_process_group()
