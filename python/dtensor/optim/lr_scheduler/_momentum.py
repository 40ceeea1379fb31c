"""Schedulers that move the momentum as well, the opposite way."""

from typing import Any

from dtensor.optim.lr_scheduler._base import LRScheduler
from dtensor.optim.optimizer import Optimizer

__all__ = ["MomentumCycle", "each_group"]


def each_group(name: str, optimizer: Optimizer, value: Any) -> list[float]:
    """Return a value for each group."""
    count = len(optimizer.param_groups)
    if not isinstance(value, list | tuple):
        return [value] * count
    if len(value) != count:
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. {name} has "
            f"{len(value)} values, param_groups has {count}."
        )
    return list(value)


class MomentumCycle(LRScheduler):
    """What schedulers of the learning rate and of the momentum have in common."""

    def _cycle_momentum(
        self, optimizer: Optimizer, base: Any, top: Any, last_epoch: int
    ) -> None:
        if not {"momentum", "betas"} & optimizer.defaults.keys():
            raise ValueError(
                "optimizer must support momentum or beta1 with `cycle_momentum` option "
                "enabled"
            )
        self.use_beta1 = "betas" in optimizer.defaults
        bases = each_group("base_momentum", optimizer, base)
        tops = each_group("max_momentum", optimizer, top)
        if last_epoch == -1:
            for group, low, high in zip(
                optimizer.param_groups, bases, tops, strict=True
            ):
                self._set_momentum(group, high)
                group["max_momentum"], group["base_momentum"] = high, low

    def _set_momentum(self, group: dict[str, Any], momentum: float) -> None:
        if self.use_beta1:
            group["betas"] = (momentum, *group["betas"][1:])
        else:
            group["momentum"] = momentum
