"""What optimizers whose steps adapt to each element have in common.

Each is its settings and a formula on this rank's arrays of real numbers: complex ones
are pairs, and floats of 16 bits are rounded where they are stored.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._C import DTensor
from dtensor.ops._make.halves import is_half
from dtensor.optim._params import (
    NUMBERS,
    check_flags,
    check_settings,
    evaluate,
    number_beside,
    settings_of,
    with_gradients,
    zeros_beside,
)
from dtensor.optim.optimizer import Optimizer

__all__ = ["Adaptive", "Array", "Group", "Params", "averages", "real"]

Array = npt.NDArray[Any]
Params = Iterable[Any]
Group = dict[str, Any]


def real(x: Any) -> Array:
    """Return this rank's array itself; complex numbers as pairs."""
    part = x.to_local() if isinstance(x, DTensor) else x
    array = np.asarray(part.detach())
    if array.dtype.kind != "c":
        return array
    return array[..., None].view(array.real.dtype)


class Adaptive(Optimizer):
    """What these optimizers have in common. `kept` are tensors beside a parameter."""

    kept: ClassVar[tuple[str, ...]] = ()

    def __init__(self, params: Params, **settings: Any) -> None:
        check_settings(
            **{k: settings[k] for k in ("lr", "eps", "weight_decay") if k in settings}
        )
        for k, beta in enumerate(settings.get("betas", ())):
            if not 0 <= beta < 1:
                raise ValueError(f"Invalid beta parameter at index {k}: {beta}")
        check_flags(
            settings["foreach"], settings.get("fused"), settings["differentiable"]
        )
        super().__init__(params, settings)

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
        state["step"] = number_beside(param, count)
        for name in names:
            if name not in state:
                state[name] = self._first(param, name, group)
        held = [real(param), *(real(state[name]) for name in names)]
        gradient = real(grad)
        work, half = held, is_half(held[0].dtype)
        if half:
            work = [x.astype(np.float32) for x in held]
            gradient = gradient.astype(np.float32)
        numbers = [float(state[name]) for name in NUMBERS if name in state]
        if group["maximize"]:
            gradient = -gradient
        if group.get("weight_decay"):
            if group.get("decoupled_weight_decay"):
                work[0] *= 1 - group["lr"] * group["weight_decay"]
            else:
                gradient = gradient + group["weight_decay"] * work[0]
        self._update(work, gradient, state, count, group)
        if half:
            for x, wide in zip(held, work, strict=True):
                x[...] = wide.astype(x.dtype)
        self._note(param, grad, [state[name] for name in names], numbers, group)

    def _note(
        self,
        param: Any,
        grad: Any,
        kept: list[Any],
        numbers: list[float],
        group: Group,
    ) -> None:
        """Tell the lineages of what a step has written what it was made of; of the
        state's numbers, those from before."""
        name = f"{type(self).__qualname__}.step"
        _C.written(param, name, settings_of(group), numbers, grad, *kept)
        for x in kept:
            _C.written(x, name, param)

    @abstractmethod
    def _update(
        self, arrays: list[Array], g: Array, state: Group, step: float, group: Group
    ) -> None:
        """Change a parameter and what is kept beside it, in place."""


def averages(arrays: list[Array], g: Array, group: Group) -> tuple[Array, Array]:
    """Bring the running averages of gradients and of their squares nearer."""
    (beta1, beta2), (_, mean, square) = group["betas"], arrays
    mean += (g - mean) * (1 - beta1)
    square *= beta2
    square += (1 - beta2) * (g * g)
    return mean, square
