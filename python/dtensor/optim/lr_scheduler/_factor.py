"""Schedulers that multiply learning rates by a function of the step."""

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from dtensor.optim.lr_scheduler._base import LRScheduler
from dtensor.optim.optimizer import Optimizer

__all__ = [
    "ConstantLR",
    "CosineAnnealingLR",
    "ExponentialLR",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "PolynomialLR",
    "StepLR",
]


class LambdaLR(LRScheduler):
    """Multiply the initial learning rate by a function of the step.

    Parameters
    ----------
    optimizer : Optimizer
    lr_lambda : callable or list of callable
        A function of the step, an int; a list has one for each group.
    last_epoch : int, default -1

    Raises
    ------
    ValueError
        If the list does not have one function for each group.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        lr_lambda: Callable[[int], float] | list[Callable[[int], float]],
        last_epoch: int = -1,
    ) -> None:
        groups = len(getattr(optimizer, "param_groups", ()))
        if callable(lr_lambda):
            self.lr_lambdas = [lr_lambda] * groups
        elif len(lr_lambda) != groups:
            raise ValueError(f"Expected {groups} lr_lambdas, but got {len(lr_lambda)}")
        else:
            self.lr_lambdas = list(lr_lambda)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> Sequence[float]:
        """See `LRScheduler.get_lr`."""
        pairs = zip(self.base_lrs, self.lr_lambdas, strict=True)
        return [base * factor(self.last_epoch) for base, factor in pairs]

    def state_dict(self) -> dict[str, Any]:
        """Return the state of the scheduler without the optimizer and functions.

        Of a callable object the attributes are kept.
        """
        state = super().state_dict()
        state["lr_lambdas"] = [
            dict(vars(f)) if not hasattr(f, "__code__") else None
            for f in self.lr_lambdas
        ]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load what `state_dict` returned; functions stay as they are."""
        state = dict(state_dict)
        for function, known in zip(
            self.lr_lambdas, state.pop("lr_lambdas"), strict=True
        ):
            if known is not None:
                vars(function).update(known)
        super().load_state_dict(state)


class MultiplicativeLR(LambdaLR):
    """Multiply the learning rate by a function of the step, again and again.

    Parameters
    ----------
    optimizer : Optimizer
    lr_lambda : callable or list of callable
        A function of the step, an int; a list has one for each group.
    last_epoch : int, default -1

    Raises
    ------
    ValueError
        If the list does not have one function for each group.
    TypeError
        If one of them is not a function.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        lr_lambda: Callable[[int], float] | list[Callable[[int], float]],
        last_epoch: int = -1,
    ) -> None:
        for each in lr_lambda if isinstance(lr_lambda, list | tuple) else [lr_lambda]:
            if not callable(each):
                raise TypeError(
                    f"lr_lambda should be a function, but got {type(each).__name__}"
                )
        super().__init__(optimizer, lr_lambda, last_epoch)

    def get_lr(self) -> Sequence[float]:
        """See `LRScheduler.get_lr`."""
        if self._is_initial:
            return self._rates()
        pairs = zip(self._rates(), self.lr_lambdas, strict=True)
        return [rate * factor(self.last_epoch) for rate, factor in pairs]


class StepLR(LRScheduler):
    """Multiply the learning rate by `gamma` every `step_size` steps.

    Parameters
    ----------
    optimizer : Optimizer
    step_size : int
    gamma : float, default 0.1
    last_epoch : int, default -1
    """

    def __init__(
        self,
        optimizer: Optimizer,
        step_size: int,
        gamma: float = 0.1,
        last_epoch: int = -1,
    ) -> None:
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> Sequence[float]:
        """See `LRScheduler.get_lr`."""
        now = self.last_epoch != 0 and self.last_epoch % self.step_size == 0
        return [rate * self.gamma if now else rate for rate in self._rates()]

    def _rates_at(self, epoch: int) -> Sequence[float]:
        factor = self.gamma ** (epoch // self.step_size)
        return [base * factor for base in self.base_lrs]


class MultiStepLR(LRScheduler):
    """Multiply the learning rate by `gamma` at each milestone.

    Parameters
    ----------
    optimizer : Optimizer
    milestones : iterable of int
        The steps; one that is listed twice counts twice.
    gamma : float, default 0.1
    last_epoch : int, default -1
    """

    def __init__(
        self,
        optimizer: Optimizer,
        milestones: Iterable[int],
        gamma: float = 0.1,
        last_epoch: int = -1,
    ) -> None:
        self.milestones = Counter(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> Sequence[float]:
        """See `LRScheduler.get_lr`."""
        factor = self.gamma ** self.milestones[self.last_epoch]
        return [rate * factor for rate in self._rates()]

    def _rates_at(self, epoch: int) -> Sequence[float]:
        passed = bisect_right(sorted(self.milestones.elements()), epoch)
        return [base * self.gamma**passed for base in self.base_lrs]


class ConstantLR(LRScheduler):
    """Multiply the learning rate by `factor` for the first `total_iters` steps.

    Parameters
    ----------
    optimizer : Optimizer
    factor : float, default 1/3
    total_iters : int, default 5
    last_epoch : int, default -1

    Raises
    ------
    ValueError
        If `factor` is not between 0 and 1.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        factor: float = 1.0 / 3,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 <= factor <= 1:
            raise ValueError(
                "Constant multiplicative factor expected to be between 0 and 1."
            )
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> Sequence[float]:
        """See `LRScheduler.get_lr`."""
        factor = 1.0
        if self.last_epoch == 0:
            factor = self.factor
        elif self.last_epoch == self.total_iters:
            factor = 1.0 / self.factor
        return [rate * factor for rate in self._rates()]

    def _rates_at(self, epoch: int) -> Sequence[float]:
        factor = 1.0 if epoch >= self.total_iters else self.factor
        return [base * factor for base in self.base_lrs]


