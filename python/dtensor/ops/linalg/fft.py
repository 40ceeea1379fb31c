"""numpy.fft: every dim may be cut.

A dim that is transformed is made whole, while another one is cut instead (`fft_parts`);
or, if there is no other, it stays cut (`fft_long`). Transforms are linear: Partial
float or complex arrays are transformed as they are.
"""

from collections.abc import Callable, Sequence
from operator import index
from typing import Any

import numpy as np

from dtensor.ops._make.axes import normalize_axis_index
from dtensor.ops._make.operator import Operand, call, implements, letters, operator
from dtensor.ops._make.out import as_floats, widens_out
from dtensor.ops._make.words import Answer, rule
from dtensor.ops.linalg.adjoint import conj
from dtensor.ops.linalg.fft_long import SWAPPED, fit, in_steps
from dtensor.ops.linalg.fft_parts import in_turn, is_long, needs_turns, relieved

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

# What begins with the first dim; the others do with the last.
_INVERSES = (np.fft.irfft2, np.fft.irfftn)

# The default number of points, and the number of points in the result.


def _same(length: int) -> int:
    return length


def _half(length: int) -> int:
    return length // 2 + 1


def _double(length: int) -> int:
    return 2 * (length - 1)


def _counted(points: int) -> int:
    """Return a valid number of points."""
    points = index(points)
    if points < 1:
        raise ValueError(f"Invalid number of FFT data points ({points}) specified.")
    return points


def _answer(
    kernel: Kernel, a: Operand, dims: Sequence[int], after: Sequence[int], **given: Any
) -> Answer:
    """Return the answer of a transform that leaves dims with these lengths."""
    names = letters(a.ndim, whole=dims)
    out = list(names)
    pairs = list(zip(dims, after, strict=True))
    for dim, length in pairs if kernel in _INVERSES else reversed(pairs):
        out[dim] = str(length)  # of a dim that is named twice: what comes last
    points = {key: None for key in given if key in ("n", "s") and dims}
    dtype = kernel(np.ones((2,) * a.ndim, a.dtype), **(given | points)).dtype
    return rule([names], [out], "all"), call(kernel, a, **given), dtype


# --- gradients ------------------------------------------------------------------------

# The adjoint of a transform is the other direction, scaled where that was not: a matrix
# and its conjugate transpose. Of a real signal the transform has half of the points; in
# the sum that makes the signal again those of them that stand for two count twice.


def _twice(half: int, points: int, dim: int, ndim: int, dtype: Any) -> Any:
    """Return how often each point of half a transform counts, along a dim."""
    counts = np.full(half, 2, dtype)
    counts[0] = 1
    if points % 2 == 0:
        counts[-1] = 1
    return counts.reshape([half if d == dim else 1 for d in range(ndim)])


def _adjoint(
    name: str,
    grad: Any,
    a: Any,
    dims: Sequence[int],
    points: int | None,
    norm: str | None,
) -> Any:
    """Return the gradient of a transform over dims.

    Parameters
    ----------
    name : {"fft", "ifft", "rfft", "irfft"}
        What it was.
    a : Operand
        What was transformed.
    points : int or None
        How many the real signal has along the last dim.
    """
    if not dims:
        return grad
    if len({*dims}) < len(dims):
        raise NotImplementedError(f"derivative for {name} of a dim twice")
    last, ndim = dims[-1], a.ndim
    lengths = [grad.shape[dim] for dim in dims[:-1]]
    norm = SWAPPED[norm]
    real = np.finfo(grad.dtype).dtype
    if name == "rfft":
        counts = _twice(grad.shape[last], points or 1, last, ndim, real)
        found = irfftn(grad / counts, [*lengths, points], dims, norm)
    elif name == "irfft":
        found = rfftn(grad, [*lengths, points], dims, norm)
        found = found * _twice(found.shape[last], points or 1, last, ndim, real)
    else:
        found = (fftn if name == "ifft" else ifftn)(grad, None, dims, norm)
    return fit(found, a.shape)


# --- one dim --------------------------------------------------------------------------


def _along(kernel: Kernel, what: str, points: Any = _same, after: Any = _same) -> Any:
    """Return the operator of a transform along one dim."""

    def transform(
        a: Operand,
        n: int | None = None,
        axis: int = -1,
        norm: str | None = None,
        out: None = None,
    ) -> Answer | Kernel:
        length = points(a.shape[axis]) if n is None else _counted(n)
        dim = normalize_axis_index(axis, a.ndim)
        answer = _answer(kernel, a, [dim], [after(length)], n=n, axis=dim, norm=norm)
        return in_steps(kernel, fft, ifft) if is_long(a, dim, length) else answer

    transform.__name__ = kernel.__name__
    transform.__doc__ = f"""{what} along one dim.

    Parameters
    ----------
    a : array
    n : int, optional
        How many points; the input is cropped or padded with zeros.
    axis : int, default -1
        The dim. It is made whole by one all_to_all, which cuts another dim instead.
        If no other can be cut and it is long (2^14 points), it stays cut: the line is
        transformed in four steps, with three all_to_all.
    norm : {{"backward", "ortho", "forward"}}, optional
        Which direction is scaled.

    Raises
    ------
    ValueError
        For no points.
    """
    return implements(kernel)(widens_out(as_floats)(operator(transform)))


fft = _along(np.fft.fft, "Fourier transform")
ifft = _along(np.fft.ifft, "Inverse Fourier transform")
rfft = _along(np.fft.rfft, "Fourier transform of real numbers", after=_half)
irfft = _along(np.fft.irfft, "Inverse of `rfft`", points=_double)
hfft = _along(np.fft.hfft, "Fourier transform of a Hermitian signal", points=_double)
ihfft = _along(np.fft.ihfft, "Inverse of `hfft`", after=_half)


