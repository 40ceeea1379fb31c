"""Schedulers of several: one after the other, or all of them in each step."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from dtensor.optim.lr_scheduler._base import LRScheduler, check_optimizer
from dtensor.optim.lr_scheduler._plateau import ReduceLROnPlateau
from dtensor.optim.optimizer import Optimizer

__all__ = ["ChainedScheduler", "SequentialLR"]


class _Several(LRScheduler):
    """What they have in common: the states of the schedulers belong to theirs."""

    _schedulers: Sequence[LRScheduler]

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


class ChainedScheduler(_Several):
    """Several schedulers, all of which do each step, one after the other.

    Parameters
    ----------
    schedulers : sequence of LRScheduler
        All of them on the same optimizer; each changes what the one before has set.
    optimizer : Optimizer, optional
        Default: that of the first scheduler.

    Raises
    ------
    ValueError
        If there is no scheduler, or one is of another optimizer or is a
        `ReduceLROnPlateau`.
    TypeError
        If something else is among them.
    """

    def __init__(
        self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None
    ) -> None:
        name = type(self).__name__
        if len(schedulers) < 1:
            raise ValueError(
                f"{name} expects at least one scheduler to be chained, but got no "
                "scheduler."
            )
        for k, scheduler in enumerate(schedulers):
            if not hasattr(scheduler, "optimizer"):
                raise TypeError(
                    f"{name} at index {k} should have `optimizer` as its attribute."
                )
        self.optimizer = optimizer or schedulers[0].optimizer
        _check_each(name, self.optimizer, schedulers)
        self._schedulers = schedulers
        self._last_lr = self._rates()

    def step(self, epoch: int | None = None) -> None:
        """Do a step of each scheduler; `epoch` is ignored."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = self._rates()


class SequentialLR(_Several):
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


def _check_sequence(
    optimizer: Optimizer, schedulers: list[Any], milestones: list[int]
) -> None:
    if not schedulers:
        raise ValueError(
            "SequentialLR expects at least one scheduler, but got no scheduler."
        )
    _check_each("SequentialLR", optimizer, schedulers)
    if len(milestones) != len(schedulers) - 1:
        raise ValueError(
            "Sequential Schedulers expects number of schedulers provided to be one "
            "more than the number of milestone points, but got number of schedulers "
            f"{len(schedulers)} and the number of milestones to be equal to "
            f"{len(milestones)}"
        )


def _check_each(name: str, optimizer: Optimizer, schedulers: Sequence[Any]) -> None:
    for k, scheduler in enumerate(schedulers):
        kind = type(scheduler).__name__
        if isinstance(scheduler, ReduceLROnPlateau):
            raise ValueError(
                f"{name} does not support `{kind}` scheduler as it requires additional "
                "kwargs to be specified when calling `step`, but got one at index "
                f"{k} in the given schedulers sequence."
            )
        if scheduler.optimizer is not optimizer:
            raise ValueError(
                f"{name} expects all schedulers to belong to the same optimizer, but "
                f"got scheduler {kind} at index {k} of another"
            )
