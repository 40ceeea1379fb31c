"""A model under FullyShardedDataParallel, and what it is after some steps."""

import numpy as np
from fsdp_models import Net, X, Y, loss_of, part
from meshes import line

from dtensor import nn, tensor
from dtensor.fsdp import FullyShardedDataParallel as FSDP, ModuleWrapPolicy
from dtensor.optim import AdamW

NAMES = list(Net().state_dict())


def adam(params):
    return AdamW(params, lr=0.01)


def wrapped(seed=0, **options):
    policy = ModuleWrapPolicy([nn.Linear])
    return FSDP(Net(seed), device_mesh=line(), auto_wrap_policy=policy, **options)


def one_process():
    """The state of a model and its optimizer after three steps on one process."""
    model = Net()
    optimizer = adam(model.parameters())
    for _ in range(3):
        optimizer.zero_grad()
        loss_of(model, tensor(X), tensor(Y)).backward()
        optimizer.step()
    moments = {
        name: {k: np.array(v) for k, v in optimizer.state[p].items()}
        for name, p in model.named_parameters()
    }
    return {k: np.array(v) for k, v in model.state_dict().items()}, moments


def trained():
    model = wrapped()
    optimizer = adam(model.parameters())
    for _ in range(3):
        optimizer.zero_grad()
        loss_of(model, part(line(), X), part(line(), Y)).backward()
        optimizer.step()
    return model, optimizer
