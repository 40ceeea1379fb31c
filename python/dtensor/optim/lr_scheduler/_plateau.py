"""A scheduler that follows a measure of the training."""

import math
from collections.abc import Sequence
from typing import Any

from dtensor.optim.lr_scheduler._base import (
    LRScheduler,
    check_optimizer,
    warn_of_epoch,
)
from dtensor.optim.optimizer import Optimizer

__all__ = ["ReduceLROnPlateau"]


class ReduceLROnPlateau(LRScheduler):
    """Multiply the learning rate by `factor` when a measure stops improving.

    Parameters
    ----------
    optimizer : Optimizer
    mode : {"min", "max"}
        Whether a smaller or a larger measure is better.
    factor : float, default 0.1
    patience : int, default 10
        The number of steps without improvement that are allowed.
    threshold : float, default 1e-4
        The least change that counts as an improvement.
    threshold_mode : {"rel", "abs"}
        Whether `threshold` is relative to the best measure, or absolute.
    cooldown : int, default 0
        The number of steps after a change that do not count.
    min_lr : float or list of float, default 0
        One lower bound for all groups, or one for each.
    eps : float, default 1e-8
        Smaller changes of the learning rate are not made.

    Raises
    ------
    ValueError
        If `factor` is not below 1, a mode is unknown, or `min_lr` does not have one
        value for each group.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float | list[float] = 0,
        eps: float = 1e-8,
    ) -> None:
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        check_optimizer(optimizer)
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode} is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {threshold_mode} is unknown!")
        groups = len(optimizer.param_groups)
        self.default_min_lr = None if isinstance(min_lr, list | tuple) else min_lr
        if not isinstance(min_lr, list | tuple):
            self.min_lrs = [min_lr] * groups
        elif len(min_lr) != groups:
            raise ValueError(f"expected {groups} min_lrs, got {len(min_lr)}")
        else:
            self.min_lrs = list(min_lr)
        self.optimizer = optimizer
        self.mode, self.factor, self.patience = mode, factor, patience
        self.threshold, self.threshold_mode = threshold, threshold_mode
        self.cooldown, self.eps = cooldown, eps
        self.last_epoch = 0
        self._last_lr = self._rates()
        self.best = self.mode_worse = math.inf if mode == "min" else -math.inf
        self.cooldown_counter = self.num_bad_epochs = 0

    def get_lr(self) -> Sequence[float]:
        """Return the learning rates that the groups have now."""
        return self._rates()

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Take the measure of one more step into account.

        Parameters
        ----------
        metrics : float
            The measure, or a tensor of one element (a DTensor: collective).
        epoch : int, optional
            The number of the step; default: the next.
        """
        current = float(metrics)
        warn_of_epoch(epoch)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self._is_better(current):
            self.best, self.num_bad_epochs = current, 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce()
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = self._rates()

    @property
    def in_cooldown(self) -> bool:
        """Whether the scheduler is in a cooldown, in which steps do not count."""
        return self.cooldown_counter > 0

    def _is_better(self, current: float) -> bool:
        sign = 1 if self.mode == "min" else -1
        margin = self.threshold
        if self.threshold_mode == "rel":
            margin *= self.best * sign
        # Before the first measure the best is infinite, and so is the threshold.
        limit = self.best if math.isinf(self.best) else self.best - sign * margin
        return sign * current < sign * limit

    def _reduce(self) -> None:
        for group, least in zip(self.optimizer.param_groups, self.min_lrs, strict=True):
            rate = max(group["lr"] * self.factor, least)
            if group["lr"] - rate > self.eps:
                group["lr"] = rate
