"""Learning rates that go up and down again and again."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from dtensor.optim.lr_scheduler._base import check_optimizer
from dtensor.optim.lr_scheduler._momentum import MomentumCycle, each_group
from dtensor.optim.optimizer import Optimizer

__all__ = ["CyclicLR"]

MODES = ("triangular", "triangular2", "exp_range")


class CyclicLR(MomentumCycle):
    """Raise and lower the learning rate between two bounds, in straight lines.

    Parameters
    ----------
    optimizer : Optimizer
    base_lr, max_lr : float or list of float
        The bounds: one value for all groups, or one for each.
    step_size_up : int, default 2000
        The number of steps in the rising half of a cycle.
    step_size_down : int, optional
        In the falling half; default as many.
    mode : {"triangular", "triangular2", "exp_range"}
        What cycles are scaled by: 1, 1/2 of the cycle before, or ``gamma**step``.
    gamma : float, default 1
    scale_fn : callable, optional
        A function of the number of the cycle, from 1, or of the step; replaces `mode`.
    scale_mode : {"cycle", "iterations"}
        What `scale_fn` is a function of.
    cycle_momentum : bool, default True
        Whether the momentum, or the first beta, moves the opposite way.
    base_momentum : float or list of float, default 0.8
    max_momentum : float or list of float, default 0.9
    last_epoch : int, default -1

    Raises
    ------
    ValueError
        If a list has another length than the groups, the mode is unknown, or the
        optimizer has no momentum to move.

    Notes
    -----
    Smith 2015 (arXiv:1506.01186).
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float | list[float],
        max_lr: float | list[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.8,
        max_momentum: float | list[float] = 0.9,
        last_epoch: int = -1,
    ) -> None:
        check_optimizer(optimizer)
        lowest = each_group("base_lr", optimizer, base_lr)
        if last_epoch == -1:
            for group, low in zip(optimizer.param_groups, lowest, strict=True):
                group["lr"] = low
        self.max_lrs = each_group("max_lr", optimizer, max_lr)
        down = step_size_up if step_size_down is None else step_size_down
        self.total_size = float(step_size_up + down)
        self.step_ratio = step_size_up / self.total_size
        if mode not in MODES and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode, self.gamma, self._scale_fn_custom = mode, gamma, scale_fn
        self.scale_mode = scale_mode
        if scale_fn is None:
            self.scale_mode = "iterations" if mode == "exp_range" else "cycle"
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._cycle_momentum(optimizer, base_momentum, max_momentum, last_epoch)
            self.base_momentums = each_group("base_momentum", optimizer, base_momentum)
            self.max_momentums = each_group("max_momentum", optimizer, max_momentum)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = lowest

    def scale_fn(self, x: float) -> float:
        """Return what a cycle is scaled by, of its number or of the step."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        if self.mode == "triangular2":
            return float(1 / 2.0 ** (x - 1))
        return 1.0 if self.mode == "triangular" else float(self.gamma**x)

    def get_lr(self) -> Sequence[float]:
        """See `LRScheduler.get_lr`. Sets the momentum, too."""
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1 + self.last_epoch / self.total_size - cycle
        up = self.step_ratio
        height = x / up if x <= up else (x - 1) / (up - 1)
        height *= self.scale_fn(
            cycle if self.scale_mode == "cycle" else self.last_epoch
        )
        if self.cycle_momentum:
            for group in self.optimizer.param_groups:
                low, high = group["base_momentum"], group["max_momentum"]
                self._set_momentum(group, high - (high - low) * height)
        bounds = zip(self.base_lrs, self.max_lrs, strict=True)
        return [low + (high - low) * height for low, high in bounds]

    def state_dict(self) -> dict[str, Any]:
        """Return the state of the scheduler without the optimizer and the function.

        Of a callable object the attributes are kept.
        """
        state = super().state_dict()
        scale = state["_scale_fn_custom"]
        known = scale is not None and not hasattr(scale, "__code__")
        state["_scale_fn_custom"] = dict(vars(scale)) if known else None
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load what `state_dict` returned; a function stays as it is."""
        state = dict(state_dict)
        known = state.pop("_scale_fn_custom")
        if known is not None:
            vars(self._scale_fn_custom).update(known)
        super().load_state_dict(state)
