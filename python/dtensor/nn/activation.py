"""Activations: functions of each element, and softmax along a dim."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy.typing as npt

from dtensor._core.device import empty
from dtensor.nn import functional as F, init
from dtensor.nn._kind import T
from dtensor.nn.module import Module
from dtensor.nn.parameter import Parameter

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "Mish",
    "PReLU",
    "ReLU",
    "ReLU6",
    "SELU",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softplus",
    "Softsign",
    "Tanh",
]


class _Activation(Module):
    """A function of an input and options; `extra_repr` shows those that are set."""

    _function: ClassVar[Callable[..., Any]]

    def __init__(self, **options: Any) -> None:
        super().__init__()
        for name, value in options.items():
            setattr(self, name, value)
        self._shown = tuple(options)

    def extra_repr(self) -> str:
        shown = ((name, getattr(self, name)) for name in self._shown)
        return ", ".join(
            f"{name}={value!r}" for name, value in shown if name != "inplace" or value
        )

    def forward(self, input: T) -> T:
        options = (getattr(self, name) for name in self._shown)
        output: T = self._function(input, *options)
        return output


class _InPlace(_Activation):
    def __init__(self, inplace: bool = False) -> None:
        super().__init__(inplace=inplace)


class _Exponential(_Activation):
    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(alpha=alpha, inplace=inplace)


class _AlongDim(_Activation):
    def __init__(self, dim: int | None = None) -> None:
        super().__init__(dim=dim)


class CELU(_Exponential):
    """``max(0, x) + min(0, alpha (exp(x / alpha) - 1))``.

    Parameters
    ----------
    alpha : float, default 1.0
    inplace : bool, default False
        Whether to write the result into the input.
    """

    _function = staticmethod(F.celu)


class ELU(_Exponential):
    """``x`` where it is positive, else ``alpha (exp(x) - 1)``.

    Parameters
    ----------
    alpha : float, default 1.0
    inplace : bool, default False
        Whether to write the result into the input.
    """

    _function = staticmethod(F.elu)


class GELU(_Activation):
    """``x`` times the probability that a standard normal variable is below it.

    Parameters
    ----------
    approximate : str, default "none"
        ``"tanh"`` for the usual approximation.
    """

    _function = staticmethod(F.gelu)

    def __init__(self, approximate: str = "none") -> None:
        super().__init__(approximate=approximate)


class Hardsigmoid(_InPlace):
    """``min(max(x + 3, 0), 6) / 6``.

    Parameters
    ----------
    inplace : bool, default False
        Whether to write the result into the input.
    """

    _function = staticmethod(F.hardsigmoid)


class Hardswish(_InPlace):
    """``x min(max(x + 3, 0), 6) / 6``.

    Parameters
    ----------
    inplace : bool, default False
        Whether to write the result into the input.
    """

    _function = staticmethod(F.hardswish)


class Hardtanh(_Activation):
    """``min(max(x, min_val), max_val)``.

    Parameters
    ----------
    min_val : float, default -1.0
    max_val : float, default 1.0
    inplace : bool, default False
        Whether to write the result into the input.
    """

    _function = staticmethod(F.hardtanh)

    def __init__(
        self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
    ) -> None:
        super().__init__(min_val=min_val, max_val=max_val, inplace=inplace)


class LeakyReLU(_Activation):
    """``x`` where it is positive, else ``negative_slope x``.

    Parameters
    ----------
    negative_slope : float, default 0.01
    inplace : bool, default False
        Whether to write the result into the input.
    """

    _function = staticmethod(F.leaky_relu)

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        super().__init__(negative_slope=negative_slope, inplace=inplace)


class LogSigmoid(_Activation):
    """``log(1 / (1 + exp(-x)))``."""

    _function = staticmethod(F.logsigmoid)


class Mish(_InPlace):
    """``x tanh(log(1 + exp(x)))``.

    Parameters
    ----------
    inplace : bool, default False
        Whether to write the result into the input.
    """

    _function = staticmethod(F.mish)


class ReLU(_InPlace):
    """``max(0, x)``.

    Parameters
    ----------
    inplace : bool, default False
        Whether to write the result into the input.
    """

    _function = staticmethod(F.relu)


class ReLU6(_InPlace):
    """``min(max(0, x), 6)``.

    Parameters
    ----------
    inplace : bool, default False
        Whether to write the result into the input.
    """

    _function = staticmethod(F.relu6)


class SELU(_InPlace):
    """``scale (max(0, x) + min(0, alpha (exp(x) - 1)))``, with fixed constants.

    Parameters
    ----------
    inplace : bool, default False
        Whether to write the result into the input.
    """

    _function = staticmethod(F.selu)


class SiLU(_InPlace):
    """``x / (1 + exp(-x))``.

    Parameters
    ----------
    inplace : bool, default False
        Whether to write the result into the input.
    """

    _function = staticmethod(F.silu)


class Sigmoid(_Activation):
    """``1 / (1 + exp(-x))``."""

    _function = staticmethod(F.sigmoid)


class Softplus(_Activation):
    """``log(1 + exp(beta x)) / beta``; ``x`` where ``beta x`` exceeds `threshold`.

    Parameters
    ----------
    beta : float, default 1.0
    threshold : float, default 20.0
    """

    _function = staticmethod(F.softplus)

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__(beta=beta, threshold=threshold)


class Softsign(_Activation):
    """``x / (1 + |x|)``."""

    _function = staticmethod(F.softsign)


class Tanh(_Activation):
    """``tanh(x)``."""

    _function = staticmethod(F.tanh)


class GLU(_Activation):
    """The first half of a dim times the sigmoid of the second half.

    Parameters
    ----------
    dim : int, default -1
    """

    _function = staticmethod(F.glu)

    def __init__(self, dim: int = -1) -> None:
        super().__init__(dim=dim)


class Softmax(_AlongDim):
    """Exponentials that add up to 1 along a dim.

    Parameters
    ----------
    dim : int, optional
        Default: the second one of 2 or 4 dims, else the first one, with a warning.
    """

    _function = staticmethod(F.softmax)


class LogSoftmax(_AlongDim):
    """The logarithm of `Softmax`.

    Parameters
    ----------
    dim : int, optional
        As for `Softmax`.
    """

    _function = staticmethod(F.log_softmax)


class PReLU(_Activation):
    """``x`` where it is positive, else ``weight x``, with trainable weights.

    Parameters
    ----------
    num_parameters : int, default 1
        The number of weights: one, or one for each channel (dim 1).
    init : float, default 0.25
        Their initial value.
    device : str, optional
        ``"cpu"`` or ``"meta"``.
    dtype : dtype_like, optional
        Default: `get_default_dtype`.

    Attributes
    ----------
    weight : Parameter, shape (num_parameters,)
    """

    weight: Parameter

    def __init__(
        self,
        num_parameters: int = 1,
        init: float = 0.25,
        device: str | None = None,
        dtype: npt.DTypeLike | None = None,
    ) -> None:
        super().__init__(num_parameters=num_parameters)
        self.init = init
        self.weight = Parameter(empty((num_parameters,), dtype, device))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the weights to their initial value."""
        init.constant_(self.weight, self.init)

    def forward(self, input: T) -> T:
        return F.prelu(input, self.weight)
