"""``torch.fft``: `dtensor.fft`, which also takes `dim`."""

from typing import Any

import numpy as np

from dtensor._C import Tensor
from dtensor.ops.linalg import fft as _fft
from dtensor.ops.linalg.fft import *  # noqa: F403
from dtensor.torch._create import in_order

__all__ = ["fftfreq", "rfftfreq"]
__all__ += _fft.__all__


def fftfreq(n: int, d: float = 1.0, **options: Any) -> Tensor:
    """Return the frequencies of `fft`, for `n` samples `d` apart; see `torch.zeros`."""
    return in_order(np.fft.fftfreq(n, d), **options)


def rfftfreq(n: int, d: float = 1.0, **options: Any) -> Tensor:
    """Return the frequencies of `rfft`: see `fftfreq`."""
    return in_order(np.fft.rfftfreq(n, d), **options)
