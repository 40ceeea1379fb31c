"""Elements of which those that are not above 0 are scaled, by a slope for each channel.

Channels are dim 1, and any dim may be cut. The gradient of the slopes is Partial where
others are: nothing is sent here.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor.ops._make.kernel import kernel_for, refuse_complex
from dtensor.ops._make.operator import Operand, call, letters, operator
from dtensor.ops._make.words import Answer, rule
from dtensor.ops.model.channels import gathered, spread

__all__ = ["rectified"]

Array = npt.NDArray[Any]


# --- with NumPy's functions, for dtypes that the C kernels lack -----------------------


def _forward(x: Array, slope: Array) -> Array:
    return np.where(x > 0, x, x * spread(slope, x))


def _backward(g: Array, x: Array, slope: Array) -> Array:
    return np.where(x > 0, g, g * spread(slope, x))


def _sums(g: Array, x: Array) -> Any:
    return gathered(np.where(x > 0, 0, g * x))


# --- operators ------------------------------------------------------------------------


@operator
def rectified(x: Operand, slope: Operand) -> Answer:
    """Return the elements above 0, and the others times the slope of their channel.

    Parameters
    ----------
    x : array_like, shape (samples, channels, ...)
    slope : array_like, shape (channels,)
    """
    refuse_complex("prelu", x.dtype, slope.dtype)
    whole = letters(x.ndim)
    kernel, dtype = kernel_for("prelu", [x.dtype, slope.dtype], _forward)
    return rule([whole, whole[1:2]], [whole]), call(kernel, x, slope), dtype


@operator
def rectified_backward(g: Operand, x: Operand, slope: Operand) -> Answer:
    """Return the gradient of `x`."""
    whole = letters(x.ndim)
    dtypes = [g.dtype, x.dtype, slope.dtype]
    kernel, dtype = kernel_for("prelu_backward", dtypes, _backward)
    return (
        rule([whole, whole, whole[1:2]], [whole], "0"),
        call(kernel, g, x, slope),
        dtype,
    )


@operator
def rectified_sums(g: Operand, x: Operand) -> Answer:
    """Return the gradient of the slopes: sums of ``g * x`` where `x` is not above 0."""
    whole = letters(x.ndim)
    kernel, dtype = kernel_for("prelu_sums", [g.dtype, x.dtype], _sums)
    return rule([whole, whole], [whole[1:2]], "0"), call(kernel, g, x), dtype


rectified.vjp(
    lambda grad, _out, x, slope: rectified_backward(grad, x, slope),
    lambda grad, _out, x, _slope: rectified_sums(grad, x),
)
rectified_backward.vjp(
    lambda grad, _out, _g, x, slope: rectified_backward(grad, x, slope),
    lambda _grad, _out, _g, x, _slope: np.zeros_like(x),
    lambda grad, _out, g, x, _slope: gathered(np.where(x > 0, 0, grad * g)),
)
rectified_sums.vjp(
    lambda grad, _out, _g, x: np.where(x > 0, 0, x * spread(grad, x)),
    lambda grad, _out, g, x: np.where(x > 0, 0, g * spread(grad, x)),
)
