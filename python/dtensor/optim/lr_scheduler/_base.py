"""The base class of schedulers, and `SequentialLR`."""

import warnings
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from dtensor.optim.optimizer import Optimizer

__all__ = ["LRScheduler", "SequentialLR", "check_optimizer"]


def check_optimizer(optimizer: Any) -> None:
    """Raise TypeError unless the argument is an Optimizer."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")


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
        self._step_count = 0
        self._is_initial = False
        self._last_lr: list[float] = []
        self._start()

    def _start(self) -> None:
        """Set the learning rates of the first step: usually those that are set now."""
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
            warnings.warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`: the "
                "first value of the learning rate schedule is skipped",
                stacklevel=2,
            )
        self._step_count += 1
        self._go_to(epoch)

    def _go_to(self, epoch: int | None) -> None:
        if epoch is None:
            self.last_epoch += 1
            rates = self.get_lr()
        else:
            self.last_epoch = epoch
            rates = self._rates_at(epoch)
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


class SequentialLR(LRScheduler):
    """Several schedulers, one after the other.

    Parameters
    ----------
    optimizer : Optimizer
    schedulers : list of LRScheduler
        All of them on `optimizer`.
    milestones : list of int
        The steps at which the second scheduler begins, the third, and so on.
    last_epoch : int, default -1

    Raises
    ------
    ValueError
        If there is no scheduler, the number of milestones does not match, or a
        scheduler is of another optimizer or is a `ReduceLROnPlateau`.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        schedulers: list[LRScheduler],
        milestones: list[int],
        last_epoch: int = -1,
    ) -> None:
        check_optimizer(optimizer)
        _check_sequence(optimizer, schedulers, milestones)
        self.optimizer = optimizer
        self._schedulers = schedulers
        self._milestones = milestones
        self.last_epoch = last_epoch + 1
        for group in optimizer.param_groups:
            group["lr"] = group["initial_lr"]
        for scheduler in schedulers:
            self._undo(scheduler)
        first = schedulers[bisect_right(milestones, 0)]
        first._start()
        self._last_lr = first.get_last_lr()

    def _undo(self, scheduler: LRScheduler) -> None:
        """Undo the step that a scheduler did when it was made."""
        for inner in getattr(scheduler, "_schedulers", ()):
            self._undo(inner)
        if not isinstance(scheduler, SequentialLR):
            scheduler.last_epoch -= 1

    def step(self, epoch: int | None = None) -> None:
        """Do the next step of the scheduler whose turn it is; `epoch` is ignored."""
        self.last_epoch += 1
        turn = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[turn]
        if turn > 0 and self._milestones[turn - 1] == self.last_epoch:
            scheduler._go_to(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()

    def state_dict(self) -> dict[str, Any]:
        """Return the state of this and of its schedulers without the optimizer."""
        state = super().state_dict()
        state["_schedulers"] = [each.state_dict() for each in self._schedulers]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load what `state_dict` returned."""
        state = dict(state_dict)
        states = state.pop("_schedulers")
        super().load_state_dict(state)
        for each, inner in zip(self._schedulers, states, strict=True):
            each.load_state_dict(inner)


def _check_sequence(
    optimizer: Optimizer, schedulers: list[Any], milestones: list[int]
) -> None:
    if not schedulers:
        raise ValueError(
            "SequentialLR expects at least one scheduler, but got no scheduler."
        )
    for k, scheduler in enumerate(schedulers):
        if not hasattr(scheduler, "base_lrs") and not hasattr(scheduler, "_schedulers"):
            raise ValueError(
                f"SequentialLR does not support `{type(scheduler).__name__}` scheduler "
                "as it requires additional kwargs to be specified when calling `step`, "
                f"but got one at index {k} in the given schedulers sequence."
            )
        if scheduler.optimizer is not optimizer:
            raise ValueError(
                "SequentialLR expects all schedulers to belong to the same optimizer, "
                f"but got scheduler {type(scheduler).__name__} at index {k} of another"
            )
    if len(milestones) != len(schedulers) - 1:
        raise ValueError(
            "Sequential Schedulers expects number of schedulers provided to be one "
            "more than the number of milestone points, but got number of schedulers "
            f"{len(schedulers)} and the number of milestones to be equal to "
            f"{len(milestones)}"
        )
