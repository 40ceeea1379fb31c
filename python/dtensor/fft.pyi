"""Made by `./run exec python tests/stubs.py`."""

# ruff: noqa: F403, F405
from collections.abc import Sequence
from typing import overload

from dtensor import _C
from dtensor._C import _T, DTensor, Mesh, _Axis, _Out, _Plain
from dtensor.placement_types import Placement

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
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    out: _Out = None,
) -> _T: ...
@overload
def fft(
    a: _Plain,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    out: _Out = None,
) -> _C.Tensor: ...
@overload
def fft(
    a: _T, n: int | None = None, *, dim: int, norm: str | None = None, out: _Out = None
) -> _T: ...
@overload
def fft(
    a: _Plain,
    n: int | None = None,
    *,
    dim: int,
    norm: str | None = None,
    out: _Out = None,
) -> _C.Tensor: ...
@overload
def fft2(
    a: _T,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = ...,
    norm: str | None = None,
    out: _Out = None,
) -> _T: ...
@overload
def fft2(
    a: _Plain,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = ...,
    norm: str | None = None,
    out: _Out = None,
) -> _C.Tensor: ...
def fftfreq(
    n: int,
    d: float = 1.0,
    device: str | None = None,
    *,
    device_mesh: Mesh | None = None,
    placements: Sequence[Placement] | None = None,
) -> DTensor: ...
@overload
def fftn(
    a: _T,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
    out: _Out = None,
) -> _T: ...
@overload
def fftn(
    a: _Plain,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
    out: _Out = None,
) -> _C.Tensor: ...
@overload
def fftshift(x: _T, axes: _Axis | None = None) -> _T: ...
@overload
def fftshift(x: _Plain, axes: _Axis | None = None) -> _C.Tensor: ...
@overload
def hfft(
    a: _T,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    out: _Out = None,
) -> _T: ...
@overload
def hfft(
    a: _Plain,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    out: _Out = None,
) -> _C.Tensor: ...
@overload
def hfft(
    a: _T, n: int | None = None, *, dim: int, norm: str | None = None, out: _Out = None
) -> _T: ...
@overload
def hfft(
    a: _Plain,
    n: int | None = None,
    *,
    dim: int,
    norm: str | None = None,
    out: _Out = None,
) -> _C.Tensor: ...
@overload
def ifft(
    a: _T,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    out: _Out = None,
) -> _T: ...
@overload
def ifft(
    a: _Plain,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    out: _Out = None,
) -> _C.Tensor: ...
@overload
def ifft(
    a: _T, n: int | None = None, *, dim: int, norm: str | None = None, out: _Out = None
) -> _T: ...
@overload
def ifft(
    a: _Plain,
    n: int | None = None,
    *,
    dim: int,
    norm: str | None = None,
    out: _Out = None,
) -> _C.Tensor: ...
@overload
def ifft2(
    a: _T,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = ...,
    norm: str | None = None,
    out: _Out = None,
) -> _T: ...
@overload
def ifft2(
    a: _Plain,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = ...,
    norm: str | None = None,
    out: _Out = None,
) -> _C.Tensor: ...
@overload
def ifftn(
    a: _T,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
    out: _Out = None,
) -> _T: ...
@overload
def ifftn(
    a: _Plain,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
    out: _Out = None,
) -> _C.Tensor: ...
@overload
def ifftshift(x: _T, axes: _Axis | None = None) -> _T: ...
@overload
def ifftshift(x: _Plain, axes: _Axis | None = None) -> _C.Tensor: ...
@overload
def ihfft(
    a: _T,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    out: _Out = None,
) -> _T: ...
@overload
def ihfft(
    a: _Plain,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    out: _Out = None,
) -> _C.Tensor: ...
@overload
def ihfft(
    a: _T, n: int | None = None, *, dim: int, norm: str | None = None, out: _Out = None
) -> _T: ...
@overload
def ihfft(
    a: _Plain,
    n: int | None = None,
    *,
    dim: int,
    norm: str | None = None,
    out: _Out = None,
) -> _C.Tensor: ...
@overload
def irfft(
    a: _T,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    out: _Out = None,
) -> _T: ...
@overload
def irfft(
    a: _Plain,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    out: _Out = None,
) -> _C.Tensor: ...
@overload
def irfft(
    a: _T, n: int | None = None, *, dim: int, norm: str | None = None, out: _Out = None
) -> _T: ...
@overload
def irfft(
    a: _Plain,
    n: int | None = None,
    *,
    dim: int,
    norm: str | None = None,
    out: _Out = None,
) -> _C.Tensor: ...
@overload
def irfft2(
    a: _T,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = ...,
    norm: str | None = None,
    out: _Out = None,
) -> _T: ...
@overload
def irfft2(
    a: _Plain,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = ...,
    norm: str | None = None,
    out: _Out = None,
) -> _C.Tensor: ...
@overload
def irfftn(
    a: _T,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
    out: _Out = None,
) -> _T: ...
@overload
def irfftn(
    a: _Plain,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
    out: _Out = None,
) -> _C.Tensor: ...
@overload
def rfft(
    a: _T,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    out: _Out = None,
) -> _T: ...
@overload
def rfft(
    a: _Plain,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    out: _Out = None,
) -> _C.Tensor: ...
@overload
def rfft(
    a: _T, n: int | None = None, *, dim: int, norm: str | None = None, out: _Out = None
) -> _T: ...
@overload
def rfft(
    a: _Plain,
    n: int | None = None,
    *,
    dim: int,
    norm: str | None = None,
    out: _Out = None,
) -> _C.Tensor: ...
@overload
def rfft2(
    a: _T,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = ...,
    norm: str | None = None,
    out: _Out = None,
) -> _T: ...
@overload
def rfft2(
    a: _Plain,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = ...,
    norm: str | None = None,
    out: _Out = None,
) -> _C.Tensor: ...
def rfftfreq(
    n: int,
    d: float = 1.0,
    device: str | None = None,
    *,
    device_mesh: Mesh | None = None,
    placements: Sequence[Placement] | None = None,
) -> DTensor: ...
@overload
def rfftn(
    a: _T,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
    out: _Out = None,
) -> _T: ...
@overload
def rfftn(
    a: _Plain,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
    out: _Out = None,
) -> _C.Tensor: ...
