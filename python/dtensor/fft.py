"""Discrete Fourier transforms: ``numpy.fft`` on DTensors and Tensors."""

from dtensor.ops.create.arrays import fftfreq, rfftfreq
from dtensor.ops.linalg import fft as _fft
from dtensor.ops.linalg.fft import *  # noqa: F403

__all__ = ["fftfreq", "rfftfreq"]
__all__ += _fft.__all__
