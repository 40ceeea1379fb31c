"""Functions of vectors: products, norms, distances; and one-hot vectors."""

from typing import Any

import numpy as np

from dtensor.ops.einsum import einsum
from dtensor.ops.elementwise import astype
from dtensor.ops.linalg_norm import vector_norm
from dtensor.ops.pointwise import equal, maximum

__all__ = ["bilinear", "cosine_similarity", "normalize", "one_hot", "pairwise_distance"]


def bilinear(input1: Any, input2: Any, weight: Any, bias: Any = None) -> Any:
    """Return ``input1^T weight[o] input2 + bias[o]`` for each o.

    Parameters
    ----------
    input1 : tensor, shape (..., i)
    input2 : tensor, shape (..., j)
    weight : tensor, shape (o, i, j)
    bias : tensor, shape (o,), optional

    Returns
    -------
    tensor, shape (..., o)
    """
    out = einsum("...i,oij,...j->...o", input1, weight, input2)
    return out if bias is None else out + bias


def normalize(
    input: Any, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: Any = None
) -> Any:
    """Return the input divided by its norm of type `p` along a dim, or by `eps`."""
    norm = vector_norm(input, ord=p, axis=dim, keepdims=True)
    result = input / maximum(norm, eps)
    if out is None:
        return result
    out[...] = result
    return out


def cosine_similarity(x1: Any, x2: Any, dim: int = 1, eps: float = 1e-8) -> Any:
    """Return the cosine of the angles between vectors along a dim."""
    norms = (maximum(vector_norm(x, axis=dim), eps) for x in (x1, x2))
    first, second = norms
    return (x1 * x2).sum(axis=dim) / (first * second)


def pairwise_distance(
    x1: Any, x2: Any, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Any:
    """Return the norm of ``x1 - x2 + eps`` along the last dim."""
    return vector_norm(x1 - x2 + eps, ord=p, axis=-1, keepdims=keepdim)


def one_hot(tensor: Any, num_classes: int = -1) -> Any:
    """Return one-hot vectors: 1 at the index that each number gives, 0 elsewhere.

    Collective if `num_classes` is -1, because it depends on the greatest number.

    Parameters
    ----------
    tensor : tensor of int
    num_classes : int, default -1
        The length of the vectors; -1: one more than the greatest number.

    Returns
    -------
    tensor of int64
        It has one more dim.

    Raises
    ------
    RuntimeError
        If `num_classes` is -1 and `tensor` is empty.
    """
    if num_classes == -1:
        if tensor.size == 0:
            raise RuntimeError(
                "Can not infer total number of classes from empty tensor."
            )
        num_classes = int(tensor.max()) + 1
    return astype(equal(tensor[..., None], np.arange(num_classes)), np.int64)
