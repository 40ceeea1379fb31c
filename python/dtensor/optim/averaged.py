"""Stochastic gradient descent whose parameters are averaged."""

import numpy as np

from dtensor.optim._adaptive import Adaptive, Array, Group, Params
from dtensor.optim._params import number_beside

__all__ = ["ASGD"]


class ASGD(Adaptive):
    """Averaged stochastic gradient descent.

    Parameters
    ----------
    params : iterable of Tensor, of (str, Tensor), or of dict
        See `Optimizer`.
    lr : float, default 1e-2
    lambd : float, default 1e-4
        How much parameters decay in each step.
    alpha : float, default 0.75
        The power by which the learning rate falls.
    t0 : float, default 1e6
        The step at which averaging begins.
    weight_decay : float, default 0
    foreach, capturable : bool, optional
        Accepted and ignored.
    maximize : bool, default False
    differentiable : bool, default False
        True is not supported.

    Notes
    -----
    Polyak and Juditsky 1992, "Acceleration of stochastic approximation by averaging".
    The averages are ``optimizer.state[param]["ax"]``.
    """

    kept = ("ax",)

    def __init__(
        self,
        params: Params,
        lr: float = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        super().__init__(
            params,
            lr=lr,
            lambd=lambd,
            alpha=alpha,
            t0=t0,
            weight_decay=weight_decay,
            foreach=foreach,
            maximize=maximize,
            differentiable=differentiable,
            capturable=capturable,
        )

    def _update(
        self, arrays: list[Array], g: Array, state: Group, step: float, group: Group
    ) -> None:
        param, average = arrays
        lr, lambd = group["lr"], group["lambd"]
        rate = float(state.get("eta", np.float32(lr)))
        param *= 1 - lambd * rate
        param -= rate * g
        weight = float(state.get("mu", 1))
        if weight == 1:
            average[...] = param
        else:
            average += (param - average) * weight
        rate = lr / (1 + lambd * lr * step) ** group["alpha"]
        state["eta"] = number_beside(state["step"], rate)
        state["mu"] = number_beside(state["step"], 1 / max(1, step - group["t0"]))
