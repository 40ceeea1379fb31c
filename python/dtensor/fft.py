"""Discrete Fourier transforms: ``numpy.fft`` on DTensors and Tensors."""

from dtensor.ops import fft as _fft
from dtensor.ops.create import fftfreq, rfftfreq
from dtensor.ops.fft import *  # noqa: F403

__all__ = ["fftfreq", "rfftfreq"]
__all__ += _fft.__all__
