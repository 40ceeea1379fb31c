"""Made by `./run exec python tests/stubs.py`."""

# ruff: noqa: F403, F405
import builtins
from collections.abc import Sequence
from typing import overload

import numpy.typing as npt

from dtensor._C import _T, TorchTensor, _ArrayLike, _Axis, _Out

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]

@overload
def fft(
    a: _T,
    n: builtins.int | None = None,
    axis: builtins.int = -1,
    norm: builtins.str | None = None,
    out: _Out = None,
) -> _T: ...
@overload
def fft(
    a: _T,
    n: builtins.int | None = None,
    *,
    dim: builtins.int,
    norm: builtins.str | None = None,
    out: _Out = None,
) -> _T: ...
def fft2(
    a: _T,
    s: Sequence[builtins.int] | None = None,
    axes: Sequence[builtins.int] | None = ...,
    norm: builtins.str | None = None,
    out: _Out = None,
) -> _T: ...
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
def fftn(
    a: _T,
    s: Sequence[builtins.int] | None = None,
    axes: Sequence[builtins.int] | None = None,
    norm: builtins.str | None = None,
    out: _Out = None,
) -> _T: ...
def fftshift(x: _T, axes: _Axis | None = None) -> _T: ...
@overload
def hfft(
    a: _T,
    n: builtins.int | None = None,
    axis: builtins.int = -1,
    norm: builtins.str | None = None,
    out: _Out = None,
) -> _T: ...
@overload
def hfft(
    a: _T,
    n: builtins.int | None = None,
    *,
    dim: builtins.int,
    norm: builtins.str | None = None,
    out: _Out = None,
) -> _T: ...
@overload
def ifft(
    a: _T,
    n: builtins.int | None = None,
    axis: builtins.int = -1,
    norm: builtins.str | None = None,
    out: _Out = None,
) -> _T: ...
@overload
def ifft(
    a: _T,
    n: builtins.int | None = None,
    *,
    dim: builtins.int,
    norm: builtins.str | None = None,
    out: _Out = None,
) -> _T: ...
def ifft2(
    a: _T,
    s: Sequence[builtins.int] | None = None,
    axes: Sequence[builtins.int] | None = ...,
    norm: builtins.str | None = None,
    out: _Out = None,
) -> _T: ...
def ifftn(
    a: _T,
    s: Sequence[builtins.int] | None = None,
    axes: Sequence[builtins.int] | None = None,
    norm: builtins.str | None = None,
    out: _Out = None,
) -> _T: ...
def ifftshift(x: _T, axes: _Axis | None = None) -> _T: ...
@overload
def ihfft(
    a: _T,
    n: builtins.int | None = None,
    axis: builtins.int = -1,
    norm: builtins.str | None = None,
    out: _Out = None,
) -> _T: ...
@overload
def ihfft(
    a: _T,
    n: builtins.int | None = None,
    *,
    dim: builtins.int,
    norm: builtins.str | None = None,
    out: _Out = None,
) -> _T: ...
@overload
def irfft(
    a: _T,
    n: builtins.int | None = None,
    axis: builtins.int = -1,
    norm: builtins.str | None = None,
    out: _Out = None,
) -> _T: ...
@overload
def irfft(
    a: _T,
    n: builtins.int | None = None,
    *,
    dim: builtins.int,
    norm: builtins.str | None = None,
    out: _Out = None,
) -> _T: ...
def irfft2(
    a: _T,
    s: Sequence[builtins.int] | None = None,
    axes: Sequence[builtins.int] | None = ...,
    norm: builtins.str | None = None,
    out: _Out = None,
) -> _T: ...
def irfftn(
    a: _T,
    s: Sequence[builtins.int] | None = None,
    axes: Sequence[builtins.int] | None = None,
    norm: builtins.str | None = None,
    out: _Out = None,
) -> _T: ...
@overload
def rfft(
    a: _T,
    n: builtins.int | None = None,
    axis: builtins.int = -1,
    norm: builtins.str | None = None,
    out: _Out = None,
) -> _T: ...
@overload
def rfft(
    a: _T,
    n: builtins.int | None = None,
    *,
    dim: builtins.int,
    norm: builtins.str | None = None,
    out: _Out = None,
) -> _T: ...
def rfft2(
    a: _T,
    s: Sequence[builtins.int] | None = None,
    axes: Sequence[builtins.int] | None = ...,
    norm: builtins.str | None = None,
    out: _Out = None,
) -> _T: ...
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
def rfftn(
    a: _T,
    s: Sequence[builtins.int] | None = None,
    axes: Sequence[builtins.int] | None = None,
    norm: builtins.str | None = None,
    out: _Out = None,
) -> _T: ...
