"""Optimizers whose steps adapt to each element: torch's, but for those like Adam."""

from typing import Any

import numpy as np

from dtensor.optim._adaptive import Adaptive, Array, Group, Params, real
from dtensor.optim._params import check_settings, zeros_beside

__all__ = ["Adadelta", "Adagrad", "RMSprop"]


class RMSprop(Adaptive):
    """Divide gradients by the root of a running average of their squares.

    Parameters
    ----------
    params : iterable of Tensor, of (str, Tensor), or of dict
        See `Optimizer`.
    lr : float, default 1e-2
    alpha : float, default 0.99
        The decay rate of the average.
    eps : float, default 1e-8
    weight_decay : float, default 0
    momentum : float, default 0
    centered : bool, default False
        Whether the average of gradients is subtracted: the variance is left.
    capturable, foreach : bool, optional
        Accepted and ignored.
    maximize : bool, default False
    differentiable : bool, default False
        True is not supported.

    Notes
    -----
    Tieleman and Hinton 2012; centered: Graves 2013 (arXiv:1308.0850).
    """

    def __init__(
        self,
        params: Params,
        lr: float = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_settings(alpha=alpha, momentum=momentum)
        super().__init__(
            params,
            lr=lr,
            momentum=momentum,
            alpha=alpha,
            eps=eps,
            centered=centered,
            weight_decay=weight_decay,
            capturable=capturable,
            foreach=foreach,
            maximize=maximize,
            differentiable=differentiable,
        )

    def _names(self, group: Group) -> tuple[str, ...]:
        names = ["square_avg"]
        names += ["momentum_buffer"] * (group["momentum"] > 0)
        return (*names, *["grad_avg"] * bool(group["centered"]))

    def _update(
        self, arrays: list[Array], g: Array, state: Group, step: float, group: Group
    ) -> None:
        param, square, *more = arrays
        alpha = group["alpha"]
        square *= alpha
        square += (1 - alpha) * (g * g)
        spread = square
        if group["centered"]:
            mean = more[-1]
            mean += (g - mean) * (1 - alpha)
            spread = square - mean * mean
        move = g / (np.sqrt(spread) + group["eps"])
        if group["momentum"] > 0:
            more[0] *= group["momentum"]
            more[0] += move
            move = more[0]
        param -= group["lr"] * move


class Adagrad(Adaptive):
    """Divide gradients by the root of the sum of all their squares so far.

    Parameters
    ----------
    params : iterable of Tensor, of (str, Tensor), or of dict
        See `Optimizer`.
    lr : float, default 1e-2
    lr_decay : float, default 0
        Step t has the rate ``lr / (1 + (t - 1) * lr_decay)``.
    weight_decay : float, default 0
    initial_accumulator_value : float, default 0
        What sums begin with.
    eps : float, default 1e-10
    foreach, fused : bool, optional
        Accepted and ignored.
    maximize : bool, default False
    differentiable : bool, default False
        True is not supported.

    Notes
    -----
    Duchi, Hazan and Singer 2011.
    """

    kept = ("sum",)

    def __init__(
        self,
        params: Params,
        lr: float = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        initial = initial_accumulator_value
        check_settings(lr_decay=lr_decay, initial_accumulator_value=initial)
        super().__init__(
            params,
            lr=lr,
            lr_decay=lr_decay,
            eps=eps,
            weight_decay=weight_decay,
            initial_accumulator_value=initial,
            foreach=foreach,
            maximize=maximize,
            differentiable=differentiable,
            fused=fused,
        )

    def _first(self, param: Any, name: str, group: Group) -> Any:
        total = zeros_beside(param)
        real(total)[...] = group["initial_accumulator_value"]
        return total

    def _update(
        self, arrays: list[Array], g: Array, state: Group, step: float, group: Group
    ) -> None:
        param, total = arrays
        total += g * g
        rate = group["lr"] / (1 + (step - 1) * group["lr_decay"])
        param -= rate * (g / (np.sqrt(total) + group["eps"]))


class Adadelta(Adaptive):
    """Scale gradients by the ratio of running averages: of steps and of gradients.

    Parameters
    ----------
    params : iterable of Tensor, of (str, Tensor), or of dict
        See `Optimizer`.
    lr : float, default 1.0
    rho : float, default 0.9
        The decay rate of both averages, of squares.
    eps : float, default 1e-6
    weight_decay : float, default 0
    foreach, capturable : bool, optional
        Accepted and ignored.
    maximize : bool, default False
    differentiable : bool, default False
        True is not supported.

    Notes
    -----
    Zeiler 2012 (arXiv:1212.5701).
    """

    kept = ("square_avg", "acc_delta")

    def __init__(
        self,
        params: Params,
        lr: float = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        if not 0 <= rho <= 1:
            raise ValueError(f"Invalid rho value: {rho}")
        super().__init__(
            params,
            lr=lr,
            rho=rho,
            eps=eps,
            weight_decay=weight_decay,
            foreach=foreach,
            capturable=capturable,
            maximize=maximize,
            differentiable=differentiable,
        )

    def _update(
        self, arrays: list[Array], g: Array, state: Group, step: float, group: Group
    ) -> None:
        param, square, steps = arrays
        rho, eps = group["rho"], group["eps"]
        square *= rho
        square += (1 - rho) * (g * g)
        move = np.sqrt(steps + eps) / np.sqrt(square + eps) * g
        steps *= rho
        steps += (1 - rho) * (move * move)
        param -= group["lr"] * move