def _line_back(name: str, hermitian: bool = False) -> Any:
    """Return the gradient of a transform along one dim; `hermitian`: of the conjugate,
    in the other direction."""

    def back(
        grad: Any,
        _out: Any,
        _a: Any,
        n: int | None = None,
        axis: int = -1,
        norm: str | None = None,
    ) -> Any:
        dim = axis % _a.ndim
        points = grad.shape[dim] if name == "irfft" else n or _a.shape[dim]
        if not hermitian:
            return _adjoint(name, grad, _a, [dim], points, norm)
        norm = SWAPPED[norm]
        if name == "irfft":
            return conj(_adjoint(name, grad, _a, [dim], points, norm))
        return _adjoint(name, conj(grad), _a, [dim], points, norm)

    return back


fft.vjp(_line_back("fft"))
ifft.vjp(_line_back("ifft"))
rfft.vjp(_line_back("rfft"))
irfft.vjp(_line_back("irfft"))
hfft.vjp(_line_back("irfft", hermitian=True))
ihfft.vjp(_line_back("rfft", hermitian=True))

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
    return dims, [None if n == -1 else _counted(n) for n in s or [-1] * len(dims)]


def _in_turns(kernel: Kernel, default: Sequence[int] | None) -> Kernel:
    """Return the transform of several dims, some of them cut, one at a time."""
    name = kernel.__name__
    each = ifft if name.startswith("i") else fft

    def transform(
        a: Any,
        s: Sequence[int] | None = None,
        axes: Sequence[int] | None = default,
        norm: str | None = None,
    ) -> Any:
        dims, given = _dims(a, s, axes)
        points = dict(zip(dims, given, strict=True))
        if "r" not in name:
            return in_turn(name, each, a, points, norm)
        last, n = points.popitem()
        if s is not None and n is None:
            n = a.shape[last]  # -1: as many as there are, not as many as they stand for
        others = [dim for dim in range(a.ndim) if dim not in dims]
        if name.startswith("r"):
            a = rfft(relieved(name, a, last, [*others, *points]), n, last, norm)
            return in_turn(name, each, a, points, norm)
        a = in_turn(name, each, a, points, norm, [last])
        return irfft(relieved(name, a, last, [*others, *points]), n, last, norm)

    return transform


def _over(
    kernel: Kernel,
    what: str,
    axes: Sequence[int] | None = None,
    points: Any = _same,
    after: Any = _same,
) -> Any:
    """Return the operator of a transform over several dims, the last one special."""
    turns = _in_turns(kernel, axes)

    def transform(
        a: Operand,
        s: Sequence[int] | None = None,
        axes: Sequence[int] | None = axes,
        norm: str | None = None,
        out: None = None,
    ) -> Answer | Kernel:
        dims, given = _dims(a, s, axes)
        lengths = [
            a.shape[dim] if n is None else n for dim, n in zip(dims, given, strict=True)
        ]
        if dims:
            last = points(a.shape[dims[-1]]) if s is None else lengths[-1]
            lengths[-1] = after(last)
        answer = _answer(kernel, a, dims, lengths, s=s, axes=axes, norm=norm)
        return turns if needs_turns(a, dims) else answer

    transform.__name__ = kernel.__name__
    transform.__doc__ = f"""{what} over several dims.

    Parameters
    ----------
    a : array
    s : sequence of int, optional
        How many points each dim has; -1: as many as there are.
    axes : sequence of int, optional
        The dims; default: {"all" if axes is None else "the last two"}. Those that are
        cut are transformed one at a time, each after an all_to_all that cuts another.
    norm : {{"backward", "ortho", "forward"}}, optional
        Which direction is scaled.

    Raises
    ------
    ValueError
        For no points.
    """
    return implements(kernel)(widens_out(as_floats)(operator(transform)))


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


def _grid_back(name: str, axes: Sequence[int] | None = None) -> Any:
    """Return the gradient of a transform over several dims."""

    def back(
        grad: Any,
        _out: Any,
        _a: Any,
        s: Sequence[int] | None = None,
        axes: Sequence[int] | None = axes,
        norm: str | None = None,
    ) -> Any:
        dims, given = _dims(_a, s, axes)
        points = None
        if dims:
            last = dims[-1]
            points = grad.shape[last] if name == "irfft" else given[-1]
            points = _a.shape[last] if points is None else points
        return _adjoint(name, grad, _a, dims, points, norm)

    return back


for _name, _many, _two in (
    ("fft", fftn, fft2),
    ("ifft", ifftn, ifft2),
    ("rfft", rfftn, rfft2),
    ("irfft", irfftn, irfft2),
):
    _many.vjp(_grid_back(_name))
    _two.vjp(_grid_back(_name, _LAST))

# --- shifts ---------------------------------------------------------------------------


@implements(np.fft.fftshift)
def fftshift(x: Any, axes: Any = None) -> Any:
    """Move frequency 0 to the middle of some dims (default: all), as `numpy.roll` does:
    along a cut dim only elements whose rank changes move."""
    return _shifted(x, axes, lambda length: length // 2)


@implements(np.fft.ifftshift)
def ifftshift(x: Any, axes: Any = None) -> Any:
    """Undo `fftshift`."""
    return _shifted(x, axes, lambda length: -(length // 2))


def _shifted(x: Any, axes: Any, shift: Callable[[int], int]) -> Any:
    x = x if hasattr(x, "dtype") else np.asarray(x)
    dims = tuple(range(x.ndim)) if axes is None else axes
    dims = (dims,) if np.ndim(dims) == 0 else tuple(dims)
    return np.roll(x, tuple(shift(x.shape[d]) for d in dims), dims)
