"""``torch.distributed.optim.post_localSGD_optimizer``."""

import warnings
from collections.abc import Callable
from typing import Any

from dtensor.torch.distributed.algorithms.model_averaging.averagers import ModelAverager
from dtensor.torch.optim import Optimizer

__all__ = ["PostLocalSGDOptimizer"]


class PostLocalSGDOptimizer(Optimizer):
    """An optimizer of each rank, whose parameters are averaged now and then.

    Parameters
    ----------
    optim : Optimizer
        Updates the parameters of this rank.
    averager : ModelAverager
        Averages them after a step, if it is the turn: see `PeriodicModelAverager`.
    """

    def __init__(self, optim: Optimizer, averager: ModelAverager) -> None:
        self.optim, self.averager = optim, averager
        self.defaults = optim.defaults
        self._hooks = optim._hooks  # which are called in a step of that one

    @property
    def state(self) -> Any:  # type: ignore[override]
        """The state of the optimizer."""
        return self.optim.state

    @property
    def param_groups(self) -> Any:  # type: ignore[override]
        """The groups of parameters of the optimizer."""
        return self.optim.param_groups

    def __repr__(self) -> str:
        return repr(self.optim)

    def state_dict(self) -> dict[str, Any]:
        """Return the optimizer's state, with the averager's step."""
        return {**self.optim.state_dict(), "step": self.averager.step}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take a state, with the averager's step; without it that is 0."""
        rest = {key: value for key, value in state_dict.items() if key != "step"}
        self.optim.load_state_dict(rest)
        if "step" not in state_dict:
            warnings.warn(
                "Loaded state dict does not contain a step counter for an averager. "
                "Setting step counter to 0.",
                UserWarning,
                stacklevel=2,
            )
        self.averager.step = state_dict.get("step", 0)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Make a step of the optimizer, then one of the averager: see there."""
        loss = self.optim.step() if closure is None else self.optim.step(closure)
        self._opt_called = True
        self.averager.average_parameters(params=self.param_groups)
        return loss

    step._is_hooked = True  # type: ignore[attr-defined]

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients."""
        self.optim.zero_grad(set_to_none=set_to_none)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add parameters with options of their own."""
        self.optim.add_param_group(param_group)
