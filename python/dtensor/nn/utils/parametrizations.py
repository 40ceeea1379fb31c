"""Weights with given norms: the names of ``torch.nn.utils.parametrizations``."""

from typing import Any

import numpy as np

from dtensor._C import Tensor
from dtensor.nn import functional
from dtensor.nn.module import Module
from dtensor.nn.utils._norms import (
    as_matrix,
    first_vectors,
    iterate,
    norm_except,
    output_dim,
    with_norm,
)
from dtensor.nn.utils.parametrize import register_parametrization

__all__ = ["spectral_norm", "weight_norm"]


class _WeightNorm(Module):
    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Any, weight_v: Any) -> Any:
        return with_norm(weight_g, weight_v, self.dim)

    def right_inverse(self, weight: Any) -> tuple[Any, Any]:
        return norm_except(weight, self.dim), weight


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Train the norms and the directions of a weight instead of the weight.

    Parameters
    ----------
    module : Module
    name : str, default "weight"
    dim : int or None, default 0
        The dim for each index of which there is a norm; None: one norm.

    Returns
    -------
    Module
        `module`, whose norms are ``parametrizations.weight.original0`` and whose
        directions are ``original1``. States of `dtensor.nn.utils.weight_norm` can be
        loaded.

    Notes
    -----
    Salimans and Kingma 2016 (arXiv:1602.07868).
    """
    register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def rename(state: dict[str, Any], prefix: str, *_: Any) -> None:
        old = [f"{prefix}{name}_{part}" for part in "gv"]
        if all(key in state for key in old):
            for k, key in enumerate(old):
                new = f"{prefix}parametrizations.{name}.original{k}"
                state[new] = state.pop(key)

    module._register_load_state_dict_pre_hook(rename)
    return module


class _SpectralNorm(Module):
    def __init__(
        self, weight: Any, n_power_iterations: int, dim: int, eps: float
    ) -> None:
        super().__init__()
        if not -weight.ndim <= dim < weight.ndim:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [-{weight.ndim}, "
                f"{weight.ndim - 1}] but got {dim})"
            )
        if n_power_iterations <= 0:
            raise ValueError(
                "Expected n_power_iterations to be positive, but got "
                f"n_power_iterations={n_power_iterations}"
            )
        self.dim = dim % weight.ndim
        self.eps = eps
        if weight.ndim > 1:
            self.n_power_iterations = n_power_iterations
            matrix = as_matrix(weight, self.dim)
            u, v = first_vectors(matrix, eps)
            self.register_buffer("_u", u)
            self.register_buffer("_v", v)
            iterate(matrix, self._u, self._v, 15, eps, False)

    def forward(self, weight: Any) -> Any:
        if weight.ndim == 1:
            return functional.normalize(weight, dim=0, eps=self.eps)
        matrix = as_matrix(weight, self.dim)
        if self.training:
            times = self.n_power_iterations
            iterate(matrix, self._u, self._v, times, self.eps, False)
        u, v = np.copy(self._u), np.copy(self._v)
        return weight / np.vdot(u, matrix @ v)

    def right_inverse(self, value: Any) -> Any:
        return value


def spectral_norm(
    module: Module,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Module:
    """Divide a weight by its largest singular value.

    Parameters
    ----------
    module : Module
    name : str, default "weight"
    n_power_iterations : int, default 1
        How many steps of the power method bring the value up to date, in each forward
        pass in training mode.
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
    ValueError
        If there is no such tensor, or no iterations are wanted.
    IndexError
        If there is no such dim.

    Notes
    -----
    Miyato et al. 2018 (arXiv:1802.05957). A cut weight sends the vectors of the power
    method, not itself.
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(
            f"Module '{module}' has no parameter or buffer with name '{name}'"
        )
    rows = output_dim(module) if dim is None else dim
    norm = _SpectralNorm(weight, n_power_iterations, rows, eps)
    return register_parametrization(module, name, norm)
