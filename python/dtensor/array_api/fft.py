"""The extension `fft` of the array API standard."""

import numpy as np

from dtensor.array_api import _creation
from dtensor.array_api._answer import answer

__all__ = [
    "fft",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfftn",
    "rfft",
    "rfftfreq",
    "rfftn",
]

fft = answer(np.fft.fft)
fftfreq = _creation.fftfreq
fftn = answer(np.fft.fftn)
fftshift = answer(np.fft.fftshift)
hfft = answer(np.fft.hfft)
ifft = answer(np.fft.ifft)
ifftn = answer(np.fft.ifftn)
ifftshift = answer(np.fft.ifftshift)
ihfft = answer(np.fft.ihfft)
irfft = answer(np.fft.irfft)
irfftn = answer(np.fft.irfftn)
rfft = answer(np.fft.rfft)
rfftfreq = _creation.rfftfreq
rfftn = answer(np.fft.rfftn)
