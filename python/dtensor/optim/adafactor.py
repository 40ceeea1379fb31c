"""Adafactor: averages of squares as the product of a column and a row."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dtensor.autograd.grad_mode import no_grad
from dtensor.ops._make.composite import settled
from dtensor.ops._make.halves import is_bfloat16
from dtensor.optim._adaptive import Group, Params
from dtensor.optim._params import (
    check_settings,
    evaluate,
    number_beside,
    with_gradients,
)
from dtensor.optim.optimizer import Optimizer

__all__ = ["Adafactor"]


class Adafactor(Optimizer):
    """Adaptive steps whose averages of squares take one row and one column.

    Parameters
    ----------
    params : iterable of Tensor, of (str, Tensor), or of dict
        See `Optimizer`.
    lr : float, default 1e-2
        The largest relative step.
    beta2_decay : float, default -0.8
        The weight of a new square in step t is ``t ** beta2_decay``.
    eps : (float or None, float), default (None, 1e-3)
        The least average, and the least norm that steps are relative to. None: the
        precision of the parameter.
    d : float, default 1
        The norm of an update above which it is divided.
    weight_decay : float, default 0
    foreach : bool, optional
        Accepted and ignored.
    maximize : bool, default False

    Notes
    -----
    Shazeer and Stern 2018 (arXiv:1804.04235). A step is collective where parameters
    are DTensors: it sends the sums of squares of rows, of columns, and of all elements.
    """

    def __init__(
        self,
        params: Params,
        lr: float = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        check_settings(lr=lr, weight_decay=weight_decay)
        if beta2_decay > 0:
            raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        for k, value in enumerate(eps):
            if value is not None and value < 0:
                raise ValueError(f"epsilon{k + 1} should be >= 0 but is: {value}")
        if d < 1:
            raise ValueError(f"Clipping threshold d should be >= 1 but is: {d}")
        settings = {
            "lr": lr,
            "beta2_decay": beta2_decay,
            "eps": eps,
            "d": d,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
        }
        super().__init__(params, settings)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Do one step: see `Optimizer.step`. Collective if a parameter is a DTensor."""
        loss = evaluate(closure)
        with no_grad():
            for group in self.param_groups:
                for param, grad in zip(*with_gradients(group), strict=True):
                    self._step_one(param, -grad if group["maximize"] else grad, group)
        return loss

    def _step_one(self, param: Any, grad: Any, group: Group) -> None:
        if param.dtype.kind == "c":
            raise RuntimeError("Adafactor does not support complex parameters")
        state = self.state[param]
        count = float(state.get("step", 0)) + 1
        state["step"] = number_beside(param, count)
        lr, (least, scale) = float(group["lr"]), group["eps"]
        if least is None:
            dtype = np.dtype(param.dtype)
            least = 2.0**-7 if is_bfloat16(dtype) else float(np.finfo(dtype).eps)
        size = max(int(param.numel()), 1)
        relative = min(lr, 1 / math.sqrt(count))
        alpha = max(scale, _norm(param) / math.sqrt(size)) * relative
        weight = count ** group["beta2_decay"]
        if group["weight_decay"]:
            param *= 1 - lr * group["weight_decay"]
        update = grad / np.sqrt(
            np.maximum(_square(state, grad, weight, least), least**2)
        )
        clip = max(1.0, _norm(update) / (math.sqrt(size) * group["d"]))
        param -= update * (alpha / clip)


def _norm(x: Any) -> float:
    return math.sqrt(float(np.sum(x * x)))


def _square(state: Group, grad: Any, weight: float, least: float) -> Any:
    """Return the average of squares, brought up to date."""
    if grad.ndim < 2:
        return _average(state, "variance", grad * grad, weight)
    rows = np.sum(grad * grad, -1, keepdims=True) / grad.shape[-1]
    columns = np.sum(grad * grad, -2, keepdims=True) / grad.shape[-2]
    row = _average(state, "row_var", rows, weight)
    column = _average(state, "col_var", columns, weight)
    return row * column / np.maximum(np.mean(row, -2, keepdims=True), least)


def _average(state: Group, name: str, new: Any, weight: float) -> Any:
    new = settled("Adafactor", new)
    old = state.get(name)
    state[name] = new * weight if old is None else old + (new - old) * weight
    return state[name]
