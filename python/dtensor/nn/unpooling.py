"""Norms of windows, and maxima that are put back to where they were."""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, SupportsIndex

from dtensor.nn import functional as F
from dtensor.nn.module import Module

__all__ = [
    "LPPool1d",
    "LPPool2d",
    "LPPool3d",
    "MaxUnpool1d",
    "MaxUnpool2d",
    "MaxUnpool3d",
]

Lengths = int | Sequence[int]


class _LPPool(Module):
    """The norm of each window of `_ndim`: ``sum(x ** norm_type) ** (1 / norm_type)``.

    Parameters
    ----------
    norm_type : float
    kernel_size : int or sequence of int
        The size of the windows.
    stride : int or sequence of int, optional
        The distance between windows; default: `kernel_size`.
    ceil_mode : bool, default False
        Whether the last window may extend beyond the input.
    """

    _function: ClassVar[Callable[..., Any]]

    def __init__(
        self,
        norm_type: float,
        kernel_size: Lengths,
        stride: Lengths | None = None,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.norm_type, self.kernel_size = norm_type, kernel_size
        self.stride, self.ceil_mode = stride, ceil_mode

    def forward(self, input: Any) -> Any:
        """Return the norms; both are of shape (N, channels, lengths...)."""
        options = self.kernel_size, self.stride, self.ceil_mode
        return self._function(input, float(self.norm_type), *options)

    def extra_repr(self) -> str:
        return self._named("norm_type", "kernel_size", "stride", "ceil_mode")


class LPPool1d(_LPPool):
    __doc__ = (_LPPool.__doc__ or "").replace("`_ndim`", "one dim")
    _function = staticmethod(F.lp_pool1d)


class LPPool2d(_LPPool):
    __doc__ = (_LPPool.__doc__ or "").replace("`_ndim`", "two dims")
    _function = staticmethod(F.lp_pool2d)


class LPPool3d(_LPPool):
    __doc__ = (_LPPool.__doc__ or "").replace("`_ndim`", "three dims")
    _function = staticmethod(F.lp_pool3d)


class _MaxUnpool(Module):
    """What `MaxPool` over `_ndim` returned, back where it was, among zeros.

    Parameters
    ----------
    kernel_size : int or sequence of int
        The size of the windows.
    stride : int or sequence of int, optional
        The distance between windows; default: `kernel_size`.
    padding : int or sequence of int, default 0
    """

    _function: ClassVar[Callable[..., Any]]
    _count: ClassVar[int]

    def __init__(
        self,
        kernel_size: Lengths,
        stride: Lengths | None = None,
        padding: Lengths = 0,
    ) -> None:
        super().__init__()
        self.kernel_size = self._each(kernel_size)
        self.stride = self.kernel_size if stride is None else self._each(stride)
        self.padding = self._each(padding)

    def _each(self, lengths: Lengths) -> tuple[int, ...]:
        return (
            (lengths,) * self._count
            if isinstance(lengths, SupportsIndex)
            else tuple(lengths)
        )

    def forward(
        self, input: Any, indices: Any, output_size: Sequence[int] | None = None
    ) -> Any:
        """Return maxima at their indices; `output_size`: see `max_unpool2d`."""
        options = self.kernel_size, self.stride, self.padding
        return self._function(input, indices, *options, output_size)

    def extra_repr(self) -> str:
        return self._named("kernel_size", "stride", "padding")


class MaxUnpool1d(_MaxUnpool):
    __doc__ = (_MaxUnpool.__doc__ or "").replace("`_ndim`", "one dim")
    _function = staticmethod(F.max_unpool1d)
    _count = 1


class MaxUnpool2d(_MaxUnpool):
    __doc__ = (_MaxUnpool.__doc__ or "").replace("`_ndim`", "two dims")
    _function = staticmethod(F.max_unpool2d)
    _count = 2


class MaxUnpool3d(_MaxUnpool):
    __doc__ = (_MaxUnpool.__doc__ or "").replace("`_ndim`", "three dims")
    _function = staticmethod(F.max_unpool3d)
    _count = 3
