"""Optimizers whose steps adapt to each element: torch's, but for Adam and AdamW.

Each is its settings and a formula on this rank's arrays of real numbers: complex ones
are pairs, and floats of 16 bits are rounded where they are stored.
"""

from collections.abc import Callable, Iterable
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from dtensor._C import DTensor, tensor
from dtensor.ops._make.halves import is_half
from dtensor.optim._params import (
    check_flags,
    check_settings,
    evaluate,
    with_gradients,
    zeros_beside,
)
from dtensor.optim.optimizer import Optimizer

__all__ = ["Adadelta", "Adagrad", "Adamax", "RMSprop"]

Array = npt.NDArray[Any]
Params = Iterable[Any]
Group = dict[str, Any]


def _real(x: Any) -> Array:
    """Return this rank's array itself; complex numbers as pairs."""
    part = x.to_local() if isinstance(x, DTensor) else x
    array = np.asarray(part.detach())
    if array.dtype.kind != "c":
        return array
    return array[..., None].view(array.real.dtype)


class _Adaptive(Optimizer):
    """What these optimizers have in common. `kept` are tensors beside a parameter."""

    kept: ClassVar[tuple[str, ...]] = ()

    def __init__(self, params: Params, settings: Group, flags: Group) -> None:
        check_settings(
            **{k: settings[k] for k in ("lr", "eps", "weight_decay") if k in settings}
        )
        for k, beta in enumerate(settings.get("betas", ())):
            if not 0 <= beta < 1:
                raise ValueError(f"Invalid beta parameter at index {k}: {beta}")
        check_flags(flags["foreach"], flags.get("fused"), flags["differentiable"])
        super().__init__(params, {**settings, **flags})

    def _names(self, group: Group) -> tuple[str, ...]:
        return self.kept

    def _first(self, param: Any, name: str, group: Group) -> Any:
        return zeros_beside(param)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Do one step: see `Optimizer.step`.

        Not collective, unless a gradient has another layout than its parameter.
        """
        loss = evaluate(closure)
        for group in self.param_groups:
            for param, grad in zip(*with_gradients(group), strict=True):
                self._step_one(param, grad, group)
        return loss

    def _step_one(self, param: Any, grad: Any, group: Group) -> None:
        state, names = self.state[param], self._names(group)
        count = float(state.get("step", 0)) + 1
        state["step"] = tensor(np.float32(count))
        for name in names:
            if name not in state:
                state[name] = self._first(param, name, group)
        held = [_real(param), *(_real(state[name]) for name in names)]
        gradient = _real(grad)
        work, half = held, is_half(held[0].dtype)
        if half:
            work = [x.astype(np.float32) for x in held]
            gradient = gradient.astype(np.float32)
        if group["maximize"]:
            gradient = -gradient
        if group["weight_decay"]:
            if group.get("decoupled_weight_decay"):
                work[0] *= 1 - group["lr"] * group["weight_decay"]
            else:
                gradient = gradient + group["weight_decay"] * work[0]
        self._update(work, gradient, state, count, group)
        if half:
            for x, wide in zip(held, work, strict=True):
                x[...] = wide.astype(x.dtype)

    def _update(
        self, arrays: list[Array], g: Array, state: Group, step: float, group: Group
    ) -> None:
        """Change a parameter and what is kept beside it, in place."""
        raise NotImplementedError


def _averages(arrays: list[Array], g: Array, group: Group) -> tuple[Array, Array]:
    """Bring the running averages of gradients and of their squares nearer."""
    (beta1, beta2), (_, mean, square) = group["betas"], arrays
    mean += (g - mean) * (1 - beta1)
    square *= beta2
    square += (1 - beta2) * (g * g)
    return mean, square


class RMSprop(_Adaptive):
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
        settings = {"lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps}
        settings |= {"centered": centered, "weight_decay": weight_decay}
        flags = {"capturable": capturable, "foreach": foreach, "maximize": maximize}
        super().__init__(params, settings, {**flags, "differentiable": differentiable})

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


class Adagrad(_Adaptive):
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
        settings = {"lr": lr, "lr_decay": lr_decay, "eps": eps}
        settings |= {"weight_decay": weight_decay, "initial_accumulator_value": initial}
        flags = {"foreach": foreach, "maximize": maximize, "fused": fused}
        super().__init__(params, settings, {**flags, "differentiable": differentiable})

    def _first(self, param: Any, name: str, group: Group) -> Any:
        total = zeros_beside(param)
        _real(total)[...] = group["initial_accumulator_value"]
        return total

    def _update(
        self, arrays: list[Array], g: Array, state: Group, step: float, group: Group
    ) -> None:
        param, total = arrays
        total += g * g
        rate = group["lr"] / (1 + (step - 1) * group["lr_decay"])
        param -= rate * (g / (np.sqrt(total) + group["eps"]))


class _Simple(_Adaptive):
    """An optimizer whose settings are a few numbers, then torch's flags."""

    def __init__(self, params: Params, settings: Group, **flags: Any) -> None:
        super().__init__(params, settings, flags)


class Adadelta(_Simple):
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
        settings = {"lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay}
        super().__init__(
            params,
            settings,
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


class Adamax(_Simple):
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
        settings = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        super().__init__(
            params,
            settings,
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
