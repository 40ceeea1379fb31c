"""Transposed convolutions over one to three dims."""

import math
from collections.abc import Sequence
from typing import Any, SupportsIndex

import numpy.typing as npt

from dtensor.nn import functional as F, init
from dtensor.nn._kind import T
from dtensor.nn.module import Module
from dtensor.nn.parameter import Parameter

__all__ = ["ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"]

Lengths = int | Sequence[int]


class _ConvTranspose(Module):
    """A transposed convolution over `_ndim` dims: the gradient of a convolution.

    Parameters
    ----------
    in_channels, out_channels : int
        Lengths of dim 1 of the input and of the output.
    kernel_size : int or sequence of int
        The size of the window, for all dims or for each.
    stride : int or sequence of int, default 1
        The step of the window.
    padding : int or sequence of int, default 0
        How much is left out at both ends of each dim.
    output_padding : int or sequence of int, default 0
        How much is added at the end of each dim.
    groups : int, default 1
        The number of groups: each connects its own input and output channels.
    bias : bool, default True
        Whether there is a bias.
    dilation : int or sequence of int, default 1
        The distance between elements of the window.
    padding_mode : ``"zeros"``
    device : str, optional
        ``"cpu"`` or ``"meta"``.
    dtype : dtype_like, optional
        Default: `get_default_dtype`.

    Attributes
    ----------
    weight : Parameter, shape (in_channels, out_channels / groups, window...)
        Drawn from U(-k, k) with k = sqrt(groups / (out_channels * window size)).
    bias : Parameter, shape (out_channels,), or None
        Drawn from the same distribution.

    Raises
    ------
    ValueError
        If `groups` does not divide the channels, or for another padding mode.
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
        padding: Lengths = 0,
        output_padding: Lengths = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Lengths = 1,
        padding_mode: str = "zeros",
        device: str | None = None,
        dtype: npt.DTypeLike | None = None,
    ) -> None:
        super().__init__()
        self.in_channels, self.out_channels = in_channels, out_channels
        self.kernel_size, self.stride = self._each(kernel_size), self._each(stride)
        self.padding, self.dilation = self._each(padding), self._each(dilation)
        self.output_padding = self._each(output_padding)
        self.groups, self.padding_mode = groups, padding_mode
        if padding_mode != "zeros":
            raise ValueError(
                'Only "zeros" padding mode is supported for ' + self._get_name()
            )
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        for name in ("in_channels", "out_channels"):
            if getattr(self, name) % groups:
                raise ValueError(f"{name} must be divisible by groups")
        of_weight = (in_channels, out_channels // groups, *self.kernel_size)
        shapes = {"weight": of_weight, "bias": (out_channels,) if bias else None}
        self._add_parameters(shapes, device, dtype)
        self.reset_parameters()

    def _each(self, lengths: Lengths) -> tuple[int, ...]:
        return (
            (lengths,) * self._ndim
            if isinstance(lengths, SupportsIndex)
            else tuple(lengths)
        )

    def reset_parameters(self) -> None:
        """Initialize the parameters."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        fan_in = math.prod(self.weight.shape[1:])
        if self.bias is not None and fan_in > 0:
            bound = 1 / math.sqrt(fan_in)
            init.uniform_(self.bias, -bound, bound)

    def _output_padding(
        self, input: Any, output_size: Sequence[int] | None
    ) -> tuple[int, ...]:
        """Return what is added so that the output has a size, if one is given."""
        if output_size is None:
            return self.output_padding
        dims = self._ndim
        wanted = list(output_size)
        if len(wanted) == input.ndim and input.ndim > dims:
            wanted = wanted[-dims:]
        if len(wanted) != dims:
            raise ValueError(
                f"ConvTranspose{dims}D: for {input.ndim}D input, output_size must have "
                f"{dims} or {input.ndim} elements (got {len(output_size)})"
            )
        shape = tuple(input.shape[-dims:])
        each = zip(
            shape,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            strict=True,
        )
        least = [(n - 1) * s - 2 * p + d * (k - 1) + 1 for n, k, s, p, d in each]
        most = [n + s - 1 for n, s in zip(least, self.stride, strict=True)]
        if any(
            not low <= n <= high
            for low, n, high in zip(least, wanted, most, strict=True)
        ):
            raise ValueError(
                f"requested an output size of {tuple(output_size)}, but valid sizes "
                f"range from {least} to {most} (for an input of {shape})"
            )
        return tuple(n - low for n, low in zip(wanted, least, strict=True))

    def forward(self, input: T, output_size: Sequence[int] | None = None) -> T:
        """Return the output for an input of shape (N, in_channels, lengths...).

        Parameters
        ----------
        input : tensor
        output_size : sequence of int, optional
            The lengths of the output, which determine the output padding.
        """
        functions = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)
        return functions[self._ndim - 1](
            input,
            self.weight,
            self.bias,
            self.stride,
            self.padding,
            self._output_padding(input, output_size),
            self.groups,
            self.dilation,
        )

    def extra_repr(self) -> str:
        text = (
            f"{self.in_channels}, {self.out_channels}, "
            f"kernel_size={self.kernel_size}, stride={self.stride}"
        )
        for name, usual in (("padding", 0), ("dilation", 1), ("output_padding", 0)):
            value = getattr(self, name)
            text += f", {name}={value}" if value != (usual,) * self._ndim else ""
        if self.groups != 1:
            text += f", groups={self.groups}"
        return text if self.bias is not None else f"{text}, bias=False"


class ConvTranspose1d(_ConvTranspose):
    __doc__ = (_ConvTranspose.__doc__ or "").replace("`_ndim` dims", "one dim")
    _ndim = 1


class ConvTranspose2d(_ConvTranspose):
    __doc__ = (_ConvTranspose.__doc__ or "").replace("`_ndim` dims", "two dims")
    _ndim = 2


class ConvTranspose3d(_ConvTranspose):
    __doc__ = (_ConvTranspose.__doc__ or "").replace("`_ndim` dims", "three dims")
    _ndim = 3
