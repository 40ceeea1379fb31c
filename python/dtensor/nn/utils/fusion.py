"""Linear maps and convolutions with a batch norm behind, as one: for evaluation."""

import copy
from typing import Any

import numpy as np

from dtensor.nn.parameter import Parameter

__all__ = [
    "fuse_conv_bn_eval",
    "fuse_conv_bn_weights",
    "fuse_linear_bn_eval",
    "fuse_linear_bn_weights",
]


def fuse_conv_bn_weights(
    conv_w: Any,
    conv_b: Any,
    bn_rm: Any,
    bn_rv: Any,
    bn_eps: float,
    bn_w: Any,
    bn_b: Any,
    transpose: bool = False,
) -> tuple[Any, Any]:
    """Return weight and bias of a convolution that has taken up a batch norm.

    Parameters
    ----------
    conv_w, conv_b : tensor; the bias may be None
    bn_rm, bn_rv, bn_eps, bn_w, bn_b
        Running mean and variance, epsilon, and weight and bias or None.
    transpose : bool, default False
        Whether the convolution is transposed: its channels are in dim 1.
    """
    conv_b = np.zeros_like(bn_rm) if conv_b is None else conv_b
    bn_w = np.ones_like(bn_rm) if bn_w is None else bn_w
    bn_b = np.zeros_like(bn_rm) if bn_b is None else bn_b
    scale = bn_w * (bn_rv + bn_eps) ** -0.5
    shape = [1, -1] if transpose else [-1, 1]
    weight = conv_w * np.reshape(scale, (*shape, *[1] * (conv_w.ndim - 2)))
    bias = (conv_b - bn_rm) * scale + bn_b
    return (
        Parameter(weight.astype(conv_w.dtype), conv_w.requires_grad),
        Parameter(bias.astype(conv_b.dtype), True),
    )


def fuse_linear_bn_weights(
    linear_w: Any,
    linear_b: Any,
    bn_rm: Any,
    bn_rv: Any,
    bn_eps: float,
    bn_w: Any,
    bn_b: Any,
) -> tuple[Any, Any]:
    """Return the same of a linear map: see `fuse_conv_bn_weights`."""
    return fuse_conv_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)


def _fused(layer: Any, bn: Any, transpose: bool) -> Any:
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    if bn.running_mean is None or bn.running_var is None:
        raise ValueError("the batch norm has no running averages")
    made = copy.deepcopy(layer)
    of_norm = bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
    given = made.weight.detach(), None if made.bias is None else made.bias.detach()
    values = [x.detach() if hasattr(x, "detach") else x for x in of_norm]
    mean, var, eps, weight, bias = values
    made.weight, made.bias = fuse_conv_bn_weights(
        *given, mean, var, eps, weight, bias, transpose
    )
    made.weight.requires_grad_(layer.weight.requires_grad)
    return made


def fuse_conv_bn_eval(conv: Any, bn: Any, transpose: bool = False) -> Any:
    """Return a copy of a convolution that does what a batch norm did behind it.

    Raises
    ------
    AssertionError
        If one of them is not in evaluation.
    """
    return _fused(conv, bn, transpose)


def fuse_linear_bn_eval(linear: Any, bn: Any) -> Any:
    """Return a copy of a linear map that does what a batch norm did behind it.

    Raises
    ------
    AssertionError
        If one of them is not in evaluation, or their lengths differ.
    """
    if linear.out_features != bn.num_features and bn.num_features != 1:
        raise AssertionError(
            "To fuse, linear.out_features == bn.num_features or bn.num_features == 1"
        )
    return _fused(linear, bn, False)
