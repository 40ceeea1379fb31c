"""Linear layers: ``y = x A^T + b``."""

import math
from typing import Any

import numpy.typing as npt

from dtensor.nn import functional as F, init
from dtensor.nn._kind import T
from dtensor.nn.module import Module
from dtensor.nn.parameter import Parameter

__all__ = ["Bilinear", "Identity", "Linear"]


class Identity(Module):
    """Return the input; the arguments of the class are ignored."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: T) -> T:
        """Return `input`."""
        return input


class Linear(Module):
    """A linear map of the last dim: ``x @ weight.T + bias``.

    Parameters
    ----------
    in_features, out_features : int
        Lengths of the last dim of the input and of the output.
    bias : bool, default True
        Whether there is a bias.
    device : str, optional
        ``"cpu"`` or ``"meta"``: see `dtensor.device`.
    dtype : dtype_like, optional
        Default: `get_default_dtype`.

    Attributes
    ----------
    weight : Parameter, shape (out_features, in_features)
        Drawn from U(-k, k) with k = 1 / sqrt(in_features).
    bias : Parameter, shape (out_features,), or None
        Drawn from the same distribution.

    Examples
    --------
    >>> import numpy as np
    >>> Linear(20, 30)(np.ones((128, 20), np.float32)).shape
    (128, 30)
    """

    weight: Parameter
    bias: Parameter | Any  # or None

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: str | None = None,
        dtype: npt.DTypeLike | None = None,
    ) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        of_bias = (out_features,) if bias else None
        shapes = {"weight": (out_features, in_features), "bias": of_bias}
        self._add_parameters(shapes, device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initialize the parameters."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in = self.weight.shape[1]
            bound = 1 / math.sqrt(fan_in) if fan_in > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: T) -> T:
        """Return the output for an input of shape (..., in_features)."""
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        shown = self._named("in_features", "out_features")
        return f"{shown}, bias={self.bias is not None}"


class Bilinear(Module):
    """A bilinear map of the last dims of two inputs: ``x1^T A x2 + b``.

    Parameters
    ----------
    in1_features, in2_features, out_features : int
        Lengths of the last dims of the inputs and of the output.
    bias : bool, default True
        Whether there is a bias.
    device : str, optional
        ``"cpu"`` or ``"meta"``.
    dtype : dtype_like, optional
        Default: `get_default_dtype`.

    Attributes
    ----------
    weight : Parameter, shape (out_features, in1_features, in2_features)
        Drawn from U(-k, k) with k = 1 / sqrt(in1_features).
    bias : Parameter, shape (out_features,), or None
        Drawn from the same distribution.

    Raises
    ------
    ValueError
        If `in1_features` is not positive.
    """

    weight: Parameter
    bias: Parameter | Any  # or None

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: str | None = None,
        dtype: npt.DTypeLike | None = None,
    ) -> None:
        super().__init__()
        if in1_features <= 0:
            raise ValueError(f"in1_features must be > 0, but got {in1_features}")
        self.in1_features, self.in2_features = in1_features, in2_features
        self.out_features = out_features
        of_weight = (out_features, in1_features, in2_features)
        shapes = {"weight": of_weight, "bias": (out_features,) if bias else None}
        self._add_parameters(shapes, device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initialize the parameters."""
        bound = 1 / math.sqrt(self.weight.shape[1])
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1: T, input2: Any) -> T:
        """Return the output for inputs of shapes (..., in1) and (..., in2)."""
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        shown = self._named("in1_features", "in2_features", "out_features")
        return f"{shown}, bias={self.bias is not None}"
