"""Model-agnostic meta-learning with torch.func, per-sample gradients, ensembles."""

import copy
from functools import partial

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import (
    functional_call,
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    stack_module_state,
    vjp,
    vmap,
)

rng = np.random.default_rng(2)
net = nn.Sequential(
    nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 1)
)
for p in net.parameters():
    nn.init.zeros_(p)
    p.data += torch.as_tensor(rng.normal(0, 0.4, p.shape), dtype=torch.float32)
params = dict(net.named_parameters())
opt = torch.optim.Adam(net.parameters(), lr=5e-3)


def loss_fn(params, x, y):
    return F.mse_loss(functional_call(net, params, (x,)), y)


def inner(params, x1, y1, x2, y2, alpha=0.1, steps=2):
    for _ in range(steps):
        grads = grad(loss_fn)(params, x1, y1)
        params = {k: p - alpha * grads[k] for k, p in params.items()}
    return loss_fn(params, x2, y2)


def tasks(n):
    A = torch.from_numpy(rng.uniform(0.5, 2, (n, 1, 1))).float()
    phi = torch.from_numpy(rng.uniform(0, np.pi, (n, 1, 1))).float()
    x = torch.from_numpy(rng.uniform(-3, 3, (n, 12, 1))).float()
    y = A * torch.sin(x + phi)
    return x[:, :6], y[:, :6], x[:, 6:], y[:, 6:]


for it in range(4):
    batch = tasks(5)
    losses = vmap(partial(inner, params), in_dims=(0, 0, 0, 0))(*batch)
    loss = losses.mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(f"iteration {it}: {loss.item():.6f}", [round(v, 4) for v in losses.tolist()])

# per-sample gradients and their norms, clipped and noised as in private training
x, y = torch.linspace(-1, 1, 8).view(8, 1), torch.linspace(0, 1, 8).view(8, 1)
detached = {k: v.detach() for k, v in net.named_parameters()}


def one(params, x, y):
    return F.mse_loss(functional_call(net, params, (x.unsqueeze(0),)), y.unsqueeze(0))


per_sample = vmap(grad(one), in_dims=(None, 0, 0))(detached, x, y)
norms = torch.stack([g.flatten(1).norm(dim=1) for g in per_sample.values()]).norm(dim=0)
clip = (0.1 / (norms + 1e-6)).clamp(max=1.0)
mean = {k: torch.einsum("n,n...->...", clip, g) / len(x) for k, g in per_sample.items()}
print(norms.tolist(), sum(v.sum().item() for v in mean.values()))
total = grad(loss_fn)(detached, x, y)
print(all(torch.allclose(total[k], per_sample[k].mean(0), atol=1e-6) for k in total))

# an ensemble by stacked states
models = [copy.deepcopy(net) for _ in range(3)]
with torch.no_grad():
    for k, m in enumerate(models):
        for p in m.parameters():
            p.mul_(1 + 0.1 * k)
stacked, buffers = stack_module_state(models)
base = copy.deepcopy(models[0]).to("meta")


def call(params, buffers, x):
    return functional_call(base, (params, buffers), (x,))


preds = vmap(call, in_dims=(0, 0, None))(stacked, buffers, x)
print(
    preds.shape,
    torch.allclose(preds, torch.stack([m(x) for m in models]), atol=1e-6),
    preds.var(0).mean().item(),
)

# derivatives of all kinds
f = lambda z: (z.sin() * z.roll(1, 0)).sum()  # noqa: E731
z = torch.arange(1.0, 5.0)
g, v = grad_and_value(f)(z)
print(
    g,
    v,
    hessian(f)(z),
    jacrev(torch.cumsum)(z, 0) if False else jacrev(lambda t: t.cumsum(0))(z),
)
print(
    jvp(f, (z,), (torch.ones(4),)),
    vjp(lambda t: t * t, z)[1](torch.ones(4))[0],
    jacfwd(torch.sin)(z).diagonal(),
)
ggn = jacrev(lambda q: functional_call(net, q, (x,)).squeeze(1))(detached)
kernel = sum(torch.einsum("i...,j...->ij", j, j) for j in ggn.values())
print(
    kernel.shape,
    torch.linalg.eigvalsh(kernel)[-3:].tolist(),
    torch.trace(kernel).item(),
)
laplacian = vmap(
    lambda q: torch.trace(
        hessian(lambda s: functional_call(net, detached, (s,)).squeeze())(q)
    )
)(x)
print(laplacian.tolist())
