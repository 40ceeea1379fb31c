"""layer_norm, rms_norm and group_norm: names and arguments as in torch.nn.functional.

Dims that are normed together stay whole; all others may be cut. The gradients of weight
and bias are then Partial: nothing is sent for them here."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dtensor.ops._make.halves import is_half
from dtensor.ops._make.kernel import inexact
from dtensor.ops._make.operator import Operand, operator
from dtensor.ops._make.words import Answer, Shape
from dtensor.ops.model.norm_gradient import gradients, norm

__all__ = ["group_norm", "layer_norm", "rms_norm"]

# --- operators ------------------------------------------------------------------------


def _normalized(normalized_shape: int | Sequence[int]) -> Shape:
    if isinstance(normalized_shape, int | np.integer):
        return (int(normalized_shape),)
    return tuple(map(int, normalized_shape))


def _check(
    x: Operand, shape: Shape, weight: Operand | None, bias: Operand | None
) -> None:
    """Raise what torch raises."""
    if not shape:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing "
            "at least one element, but got normalized_shape = []"
        )
    for name, w in (("weight", weight), ("bias", bias)):
        if w is not None and w.shape != shape:
            raise RuntimeError(
                f"Expected {name} to be of same shape as normalized_shape, but got "
                f"{name} of shape {list(w.shape)} and normalized_shape = {list(shape)}"
            )
    if x.ndim < len(shape) or x.shape[x.ndim - len(shape) :] != shape:
        words = ", ".join(["*", *map(str, shape)])
        raise RuntimeError(
            f"Given normalized_shape={list(shape)}, expected input with shape [{words}]"
            f", but got input of size{list(x.shape)}"
        )


@operator
def layer_norm(
    input: Operand,
    normalized_shape: int | Sequence[int],
    weight: Operand | None = None,
    bias: Operand | None = None,
    eps: float = 1e-5,
) -> Answer:
    """Bring the last dims to mean 0 and variance 1, then scale and shift.

    ``(x - mean) / sqrt(variance + eps) * weight + bias``, with the biased variance
    [1]_.

    Parameters
    ----------
    input : array_like
    normalized_shape : int or sequence of int
        The lengths of the last dims, which are normed together and not cut.
    weight, bias : array_like, shape `normalized_shape`, optional
        Their gradients are Partial where `input` is cut.
    eps : float, default 1e-5

    Returns
    -------
    DTensor
        Of the shape and layout of `input`.

    Raises
    ------
    RuntimeError
        If the shapes do not fit.

    References
    ----------
    .. [1] J. L. Ba, J. R. Kiros and G. E. Hinton, "Layer Normalization", 2016.
    """
    shape = _normalized(normalized_shape)
    _check(input, shape, weight, bias)
    return norm("layer_norm", input, [weight, bias], eps, len(shape))


@layer_norm.vjp_all
def _(
    needs: Any,
    grad: Any,
    _out: Any,
    input: Any,
    normalized_shape: Any,
    weight: Any = None,
    _bias: Any = None,
    eps: float = 1e-5,
) -> tuple[Any, ...]:
    dims = len(_normalized(normalized_shape))
    return gradients(needs, grad, input, weight, _bias, "layer_norm", eps, dims)


@operator
def rms_norm(
    input: Operand,
    normalized_shape: int | Sequence[int],
    weight: Operand | None = None,
    eps: float | None = None,
) -> Answer:
    """Bring the mean of squares over the last dims to 1, then scale.

    ``x / sqrt(mean(x**2) + eps) * weight``; parameters and errors as of `layer_norm`.
    `eps` is by default the machine epsilon of the dtype, for 16-bit floats of float32.
    """
    shape = _normalized(normalized_shape)
    _check(input, shape, weight, None)
    return norm("rms_norm", input, [weight], _rms_eps(input, eps), len(shape))


def _rms_eps(x: Any, eps: float | None) -> float:
    if eps is not None:
        return float(eps)
    dtype = inexact(x.dtype)  # in which it is computed
    return float(np.finfo(np.float32 if is_half(dtype) else dtype).eps)


@rms_norm.vjp_all
def _(
    needs: Any,
    grad: Any,
    _out: Any,
    input: Any,
    normalized_shape: Any,
    weight: Any = None,
    eps: float | None = None,
) -> tuple[Any, ...]:
    dims, eps = len(_normalized(normalized_shape)), _rms_eps(input, eps)
    return gradients(needs, grad, input, weight, None, "rms_norm", eps, dims)


@operator
def group_norm(
    input: Operand,
    num_groups: int,
    weight: Operand | None = None,
    bias: Operand | None = None,
    eps: float = 1e-5,
) -> Answer:
    """Bring groups of channels to mean 0 and variance 1, then scale and shift.

    Parameters
    ----------
    input : array_like, shape (N, C, ...)
        Dim 0 may be cut, and dim 1 between groups.
    num_groups : int
        Into how many groups the channels are divided.
    weight, bias : array_like, shape (C,), optional
    eps : float, default 1e-5
        Added to the (biased) variance.

    Raises
    ------
    RuntimeError
        If the shapes do not fit, or `num_groups` does not divide the channels.
    """
    if input.ndim < 2:
        raise RuntimeError(
            f"Expected at least 2 dimensions for input tensor but received {input.ndim}"
        )
    channels = input.shape[1]
    if num_groups <= 0:
        raise RuntimeError(
            f"Expected num groups to be greater than 0, got {num_groups}"
        )
    if channels % num_groups:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, but "
            f"got input of shape {list(input.shape)} and num_groups={num_groups}"
        )
    for name, w in (("weight", weight), ("bias", bias)):
        if w is not None and w.shape != (channels,):
            raise RuntimeError(
                f"Expected {name} to be a vector of size equal to the number of "
                f"channels in input, but got {name} of shape {list(w.shape)} and input "
                f"of shape {list(input.shape)}"
            )
    return norm("group_norm", input, [weight, bias], eps, channels // num_groups)


@group_norm.vjp_all
def _(
    needs: Any,
    grad: Any,
    _out: Any,
    input: Any,
    num_groups: int,
    weight: Any = None,
    _bias: Any = None,
    eps: float = 1e-5,
) -> tuple[Any, ...]:
    dims = input.shape[1] // num_groups
    return gradients(needs, grad, input, weight, _bias, "group_norm", eps, dims)
