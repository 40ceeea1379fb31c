"""Activation functions.

Names, arguments and definitions are those of torch.nn.functional. Each is one pass over
the elements in C, and so is its gradient."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dtensor.ops._make.axes import normalize_axis_index
from dtensor.ops._make.elementwise import broadcast
from dtensor.ops._make.kernel import inexact, kernel_for, refuse_complex
from dtensor.ops._make.operator import Operand, Operator, call, operator
from dtensor.ops._make.words import Answer
from dtensor.ops.index.read import getitem
from dtensor.ops.model.activation_gradient import activation_backward
from dtensor.ops.model.activation_numpy import FORMULAS
from dtensor.ops.model.rectified import rectified

__all__ = [
    "celu",
    "elu",
    "erf",
    "erfc",
    "erfinv",
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


class _Form(NamedTuple):
    """An activation with its options: a formula, and the numbers in it."""

    name: str
    numbers: tuple[float, ...] = ()
    grows: bool = False  # monotonic, and not NaN for infinite `x`: Partial("max") too


def _forward(x: Operand, form: _Form) -> Answer:
    """Return rule and call of an activation."""
    formula = FORMULAS[form.name]
    if not formula.complex:
        refuse_complex(form.name, x.dtype)
    kernel, dtype = kernel_for(form.name, [x.dtype], formula.value)
    rows = "increasing" if form.grows else None
    return broadcast([x], rows), call(kernel, x, *map(float, form.numbers)), dtype


def _activation(function: Callable[..., _Form]) -> Operator:
    """Make an operator, with its gradient, of a function that gives the form."""

    @operator
    @functools.wraps(function)
    def answer(x: Operand, *options: Any, **named: Any) -> Answer:
        return _forward(x, function(x, *options, **named))

    def back(grad: Any, _out: Any, x: Any, *options: Any, **named: Any) -> Any:
        form = function(x, *options, **named)
        return activation_backward(grad, x, form.name, *form.numbers)

    return answer.vjp(back)


# --- the rectified ones ---------------------------------------------------------------


@operator
def relu(x: Operand) -> Answer:
    """Return the elements, and 0 for the negative ones; integers stay integers."""
    if x.dtype is None:
        kind = x.number.__name__
        raise TypeError(f"relu: argument 1 is of type {kind}, and no array")
    if inexact(x.dtype) == x.dtype and x.dtype.kind != "c":
        return _forward(x, _Form("relu", grows=True))
    return broadcast([x], "increasing"), call(np.maximum, x, 0)


relu.vjp(lambda grad, out, _x: activation_backward(grad, out, "relu"))


@_activation
def hardtanh(x: Operand, min_val: float = -1.0, max_val: float = 1.0) -> _Form:
    """Return the elements, at least `min_val` and at most `max_val`."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return _Form("hardtanh", (min_val, max_val), grows=True)


def relu6(x: Any) -> Any:
    """Return the elements, at least 0 and at most 6."""
    return hardtanh(x, 0.0, 6.0)


@_activation
def leaky_relu(x: Operand, negative_slope: float = 0.01) -> _Form:
    """Return the elements, the negative ones times `negative_slope`."""
    return _Form("leaky_relu", (negative_slope,), negative_slope > 0)


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
    channels = x.shape[1] if x.ndim > 1 else 1
    if weight.ndim and weight.size > 1:
        if weight.ndim != 1 or weight.shape[0] != channels:
            raise RuntimeError(
                "Mismatch of parameter numbers and input channel size. Found parameter "
                f"numbers = {int(weight.size)} and channel size = {channels}."
            )
    else:
        weight = np.broadcast_to(np.reshape(weight, (1,)), (channels,))
    if x.ndim < 2:
        return np.reshape(rectified(np.reshape(x, (-1, 1)), weight), x.shape)
    return rectified(x, weight)


@_activation
def threshold(x: Operand, threshold: float, value: float) -> _Form:
    """Return the elements above `threshold`, and `value` for the others."""
    return _Form("threshold", (threshold, value))


