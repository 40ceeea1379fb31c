"""The gradients of activations, and what they are made of when they are asked for
twice."""

from collections.abc import Callable
from typing import Any

import numpy as np

from dtensor.ops._make.elementwise import broadcast
from dtensor.ops._make.kernel import kernel_for
from dtensor.ops._make.operator import Operand, call, operator
from dtensor.ops._make.words import Answer
from dtensor.ops.model.activation_numpy import FORMULAS

__all__ = ["activation_backward"]


@operator
def activation_backward(grad: Operand, x: Operand, name: str, *numbers: Any) -> Answer:
    """Return the gradient of the operand of an activation.

    Parameters
    ----------
    grad : array_like
        The gradient of the result.
    x : array_like
        The operand; of relu, sigmoid, tanh and erfinv the result.
    name : str
        As in csrc/kernels/activation.h, with its `numbers`.
    """

    def product(grad: Any, x: Any, *more: Any) -> Any:
        return grad * np.conj(FORMULAS[name].slope(x, *more))

    kernel, dtype = kernel_for(f"{name}_backward", [grad.dtype, x.dtype], product)
    text = broadcast([grad, x], "0")
    return text, call(kernel, grad, x, *map(float, numbers)), dtype


# --- second derivatives, made of operators -------------------------------------------


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def _gelu_tanh(x: Any) -> Any:
    outer, cubic = (8 / np.pi) ** 0.5, 0.044715
    s = _sigmoid(outer * x * (1 + cubic * x * x))
    steep, bend = outer * (1 + 3 * cubic * x * x), outer * 6 * cubic * x
    return s * (1 - s) * (2 * steep + x * (steep * steep * (1 - 2 * s) + bend))


def _silu(x: Any) -> Any:
    s = _sigmoid(x)
    return s * (1 - s) * (2 + x * (1 - 2 * s))


def _mish(x: Any) -> Any:
    s, t = _sigmoid(x), np.tanh(np.log1p(np.exp(x)))
    return s * (1 - t * t) * (2 + x * (1 - s - 2 * t * s))


def _softplus(x: Any, beta: float, limit: float) -> Any:
    s = _sigmoid(beta * x)
    return np.where(beta * x > limit, 0.0, beta * s * (1 - s))


def _elu(x: Any, alpha: float, scale: float, inside: float) -> Any:
    bent = scale * alpha * inside * inside * np.exp(np.minimum(inside * x, 0.0))
    return np.where(x > 0, 0.0, bent)


def _tanhshrink(x: Any) -> Any:
    t = np.tanh(x)
    return 2 * t * (1 - t * t)


# What is 0 everywhere does not stand here.
CURVES: dict[str, Callable[..., Any]] = {
    "sigmoid": lambda y: 1 - 2 * y,
    "tanh": lambda y: -2 * y,
    "silu": _silu,
    "gelu": lambda x: np.exp(x * x * -0.5) * (2 - x * x) * (2 * np.pi) ** -0.5,
    "gelu_tanh": _gelu_tanh,
    "mish": _mish,
    "logsigmoid": lambda x: -_sigmoid(x) * _sigmoid(-x),
    "softplus": _softplus,
    "elu": _elu,
    "hardswish": lambda x: np.where(np.abs(x) < 3, 1 / 3, 0.0),
    "softsign": lambda x: -2 * np.sign(x) / (1 + np.abs(x)) ** 3,
    "tanhshrink": _tanhshrink,
    "erfinv": lambda y: np.exp(y * y) * y * np.sqrt(np.pi),
    "erf": lambda x: np.exp(-x * x) * x * (-4 / np.sqrt(np.pi)),
    "erfc": lambda x: np.exp(-x * x) * x * (4 / np.sqrt(np.pi)),
}


def _twice(grad: Any, first: Any, x: Any, name: str, numbers: tuple[float, ...]) -> Any:
    if name not in CURVES:
        return np.zeros_like(x)
    return grad * first * CURVES[name](x, *numbers)


activation_backward.vjp(
    lambda grad, _out, _grad, x, name, *numbers: activation_backward(
        grad, x, name, *numbers
    ),
    lambda grad, _out, first, x, name, *numbers: _twice(grad, first, x, name, numbers),
)
