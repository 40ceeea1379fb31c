"""What weights are divided by: norms of rows, and the largest singular value."""

from typing import Any

import numpy as np

from dtensor.autograd.grad_mode import no_grad
from dtensor.linalg import vector_norm
from dtensor.nn import functional, init
from dtensor.nn.conv_transpose import (
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
)
from dtensor.nn.module import Module

__all__ = [
    "as_matrix",
    "first_vectors",
    "iterate",
    "key_of",
    "norm_except",
    "output_dim",
    "with_norm",
]


def norm_except(weight: Any, dim: int) -> Any:
    """Return the norms over all dims but one; of everything if it is -1."""
    if dim == -1:
        return vector_norm(weight)
    others = tuple(d for d in range(weight.ndim) if d != dim)
    return vector_norm(weight, axis=others, keepdims=True)


def with_norm(g: Any, v: Any, dim: int) -> Any:
    """Return a weight of which the norms are g, and the direction is v."""
    return v * (g / norm_except(v, dim))


def output_dim(module: Module) -> int:
    """Return the dim of a layer's weight that counts what it puts out."""
    kinds = (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)
    return 1 if isinstance(module, kinds) else 0


def as_matrix(weight: Any, dim: int) -> Any:
    """Return a weight as a matrix: one dim by all others."""
    rows = weight.shape[dim]
    return np.reshape(np.moveaxis(weight, dim, 0), (rows, -1))


@no_grad()
def first_vectors(matrix: Any, eps: float) -> tuple[Any, Any]:
    """Return random vectors of length 1, as long as columns and rows."""
    u, v = (init.normal_(np.empty_like(x.detach())) for x in (matrix[:, 0], matrix[0]))
    u, v = (functional.normalize(x, dim=0, eps=eps) for x in (u, v))
    return u, v


@no_grad()
def iterate(matrix: Any, u: Any, v: Any, times: int, eps: float, v_first: bool) -> None:
    """Bring two vectors nearer to the first singular ones, in place."""
    back = np.conj(matrix.T)
    for _ in range(times):
        for first in (v_first, not v_first):
            vector, new = (v, back @ u) if first else (u, matrix @ v)
            vector.copy_(functional.normalize(new, dim=0, eps=eps))


def key_of(module: Module, kind: type, name: str) -> Any:
    """Return the key of the hook of that kind before calls of a module, or None."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, kind) and getattr(hook, "name", None) == name:
            return key
    return None
