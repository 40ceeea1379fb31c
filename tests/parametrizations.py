"""Weights that are computed from others, one text for PyTorch and for here.

``python tests/parametrizations.py`` prints PyTorch's answers, which are kept in
``tests/data/torch_parametrizations.json``.
"""

import copy
import json
import pickle
import warnings

import numpy as np


def fill(torch, module):
    """Set parameters and buffers to the same numbers everywhere."""
    rng = np.random.default_rng(1)
    for name, x in [*module.named_parameters(), *module.named_buffers()]:
        values = rng.standard_normal(tuple(x.shape)).astype("float32")
        if name.endswith(("_u", "_v")):
            values /= np.linalg.norm(values)
        with torch.no_grad():
            x.copy_(torch.tensor(values))
    return module


def trained(torch, module, shape):
    """The losses of some steps and of the module as it is then, and its names."""
    x = np.random.default_rng(0).standard_normal(shape).astype("float32")
    fill(torch, module)
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        y = module(torch.tensor(x))
        loss = (y * y).sum()
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    y = module.eval()(torch.tensor(x))
    losses.append(float((y * y).sum().detach()))
    shapes = [[name, list(x.shape)] for name, x in module.named_parameters()]
    return [losses, shapes, sorted(module.state_dict())]


def norms(torch):
    """Layers with norms, both ways."""
    nn = torch.nn
    new, old = nn.utils.parametrizations, nn.utils
    for way in (new, old):
        for dim in (0, 1, None):
            yield trained(torch, way.weight_norm(nn.Linear(5, 3), dim=dim), (4, 5))
        for layer, shape in (
            (nn.Linear(5, 3), (4, 5)),
            (nn.Conv2d(3, 4, 3), (2, 3, 6, 6)),
            (nn.ConvTranspose2d(3, 4, 3), (2, 3, 6, 6)),
        ):
            module = way.spectral_norm(layer, n_power_iterations=2)
            yield trained(torch, module, shape)


def removed(torch):
    """Layers without their norms again."""
    nn = torch.nn
    weighted = fill(torch, nn.utils.parametrizations.weight_norm(nn.Linear(5, 3)))
    before = weighted.weight.detach().tolist()
    nn.utils.parametrize.remove_parametrizations(weighted, "weight")
    yield [before, weighted.weight.detach().tolist(), type(weighted).__name__]
    yield [name for name, _ in weighted.named_parameters()]
    spectral = fill(torch, nn.utils.spectral_norm(nn.Linear(5, 3))).eval()
    spectral(torch.zeros(1, 5))
    yield nn.utils.remove_spectral_norm(spectral).weight.detach().tolist()


def classes(torch):
    class Symmetric(torch.nn.Module):
        def forward(self, x):
            return x.triu() + x.triu(1).transpose(-1, -2)

        def right_inverse(self, x):
            return x.triu()

    class Exponential(torch.nn.Module):
        def forward(self, x):
            return x.exp()

        def right_inverse(self, x):
            return x.log()

    return Symmetric, Exponential


def of_users(torch):
    """Parametrizations by users, one after the other."""
    of, linear = torch.nn.utils.parametrize, torch.nn.Linear
    symmetric, exponential = classes(torch)
    module = fill(torch, linear(3, 3))
    of.register_parametrization(module, "weight", symmetric())
    of.register_parametrization(module, "weight", exponential())
    yield module.weight.detach().tolist()
    module.weight = torch.tensor(np.full((3, 3), 2, "float32"))
    yield module.parametrizations.weight.original.detach().tolist()
    yield repr(module)
    with of.cached():
        yield module.weight is module.weight
    twin = copy.deepcopy(module)
    yield [type(twin).__name__, twin.weight.detach().tolist()]
    yield of.type_before_parametrizations(twin).__name__
    other = fill(torch, linear(3, 3))
    of.transfer_parametrizations_and_params(module, other, "weight")
    yield other.weight.detach().tolist()
    norm = torch.nn.utils.parametrizations
    for bad in (
        lambda: of.register_parametrization(linear(2, 2), "w", symmetric()),
        lambda: of.register_parametrization(linear(2, 2), "weight", linear(2, 3)),
        lambda: pickle.dumps(module),
        lambda: of.remove_parametrizations(linear(2, 2), "weight"),
        lambda: of.remove_parametrizations(
            norm.weight_norm(linear(2, 2)), "weight", False
        ),
        lambda: norm.spectral_norm(linear(2, 2), n_power_iterations=0),
        lambda: norm.spectral_norm(linear(2, 2), dim=3),
        lambda: torch.nn.utils.remove_weight_norm(linear(2, 2)),
        lambda: torch.nn.utils.remove_spectral_norm(linear(2, 2)),
    ):
        try:
            bad()
        except Exception as e:
            yield type(e).__name__


def answers(torch):
    """All of them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [[*part(torch)] for part in (norms, removed, of_users)]


if __name__ == "__main__":
    import torch

    print(json.dumps(answers(torch)))
