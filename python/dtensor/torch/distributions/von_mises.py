"""``torch.distributions.von_mises``."""

import math
from typing import Any, ClassVar

from dtensor.torch.distributions import constraints
from dtensor.torch.distributions._values import (
    broadcast_all,
    torch,
    uniform_like,
    without_gradients,
)
from dtensor.torch.distributions.distribution import Distribution

__all__ = ["VonMises"]

# M. Abramowitz and I. Stegun, Handbook of Mathematical Functions, 9.8.1 to 9.8.4: the
# Bessel functions I0 and I1, below 3.75 and above.
_SMALL = [
    [1.0, 3.5156229, 3.0899424, 1.2067492, 0.2659732, 0.0360768, 0.0045813],
    [0.5, 0.87890594, 0.51498869, 0.15084934, 0.02658733, 0.00301532, 0.00032411],
]
_LARGE = [
    [0.39894228, 0.01328592, 0.00225319, -0.00157565, 0.00916281, -0.02057706]
    + [0.02635537, -0.01647633, 0.00392377],
    [0.39894228, -0.03988024, -0.00362018, 0.00163801, -0.01031555, 0.02282967]
    + [-0.02895312, 0.01787654, -0.00420059],
]


def _polynomial(x: Any, coefficients: list[float]) -> Any:
    total: Any = 0.0
    for each in reversed(coefficients):
        total = total * x + each
    return total


def _log_bessel(x: Any, order: int) -> Any:
    """Return the logarithm of I0 or I1 of positive numbers."""
    near = torch.where(x < 3.75, x, 1.0)
    small = _polynomial((near / 3.75) ** 2, _SMALL[order])
    small = torch.log(small * near if order else small)
    far = torch.where(x < 3.75, 3.75, x)
    large = (
        far - 0.5 * torch.log(far) + torch.log(_polynomial(3.75 / far, _LARGE[order]))
    )
    return torch.where(x < 3.75, small, large)


class VonMises(Distribution):
    """Angles about `loc`, the nearer to it the larger the `concentration`."""

    arg_constraints: ClassVar[Any] = {
        "loc": constraints.real,
        "concentration": constraints.positive,
    }
    support = constraints.real

    def __init__(
        self, loc: Any, concentration: Any, validate_args: bool | None = None
    ) -> None:
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, (), validate_args)

    @property
    def mean(self) -> Any:
        """The circular mean."""
        return self.loc

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        """The circular variance."""
        one, zero = (_log_bessel(self.concentration, k) for k in (1, 0))
        return 1 - torch.exp(one - zero)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return self._expanded(batch_shape, "loc concentration", _instance)

    @without_gradients
    def sample(self, sample_shape: Any = ()) -> Any:
        """Draw by the method of Best and Fisher."""
        shape = self._extended_shape(sample_shape)
        loc = self.loc.detach().to(torch.float64).expand(shape)
        kappa = self.concentration.detach().to(torch.float64).expand(shape)
        tau = 1 + torch.sqrt(1 + 4 * kappa**2)
        rho = (tau - torch.sqrt(2 * tau)) / (2 * kappa)
        r = torch.where(kappa < 1e-5, 1 / kappa + kappa, (1 + rho**2) / (2 * rho))
        angle, missing = torch.zeros_like(loc), torch.ones_like(loc, dtype=torch.bool)
        while bool(missing.any()):
            turn, height, side = (uniform_like(loc, shape) for _ in range(3))
            z = torch.cos(math.pi * turn)
            f = (1 + r * z) / (r + z)
            c = kappa * (r - f)
            good = (c * (2 - c) > height) | (torch.log(c / height) + 1 - c >= 0)
            drawn = torch.sign(side - 0.5) * torch.acos(f.clamp(-1, 1))
            angle = torch.where(missing & good, drawn, angle)
            missing = missing & ~good
        found = (angle + math.pi + loc) % (2 * math.pi) - math.pi
        return found.to(self.loc.dtype)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        near = self.concentration * torch.cos(value - self.loc)
        return near - math.log(2 * math.pi) - _log_bessel(self.concentration, 0)
