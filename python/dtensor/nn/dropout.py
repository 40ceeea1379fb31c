"""Dropout: in training, random elements or channels are set to 0."""

from collections.abc import Callable
from typing import Any, ClassVar

from dtensor.nn import functional as F
from dtensor.nn._kind import T
from dtensor.nn.module import Module

__all__ = [
    "AlphaDropout",
    "Dropout",
    "Dropout1d",
    "Dropout2d",
    "Dropout3d",
    "FeatureAlphaDropout",
]


class _Dropout(Module):
    """%s

    Outside training it is the identity. Which of a DTensor are dropped does not depend
    on its layout.

    Parameters
    ----------
    p : float, default 0.5
    inplace : bool, default False
        Whether to write the result into the input.

    Raises
    ------
    ValueError
        If `p` is not a probability.
    """

    _function: ClassVar[Callable[..., Any]]

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(
                f"dropout probability has to be between 0 and 1, but got {p}"
            )
        self.p, self.inplace = p, inplace

    def forward(self, input: T) -> T:
        """Return the input with some elements dropped."""
        output: T = self._function(input, self.p, self.training, self.inplace)
        return output

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


def _words(what: str) -> str:
    return (_Dropout.__doc__ or "") % what


_CHANNELS = (
    "Set channels to 0 with probability `p`, and divide the others by ``1 - p``.\n\n"
    "    Inputs have the shape {}."
)


class Dropout(_Dropout):
    __doc__ = _words(
        "Set elements to 0 with probability `p`, and divide the others by ``1 - p``."
    )
    _function = staticmethod(F.dropout)


class Dropout1d(_Dropout):
    __doc__ = _words(_CHANNELS.format("(N, C, L) or (C, L)"))
    _function = staticmethod(F.dropout1d)


class Dropout2d(_Dropout):
    __doc__ = _words(_CHANNELS.format("(N, C, H, W)"))
    _function = staticmethod(F.dropout2d)


class Dropout3d(_Dropout):
    __doc__ = _words(_CHANNELS.format("(N, C, D, H, W) or (C, D, H, W)"))
    _function = staticmethod(F.dropout3d)


class AlphaDropout(_Dropout):
    __doc__ = _words(
        "Set elements to SELU's lower limit with probability `p`, and keep mean 0 and "
        "variance 1."
    )
    _function = staticmethod(F.alpha_dropout)


class FeatureAlphaDropout(_Dropout):
    __doc__ = _words("`AlphaDropout` of channels, of inputs of shape (N, C, ...).")
    _function = staticmethod(F.feature_alpha_dropout)
