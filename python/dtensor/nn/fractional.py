"""Pools in places that are drawn."""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from dtensor.nn import functional as F
from dtensor.nn._kind import T
from dtensor.nn.module import Module

__all__ = ["FractionalMaxPool2d", "FractionalMaxPool3d"]


class _FractionalMaxPool(Module):
    """The largest elements of windows of `_dims` dims, in places that are drawn.

    Parameters
    ----------
    kernel_size : int or sequence of int
        The size of the windows.
    output_size : int or sequence of int, optional
        How many windows there are along each dim.
    output_ratio : float or sequence of float, optional
        Or how many for each element of the input, between 0 and 1.
    return_indices : bool, default False
        Whether to return the indices of the elements, too.
    _random_samples : tensor, optional
        Numbers that the places are made of, a buffer; default: drawn at each call.

    Raises
    ------
    ValueError
        If not exactly one of `output_size` and `output_ratio` is given, or the ratio
        is not between 0 and 1.
    """

    _dims: ClassVar[int]
    _function: ClassVar[Callable[..., Any]]

    def __init__(
        self,
        kernel_size: int | Sequence[int],
        output_size: int | Sequence[int] | None = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Any = None,
    ) -> None:
        super().__init__()
        self.kernel_size: Any = self._each(kernel_size)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size: Any = output_size and self._each(output_size)
        self.output_ratio: Any = output_ratio and self._each(output_ratio)
        if output_size is None and output_ratio is None:
            raise ValueError(
                f"{type(self).__name__} requires specifying either an output size, or "
                "a pooling ratio"
            )
        if output_size is not None and output_ratio is not None:
            raise ValueError(
                "only one of output_size and output_ratio may be specified"
            )
        if output_ratio is not None and not all(0 < r < 1 for r in self.output_ratio):
            raise ValueError(
                f"output_ratio must be between 0 and 1 (got {output_ratio})"
            )

    def _each(self, x: Any) -> tuple[Any, ...]:
        return tuple(x) if isinstance(x, Sequence) else (x,) * self._dims

    def forward(self, input: T) -> T:
        """Return the maxima, of an input of shape ([N,] channels, lengths...)."""
        found: T = type(self)._function(
            input,
            self.kernel_size,
            self.output_size,
            self.output_ratio,
            self.return_indices,
            self._random_samples,
        )
        return found


class FractionalMaxPool2d(_FractionalMaxPool):
    __doc__ = (_FractionalMaxPool.__doc__ or "").replace("`_dims` dims", "two dims")
    _dims = 2
    _function = staticmethod(F.fractional_max_pool2d)


class FractionalMaxPool3d(_FractionalMaxPool):
    __doc__ = (_FractionalMaxPool.__doc__ or "").replace("`_dims` dims", "three dims")
    _dims = 3
    _function = staticmethod(F.fractional_max_pool3d)
