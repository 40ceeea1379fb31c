"""``torch.distributed.algorithms.model_averaging.averagers``."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

from dtensor.torch.distributed._groups import Group
from dtensor.torch.distributed.algorithms.model_averaging.parameters import (
    average_parameters_or_parameter_groups,
)

__all__ = ["ModelAverager", "PeriodicModelAverager"]


class ModelAverager(ABC):
    """What averages the parameters of the ranks of a group.

    Parameters
    ----------
    process_group : process group, optional
        Default: all ranks.
    """

    def __init__(self, process_group: Group = None) -> None:
        self.process_group = process_group
        self.step = 0

    @abstractmethod
    def average_parameters(self, params: Iterable[Any]) -> None:
        """Average parameters, or do nothing in this step."""


class PeriodicModelAverager(ModelAverager):
    """Averages parameters every few steps, for post-local SGD.

    Parameters
    ----------
    period : int
        After how many steps.
    warmup_steps : int, default 0
        How many steps there are before.
    process_group : process group, optional
        Default: all ranks.

    Raises
    ------
    ValueError
        If the period is no positive number, or the steps before are less than 0.
    """

    def __init__(
        self, period: int, warmup_steps: int = 0, process_group: Group = None
    ) -> None:
        super().__init__(process_group)
        if warmup_steps < 0:
            raise ValueError("Arg ``warmup_steps`` must be a non-negative number.")
        if period < 1:
            raise ValueError("Arg ``period`` must be a positive value.")
        if period == 1:
            warnings.warn(
                "When period is 1, no need to use model averaging because the "
                "communication cost of all-reducing parameters will be no less than "
                "the cost of all-reducing gradients by DistributedDataParallel in the "
                "backward pass. Therefore, only DistributedDataParallel should be used "
                "for this case.",
                UserWarning,
                stacklevel=2,
            )
        self.period, self.warmup_steps = period, warmup_steps

    def average_parameters(self, params: Iterable[Any]) -> None:
        """Count a step, and average parameters that have gradients if it is the turn.

        Collective: one all_reduce for each dtype.
        """
        since = self.step - self.warmup_steps
        if since >= 0 and since % self.period == 0:
            average_parameters_or_parameter_groups(params, self.process_group)
        self.step += 1
