"""Parameters as tensors of one shape, numbers that are drawn, and small formulas.

`torch` is the dialect; type checkers take its functions as they come here, since
parameters are tensors, DTensors or numbers.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

import dtensor.torch as _torch

__all__ = [
    "broadcast_all",
    "clamp_probs",
    "lazy_property",
    "logits_to_probs",
    "probs_to_logits",
    "standard_like",
    "sum_rightmost",
    "torch",
    "tril_matrix_to_vec",
    "uniform_like",
    "vec_to_tril_matrix",
    "without_gradients",
]

torch: Any = _torch


def without_gradients(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function record nothing."""

    @functools.wraps(function)
    def answer(*args: Any, **options: Any) -> Any:
        with torch.no_grad():
            return function(*args, **options)

    return answer


class lazy_property:  # noqa: N801
    """An attribute that is computed when it is first asked for, and kept."""

    def __init__(self, wrapped: Any) -> None:
        self.wrapped = wrapped
        self.__doc__ = wrapped.__doc__

    def __set_name__(self, owner: Any, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        with torch.enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.name, value)
        return value


def broadcast_all(*values: Any) -> Any:
    """Return numbers and tensors as tensors of one shape.

    Numbers have the dtype and, if there are DTensors, the mesh of the first tensor;
    without tensors, the default dtype.

    Raises
    ------
    ValueError
        If one is neither a number nor a tensor.
    """
    tensors = [x for x in values if isinstance(x, torch.Tensor)]
    for x in values:
        if not isinstance(x, torch.Tensor | int | float):
            raise ValueError(
                "Input arguments must all be instances of Number, torch.Tensor or "
                f"objects implementing __torch_function__, not {type(x).__name__}"
            )
    if not tensors:
        return torch.broadcast_tensors(*(torch.tensor(float(x)) for x in values))
    floats = [x for x in tensors if x.dtype.is_floating_point]
    like = (floats or tensors)[0].detach()
    dtype = like.dtype if floats else torch.get_default_dtype()
    alike = [
        x
        if isinstance(x, torch.Tensor)
        else torch.full_like(like, float(x), dtype=dtype)
        for x in values
    ]
    return torch.broadcast_tensors(*alike)


def clamp_probs(probs: Any) -> Any:
    """Return probabilities kept apart from 0 and 1 by the dtype's precision."""
    eps = torch.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def logits_to_probs(logits: Any, is_binary: bool = False) -> Any:
    """Return probabilities: of log odds, or of log probabilities of the last dim."""
    return torch.sigmoid(logits) if is_binary else torch.softmax(logits, -1)


def probs_to_logits(probs: Any, is_binary: bool = False) -> Any:
    """Return log odds, or the logarithms of probabilities of the last dim."""
    kept = clamp_probs(probs)
    return torch.log(kept) - torch.log1p(-kept) if is_binary else torch.log(kept)


def sum_rightmost(value: Any, dims: int) -> Any:
    """Return sums over the last dims."""
    return value.sum(tuple(range(-dims, 0))) if dims else value


def standard_like(like: Any, shape: Any) -> Any:
    """Draw standard normal numbers of a shape, in the dtype and mesh of a tensor."""
    return torch.randn_like(like.detach().expand(shape))


def uniform_like(like: Any, shape: Any, inside: bool = True) -> Any:
    """Draw numbers between 0 and 1, by default neither of them, as `standard_like`."""
    drawn = torch.rand_like(like.detach().expand(shape))
    return drawn.clamp(min=torch.finfo(drawn.dtype).tiny) if inside else drawn


def vec_to_tril_matrix(vec: Any, diag: int = 0) -> Any:
    """Return lower triangular matrices of vectors of their elements, row by row.

    Raises
    ------
    ValueError
        If there are no such matrices with so many elements.
    """
    count = vec.shape[-1]
    n = next(
        (n for n in range(count + 2 + abs(diag)) if _count(n, diag) == count), None
    )
    if n is None:
        raise ValueError(
            f"The size of last dimension is {count} which cannot be expressed as the "
            "lower triangular part of a square D x D matrix."
        )
    rows, columns = np.tril_indices(n, diag)
    place = np.zeros((n, n), np.int64)
    place[rows, columns] = np.arange(count)
    inside = torch.tensor(np.tri(n, n, diag, dtype=bool))
    if not count:
        return torch.zeros((*vec.shape[:-1], n, n), dtype=vec.dtype)
    return torch.where(inside, vec[..., torch.tensor(place)], 0.0)


def _count(n: int, diag: int) -> int:
    return len(np.tril_indices(n, diag)[0])


def tril_matrix_to_vec(mat: Any, diag: int = 0) -> Any:
    """Return the elements of the lower triangles of matrices, row by row.

    Raises
    ------
    ValueError
        If there is no such diagonal.
    """
    n = mat.shape[-1]
    if diag < -n or diag >= n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    rows, columns = np.tril_indices(n, diag)
    return mat[..., torch.tensor(rows), torch.tensor(columns)]