@_activation
def hardshrink(x: Operand, lambd: float = 0.5) -> _Form:
    """Return the elements, and 0 for those between ``-lambd`` and ``lambd``."""
    return _Form("hardshrink", (lambd,), lambd >= 0)


@_activation
def softshrink(x: Operand, lambd: float = 0.5) -> _Form:
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
    return _Form("softshrink", (lambd,))


@_activation
def hardsigmoid(x: Operand) -> _Form:
    """Return ``(x + 3) / 6``, at least 0 and at most 1."""
    return _Form("hardsigmoid", grows=True)


@_activation
def hardswish(x: Operand) -> _Form:
    """Return `x` times `hardsigmoid` of it."""
    return _Form("hardswish")


# --- the smooth ones ------------------------------------------------------------------


@_activation
def gelu(x: Operand, approximate: str = "none") -> _Form:
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
    names = {"none": "gelu", "tanh": "gelu_tanh"}
    if approximate not in names:
        raise RuntimeError("approximate argument must be either none or tanh.")
    return _Form(names[approximate])


@_activation
def silu(x: Operand) -> _Form:
    """Return `x` times its sigmoid."""
    return _Form("silu")


@_activation
def mish(x: Operand) -> _Form:
    """Return ``x * tanh(softplus(x))``."""
    return _Form("mish")


@operator
def sigmoid(x: Operand) -> Answer:
    """Return 1 / (1 + exp(-x)), element by element; integers are taken for float64."""
    return _forward(x, _Form("sigmoid", grows=True))


sigmoid.vjp(lambda grad, out, _x: activation_backward(grad, out, "sigmoid"))


@_activation
def logsigmoid(x: Operand) -> _Form:
    """Return the logarithm of the sigmoid, which does not underflow."""
    return _Form("logsigmoid", grows=True)


@_activation
def softplus(x: Operand, beta: float = 1.0, threshold: float = 20.0) -> _Form:
    """Return ``log(1 + exp(beta * x)) / beta``, and `x` where ``beta * x`` is above
    `threshold`."""
    return _Form("softplus", (beta, threshold))


@_activation
def elu(x: Operand, alpha: float = 1.0) -> _Form:
    """Return the elements, and ``alpha * (exp(x) - 1)`` for the negative ones."""
    return _Form("elu", (alpha, 1.0, 1.0), alpha > 0)


@_activation
def celu(x: Operand, alpha: float = 1.0) -> _Form:
    """Return the elements, and ``alpha * (exp(x / alpha) - 1)`` for negative ones."""
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return _Form("elu", (alpha, 1.0, 1 / alpha), alpha > 0)


# Numbers for which the mean 0 and the variance 1 are a fixed point.
SELU = (1.6732632423543772848170429916717, 1.0507009873554804934193349852946, 1.0)


@_activation
def selu(x: Operand) -> _Form:
    """Return `elu`, scaled such that layers keep mean 0 and variance 1."""
    return _Form("elu", SELU, grows=True)


@_activation
def softsign(x: Operand) -> _Form:
    """Return ``x / (1 + abs(x))``."""
    return _Form("softsign")


@_activation
def tanhshrink(x: Operand) -> _Form:
    """Return ``x - tanh(x)``."""
    return _Form("tanhshrink")


@_activation
def erf(x: Operand) -> _Form:
    """Return the error function: twice the probability that a normal number of variance
    1/2 is between 0 and `x`."""
    return _Form("erf", grows=True)


@_activation
def erfc(x: Operand) -> _Form:
    """Return ``1 - erf(x)``, to the last digits also where that is small."""
    return _Form("erfc")


@operator
def erfinv(x: Operand) -> Answer:
    """Return the inverse of the error function; NaN outside of -1 to 1."""
    return _forward(x, _Form("erfinv"))


erfinv.vjp(lambda grad, out, _x: activation_backward(grad, out, "erfinv"))


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
