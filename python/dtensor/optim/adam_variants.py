"""Adam with a decaying maximum, with Nesterov's momentum, with a rectified start."""

import math

import numpy as np

from dtensor.optim._adaptive import Adaptive, Array, Group, Params, averages
from dtensor.optim._params import number_beside

__all__ = ["Adamax", "NAdam", "RAdam"]


class Adamax(Adaptive):
    """Adam with the greatest gradient, which decays, for the average of squares.

    Parameters
    ----------
    params : iterable of Tensor, of (str, Tensor), or of dict
        See `Optimizer`.
    lr : float, default 2e-3
    betas : (float, float), default (0.9, 0.999)
    eps : float, default 1e-8
    weight_decay : float, default 0
    foreach, capturable : bool, optional
        Accepted and ignored.
    maximize : bool, default False
    differentiable : bool, default False
        True is not supported.

    Notes
    -----
    Kingma and Ba 2015 (arXiv:1412.6980).
    """

    kept = ("exp_avg", "exp_inf")

    def __init__(
        self,
        params: Params,
        lr: float = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        super().__init__(
            params,
            lr=lr,
            betas=betas,
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
        param, mean, peak = arrays
        beta1, beta2 = group["betas"]
        mean += (g - mean) * (1 - beta1)
        np.maximum(peak * beta2, np.abs(g) + group["eps"], out=peak)
        param -= group["lr"] / (1 - beta1**step) * (mean / peak)


class NAdam(Adaptive):
    """Adam with Nesterov's momentum.

    Parameters
    ----------
    params : iterable of Tensor, of (str, Tensor), or of dict
        See `Optimizer`.
    lr : float, default 2e-3
    betas : (float, float), default (0.9, 0.999)
    eps : float, default 1e-8
    weight_decay : float, default 0
    momentum_decay : float, default 4e-3
    decoupled_weight_decay : bool, default False
        Whether to apply weight decay as `AdamW` does.
    foreach, capturable : bool, optional
        Accepted and ignored.
    maximize : bool, default False
    differentiable : bool, default False
        True is not supported.

    Notes
    -----
    Dozat 2016, "Incorporating Nesterov momentum into Adam".
    """

    kept = ("exp_avg", "exp_avg_sq")

    def __init__(
        self,
        params: Params,
        lr: float = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        if momentum_decay < 0:
            raise ValueError(f"Invalid momentum_decay value: {momentum_decay}")
        super().__init__(
            params,
            lr=lr,
            betas=betas,
            eps=eps,
            weight_decay=weight_decay,
            momentum_decay=momentum_decay,
            decoupled_weight_decay=decoupled_weight_decay,
            maximize=maximize,
            foreach=foreach,
            capturable=capturable,
            differentiable=differentiable,
        )

    def _update(
        self, arrays: list[Array], g: Array, state: Group, step: float, group: Group
    ) -> None:
        beta1, beta2 = group["betas"]
        mean, square = averages(arrays, g, group)
        now, later = (
            beta1 * (1 - 0.5 * 0.96 ** (t * group["momentum_decay"]))
            for t in (step, step + 1)
        )
        product = float(state.get("mu_product", 1)) * now
        state["mu_product"] = number_beside(state["step"], product)
        root = np.sqrt(square / (1 - beta2**step)) + group["eps"]
        arrays[0] -= group["lr"] * (1 - now) / (1 - product) * (g / root)
        arrays[0] -= group["lr"] * later / (1 - product * later) * (mean / root)


class RAdam(Adaptive):
    """Adam whose first steps, of which the variance says little, are rectified.

    Parameters
    ----------
    params : iterable of Tensor, of (str, Tensor), or of dict
        See `Optimizer`.
    lr : float, default 1e-3
    betas : (float, float), default (0.9, 0.999)
    eps : float, default 1e-8
    weight_decay : float, default 0
    decoupled_weight_decay : bool, default False
        Whether to apply weight decay as `AdamW` does.
    foreach, capturable : bool, optional
        Accepted and ignored.
    maximize : bool, default False
    differentiable : bool, default False
        True is not supported.

    Notes
    -----
    Liu et al. 2020 (arXiv:1908.03265).
    """

    kept = ("exp_avg", "exp_avg_sq")

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        super().__init__(
            params,
            lr=lr,
            betas=betas,
            eps=eps,
            weight_decay=weight_decay,
            maximize=maximize,
            foreach=foreach,
            capturable=capturable,
            decoupled_weight_decay=decoupled_weight_decay,
            differentiable=differentiable,
        )

    def _update(
        self, arrays: list[Array], g: Array, state: Group, step: float, group: Group
    ) -> None:
        beta1, beta2 = group["betas"]
        mean, square = averages(arrays, g, group)
        move = mean / (1 - beta1**step)
        last = 2 / (1 - beta2) - 1
        left = 1 - beta2**step
        length = last - 2 * step * beta2**step / left
        if length > 5:
            of_now, of_last = ((n - 4) * (n - 2) / n for n in (length, last))
            factor = math.sqrt(left) * math.sqrt(of_now / of_last)
            move = move * (factor / (np.sqrt(square) + group["eps"]))
        arrays[0] -= group["lr"] * move
