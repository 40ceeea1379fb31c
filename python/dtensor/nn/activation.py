"""Activations: functions of each element, and softmax along a dim."""

from typing import Any

import numpy.typing as npt

from dtensor._core.device import empty
from dtensor.nn import functional as F, init
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
    """A function of each element; `extra_repr` shows the options that are set."""

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


class CELU(_Activation):
    """``max(0, x) + min(0, alpha (exp(x / alpha) - 1))``.

    Parameters
    ----------
    alpha : float, default 1.0
    inplace : bool, default False
        Whether to write the result into the input.
    """

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(alpha=alpha, inplace=inplace)

    def forward(self, input: Any) -> Any:
        return F.celu(input, self.alpha, self.inplace)


class ELU(_Activation):
    """``x`` where it is positive, else ``alpha (exp(x) - 1)``.

    Parameters
    ----------
    alpha : float, default 1.0
    inplace : bool, default False
        Whether to write the result into the input.
    """

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(alpha=alpha, inplace=inplace)

    def forward(self, input: Any) -> Any:
        return F.elu(input, self.alpha, self.inplace)


class GELU(_Activation):
    """``x`` times the probability that a standard normal variable is below it.

    Parameters
    ----------
    approximate : str, default "none"
        ``"tanh"`` for the usual approximation.
    """

    def __init__(self, approximate: str = "none") -> None:
        super().__init__(approximate=approximate)

    def forward(self, input: Any) -> Any:
        return F.gelu(input, approximate=self.approximate)


class Hardsigmoid(_Activation):
    """``min(max(x + 3, 0), 6) / 6``.

    Parameters
    ----------
    inplace : bool, default False
        Whether to write the result into the input.
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(inplace=inplace)

    def forward(self, input: Any) -> Any:
        return F.hardsigmoid(input, self.inplace)


class Hardswish(_Activation):
    """``x min(max(x + 3, 0), 6) / 6``.

    Parameters
    ----------
    inplace : bool, default False
        Whether to write the result into the input.
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(inplace=inplace)

    def forward(self, input: Any) -> Any:
        return F.hardswish(input, self.inplace)


class Hardtanh(_Activation):
    """``min(max(x, min_val), max_val)``.

    Parameters
    ----------
    min_val : float, default -1.0
    max_val : float, default 1.0
    inplace : bool, default False
        Whether to write the result into the input.
    """

    def __init__(
        self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
    ) -> None:
        super().__init__(min_val=min_val, max_val=max_val, inplace=inplace)

    def forward(self, input: Any) -> Any:
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)


class LeakyReLU(_Activation):
    """``x`` where it is positive, else ``negative_slope x``.

    Parameters
    ----------
    negative_slope : float, default 0.01
    inplace : bool, default False
        Whether to write the result into the input.
    """

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        super().__init__(negative_slope=negative_slope, inplace=inplace)

    def forward(self, input: Any) -> Any:
        return F.leaky_relu(input, self.negative_slope, self.inplace)


class LogSigmoid(_Activation):
    """``log(1 / (1 + exp(-x)))``."""

    def forward(self, input: Any) -> Any:
        return F.logsigmoid(input)


class Mish(_Activation):
    """``x tanh(log(1 + exp(x)))``.

    Parameters
    ----------
    inplace : bool, default False
        Whether to write the result into the input.
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(inplace=inplace)

    def forward(self, input: Any) -> Any:
        return F.mish(input, self.inplace)


class ReLU(_Activation):
    """``max(0, x)``.

    Parameters
    ----------
    inplace : bool, default False
        Whether to write the result into the input.
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(inplace=inplace)

    def forward(self, input: Any) -> Any:
        return F.relu(input, self.inplace)


class ReLU6(_Activation):
    """``min(max(0, x), 6)``.

    Parameters
    ----------
    inplace : bool, default False
        Whether to write the result into the input.
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(inplace=inplace)

    def forward(self, input: Any) -> Any:
        return F.relu6(input, self.inplace)


class SELU(_Activation):
    """``scale (max(0, x) + min(0, alpha (exp(x) - 1)))``, with fixed constants.

    Parameters
    ----------
    inplace : bool, default False
        Whether to write the result into the input.
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(inplace=inplace)

    def forward(self, input: Any) -> Any:
        return F.selu(input, self.inplace)


class SiLU(_Activation):
    """``x / (1 + exp(-x))``.

    Parameters
    ----------
    inplace : bool, default False
        Whether to write the result into the input.
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(inplace=inplace)

    def forward(self, input: Any) -> Any:
        return F.silu(input, self.inplace)


class Sigmoid(_Activation):
    """``1 / (1 + exp(-x))``."""

    def forward(self, input: Any) -> Any:
        return F.sigmoid(input)


class Softplus(_Activation):
    """``log(1 + exp(beta x)) / beta``; ``x`` where ``beta x`` exceeds `threshold`.

    Parameters
    ----------
    beta : float, default 1.0
    threshold : float, default 20.0
    """

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__(beta=beta, threshold=threshold)

    def forward(self, input: Any) -> Any:
        return F.softplus(input, self.beta, self.threshold)


class Softsign(_Activation):
    """``x / (1 + |x|)``."""

    def forward(self, input: Any) -> Any:
        return F.softsign(input)


class Tanh(_Activation):
    """``tanh(x)``."""

    def forward(self, input: Any) -> Any:
        return F.tanh(input)


class GLU(_Activation):
    """The first half of a dim times the sigmoid of the second half.

    Parameters
    ----------
    dim : int, default -1
    """

    def __init__(self, dim: int = -1) -> None:
        super().__init__(dim=dim)

    def forward(self, input: Any) -> Any:
        return F.glu(input, self.dim)


class Softmax(_Activation):
    """Exponentials that add up to 1 along a dim.

    Parameters
    ----------
    dim : int, optional
        Default: the second one of 2 or 4 dims, else the first one, with a warning.
    """

    def __init__(self, dim: int | None = None) -> None:
        super().__init__(dim=dim)

    def forward(self, input: Any) -> Any:
        return F.softmax(input, self.dim)


class LogSoftmax(_Activation):
    """The logarithm of `Softmax`.

    Parameters
    ----------
    dim : int, optional
        As for `Softmax`.
    """

    def __init__(self, dim: int | None = None) -> None:
        super().__init__(dim=dim)

    def forward(self, input: Any) -> Any:
        return F.log_softmax(input, self.dim)


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

    def forward(self, input: Any) -> Any:
        return F.prelu(input, self.weight)
