"""Adam, and AdamW, whose weight decay is not part of the gradient."""

from collections.abc import Callable, Iterable
from typing import Any

from dtensor import _C
from dtensor.ops.model.optim_step import AdamSettings, adam_steps
from dtensor.optim._params import (
    check_flags,
    check_settings,
    evaluate,
    number_beside,
    with_gradients,
    zeros_beside,
)
from dtensor.optim.optimizer import Optimizer

__all__ = ["Adam", "AdamW"]


class Adam(Optimizer):
    """The Adam optimizer.

    Parameters
    ----------
    params : iterable of Tensor, of (str, Tensor), or of dict
        See `Optimizer`.
    lr : float, default 1e-3
    betas : (float, float), default (0.9, 0.999)
        Decay rates of the running averages of the gradients and of their squares.
    eps : float, default 1e-8
        Added to the root of the averaged squares.
    weight_decay : float, default 0
        The fraction of a parameter that is added to its gradient.
    amsgrad : bool, default False
        Divide by the root of the greatest average of squares so far.
    foreach, capturable, fused : bool, optional
        Accepted and ignored: every step is one pass over each parameter.
    maximize : bool, default False
        Maximize the objective instead of minimizing it.
    differentiable : bool, default False
        True is not supported.
    decoupled_weight_decay : bool, default False
        Whether to apply weight decay as `AdamW` does.

    Raises
    ------
    ValueError
        If a setting is negative, or a beta is not below 1.
    NotImplementedError
        If `differentiable` is True.

    Notes
    -----
    Kingma and Ba 2015 (arXiv:1412.6980), AMSGrad: Reddi et al. 2018.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        check_settings(lr=lr, eps=eps, weight_decay=weight_decay)
        check_flags(foreach, fused, differentiable)
        for k, beta in enumerate(betas):
            if not 0 <= beta < 1:
                raise ValueError(f"Invalid beta parameter at index {k}: {beta}")
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
            "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        super().__init__(params, defaults)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Do one step: see `Optimizer.step`.

        Not collective, unless a gradient has another layout than its parameter.
        """
        loss = evaluate(closure)
        for group in self.param_groups:
            params, grads = with_gradients(group)
            amsgrad = bool(group["amsgrad"])
            states = [self.state[param] for param in params]
            if amsgrad or not all(states):
                self._begin(params, amsgrad)
            counts, steps = _C.counted(tuple(state["step"] for state in states))
            for state, step in zip(states, steps, strict=True):
                state["step"] = step
            adam_steps(
                params,
                grads,
                [state["exp_avg"] for state in states],
                [state["exp_avg_sq"] for state in states],
                [s["max_exp_avg_sq"] for s in states] if amsgrad else None,
                counts,
                _settings(group),
            )
        return loss

    def _begin(self, params: list[Any], amsgrad: bool) -> None:
        """Make the states of parameters at their first step."""
        for param in params:
            state = self.state[param]
            if not state:
                state["step"] = number_beside(param, 0)
                state["exp_avg"] = zeros_beside(param)
                state["exp_avg_sq"] = zeros_beside(param)
            if amsgrad and "max_exp_avg_sq" not in state:
                state["max_exp_avg_sq"] = zeros_beside(param)


def _settings(group: dict[str, Any]) -> AdamSettings:
    return AdamSettings(
        float(group["lr"]),
        float(group["betas"][0]),
        float(group["betas"][1]),
        float(group["eps"]),
        float(group["weight_decay"]),
        bool(group["decoupled_weight_decay"]),
        bool(group["maximize"]),
    )


class AdamW(Adam):
    """Adam with weight decay that is not part of the gradient.

    Parameters
    ----------
    params : iterable of Tensor, of (str, Tensor), or of dict
        See `Optimizer`.
    lr : float, default 1e-3
    betas : (float, float), default (0.9, 0.999)
    eps : float, default 1e-8
    weight_decay : float, default 1e-2
        A step multiplies each parameter by ``1 - lr * weight_decay``.
    amsgrad, maximize : bool, default False
    foreach, capturable, differentiable, fused : bool, optional
        As for `Adam`.

    Notes
    -----
    Loshchilov and Hutter 2019 (arXiv:1711.05101).
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )
