"""Pooling over one to three dims: the maximum or the mean of each window."""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, SupportsIndex

from dtensor.nn import functional as F
from dtensor.nn._kind import T
from dtensor.nn.module import Module

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
]

Lengths = int | Sequence[int]


class _Pool(Module):
    """A function of an input and of the options that are attributes."""

    _function: ClassVar[Callable[..., Any]]
    _options: ClassVar[tuple[str, ...]]

    def forward(self, input: T) -> T:
        """Return the pooled input; both are of shape (N, channels, lengths...)."""
        options = {name: getattr(self, name) for name in self._options}
        output: T = self._function(input, **options)
        return output


# --- maxima ---------------------------------------------------------------------------


class _MaxPool(_Pool):
    """The largest element of each window of `_ndim` dims.

    Parameters
    ----------
    kernel_size : int or sequence of int
        The size of the windows, for all dims or for each.
    stride : int or sequence of int, optional
        The distance between windows; default: `kernel_size`.
    padding : int or sequence of int, default 0
        The padding at both ends, at most half of `kernel_size`.
    dilation : int or sequence of int, default 1
        The distance between the elements of a window.
    return_indices : bool, default False
        Whether to return the indices of the elements, too.
    ceil_mode : bool, default False
        Whether the last window may extend beyond the padding.
    """

    _options = (
        "kernel_size",
        "stride",
        "padding",
        "dilation",
        "return_indices",
        "ceil_mode",
    )

    def __init__(
        self,
        kernel_size: Lengths,
        stride: Lengths | None = None,
        padding: Lengths = 0,
        dilation: Lengths = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding, self.dilation = padding, dilation
        self.return_indices, self.ceil_mode = return_indices, ceil_mode

    def extra_repr(self) -> str:
        shown = "kernel_size", "stride", "padding", "dilation", "ceil_mode"
        return self._named(*shown)


class MaxPool1d(_MaxPool):
    __doc__ = (_MaxPool.__doc__ or "").replace("`_ndim` dims", "one dim")
    _function = staticmethod(F.max_pool1d)


class MaxPool2d(_MaxPool):
    __doc__ = (_MaxPool.__doc__ or "").replace("`_ndim` dims", "two dims")
    _function = staticmethod(F.max_pool2d)


class MaxPool3d(_MaxPool):
    __doc__ = (_MaxPool.__doc__ or "").replace("`_ndim` dims", "three dims")
    _function = staticmethod(F.max_pool3d)


# --- means ----------------------------------------------------------------------------


class _AvgPool(_Pool):
    """Average pooling."""

    _options: ClassVar[tuple[str, ...]] = (
        "kernel_size",
        "stride",
        "padding",
        "ceil_mode",
        "count_include_pad",
    )

    kernel_size: Lengths
    stride: Lengths
    padding: Lengths

    def extra_repr(self) -> str:
        return self._named("kernel_size", "stride", "padding")


class AvgPool1d(_AvgPool):
    """The mean of each window of one dim.

    Parameters
    ----------
    kernel_size : int or (int,)
        The size of the windows.
    stride : int or (int,), optional
        The distance between windows; default: `kernel_size`.
    padding : int or (int,), default 0
        The padding with zeros at both ends.
    ceil_mode : bool, default False
        Whether the last window may extend beyond the padding.
    count_include_pad : bool, default True
        Whether the padding counts in the size of a window.
    """

    _function = staticmethod(F.avg_pool1d)

    def __init__(
        self,
        kernel_size: Lengths,
        stride: Lengths | None = None,
        padding: Lengths = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__()
        self.kernel_size = _single(kernel_size)
        self.stride = self.kernel_size if stride is None else _single(stride)
        self.padding = _single(padding)
        self.ceil_mode, self.count_include_pad = ceil_mode, count_include_pad


class AvgPool2d(_AvgPool):
    """The mean of each window of two dims.

    Parameters
    ----------
    kernel_size : int or (int, int)
        The size of the windows.
    stride : int or (int, int), optional
        The distance between windows; default: `kernel_size`.
    padding : int or (int, int), default 0
        The padding with zeros at both ends.
    ceil_mode : bool, default False
        Whether the last window may extend beyond the padding.
    count_include_pad : bool, default True
        Whether the padding counts in the size of a window.
    divisor_override : int, optional
        The divisor of the sums, instead of the size.
    """

    _function = staticmethod(F.avg_pool2d)
    _options = (*_AvgPool._options, "divisor_override")

    def __init__(
        self,
        kernel_size: Lengths,
        stride: Lengths | None = None,
        padding: Lengths = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding, self.ceil_mode = padding, ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override


class AvgPool3d(AvgPool2d):
    __doc__ = (
        (AvgPool2d.__doc__ or "")
        .replace("two dims", "three dims")
        .replace("(int, int)", "(int, int, int)")
    )
    _function = staticmethod(F.avg_pool3d)


def _single(length: Lengths) -> tuple[int, ...]:
    return (length,) if isinstance(length, SupportsIndex) else tuple(length)


class _AdaptiveAvgPool(_Pool):
    """Means over `_ndim` dims, in windows that give the requested output size.

    Parameters
    ----------
    output_size : int or sequence of int
        The length of each dim afterwards.
    """

    _options: ClassVar[tuple[str, ...]] = ("output_size",)

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptiveAvgPool):
    __doc__ = (_AdaptiveAvgPool.__doc__ or "").replace("`_ndim` dims", "one dim")
    _function = staticmethod(F.adaptive_avg_pool1d)


class AdaptiveAvgPool2d(_AdaptiveAvgPool):
    __doc__ = (
        (_AdaptiveAvgPool.__doc__ or "")
        .replace("`_ndim` dims", "two dims")
        .replace("sequence of int", "sequence of int and None")
        .replace("afterwards.", "afterwards; None: as before.")
    )
    _function = staticmethod(F.adaptive_avg_pool2d)


class AdaptiveAvgPool3d(_AdaptiveAvgPool):
    __doc__ = (AdaptiveAvgPool2d.__doc__ or "").replace("two dims", "three dims")
    _function = staticmethod(F.adaptive_avg_pool3d)


class _AdaptiveMaxPool(_AdaptiveAvgPool):
    """Maxima over `_ndim` dims, in windows that give the requested output size.

    Parameters
    ----------
    output_size : int or sequence of int and None
        The length of each dim afterwards; None: as before.
    return_indices : bool, default False
        Whether to return the indices of the elements, too.
    """

    _options = ("output_size", "return_indices")

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__(output_size)
        self.return_indices = return_indices


class AdaptiveMaxPool1d(_AdaptiveMaxPool):
    __doc__ = (_AdaptiveMaxPool.__doc__ or "").replace("`_ndim` dims", "one dim")
    _function = staticmethod(F.adaptive_max_pool1d)


class AdaptiveMaxPool2d(_AdaptiveMaxPool):
    __doc__ = (_AdaptiveMaxPool.__doc__ or "").replace("`_ndim` dims", "two dims")
    _function = staticmethod(F.adaptive_max_pool2d)


class AdaptiveMaxPool3d(_AdaptiveMaxPool):
    __doc__ = (_AdaptiveMaxPool.__doc__ or "").replace("`_ndim` dims", "three dims")
    _function = staticmethod(F.adaptive_max_pool3d)
