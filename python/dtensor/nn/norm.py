"""Layers that normalize: to mean 0 and variance 1, or to mean square 1."""

from collections.abc import Sequence
from typing import Any, SupportsIndex

import numpy.typing as npt

from dtensor.nn import functional as F, init
from dtensor.nn._kind import T
from dtensor.nn.module import Module
from dtensor.nn.parameter import Parameter

__all__ = ["GroupNorm", "LayerNorm", "RMSNorm"]


class Affine(Module):
    """A layer with a weight, initially 1, and perhaps a bias, initially 0."""

    weight: Parameter | Any  # or None
    bias: Parameter | Any  # or None

    def _make(
        self,
        shape: tuple[int, ...],
        weight: bool,
        bias: bool,
        device: str | None,
        dtype: npt.DTypeLike | None,
    ) -> None:
        wanted = {"weight": weight, "bias": bias}
        shapes = {name: shape if there else None for name, there in wanted.items()}
        self._add_parameters(shapes, device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the weight to 1 and the bias to 0."""
        for name, parameter in self._parameters.items():
            if parameter is not None:
                init.constant_(parameter, float(name == "weight"))


class LayerNorm(Affine):
    """Normalize over the last dims: ``(x - mean) / sqrt(var + eps) * weight + bias``.

    Parameters
    ----------
    normalized_shape : int or sequence of int
        The lengths of the last dims, over which mean and variance are taken.
    eps : float, default 1e-5
    elementwise_affine : bool, default True
        Whether there is a weight.
    bias : bool, default True
        Whether there is a bias too.
    device : str, optional
        ``"cpu"`` or ``"meta"``.
    dtype : dtype_like, optional
        Default: `get_default_dtype`.

    Attributes
    ----------
    weight, bias : Parameter, shape `normalized_shape`, or None
    """

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: str | None = None,
        dtype: npt.DTypeLike | None = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _shape(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        both = elementwise_affine and bias
        self._make(self.normalized_shape, elementwise_affine, both, device, dtype)

    def forward(self, input: T) -> T:
        """Return the normalized input, of the same shape."""
        return F.layer_norm(
            input, self.normalized_shape, self.weight, self.bias, self.eps
        )

    def extra_repr(self) -> str:
        shown = self._named("eps", "elementwise_affine")
        return f"{self.normalized_shape}, {shown}, bias={self.bias is not None}"


class RMSNorm(Affine):
    """Normalize over the last dims: ``x / sqrt(mean(x^2) + eps) * weight``.

    Parameters
    ----------
    normalized_shape : int or sequence of int
        The lengths of the last dims, over which the mean is taken.
    eps : float, optional
        Default: the machine epsilon of the input's dtype.
    elementwise_affine : bool, default True
        Whether there is a weight.
    device : str, optional
        ``"cpu"`` or ``"meta"``.
    dtype : dtype_like, optional
        Default: `get_default_dtype`.

    Attributes
    ----------
    weight : Parameter, shape `normalized_shape`, or None
    """

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: str | None = None,
        dtype: npt.DTypeLike | None = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _shape(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        shape = self.normalized_shape if elementwise_affine else None
        self._add_parameters({"weight": shape}, device, dtype)
        self.reset_parameters()

    def forward(self, input: T) -> T:
        """Return the normalized input, of the same shape."""
        return F.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, {self._named('eps', 'elementwise_affine')}"


class GroupNorm(Affine):
    """Normalize over groups of channels (dim 1) and over all dims after it.

    Parameters
    ----------
    num_groups : int
        The number of groups.
    num_channels : int
        The number of channels, a multiple of `num_groups`.
    eps : float, default 1e-5
    affine : bool, default True
        Whether there is a weight.
    device : str, optional
        ``"cpu"`` or ``"meta"``.
    dtype : dtype_like, optional
        Default: `get_default_dtype`.
    bias : bool, default True
        Whether there is a bias too.

    Attributes
    ----------
    weight, bias : Parameter, shape (num_channels,), or None

    Raises
    ------
    ValueError
        If `num_groups` does not divide `num_channels`.
    """

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: str | None = None,
        dtype: npt.DTypeLike | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(
                f"num_channels ({num_channels}) must be divisible by num_groups "
                f"({num_groups})"
            )
        self.num_groups, self.num_channels = num_groups, num_channels
        self.eps, self.affine = eps, affine
        self._make((num_channels,), affine, affine and bias, device, dtype)

    def forward(self, input: T) -> T:
        """Return the normalized input, of the same shape (N, num_channels, ...)."""
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, "
            f"affine={self.affine}, bias={self.bias is not None}"
        )


def _shape(shape: int | Sequence[int]) -> tuple[int, ...]:
    return (int(shape),) if isinstance(shape, SupportsIndex) else tuple(shape)
