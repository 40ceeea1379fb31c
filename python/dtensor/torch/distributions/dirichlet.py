"""``torch.distributions.dirichlet``."""

from typing import Any, ClassVar

from dtensor.torch import _draws
from dtensor.torch.distributions import constraints
from dtensor.torch.distributions._values import torch
from dtensor.torch.distributions.exp_family import ExponentialFamily

__all__ = ["Dirichlet"]


class Dirichlet(ExponentialFamily):
    """Probabilities of the last dim that add up to 1."""

    arg_constraints: ClassVar[Any] = {
        "concentration": constraints.independent(constraints.positive, 1)
    }
    support = constraints.simplex
    has_rsample = True

    def __init__(self, concentration: Any, validate_args: bool | None = None) -> None:
        if concentration.ndim < 1:
            raise ValueError(
                "`concentration` parameter must be at least one-dimensional."
            )
        self.concentration = concentration
        shape = concentration.shape
        super().__init__(shape[:-1], shape[-1:], validate_args)

    @property
    def mean(self) -> Any:
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self) -> Any:
        less = (self.concentration - 1).clamp(min=0.0)
        mode = less / less.sum(-1, True)
        flat = (self.concentration < 1).all(-1, keepdim=True)
        one_hot = torch.nn.functional.one_hot(
            mode.nan_to_num().argmax(-1), self.concentration.shape[-1]
        )
        return torch.where(flat, one_hot.to(mode.dtype), mode)

    @property
    def variance(self) -> Any:
        total = self.concentration.sum(-1, True)
        alpha = self.concentration
        return alpha * (total - alpha) / (total.pow(2) * (total + 1))

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return self._expanded(batch_shape, "concentration", _instance)

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        drawn = _draws.gamma(self.concentration, shape)
        return drawn / drawn.sum(-1, True)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        return (
            torch.xlogy(self.concentration - 1.0, value).sum(-1)
            + torch.lgamma(self.concentration.sum(-1))
            - torch.lgamma(self.concentration).sum(-1)
        )

    def entropy(self) -> Any:
        k, total = self.concentration.shape[-1], self.concentration.sum(-1)
        return (
            torch.lgamma(self.concentration).sum(-1)
            - torch.lgamma(total)
            - (k - total) * torch.digamma(total)
            - ((self.concentration - 1.0) * torch.digamma(self.concentration)).sum(-1)
        )
