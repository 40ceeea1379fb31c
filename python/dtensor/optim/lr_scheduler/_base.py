"""The base class of schedulers."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

from dtensor._core.caller import warn
from dtensor.optim.optimizer import Optimizer

__all__ = ["LRScheduler", "check_optimizer", "warn_of_epoch"]


def check_optimizer(optimizer: Any) -> None:
    """Raise TypeError unless the argument is an Optimizer."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")


def warn_of_epoch(epoch: int | None) -> None:
    """Warn as PyTorch does, if a step is told its number."""
    if epoch is not None:
        warn(
            "The epoch parameter in `scheduler.step()` was not necessary and is being "
            "deprecated where possible. Please use `scheduler.step()` to step the "
            "scheduler. During the deprecation, if epoch is different from None, the "
            "closed form is used instead of the new chainable form, where available."
        )


def _for_steps(get_lr: Callable[[Any], Sequence[float]]) -> Any:
    """Return a `get_lr` that warns where a user calls it, not a step."""

    @functools.wraps(get_lr)
    def answer(self: Any) -> Sequence[float]:
        if not self._get_lr_called_within_step:
            warn(
                "To get the last learning rate computed by the scheduler, please use "
                "`get_last_lr()`."
            )
        return get_lr(self)

    return answer


class LRScheduler:
    """The base class of schedulers, which set the learning rates of an optimizer.

    Parameters
    ----------
    optimizer : Optimizer
        Each of its groups gets ``"initial_lr"``, the learning rate it has now.
    last_epoch : int, default -1
        To resume after so many steps; each group must have ``"initial_lr"`` then.

    Attributes
    ----------
    base_lrs : list of float
        The initial learning rates.
    last_epoch : int
        The number of steps so far.

    Raises
    ------
    TypeError
        If `optimizer` is not an Optimizer.
    KeyError
        If `last_epoch` is given and a group has no ``"initial_lr"``.
    """

    _get_lr_called_within_step = False  # that of a user may ask

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "get_lr" in vars(cls) and cls.__module__.startswith("dtensor."):
            cls.get_lr = _for_steps(cls.get_lr)  # type: ignore[method-assign]

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        check_optimizer(optimizer)
        for k, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", group["lr"])
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{k}] when "
                    "resuming scheduler with last_epoch >= 0"
                )
        self.optimizer = optimizer
        self.base_lrs: list[float] = [g["initial_lr"] for g in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._is_initial = False
        self._last_lr: list[float] = []
        self._start()

    def _start(self) -> None:
        """Set the learning rates of the first step: usually those that are set now."""
        self._step_count = 0
        self._is_initial = True
        self.step()
        self._is_initial = False

    def get_lr(self) -> Sequence[float]:
        """Return the learning rate of each group at `last_epoch`.

        Usually it is computed from the current one, which others may have changed.
        """
        raise NotImplementedError

    def _rates_at(self, epoch: int) -> Sequence[float]:
        """Return the learning rates at `last_epoch` without using earlier ones."""
        return self.get_lr()

    def step(self, epoch: int | None = None) -> None:
        """Set the learning rates of the next step.

        Parameters
        ----------
        epoch : int, optional
            Go to this step instead of the next one; discouraged.
        """
        early = self._step_count == 1 and not self.optimizer._opt_called
        if early and not self._is_initial:
            warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`: the "
                "first value of the learning rate schedule is skipped"
            )
        self._step_count += 1
        warn_of_epoch(epoch)
        self._go_to(epoch)

    def _go_to(self, epoch: int | None) -> None:
        self._get_lr_called_within_step = True
        try:
            if epoch is None:
                self.last_epoch += 1
                rates = self.get_lr()
            else:
                self.last_epoch = epoch
                rates = self._rates_at(epoch)
        finally:
            self._get_lr_called_within_step = False
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            group["lr"] = rate
        self._last_lr = [group["lr"] for group in self.optimizer.param_groups]

    def get_last_lr(self) -> list[float]:
        """Return the learning rates that were set last."""
        return self._last_lr

    def _rates(self) -> list[float]:
        """Return the learning rates that the groups have now."""
        return [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """Return the state of the scheduler without the optimizer."""
        return {k: v for k, v in self.__dict__.items() if k != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load what `state_dict` returned."""
        self.__dict__.update(state_dict)
