"""Activation functions.

Names, arguments and definitions are those of torch.nn.functional. Each is one pass over
the elements in C, and so is its gradient."""

from typing import Any

import numpy as np

from dtensor.ops._make.axes import normalize_axis_index
from dtensor.ops._make.elementwise import broadcast
from dtensor.ops._make.kernel import inexact, kernel_for
from dtensor.ops._make.operator import Operand, call, operator
from dtensor.ops._make.words import Answer
from dtensor.ops.index.read import getitem
from dtensor.ops.model.activation_gradient import activation_backward
from dtensor.ops.model.activation_numpy import FORMULAS

__all__ = [
    "celu",
    "elu",
    "erf",
    "gelu",
    "glu",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "leaky_relu",
    "logsigmoid",
    "mish",
    "prelu",
    "relu",
    "relu6",
    "selu",
    "sigmoid",
    "silu",
    "softplus",
    "softshrink",
    "softsign",
    "tanhshrink",
    "threshold",
]

# --- what all have in common ----------------------------------------------------------


def _forward(name: str, x: Operand, *numbers: Any, grows: bool = False) -> Answer:
    """Return rule and call of an activation.

    One that is monotonic, and not NaN for infinite `x`, accepts Partial("max")."""
    formula = FORMULAS[name]
    if inexact(x.dtype).kind == "c" and not formula.complex:
        raise TypeError(f"{name} is not defined for complex numbers")
    kernel, dtype = kernel_for(name, [x.dtype], formula.value)
    rows = "increasing" if grows else None
    return broadcast([x], rows), call(kernel, x, *map(float, numbers)), dtype


# --- the rectified ones ---------------------------------------------------------------


@operator
def relu(x: Operand) -> Answer:
    """Return the elements, and 0 for the negative ones; integers stay integers."""
    if inexact(x.dtype) == x.dtype and x.dtype.kind != "c":
        return _forward("relu", x, grows=True)
    return broadcast([x], "increasing"), call(np.maximum, x, 0)


relu.vjp(lambda grad, out, _x: activation_backward(grad, out, "relu"))


