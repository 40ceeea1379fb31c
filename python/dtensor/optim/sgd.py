"""Stochastic gradient descent."""

from collections.abc import Callable, Iterable
from typing import Any

from dtensor.ops.model.optim_step import SGDSettings, sgd_steps
from dtensor.optim._params import (
    check_flags,
    check_settings,
    evaluate,
    with_gradients,
    zeros_beside,
)
from dtensor.optim.optimizer import Optimizer

__all__ = ["SGD"]


class SGD(Optimizer):
    """Stochastic gradient descent, optionally with momentum.

    Parameters
    ----------
    params : iterable of Tensor, of (str, Tensor), or of dict
        See `Optimizer`.
    lr : float, default 1e-3
    momentum, dampening, weight_decay : float, default 0
    nesterov : bool, default False
    maximize : bool, default False
        Maximize the objective instead of minimizing it.
    foreach, fused : bool, optional
        Accepted and ignored: every step is one pass over each parameter.
    differentiable : bool, default False
        True is not supported.

    Raises
    ------
    ValueError
        If a setting is negative, or `nesterov` is used without momentum.
    NotImplementedError
        If `differentiable` is True.

    Notes
    -----
    With g the gradient plus ``weight_decay * param``, a step is

        velocity = momentum * velocity + (1 - dampening) * g
        param -= lr * velocity

    The first velocity is g. With `nesterov`, ``g + momentum * velocity`` replaces the
    velocity in the second line.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_settings(lr=lr, momentum=momentum, weight_decay=weight_decay)
        check_flags(foreach, fused, differentiable)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "foreach": foreach,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Do one step: see `Optimizer.step`.

        Not collective, unless a gradient has another layout than its parameter.
        """
        loss = evaluate(closure)
        for group in self.param_groups:
            params, grads = with_gradients(group)
            how = _settings(group)
            for first, some in self._by_age(params, how.momentum != 0):
                velocities = None
                if how.momentum:
                    velocities = [self._velocity(params[k]) for k in some]
                sgd_steps(
                    [params[k] for k in some],
                    [grads[k] for k in some],
                    velocities,
                    how._replace(first=first),
                )
        return loss

    def _by_age(
        self, params: list[Any], with_momentum: bool
    ) -> list[tuple[bool, list[int]]]:
        """Return the indices of parameters without a velocity and of those with one."""
        if not with_momentum:
            return [(False, list(range(len(params))))]
        new = [self.state[p].get("momentum_buffer") is None for p in params]
        return [
            (first, [k for k, is_new in enumerate(new) if is_new == first])
            for first in (True, False)
        ]

    def _velocity(self, param: Any) -> Any:
        state = self.state[param]
        if state.get("momentum_buffer") is None:
            state["momentum_buffer"] = zeros_beside(param)
        return state["momentum_buffer"]


def _settings(group: dict[str, Any]) -> SGDSettings:
    return SGDSettings(
        float(group["lr"]),
        float(group["momentum"]),
        float(group["dampening"]),
        float(group["weight_decay"]),
        bool(group["nesterov"]),
        bool(group["maximize"]),
        False,
    )