class LinearLR(LRScheduler):
    """Multiply the learning rate by a factor that changes linearly.

    Parameters
    ----------
    optimizer : Optimizer
    start_factor : float, default 1/3
    end_factor : float, default 1
    total_iters : int, default 5
        After so many steps the factor is `end_factor`.
    last_epoch : int, default -1

    Raises
    ------
    ValueError
        If a factor is not between 0 and 1, or `start_factor` is 0.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 < start_factor <= 1:
            raise ValueError(
                "Starting multiplicative factor expected to be greater than 0 and less "
                "or equal to 1."
            )
        if not 0 <= end_factor <= 1:
            raise ValueError(
                "Ending multiplicative factor expected to be between 0 and 1."
            )
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> Sequence[float]:
        """See `LRScheduler.get_lr`."""
        if self.last_epoch == 0:
            factor = self.start_factor
        elif self._is_initial or self.last_epoch > self.total_iters:
            factor = 1.0
        else:
            factor = self._factor(self.last_epoch) / self._factor(self.last_epoch - 1)
        return [rate * factor for rate in self._rates()]

    def _factor(self, epoch: int) -> float:
        part = min(self.total_iters, epoch) / self.total_iters
        return self.start_factor + (self.end_factor - self.start_factor) * part

    def _rates_at(self, epoch: int) -> Sequence[float]:
        return [base * self._factor(epoch) for base in self.base_lrs]


class ExponentialLR(LRScheduler):
    """Multiply the learning rate by `gamma` at each step.

    Parameters
    ----------
    optimizer : Optimizer
    gamma : float
    last_epoch : int, default -1
    """

    def __init__(
        self, optimizer: Optimizer, gamma: float, last_epoch: int = -1
    ) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> Sequence[float]:
        """See `LRScheduler.get_lr`."""
        factor = 1 if self._is_initial else self.gamma
        return [rate * factor for rate in self._rates()]

    def _rates_at(self, epoch: int) -> Sequence[float]:
        return [base * self.gamma**epoch for base in self.base_lrs]


class CosineAnnealingLR(LRScheduler):
    """Move the learning rate to `eta_min` and back as a cosine of half-period `T_max`.

    Parameters
    ----------
    optimizer : Optimizer
    T_max : int
    eta_min : float, default 0
    last_epoch : int, default -1

    Notes
    -----
    Loshchilov and Hutter 2017 (arXiv:1608.03983), without restarts.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        T_max: int,
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def _height(self, epoch: int) -> float:
        return (1 + math.cos(math.pi * epoch / self.T_max)) / 2

    def get_lr(self) -> Sequence[float]:
        """See `LRScheduler.get_lr`."""
        epoch, low = self.last_epoch, self.eta_min
        if self._is_initial:
            return self._rates()
        if self._step_count == 1 and epoch > 0:
            return self._rates_at(epoch)
        pairs = zip(self._rates(), self.base_lrs, strict=True)
        if (epoch - 1 - self.T_max) % (2 * self.T_max) == 0:  # it was at the bottom
            return [rate + (base - low) * self._height(epoch) for rate, base in pairs]
        factor = self._height(epoch) / self._height(epoch - 1)
        return [factor * (rate - low) + low for rate, _ in pairs]

    def _rates_at(self, epoch: int) -> Sequence[float]:
        low, height = self.eta_min, self._height(epoch)
        return [low + (base - low) * height for base in self.base_lrs]


class PolynomialLR(LRScheduler):
    """Lower the learning rate to 0 as a power of the steps that are left.

    Parameters
    ----------
    optimizer : Optimizer
    total_iters : int, default 5
        After so many steps it is 0.
    power : float, default 1
    last_epoch : int, default -1
    """

    def __init__(
        self,
        optimizer: Optimizer,
        total_iters: int = 5,
        power: float = 1.0,
        last_epoch: int = -1,
    ) -> None:
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> Sequence[float]:
        """See `LRScheduler.get_lr`."""
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._rates()
        left, before = (
            1 - epoch / self.total_iters
            for epoch in (self.last_epoch, self.last_epoch - 1)
        )
        return [rate * (left / before) ** self.power for rate in self._rates()]

    def _rates_at(self, epoch: int) -> Sequence[float]:
        left = 1 - min(self.total_iters, epoch) / self.total_iters
        return [base * left**self.power for base in self.base_lrs]
