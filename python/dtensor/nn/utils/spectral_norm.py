"""Weights whose norm is 1, before each call: ``torch.nn.utils.spectral_norm``."""

from typing import Any

import numpy as np

from dtensor.autograd.grad_mode import no_grad
from dtensor.nn.module import Module
from dtensor.nn.parameter import Parameter
from dtensor.nn.utils._norms import (
    as_matrix,
    first_vectors,
    iterate,
    key_of,
    output_dim,
)

__all__ = ["remove_spectral_norm", "spectral_norm"]


class SpectralNorm:
    """Divides a weight by its largest singular value before a module is called."""

    def __init__(self, name: str, n_power_iterations: int, dim: int, eps: float):
        self.name, self.n_power_iterations = name, n_power_iterations
        self.dim, self.eps = dim, eps

    def compute_weight(self, module: Module, do_power_iteration: bool) -> Any:
        """Return the weight; bring the singular value up to date first if wanted."""
        weight, u, v = (
            getattr(module, f"{self.name}_{part}") for part in ("orig", "u", "v")
        )
        matrix = as_matrix(weight, self.dim)
        if do_power_iteration:
            iterate(matrix, u, v, self.n_power_iterations, self.eps, True)
            u, v = np.copy(u), np.copy(v)
        return weight / np.dot(u, matrix @ v)

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, module.training))


def spectral_norm(
    module: Module,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Module:
    """Divide a weight by its largest singular value before each call of a module.

    Parameters
    ----------
    module : Module
        It gets the parameter ``weight_orig`` and the buffers ``weight_u`` and
        ``weight_v``.
    name : str, default "weight"
    n_power_iterations : int, default 1
        How many steps of the power method there are in each call in training mode.
    eps : float, default 1e-12
    dim : int, optional
        The dim that the rows of the matrix are; default 0, of transposed convolutions
        1.

    Returns
    -------
    Module
        `module`.

    Raises
    ------
    RuntimeError
        If this has been done already.
    ValueError
        If the parameter is None, or no iterations are wanted.

    Notes
    -----
    Miyato et al. 2018 (arXiv:1802.05957). Newer:
    `dtensor.nn.utils.parametrizations.spectral_norm`.
    """
    if key_of(module, SpectralNorm, name) is not None:
        raise RuntimeError(
            f"Cannot register two spectral_norm hooks on the same parameter {name}"
        )
    if n_power_iterations <= 0:
        raise ValueError(
            "Expected n_power_iterations to be positive, but got "
            f"n_power_iterations={n_power_iterations}"
        )
    weight = module._parameters[name]
    if weight is None:
        raise ValueError(
            f"`SpectralNorm` cannot be applied as parameter `{name}` is None"
        )
    rows = output_dim(module) if dim is None else dim
    hook = SpectralNorm(name, n_power_iterations, rows, eps)
    u, v = first_vectors(as_matrix(weight.detach(), rows), eps)
    delattr(module, name)
    module.register_parameter(f"{name}_orig", weight)
    setattr(module, name, weight.detach())
    module.register_buffer(f"{name}_u", u)
    module.register_buffer(f"{name}_v", v)
    module.register_forward_pre_hook(hook)
    return module


def remove_spectral_norm(module: Module, name: str = "weight") -> Module:
    """Make the weight a parameter again.

    Parameters
    ----------
    module : Module
    name : str, default "weight"

    Returns
    -------
    Module
        `module`.

    Raises
    ------
    ValueError
        If its weight is not divided.
    """
    key = key_of(module, SpectralNorm, name)
    if key is None:
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    hook = module._forward_pre_hooks.pop(key)
    with no_grad():
        weight = hook.compute_weight(module, False)
    for part in ("", "_u", "_v", "_orig"):
        delattr(module, name + part)
    module.register_parameter(name, Parameter(weight.detach()))
    return module
