"""A checkpoint for any number of ranks, and for any program that reads safetensors.

./run ranks 4 python examples/checkpoint.py
./run exec python examples/checkpoint.py
"""

import os
import tempfile

import numpy as np
from mpi4py import MPI

from dtensor import Shard, Tensor, init_device_mesh, nn
from dtensor.checkpoint import async_save, load, read
from dtensor.checkpoint.state_dict import get_state_dict, set_state_dict
from dtensor.fsdp import fully_shard
from dtensor.optim import AdamW

comm = MPI.COMM_WORLD
mesh = init_device_mesh("cpu", (comm.size,))
path = comm.bcast(os.path.join(tempfile.mkdtemp(), "checkpoint"))


def build() -> tuple[nn.Module, AdamW]:
    """A model whose parameters are sharded over the ranks, and its optimizer."""
    model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
    fully_shard(model, mesh=mesh)
    return model, AdamW(model.parameters(), lr=1e-2)


def step(model: nn.Module, optimizer: AdamW) -> float:
    x = Tensor(np.linspace(-1, 1, 32, dtype="float32").reshape(4, 8))
    loss = (model(x) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


# Train and save; the file is written while training continues.
model, optimizer = build()
for _ in range(5):
    step(model, optimizer)
weights, moments = get_state_dict(model, optimizer)
state = {"model": weights, "optimizer": moments, "step": 5}
saving = async_save(state, checkpoint_id=path)
after = [step(model, optimizer) for _ in range(3)]
saving.result()

# A new model continues where the old one stopped. The number of ranks may differ.
model, optimizer = build()
weights, moments = get_state_dict(model, optimizer)
state = {"model": weights, "optimizer": moments, "step": 0}
load(state, checkpoint_id=path)
set_state_dict(model, optimizer, model_state_dict=weights, optim_state_dict=moments)
assert state["step"] == 5
assert [step(model, optimizer) for _ in range(3)] == after

# Without a model: any layout, by name. Each rank reads the bytes of its own part.
saved = read(path, mesh, {"model.0.weight": [Shard(1)]})
if comm.rank == 0:
    print("after step 5:", *(f"{loss:.6f}" for loss in after))
    print("0.weight:", saved["model"]["0.weight"].layout)
    print("files:", *os.listdir(path))
