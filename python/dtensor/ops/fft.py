"""numpy.fft: transformed dims are whole, the others may be cut.

Transforms are linear: addends of a float or complex array are transformed as they are.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from dtensor.ops._operator import (
    Operand,
    axes_of,
    call,
    implements,
    letters,
    operator,
)
from dtensor.ops._words import Answer, rule

__all__ = [
    "fft",
    "fft2",
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
    "rfftn",
]

Kernel = Callable[..., Any]

# How many points there are if nobody says, and how many come out.


def _same(length: int) -> int:
    return length


def _half(length: int) -> int:
    return length // 2 + 1


def _double(length: int) -> int:
    return 2 * (length - 1)


def _answer(
    kernel: Kernel, a: Operand, dims: Sequence[int], after: Sequence[int], **given: Any
) -> Answer:
    """Return the answer of a transform that leaves dims with these lengths."""
    names = letters(a.ndim, whole=dims)
    out = list(names)
    for dim, length in zip(dims, after, strict=True):
        out[dim] = str(length)
    points = {key: None for key in given if key in ("n", "s")}
    dtype = kernel(np.ones((2,) * a.ndim, a.dtype), **(given | points)).dtype
    return rule([names], [out], "all"), call(kernel, a, **given), dtype


# --- one dim --------------------------------------------------------------------------


def _along(kernel: Kernel, what: str, points: Any = _same, after: Any = _same) -> Any:
    """Return the operator of a transform along one dim."""

    def transform(
        a: Operand, n: int | None = None, axis: int = -1, norm: str | None = None
    ) -> Answer:
        length = points(a.shape[axis]) if n is None else n
        dim = normalize_axis_index(axis, a.ndim)
        return _answer(kernel, a, [dim], [after(length)], n=n, axis=dim, norm=norm)

    transform.__name__ = kernel.__name__
    transform.__doc__ = f"""{what} along one dim.

    Parameters
    ----------
    a : array
    n : int, optional
        How many points; what is too much is left out, what lacks is 0.
    axis : int, default -1
        The dim, which is whole.
    norm : {{"backward", "ortho", "forward"}}, optional
        Which direction is scaled.

    Raises
    ------
    ValueError
        For no points.
    """
    return implements(kernel)(operator(transform))


fft = _along(np.fft.fft, "Fourier transform")
ifft = _along(np.fft.ifft, "Inverse Fourier transform")
rfft = _along(np.fft.rfft, "Fourier transform of real numbers", after=_half)
irfft = _along(np.fft.irfft, "Inverse of `rfft`", points=_double)
hfft = _along(np.fft.hfft, "Fourier transform of a Hermitian signal", points=_double)
ihfft = _along(np.fft.ihfft, "Inverse of `hfft`", after=_half)

# --- several dims ---------------------------------------------------------------------


def _dims(
    a: Operand, s: Sequence[int] | None, axes: Sequence[int] | None
) -> tuple[list[int], list[int | None]]:
    """Return the dims that are transformed, and how many points each has if given."""
    if axes is None:
        axes = range(a.ndim) if s is None else range(-len(s), 0)
    if s is None:
        np.take(a.shape, axes)  # NumPy's error of a wrong axis
    dims = [normalize_axis_index(axis, a.ndim) for axis in axes]
    if s is not None and len(s) != len(dims):
        raise ValueError("Shape and axes have different lengths.")
    return dims, [None if n == -1 else n for n in s or [-1] * len(dims)]


def _over(
    kernel: Kernel,
    what: str,
    axes: Sequence[int] | None = None,
    points: Any = _same,
    after: Any = _same,
) -> Any:
    """Return the operator of a transform over several dims, the last one special."""

    def transform(
        a: Operand,
        s: Sequence[int] | None = None,
        axes: Sequence[int] | None = axes,
        norm: str | None = None,
    ) -> Answer:
        dims, given = _dims(a, s, axes)
        lengths = [
            a.shape[dim] if n is None else n for dim, n in zip(dims, given, strict=True)
        ]
        if dims:
            last = points(a.shape[dims[-1]]) if given[-1] is None else lengths[-1]
            lengths[-1] = after(last)
        return _answer(kernel, a, dims, lengths, s=s, axes=axes, norm=norm)

    transform.__name__ = kernel.__name__
    transform.__doc__ = f"""{what} over several dims.

    Parameters
    ----------
    a : array
    s : sequence of int, optional
        How many points each dim has; -1: as many as there are.
    axes : sequence of int, optional
        The dims, which are whole; default: {"all" if axes is None else "the last two"}.
    norm : {{"backward", "ortho", "forward"}}, optional
        Which direction is scaled.

    Raises
    ------
    ValueError
        For no points.
    """
    return implements(kernel)(operator(transform))


_LAST = (-2, -1)
_FORWARD, _INVERSE = "Fourier transform", "Inverse Fourier transform"
_REAL, _INVERSE_REAL = "Fourier transform of real numbers", "Inverse of that"

fftn = _over(np.fft.fftn, _FORWARD)
ifftn = _over(np.fft.ifftn, _INVERSE)
rfftn = _over(np.fft.rfftn, _REAL, after=_half)
irfftn = _over(np.fft.irfftn, _INVERSE_REAL, points=_double)
fft2 = _over(np.fft.fft2, _FORWARD, _LAST)
ifft2 = _over(np.fft.ifft2, _INVERSE, _LAST)
rfft2 = _over(np.fft.rfft2, _REAL, _LAST, after=_half)
irfft2 = _over(np.fft.irfft2, _INVERSE_REAL, _LAST, points=_double)

# --- shifts ---------------------------------------------------------------------------


@implements(np.fft.fftshift)
@operator
def fftshift(x: Operand, axes: Any = None) -> Answer:
    """Move frequency 0 to the middle of some dims (default: all), which are whole."""
    names = letters(x.ndim, whole=axes_of(axes, x.ndim))
    return rule([names], [names], "any"), call(np.fft.fftshift, x, axes)


@implements(np.fft.ifftshift)
@operator
def ifftshift(x: Operand, axes: Any = None) -> Answer:
    """Undo `fftshift`."""
    names = letters(x.ndim, whole=axes_of(axes, x.ndim))
    return rule([names], [names], "any"), call(np.fft.ifftshift, x, axes)
