"""Activations that shrink or cut, one with random slopes, and other softmaxes."""

from dtensor.nn import functional as F
from dtensor.nn._kind import T
from dtensor.nn.activation import _Activation, _AlongDim
from dtensor.nn.module import Module

__all__ = [
    "Hardshrink",
    "RReLU",
    "Softmax2d",
    "Softmin",
    "Softshrink",
    "Tanhshrink",
    "Threshold",
]


class _Shrink(_Activation):
    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__(lambd=lambd)

    def extra_repr(self) -> str:
        return str(self.lambd)


class Hardshrink(_Shrink):
    """``x`` where ``|x|`` exceeds `lambd`, else 0.

    Parameters
    ----------
    lambd : float, default 0.5
    """

    _function = staticmethod(F.hardshrink)


class Softshrink(_Shrink):
    """``x`` brought nearer to 0 by `lambd`; 0 where it is that near.

    Parameters
    ----------
    lambd : float, default 0.5
    """

    _function = staticmethod(F.softshrink)


class Tanhshrink(_Activation):
    """``x - tanh(x)``."""

    _function = staticmethod(F.tanhshrink)


class Threshold(_Activation):
    """``x`` where it exceeds `threshold`, else `value`.

    Parameters
    ----------
    threshold, value : float
    inplace : bool, default False
        Whether to write the result into the input.
    """

    _function = staticmethod(F.threshold)

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__(threshold=threshold, value=value, inplace=inplace)


class RReLU(Module):
    """``x`` where it is positive, else a multiple of it: in training a random one.

    Parameters
    ----------
    lower, upper : float
        Factors are drawn evenly from between; outside training it is their mean.
    inplace : bool, default False
        Whether to write the result into the input.
    """

    def __init__(
        self, lower: float = 1 / 8, upper: float = 1 / 3, inplace: bool = False
    ) -> None:
        super().__init__()
        self.lower, self.upper, self.inplace = lower, upper, inplace

    def forward(self, input: T) -> T:
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def extra_repr(self) -> str:
        written = ", inplace=True" if self.inplace else ""
        return f"lower={self.lower}, upper={self.upper}{written}"


class Softmin(_AlongDim):
    """`Softmax` of ``-x``.

    Parameters
    ----------
    dim : int, optional
        As for `Softmax`.
    """

    _function = staticmethod(F.softmin)


class Softmax2d(Module):
    """`Softmax` over the channels of images, of shape (N, C, H, W) or (C, H, W).

    Raises
    ------
    ValueError
        When called, for other numbers of dims.
    """

    def forward(self, input: T) -> T:
        if input.ndim not in (3, 4):
            raise ValueError(
                f"Softmax2d: expected input to be 3D or 4D, got {input.ndim}D instead"
            )
        return F.softmax(input, -3)
