"""Functions of vectors: products, norms, distances; and one-hot vectors."""

from operator import index
from typing import Any

import numpy as np

from dtensor._core.device import is_meta
from dtensor.ops.elementwise.functions import astype
from dtensor.ops.elementwise.pointwise import equal, maximum
from dtensor.ops.linalg.einsum import einsum
from dtensor.ops.linalg.norms import vector_norm

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
    """Return the cosine of the angles between vectors along a dim.

    Tensors are broadcast before, so that `dim` is one of the dims of both together.
    """
    product = x1 * x2
    if x1.shape != x2.shape:
        x1, x2 = (np.broadcast_to(x, product.shape) for x in (x1, x2))
    if x1.dtype != x2.dtype:
        x1, x2 = (astype(x, product.dtype) for x in (x1, x2))
    first, second = (maximum(vector_norm(x, axis=dim), eps) for x in (x1, x2))
    return product.sum(axis=dim) / (first * second)


def pairwise_distance(
    x1: Any, x2: Any, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Any:
    """Return the norm of ``x1 - x2 + eps`` along the last dim."""
    return vector_norm(x1 - x2 + eps, ord=p, axis=-1, keepdims=keepdim)


def one_hot(tensor: Any, num_classes: int = -1) -> Any:
    """Return one-hot vectors: 1 at the index that each number gives, 0 elsewhere.

    Collective: the least and the greatest number are read.

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
        If a number is negative or no class, if `num_classes` is another negative one
        or 0, or if there is no number to look at. On every rank.
    """
    if np.dtype(tensor.dtype).kind not in "iu":
        raise RuntimeError(
            "one_hot is only applicable to index tensor of type LongTensor."
        )
    num_classes = index(num_classes)
    if tensor.size == 0 and num_classes <= 0:
        raise RuntimeError("Can not infer total number of classes from empty tensor.")
    if num_classes < -1 or num_classes == 0:
        raise RuntimeError("num_classes should be positive")
    if tensor.size > 0 and not is_meta(tensor):
        least, most = int(tensor.min()), int(tensor.max())
        if least < 0:
            raise RuntimeError("Class values must be non-negative.")
        num_classes = most + 1 if num_classes == -1 else num_classes
        if most >= num_classes:
            raise RuntimeError("Class values must be smaller than num_classes.")
    found = equal(tensor[..., None], np.arange(num_classes))
    return astype(found, np.int64, order="C")
