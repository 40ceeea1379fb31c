"""Schedulers with phases: a cosine with restarts, and one cycle."""

import math
from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

from dtensor.optim.lr_scheduler._base import LRScheduler, check_optimizer
from dtensor.optim.lr_scheduler._momentum import MomentumCycle, each_group
from dtensor.optim.optimizer import Optimizer

__all__ = ["CosineAnnealingWarmRestarts", "OneCycleLR"]


def _cosine(start: float, end: float, part: float) -> float:
    return end + (start - end) / 2.0 * (1 + math.cos(math.pi * part))


def _line(start: float, end: float, part: float) -> float:
    return start + (end - start) * part


class CosineAnnealingWarmRestarts(LRScheduler):
    """Lower the learning rate to `eta_min` as a cosine, then restart from the top.

    Parameters
    ----------
    optimizer : Optimizer
    T_0 : int
        The number of steps in the first descent.
    T_mult : int, default 1
        How many times longer each descent is than the one before.
    eta_min : float, default 0
    last_epoch : int, default -1

    Raises
    ------
    ValueError
        If `T_0` or `T_mult` is not a positive integer.

    Notes
    -----
    Loshchilov and Hutter 2017 (arXiv:1608.03983).
    """

    def __init__(
        self,
        optimizer: Optimizer,
        T_0: int,
        T_mult: int = 1,
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        self.T_0 = T_0
        self.T_i: float = T_0  # the length of this descent
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.T_cur: float = last_epoch  # steps since it began
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> Sequence[float]:
        """See `LRScheduler.get_lr`."""
        part = self.T_cur / self.T_i
        return [_cosine(base, self.eta_min, part) for base in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Set the learning rates of the next step.

        Parameters
        ----------
        epoch : float, optional
            Go to this step instead of the next one; it may be a fraction.

        Raises
        ------
        ValueError
            If `epoch` is negative.
        """
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur %= self.T_i
                self.T_i *= self.T_mult
        elif epoch < 0:
            raise ValueError(f"Expected non-negative epoch, but got {epoch}")
        else:
            self._find(epoch)
        self._go_to(math.floor(epoch))

    def _find(self, epoch: float) -> None:
        """Find the descent that a step lies in."""
        turns = 0
        if epoch >= self.T_0 and self.T_mult > 1:
            whole = epoch / self.T_0 * (self.T_mult - 1) + 1
            turns = int(math.log(whole, self.T_mult))
        self.T_i = self.T_0 * self.T_mult**turns
        if self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        else:
            before = self.T_0 * (self.T_mult**turns - 1) / (self.T_mult - 1)
            self.T_cur = epoch - before


class OneCycleLR(MomentumCycle):
    """Raise the learning rate to `max_lr`, then lower it to a much smaller one.

    Parameters
    ----------
    optimizer : Optimizer
    max_lr : float or list of float
        One value for all groups, or one for each.
    total_steps : int, optional
        Length of the cycle; default ``epochs * steps_per_epoch``.
    epochs, steps_per_epoch : int, optional
    pct_start : float, default 0.3
        The fraction of the steps in which the learning rate rises.
    anneal_strategy : {"cos", "linear"}
    cycle_momentum : bool, default True
        Whether the momentum, or the first beta, moves the opposite way.
    base_momentum : float or list of float, default 0.85
    max_momentum : float or list of float, default 0.95
    div_factor : float, default 25
        The first learning rate is ``max_lr / div_factor``.
    final_div_factor : float, default 1e4
        The last learning rate is the first divided by `final_div_factor`.
    three_phase : bool, default False
        Return to the first learning rate symmetrically, then go down to the last.
    last_epoch : int, default -1

    Raises
    ------
    ValueError
        If a number is not positive or does not match the others; in `step`, after
        the last step.

    Notes
    -----
    Smith and Topin 2018 (arXiv:1708.07120).
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | list[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.85,
        max_momentum: float | list[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        check_optimizer(optimizer)
        self.total_steps = _steps(total_steps, epochs, steps_per_epoch)
        _check_form(pct_start, anneal_strategy)
        self._schedule_phases = _phases(self.total_steps, pct_start, three_phase)
        self._anneal_func_type = anneal_strategy
        groups = optimizer.param_groups
        highest = each_group("max_lr", optimizer, max_lr)
        if last_epoch == -1:
            for group, top in zip(groups, highest, strict=True):
                group["initial_lr"] = top / div_factor
                group["max_lr"] = top
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._cycle_momentum(optimizer, base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> Sequence[float]:
        """See `LRScheduler.get_lr`. It also sets the momentum."""
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(
                f"Tried to step {step} times. The specified number of total steps is "
                f"{self.total_steps}"
            )
        anneal = _cosine if self._anneal_func_type == "cos" else _line
        ends = [phase["end_step"] for phase in self._schedule_phases]
        turn = min(bisect_left(ends, step), len(ends) - 1)
        start = ends[turn - 1] if turn else 0.0
        phase = self._schedule_phases[turn]
        part = (step - start) / (ends[turn] - start)
        found = []
        for group in self.optimizer.param_groups:
            first, last = group[phase["start_lr"]], group[phase["end_lr"]]
            found.append(anneal(first, last, part))
            if self.cycle_momentum:
                first, last = (group[phase[f"{k}_momentum"]] for k in ("start", "end"))
                self._set_momentum(group, anneal(first, last, part))
        return found


def _check_form(rising: Any, strategy: str) -> None:
    if not isinstance(rising, float) or not 0 <= rising <= 1:
        raise ValueError(f"Expected float between 0 and 1 pct_start, but got {rising}")
    if strategy not in ("cos", "linear"):
        raise ValueError(
            f"anneal_strategy must be one of 'cos' or 'linear', instead got {strategy}"
        )


def _steps(total: int | None, epochs: int | None, steps_per_epoch: int | None) -> int:
    given = {"total_steps": total}
    if total is None:
        if epochs is None or steps_per_epoch is None:
            raise ValueError(
                "You must define either total_steps OR (epochs AND steps_per_epoch)"
            )
        given = {"epochs": epochs, "steps_per_epoch": steps_per_epoch}
    for name, value in given.items():
        if not isinstance(value, int) or value <= 0:
            raise ValueError(f"Expected positive integer {name}, but got {value}")
    return math.prod(value for value in given.values() if value is not None)


Phase = dict[str, Any]  # as PyTorch keeps it in a `state_dict`


def _phase(end: float, rates: tuple[str, str], momenta: tuple[str, str]) -> Phase:
    names = [f"{name}_momentum" for name in momenta]
    return {
        "end_step": end,
        "start_lr": f"{rates[0]}_lr",
        "end_lr": f"{rates[1]}_lr",
        "start_momentum": names[0],
        "end_momentum": names[1],
    }


def _phases(total: int, rising: float, three: bool) -> list[Phase]:
    up = _phase(float(rising * total) - 1, ("initial", "max"), ("max", "base"))
    back = ("base", "max")
    if not three:
        return [up, _phase(total - 1, ("max", "min"), back)]
    down = _phase(float(2 * rising * total) - 2, ("max", "initial"), back)
    return [up, down, _phase(total - 1, ("initial", "min"), ("max", "max"))]
