"""Made by `./run exec python tests/stubs.py`."""

# ruff: noqa: F403, F405
import builtins
from typing import Any

import numpy.typing as npt

from dtensor._C import _T, TorchTensor, _ArrayLike, _Out

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "hfft2",
    "hfftn",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "ihfft2",
    "ihfftn",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]

def fft(
    input: _T,
    n: builtins.int | None = None,
    dim: builtins.int = -1,
    norm: builtins.str | None = None,
) -> _T: ...
def fft2(input: _T, s: Any = None, dim: Any = ..., norm: Any = None) -> _T: ...
def fftfreq(
    n: builtins.int,
    d: builtins.float = 1.0,
    *,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> TorchTensor: ...
def fftn(input: _T, s: Any = None, dim: Any = None, norm: Any = None) -> _T: ...
def fftshift(input: _T, dim: Any = None) -> _T: ...
def hfft(
    input: _T,
    n: builtins.int | None = None,
    dim: builtins.int = -1,
    norm: builtins.str | None = None,
) -> _T: ...
def hfft2(input: _T, s: Any = None, dim: Any = ..., norm: Any = None) -> _T: ...
def hfftn(input: _T, s: Any = None, dim: Any = None, norm: Any = None) -> _T: ...
def ifft(
    input: _T,
    n: builtins.int | None = None,
    dim: builtins.int = -1,
    norm: builtins.str | None = None,
) -> _T: ...
def ifft2(input: _T, s: Any = None, dim: Any = ..., norm: Any = None) -> _T: ...
def ifftn(input: _T, s: Any = None, dim: Any = None, norm: Any = None) -> _T: ...
def ifftshift(input: _T, dim: Any = None) -> _T: ...
def ihfft(
    input: _T,
    n: builtins.int | None = None,
    dim: builtins.int = -1,
    norm: builtins.str | None = None,
) -> _T: ...
def ihfft2(input: _T, s: Any = None, dim: Any = ..., norm: Any = None) -> _T: ...
def ihfftn(input: _T, s: Any = None, dim: Any = None, norm: Any = None) -> _T: ...
def irfft(
    input: _T,
    n: builtins.int | None = None,
    dim: builtins.int = -1,
    norm: builtins.str | None = None,
) -> _T: ...
def irfft2(input: _T, s: Any = None, dim: Any = ..., norm: Any = None) -> _T: ...
def irfftn(input: _T, s: Any = None, dim: Any = None, norm: Any = None) -> _T: ...
def rfft(
    input: _T,
    n: builtins.int | None = None,
    dim: builtins.int = -1,
    norm: builtins.str | None = None,
) -> _T: ...
def rfft2(input: _T, s: Any = None, dim: Any = ..., norm: Any = None) -> _T: ...
def rfftfreq(
    n: builtins.int,
    d: builtins.float = 1.0,
    *,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> TorchTensor: ...
def rfftn(input: _T, s: Any = None, dim: Any = None, norm: Any = None) -> _T: ...
