"""Layers that normalize each channel of each sample, or neighbouring channels."""

from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor._core.caller import warn
from dtensor.nn import functional as F
from dtensor.nn._kind import T
from dtensor.nn.batch_norm import _BatchNorm
from dtensor.nn.module import Module

__all__ = [
    "CrossMapLRN2d",
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "LocalResponseNorm",
]


class _InstanceNorm(_BatchNorm):
    """Normalize each channel of each sample.

    ``(x - mean) / sqrt(var + eps) * weight + bias``, with mean and variance over the
    dims after the channels; in evaluation with running averages, if there are any.

    Parameters
    ----------
    num_features : int
        The number of channels. The input has `_dims` dims, the lesser number without
        samples.
    eps : float, default 1e-5
    momentum : float or None, default 0.1
        The weight of a new batch in the running averages; None: 0.
    affine : bool, default False
        Whether there is a weight.
    track_running_stats : bool, default False
        Whether there are running averages.
    device : str, optional
        ``"cpu"`` or ``"meta"``.
    dtype : dtype_like, optional
        Default: `get_default_dtype`.
    bias : bool, default True
        Whether there is a bias beside a weight.

    Attributes
    ----------
    weight, bias : Parameter, shape (num_features,), or None
    running_mean, running_var, num_batches_tracked : tensor or None
        As of `BatchNorm1d`.

    Raises
    ------
    ValueError
        When called, for other numbers of dims or channels, or if there is one element
        in each channel.
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: str | None = None,
        dtype: npt.DTypeLike | None = None,
        *,
        bias: bool = True,
    ) -> None:
        own = num_features, eps, momentum, affine, track_running_stats, device, dtype
        super().__init__(*own, bias=bias)

    def forward(self, input: T) -> T:
        """Return the normalized input, of the same shape."""
        self._check(input)
        if input.ndim == self._dims[0]:
            output: T = np.squeeze(self._normalized(np.expand_dims(input, 0)), 0)
        else:
            output = self._normalized(input)
        return output

    def _normalized(self, input: Any) -> Any:
        return F.instance_norm(
            input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            self.momentum or 0.0,
            self.eps,
        )

    def _check(self, input: Any) -> None:
        super()._check(input)
        dim = input.ndim - self._dims[0]
        if input.shape[dim] == self.num_features:
            return
        if self.affine:
            raise ValueError(
                f"expected input's size at dim={dim} to match num_features "
                f"({self.num_features}), but got: {input.shape[dim]}."
            )
        warn(
            f"input's size at dim={dim} does not match num_features. You can silence "
            "this warning by not passing in num_features, which is not used because "
            "affine=False"
        )


class InstanceNorm1d(_InstanceNorm):
    __doc__ = (_InstanceNorm.__doc__ or "").replace("`_dims`", "two or three")
    _dims = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    __doc__ = (_InstanceNorm.__doc__ or "").replace("`_dims`", "three or four")
    _dims = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    __doc__ = (_InstanceNorm.__doc__ or "").replace("`_dims`", "four or five")
    _dims = (4, 5)


class LocalResponseNorm(Module):
    """Divide by ``(k + alpha mean)^beta``, with the mean square of near channels.

    Parameters
    ----------
    size : int
        How many channels.
    alpha : float, default 1e-4
    beta : float, default 0.75
    k : float, default 1.0
    """

    def __init__(
        self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
    ) -> None:
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input: T) -> T:
        """Return the normalized input, of shape (N, C, ...)."""
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class CrossMapLRN2d(LocalResponseNorm):
    """Divide by ``(k + alpha / size * sum)^beta``, with the sum of near squares.

    As `LocalResponseNorm`, but if `size` is even there is one channel less in the sum.

    Parameters
    ----------
    size : int
        How many channels.
    alpha : float, default 1e-4
    beta : float, default 0.75
    k : float, default 1.0
    """

    def forward(self, input: T) -> T:
        """Return the normalized input, of shape (N, C, height, width).

        Raises
        ------
        ValueError
            If the input has not four dims.
        """
        if input.ndim != 4:
            raise ValueError(
                f"CrossMapLRN2d: Expected input to be 4D, got {input.ndim}D instead."
            )
        near = self.size - 1 + self.size % 2
        alpha = self.alpha * near / self.size
        return F.local_response_norm(input, near, alpha, self.beta, self.k)
