"""What losses of numbers are made of: an operator for all of them, and its gradient."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dtensor import _C
from dtensor._core.caller import warn
from dtensor.ops._make.elementwise import broadcast
from dtensor.ops._make.fallback import on_mesh
from dtensor.ops._make.kernel import kernel_for, refuse_complex
from dtensor.ops._make.operator import Operand, call, letters, operator
from dtensor.ops._make.words import Answer, rule
from dtensor.ops.model import loss_numpy

__all__ = ["beside", "check_reduction", "number_loss", "reduced", "reduction_of"]

# --- reductions -----------------------------------------------------------------------


def reduction_of(
    size_average: bool | None,
    reduce: bool | None,
    reduction: str,
) -> str:
    """Return the reduction that PyTorch's older arguments mean, or `reduction`."""
    if size_average is None and reduce is None:
        return reduction
    if reduce is False:
        found = "none"
    else:
        found = "sum" if size_average is False else "mean"
    warn(
        "size_average and reduce args will be deprecated, please use "
        f"reduction='{found}' instead."
    )
    return found


def check_reduction(reduction: str) -> None:
    """Raise ValueError unless it is one."""
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")


def reduced(losses: Any, reduction: str) -> Any:
    """Return losses, their sum or their mean."""
    if reduction == "none":
        return losses
    return np.sum(losses) * _scale(reduction, int(losses.size))


def _scale(reduction: str, size: int) -> float:
    """Return what a sum is multiplied with; the mean of nothing is NaN."""
    if reduction != "mean":
        return 1.0
    return 1 / size if size else math.nan


def beside(x: Any, *others: Any) -> Any:
    """Return an array that is beside DTensors as one of them."""
    meshes = [y.device_mesh for y in others if isinstance(y, _C.DTensor)]
    return on_mesh(x, meshes[0]) if meshes else x


# --- operators ------------------------------------------------------------------------


def _strict(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Return a kernel that raises if what are no probabilities have made NaN."""

    def run(x: Any, target: Any, *numbers: float) -> Any:
        losses = kernel(x, target, *numbers)
        if np.isnan(losses).any():
            for name, y in (("input", x), ("target", target)):
                if not ((y >= 0) & (y <= 1)).all():
                    raise RuntimeError(
                        f"all elements of {name} should be between 0 and 1"
                    )
        return losses

    return run


@operator
def number_loss(
    x: Operand, target: Operand, name: str, p: float, reduction: str
) -> Answer:
    """Return a loss of numbers and their targets, arrays of one shape.

    Parameters
    ----------
    x, target : array_like
    name : str
        As in csrc/kernels/loss.h, with its number `p`. That of "bce" is not 0 if what
        makes a loss NaN is an error, as in PyTorch.
    reduction : {"none", "sum", "mean"}
    """
    dtypes = [x.dtype, target.dtype]
    refuse_complex(f"{name}_loss", *dtypes)
    strict = _strict if name == "bce" and p else lambda kernel: kernel
    if reduction == "none":
        kernel, dtype = kernel_for(f"{name}_loss", dtypes, loss_numpy.loss_run(name))
        kernel = strict(kernel)
        return broadcast([x, target]), call(kernel, x, target, float(p)), dtype
    kernel, dtype = kernel_for(f"{name}_loss_sum", dtypes, loss_numpy.loss_sum(name))
    kernel = strict(kernel)
    names = letters(x.ndim)
    factor = _scale(reduction, x.size)
    return rule([names, names], [[]]), call(kernel, x, target, float(p), factor), dtype


@operator
def number_loss_backward(
    grad: Operand, x: Operand, target: Operand, name: str, p: float, factor: float
) -> Answer:
    """Return `factor` times the gradient of `x` in a loss: see `number_loss`.

    Parameters
    ----------
    grad : array_like
        Of the result: one number, or as many as there are.
    """
    dtypes = [grad.dtype, x.dtype, target.dtype]
    kernel, dtype = kernel_for(
        f"{name}_loss_backward", dtypes, loss_numpy.loss_backward(name)
    )
    names = letters(x.ndim)
    text = rule([names if grad.ndim else [], names, names], [names], "0")
    return text, call(kernel, grad, x, target, float(p), factor), dtype


# The derivative by the target; of a loss of x - target it is minus that by x.
BY_TARGET: dict[str, Callable[[Any, Any], Any]] = {
    "bce": lambda x, t: np.log1p(-x) - np.log(x),
    "bce_logits": lambda x, t: -x,
    "kl_div": lambda x, t: np.log(t) + 1 - x,
    "kl_div_log": lambda x, t: np.exp(t) * (t - x + 1),
}


@number_loss.vjp_all
def _(
    needs: tuple[bool, ...],
    grad: Any,
    _out: Any,
    x: Any,
    target: Any,
    name: str,
    p: float,
    reduction: str,
) -> tuple[Any, Any]:
    factor = _scale(reduction, int(x.size))
    by_x: Any = None
    by_target: Any = None
    if needs[0] or name not in BY_TARGET:
        by_x = number_loss_backward(grad, x, target, name, p, factor)
    if needs[1]:
        slope = BY_TARGET.get(name)
        by_target = grad * factor * slope(x, target) if slope else -by_x
    return by_x if needs[0] else None, by_target


# --- and their second derivatives, made of operators: by x twice, by x and target -----


def _within(x: Any, t: Any, p: float) -> Any:
    return (np.abs(x - t) <= p) * 1.0


def _bend(x: Any) -> Any:
    return np.exp(-np.abs(x)) / (1 + np.exp(-np.abs(x))) ** 2


# name -> functions of (x, target, p); None: 0
CURVES: dict[str, tuple[Callable[..., Any] | None, Callable[..., Any] | None]] = {
    "mse": (lambda x, t, p: 2.0, lambda x, t, p: -2.0),
    "l1": (None, None),
    "smooth_l1": (
        lambda x, t, p: _within(x, t, p) / p,
        lambda x, t, p: -_within(x, t, p) / p,
    ),
    "huber": (_within, lambda x, t, p: -_within(x, t, p)),
    "bce": (
        lambda x, t, p: t / (x * x) + (1 - t) / ((1 - x) * (1 - x)),
        lambda x, t, p: -1 / (x * (1 - x)),
    ),
    "bce_logits": (lambda x, t, p: _bend(x), lambda x, t, p: -1.0),
    "kl_div": (None, lambda x, t, p: -1.0),
    "kl_div_log": (None, lambda x, t, p: -np.exp(t)),
}


@number_loss_backward.vjp_all
def _(
    needs: tuple[bool, ...],
    grad: Any,
    _out: Any,
    first: Any,
    x: Any,
    target: Any,
    name: str,
    p: float,
    factor: float,
) -> tuple[Any, ...]:
    found: list[Any] = [None, None, None]
    if needs[0]:
        one = np.ones((), first.dtype)
        slope = number_loss_backward(one, x, target, name, p, factor)
        found[0] = grad * slope if first.ndim else np.sum(grad * slope)
    for k, curve in enumerate(CURVES[name], 1):
        if needs[k] and curve is not None:
            found[k] = grad * first * curve(x, target, p) * factor
    return tuple(found)
