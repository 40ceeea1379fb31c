"""Convolutions over one to three dims."""

import math
from collections.abc import Sequence
from typing import Any, SupportsIndex

import numpy.typing as npt

from dtensor.nn import functional as F, init
from dtensor.nn._kind import T
from dtensor.nn.module import Module
from dtensor.nn.parameter import Parameter

__all__ = ["Conv1d", "Conv2d", "Conv3d"]

Lengths = int | Sequence[int]

_MODES = ("zeros", "reflect", "replicate", "circular")


class _Conv(Module):
    """A convolution over `_ndim` dims.

    Parameters
    ----------
    in_channels, out_channels : int
        Lengths of dim 1 of the input and of the output.
    kernel_size : int or sequence of int
        The size of the window, for all dims or for each.
    stride : int or sequence of int, default 1
        The step of the window.
    padding : int, sequence of int, ``"same"`` or ``"valid"``, default 0
        How many elements are added at both ends of each dim.
    dilation : int or sequence of int, default 1
        The distance between elements of the window.
    groups : int, default 1
        The number of groups: each connects its own input and output channels.
    bias : bool, default True
        Whether there is a bias.
    padding_mode : str, default "zeros"
        The elements that are added: also ``"reflect"``, ``"replicate"``,
        ``"circular"``.
    device : str, optional
        ``"cpu"`` or ``"meta"``.
    dtype : dtype_like, optional
        Default: `get_default_dtype`.

    Attributes
    ----------
    weight : Parameter, shape (out_channels, in_channels / groups, window...)
        Drawn from U(-k, k) with k = sqrt(groups / (in_channels * window size)).
    bias : Parameter, shape (out_channels,), or None
        Drawn from the same distribution.

    Raises
    ------
    ValueError
        If `groups` does not divide the channels, or there is no such padding.
    """

    weight: Parameter
    bias: Parameter | Any  # or None

    _ndim: int

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Lengths,
        stride: Lengths = 1,
        padding: Lengths | str = 0,
        dilation: Lengths = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: str | None = None,
        dtype: npt.DTypeLike | None = None,
    ) -> None:
        super().__init__()
        self.in_channels, self.out_channels = in_channels, out_channels
        self.kernel_size, self.stride = self._each(kernel_size), self._each(stride)
        self.padding = padding if isinstance(padding, str) else self._each(padding)
        self.dilation, self.groups = self._each(dilation), groups
        self.padding_mode = padding_mode
        self._check()
        of_weight = (out_channels, in_channels // groups, *self.kernel_size)
        shapes = {"weight": of_weight, "bias": (out_channels,) if bias else None}
        self._add_parameters(shapes, device, dtype)
        self.reset_parameters()

    def _each(self, lengths: Lengths) -> tuple[int, ...]:
        return (
            (lengths,) * self._ndim
            if isinstance(lengths, SupportsIndex)
            else tuple(lengths)
        )

    def _check(self) -> None:
        if self.groups <= 0:
            raise ValueError("groups must be a positive integer")
        for name in ("in_channels", "out_channels"):
            if getattr(self, name) % self.groups:
                raise ValueError(f"{name} must be divisible by groups")
        if isinstance(self.padding, str):
            if self.padding not in ("same", "valid"):
                raise ValueError(
                    f"Invalid padding string {self.padding!r}, should be one of "
                    "{'same', 'valid'}"
                )
            if self.padding == "same" and any(step != 1 for step in self.stride):
                raise ValueError(
                    "padding='same' is not supported for strided convolutions"
                )
        if self.padding_mode not in _MODES:
            raise ValueError(
                f"padding_mode must be one of {set(_MODES)}, but got "
                f"padding_mode={self.padding_mode!r}"
            )

    def _ends(self) -> list[int]:
        """Return the padding before and after each dim, the last dim first."""
        ends = []
        for dim in reversed(range(self._ndim)):
            if isinstance(self.padding, str):
                added = self.dilation[dim] * (self.kernel_size[dim] - 1)
                added = added if self.padding == "same" else 0
                ends += [added // 2, added - added // 2]
            else:
                ends += [self.padding[dim]] * 2
        return ends

    def reset_parameters(self) -> None:
        """Initialize the parameters."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        fan_in = math.prod(self.weight.shape[1:])
        if self.bias is not None and fan_in > 0:
            bound = 1 / math.sqrt(fan_in)
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: T) -> T:
        """Return the output for an input of shape (N, in_channels, lengths...)."""
        padding = self.padding
        if self.padding_mode != "zeros":
            input = F.pad(input, self._ends(), mode=self.padding_mode)
            padding = (0,) * self._ndim
        convolve = (F.conv1d, F.conv2d, F.conv3d)[self._ndim - 1]
        return convolve(
            input,
            self.weight,
            self.bias,
            self.stride,
            padding,
            self.dilation,
            self.groups,
        )

    def extra_repr(self) -> str:
        text = (
            f"{self.in_channels}, {self.out_channels}, "
            f"kernel_size={self.kernel_size}, stride={self.stride}"
        )
        if self.padding != (0,) * self._ndim:
            text += f", padding={self.padding}"
        if self.dilation != (1,) * self._ndim:
            text += f", dilation={self.dilation}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        if self.bias is None:
            text += ", bias=False"
        if self.padding_mode != "zeros":
            text += f", padding_mode={self.padding_mode}"
        return text


class Conv1d(_Conv):
    __doc__ = (_Conv.__doc__ or "").replace("`_ndim` dims", "one dim")
    _ndim = 1


class Conv2d(_Conv):
    __doc__ = (_Conv.__doc__ or "").replace("`_ndim` dims", "two dims")
    _ndim = 2


class Conv3d(_Conv):
    __doc__ = (_Conv.__doc__ or "").replace("`_ndim` dims", "three dims")
    _ndim = 3
