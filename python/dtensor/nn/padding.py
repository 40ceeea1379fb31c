"""Layers that pad the last one, two or three dims."""

from collections.abc import Sequence
from typing import Any, ClassVar, SupportsIndex

from dtensor.nn import functional as F
from dtensor.nn._kind import T
from dtensor.nn.module import Module

__all__ = [
    "CircularPad1d",
    "CircularPad2d",
    "CircularPad3d",
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
]

Padding = int | Sequence[int]


class _Pad(Module):
    """Pad the last dims with %s.

    Parameters
    ----------
    padding : int or sequence of int
        How many before and after the last dim, then the dim before it, and so on; or
        one number for all. Negative ones remove elements.
    """

    _mode: ClassVar[str]
    _ndim: ClassVar[int]

    def __init__(self, padding: Padding) -> None:
        super().__init__()
        each = (
            (padding,) * 2 * self._ndim
            if isinstance(padding, SupportsIndex)
            else padding
        )
        self.padding = tuple(each)

    def _check(self, input: Any) -> None:
        """Raise ValueError for an input that torch refuses."""

    def forward(self, input: T) -> T:
        """Return the padded input."""
        self._check(input)
        return F.pad(input, self.padding, self._mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


def _words(what: str) -> str:
    return (_Pad.__doc__ or "") % what


class _Constant(_Pad):
    _mode = "constant"

    def __init__(self, padding: Padding, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: T) -> T:
        """Return the padded input."""
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


_VALUE = _words("a value").rstrip() + "\n    value : float\n    "


class ConstantPad1d(_Constant):
    __doc__ = _VALUE
    _ndim = 1


class ConstantPad2d(_Constant):
    __doc__ = _VALUE
    _ndim = 2


class ConstantPad3d(_Constant):
    __doc__ = _VALUE
    _ndim = 3


class _Zero(_Constant):
    def __init__(self, padding: Padding) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad1d(_Zero):
    __doc__ = _words("zeros")
    _ndim = 1


class ZeroPad2d(_Zero):
    __doc__ = _words("zeros")
    _ndim = 2


class ZeroPad3d(_Zero):
    __doc__ = _words("zeros")
    _ndim = 3


class ReflectionPad1d(_Pad):
    __doc__ = _words("their elements reflected at the ends, without those at the ends")
    _mode, _ndim = "reflect", 1


class ReflectionPad2d(_Pad):
    __doc__ = _words("their elements reflected at the ends, without those at the ends")
    _mode, _ndim = "reflect", 2


class ReflectionPad3d(_Pad):
    __doc__ = _words("their elements reflected at the ends, without those at the ends")
    _mode, _ndim = "reflect", 3


class ReplicationPad1d(_Pad):
    __doc__ = _words("the elements at the ends")
    _mode, _ndim = "replicate", 1


class ReplicationPad2d(_Pad):
    __doc__ = _words("the elements at the ends")
    _mode, _ndim = "replicate", 2


class ReplicationPad3d(_Pad):
    __doc__ = _words("the elements at the ends")
    _mode, _ndim = "replicate", 3


class _Circular(_Pad):
    _mode = "circular"

    def _check(self, input: Any) -> None:
        dims = self._ndim + 1, self._ndim + 2
        if input.ndim not in dims:
            raise ValueError(
                f"expected {dims[0]}D or {dims[1]}D input (got {input.ndim}D input)"
            )


class CircularPad1d(_Circular):
    __doc__ = _words("the elements of the other end")
    _ndim = 1


class CircularPad2d(_Circular):
    __doc__ = _words("the elements of the other end")
    _ndim = 2


class CircularPad3d(_Circular):
    __doc__ = _words("the elements of the other end")
    _ndim = 3
