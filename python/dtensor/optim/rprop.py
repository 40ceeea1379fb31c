"""Resilient propagation: steps that depend on the signs of gradients alone."""

from typing import Any

import numpy as np

from dtensor.optim._adaptive import Adaptive, Array, Group, Params, real

__all__ = ["Rprop"]


class Rprop(Adaptive):
    """Resilient propagation: each element has a step size, and gradients give signs.

    Parameters
    ----------
    params : iterable of Tensor, of (str, Tensor), or of dict
        See `Optimizer`.
    lr : float, default 1e-2
        The first step size.
    etas : (float, float), default (0.5, 1.2)
        Factors of the step size where the sign of the gradient changes, and where it
        stays.
    step_sizes : (float, float), default (1e-6, 50)
        The least and the greatest step size.
    foreach, capturable : bool, optional
        Accepted and ignored.
    maximize : bool, default False
    differentiable : bool, default False
        True is not supported.

    Notes
    -----
    Riedmiller and Braun 1993, "A direct adaptive method for faster backpropagation
    learning: the RPROP algorithm". It suits gradients of all data, not of batches.
    """

    kept = ("prev", "step_size")

    def __init__(
        self,
        params: Params,
        lr: float = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        if not 0 < etas[0] < 1 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        super().__init__(
            params,
            lr=lr,
            etas=etas,
            step_sizes=step_sizes,
            foreach=foreach,
            capturable=capturable,
            maximize=maximize,
            differentiable=differentiable,
        )

    def _first(self, param: Any, name: str, group: Group) -> Any:
        first = super()._first(param, name, group)
        if name == "step_size":
            real(first)[...] = group["lr"]
        return first

    def _update(
        self, arrays: list[Array], g: Array, state: Group, step: float, group: Group
    ) -> None:
        param, before, size = arrays
        smaller, larger = group["etas"]
        turn = np.sign(g * before)
        size *= np.where(turn > 0, larger, np.where(turn < 0, smaller, 1))
        np.clip(size, *group["step_sizes"], out=size)
        before[...] = np.where(turn < 0, 0, g)
        param -= np.sign(before) * size