@operator
def hardtanh(x: Operand, min_val: float = -1.0, max_val: float = 1.0) -> Answer:
    """Return the elements, at least `min_val` and at most `max_val`."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return _forward("hardtanh", x, min_val, max_val, grows=True)


hardtanh.vjp(
    lambda grad, _out, x, min_val=-1.0, max_val=1.0: activation_backward(
        grad, x, "hardtanh", min_val, max_val
    )
)


def relu6(x: Any) -> Any:
    """Return the elements, at least 0 and at most 6."""
    return hardtanh(x, 0.0, 6.0)


@operator
def leaky_relu(x: Operand, negative_slope: float = 0.01) -> Answer:
    """Return the elements, the negative ones times `negative_slope`."""
    return _forward("leaky_relu", x, negative_slope, grows=negative_slope > 0)


leaky_relu.vjp(
    lambda grad, _out, x, negative_slope=0.01: activation_backward(
        grad, x, "leaky_relu", negative_slope
    )
)


def prelu(x: Any, weight: Any) -> Any:
    """Return the elements, the negative ones times a weight.

    Parameters
    ----------
    x : array_like
    weight : array_like
        A number, or one for each channel: dim 1 of `x`.

    Raises
    ------
    RuntimeError
        If there are other numbers of weights than channels.
    """
    if weight.ndim and weight.size > 1:
        channels = x.shape[1] if x.ndim > 1 else 1
        if weight.ndim != 1 or weight.shape[0] != channels:
            raise RuntimeError(
                "Mismatch of parameter numbers and input channel size. Found parameter "
                f"numbers = {int(weight.size)} and channel size = {channels}."
            )
        weight = np.reshape(weight, (channels,) + (1,) * (x.ndim - 2))
    return np.where(x > 0, x, x * weight)


@operator
def threshold(x: Operand, threshold: float, value: float) -> Answer:
    """Return the elements above `threshold`, and `value` for the others."""
    return _forward("threshold", x, threshold, value)


threshold.vjp(
    lambda grad, _out, x, threshold, value: activation_backward(
        grad, x, "threshold", threshold, value
    )
)


@operator
def hardshrink(x: Operand, lambd: float = 0.5) -> Answer:
    """Return the elements, and 0 for those between ``-lambd`` and ``lambd``."""
    return _forward("hardshrink", x, lambd, grows=lambd >= 0)


hardshrink.vjp(
    lambda grad, _out, x, lambd=0.5: activation_backward(grad, x, "hardshrink", lambd)
)


@operator
def softshrink(x: Operand, lambd: float = 0.5) -> Answer:
    """Return the elements moved towards 0 by `lambd`; 0 for those within `lambd`.

    Raises
    ------
    RuntimeError
        If `lambd` is negative.
    """
    if lambd < 0:
        raise RuntimeError(
            f"lambda must be greater or equal to 0, but found to be {lambd}."
        )
    return _forward("softshrink", x, lambd)


softshrink.vjp(
    lambda grad, _out, x, lambd=0.5: activation_backward(grad, x, "softshrink", lambd)
)


@operator
def hardsigmoid(x: Operand) -> Answer:
    """Return ``(x + 3) / 6``, at least 0 and at most 1."""
    return _forward("hardsigmoid", x, grows=True)


hardsigmoid.vjp(lambda grad, _out, x: activation_backward(grad, x, "hardsigmoid"))


@operator
def hardswish(x: Operand) -> Answer:
    """Return `x` times `hardsigmoid` of it."""
    return _forward("hardswish", x)


hardswish.vjp(lambda grad, _out, x: activation_backward(grad, x, "hardswish"))

# --- the smooth ones ------------------------------------------------------------------


@operator
def gelu(x: Operand, approximate: str = "none") -> Answer:
    """Return `x` times the probability that a normal number is below it.

    Parameters
    ----------
    x : array_like
    approximate : {"none", "tanh"}
        "tanh": ``x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2`` [1]_.

    Raises
    ------
    RuntimeError
        If `approximate` is something else.

    References
    ----------
    .. [1] D. Hendrycks and K. Gimpel, "Gaussian Error Linear Units", 2016.
    """
    return _forward(_gelu_name(approximate), x)


def _gelu_name(approximate: str) -> str:
    names = {"none": "gelu", "tanh": "gelu_tanh"}
    if approximate not in names:
        raise RuntimeError("approximate argument must be either none or tanh.")
    return names[approximate]


gelu.vjp(
    lambda grad, _out, x, approximate="none": activation_backward(
        grad, x, _gelu_name(approximate)
    )
)


@operator
def silu(x: Operand) -> Answer:
    """Return `x` times its sigmoid."""
    return _forward("silu", x)


silu.vjp(lambda grad, _out, x: activation_backward(grad, x, "silu"))


@operator
def mish(x: Operand) -> Answer:
    """Return ``x * tanh(softplus(x))``."""
    return _forward("mish", x)


mish.vjp(lambda grad, _out, x: activation_backward(grad, x, "mish"))


@operator
def sigmoid(x: Operand) -> Answer:
    """Return 1 / (1 + exp(-x)), element by element; integers are taken for float64."""
    return _forward("sigmoid", x, grows=True)


sigmoid.vjp(lambda grad, out, _x: activation_backward(grad, out, "sigmoid"))


@operator
def logsigmoid(x: Operand) -> Answer:
    """Return the logarithm of the sigmoid, which does not underflow."""
    return _forward("logsigmoid", x, grows=True)


logsigmoid.vjp(lambda grad, _out, x: activation_backward(grad, x, "logsigmoid"))


@operator
def softplus(x: Operand, beta: float = 1.0, threshold: float = 20.0) -> Answer:
    """Return ``log(1 + exp(beta * x)) / beta``, and `x` where ``beta * x`` is above
    `threshold`."""
    return _forward("softplus", x, beta, threshold)


softplus.vjp(
    lambda grad, _out, x, beta=1.0, threshold=20.0: activation_backward(
        grad, x, "softplus", beta, threshold
    )
)


@operator
def elu(x: Operand, alpha: float = 1.0) -> Answer:
    """Return the elements, and ``alpha * (exp(x) - 1)`` for the negative ones."""
    return _forward("elu", x, alpha, 1.0, 1.0, grows=alpha > 0)


elu.vjp(
    lambda grad, _out, x, alpha=1.0: activation_backward(
        grad, x, "elu", alpha, 1.0, 1.0
    )
)


@operator
def celu(x: Operand, alpha: float = 1.0) -> Answer:
    """Return the elements, and ``alpha * (exp(x / alpha) - 1)`` for negative ones."""
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return _forward("elu", x, alpha, 1.0, 1 / alpha, grows=alpha > 0)


celu.vjp(
    lambda grad, _out, x, alpha=1.0: activation_backward(
        grad, x, "elu", alpha, 1.0, 1 / alpha
    )
)

# Numbers for which the mean 0 and the variance 1 are a fixed point.
SELU = (1.6732632423543772848170429916717, 1.0507009873554804934193349852946, 1.0)


@operator
def selu(x: Operand) -> Answer:
    """Return `elu`, scaled such that layers keep mean 0 and variance 1."""
    return _forward("elu", x, *SELU, grows=True)


selu.vjp(lambda grad, _out, x: activation_backward(grad, x, "elu", *SELU))


@operator
def softsign(x: Operand) -> Answer:
    """Return ``x / (1 + abs(x))``."""
    return _forward("softsign", x)


softsign.vjp(lambda grad, _out, x: activation_backward(grad, x, "softsign"))


@operator
def tanhshrink(x: Operand) -> Answer:
    """Return ``x - tanh(x)``."""
    return _forward("tanhshrink", x)


tanhshrink.vjp(lambda grad, _out, x: activation_backward(grad, x, "tanhshrink"))


@operator
def erf(x: Operand) -> Answer:
    """Return the error function: twice the probability that a normal number of variance
    1/2 is between 0 and `x`."""
    return _forward("erf", x, grows=True)


erf.vjp(lambda grad, _out, x: activation_backward(grad, x, "erf"))


def glu(x: Any, dim: int = -1) -> Any:
    """Return the first half along a dim times the sigmoid of the second.

    Raises
    ------
    RuntimeError
        If the dim is of odd length.
    """
    dim = normalize_axis_index(dim, x.ndim)
    half, odd = divmod(x.shape[dim], 2)
    if odd:
        raise RuntimeError(
            "Halving dimension must be even, but dimension "
            f"{dim} is size {x.shape[dim]}"
        )
    before = (slice(None),) * dim
    first = getitem(x, (*before, slice(half)))
    return first * sigmoid(getitem(x, (*before, slice(half, None))))
